# SPDX-License-Identifier: MIT
#
# Running programs under the simulated PMU, for the tests in this directory.
package Sim;
use strict;
use warnings;
use Cwd 'abs_path';
use Exporter 'import';
use File::Basename 'dirname';
use File::Temp 'tempdir';
use lib dirname(__FILE__) . '/../e2e';
use Room;

our @EXPORT = qw(run_tool sim_run sim_client slurp $BUILD $SCRATCH);

our $ROOT = abs_path(dirname(__FILE__) . '/../..');
our $BUILD = "$ROOT/" . ($ENV{B} // 'build');
our $SCRATCH = tempdir(CLEANUP => 1);

sub slurp {
	open my $f, '<', shift or return '';
	local $/;
	return scalar(<$f>) // '';
}

# Runs a Valgrind tool from a directory that has it: (options, program,
# arguments).  Returns the exit status, output and the tool's log.
sub run_tool {
	my ($dir, $name, @rest) = @_;
	my ($tool) = grep { !/x86/ } glob "$dir/$name-*-linux";
	my ($out, $log) = ("$SCRATCH/out", "$SCRATCH/log");
	my $pid = fork;

	if ($pid == 0) {
		unlink $log;
		open STDOUT, '>', $out;
		open STDERR, '>', "$SCRATCH/err";
		$ENV{VALGRIND_LIB} = $dir;
		$ENV{VALGRIND_LAUNCHER} = $dir;
		exec $tool, "--tool=$name", '-q', '--vgdb=no', '--vex-iropt-register-updates=allregs-at-mem-access',
			"--log-file=$log", @rest;
		exit 127;
	}
	waitpid $pid, 0;
	return ($?, slurp($out), slurp($log));
}

# With VEX's own check of what is added to each block, which no run by users has.
sub sim_run {
	return run_tool("$BUILD/libcachepeek", 'cachepeek', '--check-blocks=yes', @_);
}

# The output of client.c, as a hash.
sub sim_client {
	my ($status, $out) = sim_run(@_, "$BUILD/sim/client");
	my %got = map { split / / } split /\n/, $out;

	return ($status, \%got);
}

1;

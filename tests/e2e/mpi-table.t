#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Each MPI that is here, in each language, however its ranks are started: one report of
# all ranks, counted once, with the right least and most.  MPI_TABLE=doc/hpc.md replaces
# the rows of these versions in that table.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Mpi;
use Peek;
use Test::More;

need_perf();

my $tests = source() . '/tests/mpi';
my @flags = ('-O1', '-D_GNU_SOURCE', '-I' . source() . '/regions');
my $faults = 'perf::PAGE-FAULTS';
my @ways = ('`cachepeek run mpirun`', '`env LD_PRELOAD=`', "the launcher's option", 'preloaded launcher');
my $preload = 'LD_PRELOAD=' . lib();
my %export = (openmpi => ['-x', $preload], mpich => ['-genv', 'LD_PRELOAD', lib()]);
my %implementations = implementations();

sub version_of
{
	my ($name, $mpi) = @_;
	my $text = run(command => [$mpi->{run}[0], '--version'])->{out};
	return $name eq 'openmpi' ? 'Open MPI ' . ($text =~ /\) (\S+)/)[0] : 'MPICH ' . ($text =~ /Version:\s+(\S+)/)[0];
}

# Without MPI_Init and MPI_Finalize.
my $sessions = write_file(scratch('sessions.c'), <<'C');
#include <mpi.h>
#include <stdio.h>
#include "work.h"
int main(void)
{
	MPI_Session session;
	MPI_Group group;
	MPI_Comm all;
	int rank, sum = 0;
	if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session))
		return 9;
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "cachepeek", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
	MPI_Comm_rank(all, &rank);
	work(rank);
	MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, all);
	if (!rank)
		printf("%d\n", sum);
	MPI_Barrier(all);
	MPI_Group_free(&group);
	MPI_Comm_free(&all);
	MPI_Session_finalize(&session);
	return 0;
}
C

# The library with the ABI of MPI 5, whose name is the same in each implementation: in Debian each has
# it by a name of its own beside, and only one of them has that one.
sub abi_of
{
	my ($name) = @_;
	my ($library) = map { glob("/usr/lib/*-linux-gnu/$_") } "libmpi_abi_$name.so.*", "$name/lib/libmpi_abi.so.1";
	return undef unless $library;
	mkdir(scratch("$name-abi"));
	symlink($library, scratch("$name-abi/libmpi_abi.so.1"));
	return scratch("$name-abi/libmpi_abi.so.1");
}

# [language, command], of what can be built and runs without us.
sub programs
{
	my ($name, $mpi) = @_;
	my @built;
	my $build = sub {
		my ($language, @command) = @_;
		my $exe = scratch("$name-$language" =~ s/\W/-/gr);
		push(@built, [$language, $exe]) if run(command => [@command, '-o', $exe])->{status} == 0;
	};
	my $work = scratch("$name-work.o");
	run(command => [$mpi->{cc}, @flags, '-c', "$tests/work.c", '-o', $work]);
	$build->('C', $mpi->{cc}, @flags, "$tests/pages.c");
	$build->($_->[0], $mpi->{fc}, '-J', scratch(), "$tests/$_->[1]", $work) for ['mpif.h', 'f77.f'], ['use mpi', 'f90.f90'], ['mpi_f08', 'f08.f90'];
	$build->('C, sessions', $mpi->{cc}, @flags, "-I$tests", $sessions, $work);
	my $abi = abi_of($name);
	$build->('C, ABI of MPI 5', 'gcc', @flags, "-I$tests/abi", "$tests/pages.c", $abi, '-Wl,-rpath,' . $abi =~ s{/[^/]*$}{}r) if $abi;
	if ($name eq 'openmpi' && (my $version = run(command => ['/usr/bin/python3', '-c', 'import mpi4py; print(mpi4py.__version__)'])->{out})) {
		chomp($version);
		run(command => ['gcc', @flags, '-shared', '-fPIC', "$tests/work.c", '-o', scratch('work.so')]);
		push(@built, ["mpi4py $version", '/usr/bin/python3', "$tests/pages.py", scratch('work.so')]);
	}
	return grep { run(command => [@{$mpi->{run}}, '-n', 2, @$_[1 .. $#$_]])->{out} eq "1\n" } @built;
}

my $jobs = 0;
sub is_right
{
	my ($what, $way, $name, $mpi, @program) = @_;
	my @run = @{$mpi->{run}};
	my $json = scratch('job' . $jobs++ . '.json');
	my %command = (0 => [cli(), @run, '-n', 2, @program], 1 => [@run, '-n', 2, 'env', $preload, @program],
		2 => [@run, @{$export{$name}}, '-n', 2, @program], 3 => ['env', $preload, @run, '-n', 2, @program]);
	my $job = run(command => $command{$way}, env => {CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $faults, CACHEPEEK_OUTPUT => $json});
	my $report = read_json($json) // {};
	my $work = region($report, 'work');
	my $count = $work ? $work->{counts}{$faults} : {};
	my $got = join(' ', status_text($job->{status}), $job->{out} =~ s/\n//r, "$report->{ranks}{recorded}/$report->{ranks}{of}",
		map { $_ // '-' } @$count{qw(value min max)}, @{$report->{warnings} // []});
	return is($got, 'exit 0 1 2/2 40 15 25', "$what, $ways[$way]: one report of both ranks") || !diag($job->{err});
}

my (%rows, @versions);
for my $name (sort keys %implementations) {
	my $mpi = $implementations{$name};
	SKIP: {
		skip("no $name", 1) unless has($mpi);
		my $version = version_of($name, $mpi);
		push(@versions, $version);
		my @programs = programs($name, $mpi);
		ok(scalar(grep { $_->[0] eq 'C' } @programs), "$version: a program in C");
		for my $program (@programs) {
			my ($language, @command) = @$program;
			my @cells = map { is_right("$version, $language", $_, $name, $mpi, @command) ? 'yes' : 'no' } 0 .. $#ways;
			push(@{$rows{$version}}, join(' | ', '', $version, $language, @cells) =~ s/^ //r . " |\n");
		}
	}
}

# Rows of other versions stay.
if (my $path = $ENV{MPI_TABLE}) {
	my ($before, $table, $after) = read_file($path) =~ /^(.*<!-- mpi -->\n)(.*?)(<!-- end of mpi -->.*)$/s or die "$path: no table";
	my %of = map { ($_ => 1) } @versions;
	my @kept = grep { /^\| ((?:Open MPI|MPICH) \S+)/ && !$of{$1} } split(/^/, $table);
	my @all = sort { ($a =~ /^\| (\D+)/)[0] cmp ($b =~ /^\| (\D+)/)[0] || ($a =~ /(\d+)/)[0] <=> ($b =~ /(\d+)/)[0] } @kept, map { @{$rows{$_}} } @versions;
	write_file($path, $before . join(' | ', '| MPI', 'language', @ways) . " |\n" . '|---' x (2 + @ways) . "|\n" . join('', @all) . $after);
}
done_testing();

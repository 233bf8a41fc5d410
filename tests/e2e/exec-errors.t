#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Programs that cannot be executed, and those that the simulated PMU cannot: whoever
# tries is told what the kernel says, and goes on as it was.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use Peek;
use Test::More;

my $exec_errors = program('exec_errors');
mkdir(scratch('files')) or die "scratch: $!";

sub same
{
	my ($what, %run) = @_;
	my $plain = plain(%run);
	my $with = peek(%run);
	is($with->{out}, $plain->{out}, "$what: same output");
	is($with->{err}, $plain->{err}, "$what: same errors");
	is(status_text($with->{status}), status_text($plain->{status}), "$what: same status");
	return $with;
}

for my $engine ((can_count('software') ? 'perf' : ()), 'sim') {
	my $run = same("$engine: each error", engine => $engine, command => [$exec_errors, scratch('files')]);
	is(notes($run), 0, "$engine: each error: nothing to say");
	like($run->{out}, qr/^a long argument: 7$/m, "$engine: each error: the kernel's");
	like($run->{out}, qr/^handled 0, then 2, then 3\nignored: .*\nblocked: 12 17\npending: 12\n\z/m,
		"$engine: each error: no signal is lost, in the program and the next");
	my @ends = map { "$_->{exit}{how} " . scalar(@{$_->{threads}}) } @{$run->{report}{processes}};
	is("@ends", 'exec 2 exit 1', "$engine: each error: both images, and the threads");
	ok_sums($run->{report}, "$engine: each error");

	# Whoever ignores the signals that the simulator needs passes that on.
	same("$engine: ignored faults", engine => $engine,
		command => ['bash', '-c', 'trap "" SEGV FPE ILL; exec sh -c "kill -SEGV \$\$; kill -ILL \$\$; echo alive"']);
	same("$engine: too many arguments", engine => $engine,
		command => ['bash', '-c', 'a=$(printf %0120000d 1); /bin/echo $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a; exit $?']);
}

# Another user, and a program that this one may not read.
SKIP: {
	skip(no_other_user(), 1) if no_other_user();
	my $dir = tempdir('unreadable-XXXXXX', TMPDIR => 1, CLEANUP => 1);
	chmod(0777, $dir);
	copy(which('id'), "$dir/id") or die "$dir/id: $!";
	chmod(0711, "$dir/id");
	my @other = (as_user(), 'env', "HOME=$dir",
		"CACHEPEEK_OUTPUT=$dir/report.json");
	my @command = ('bash', '-c', '"$0" -u; echo $?; exec "$0" -g', "$dir/id");
	my $plain = plain(command => [@other, @command]);
	my $run = peek(engine => 'sim', under => \@other, command => \@command);
	is($run->{out}, "65534\n0\n65534\n", 'may not be read: it runs');
	is($run->{out}, $plain->{out}, 'may not be read: as without us');
	is($run->{err}, $plain->{err}, 'may not be read: same errors');
	is(status_text($run->{status}), 'exit 0', 'may not be read: its status');
	is(notes($run), 2, 'may not be read: one line for each time') or diag(@{$run->{notes}});
	like($_, qr/is not counted: the simulated PMU cannot run \Q$dir\E\/id: it may not be read/,
		'may not be read: the reason') for @{$run->{notes}};
}

SKIP: {
	skip('another number elsewhere', 1) unless `uname -m` =~ /x86_64/;
	my @check = ('perl', '-e', 'my $p = "/bin/false"; print syscall(322, -100, $p, 0, 0, 0x10000), "\n"');
	is(peek(engine => 'sim', command => [@check])->{out}, plain(command => [@check])->{out}, 'AT_EXECVE_CHECK executes nothing');
}
done_testing();

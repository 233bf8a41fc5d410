#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Signals that are sent on the simulated PMU: of the kinds that instructions raise, too,
# they are handled, wait, and are found by who waits for them, as without us; and over an
# exec.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use POSIX qw(:signal_h);
use Test::More;

my $program = program('sent-signals');

sub same
{
	my ($name, @command) = @_;
	my $alone = run(command => \@command);
	my $run = peek(engine => 'sim', events => 'instructions', command => \@command);
	cmp_ok(scalar(() = $alone->{out} =~ /^--|:/mg), '>', 1, "$name: some cases");
	is($run->{out}, $alone->{out}, '... as alone');
	is($run->{status}, $alone->{status}, '... with its status');
}

# ---- each of instructions' signals, and others ----

my $hows = 'ignored,handled,blocked,ignored-blocked';
for (SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSYS, SIGUSR1, SIGRTMIN) {
	same("signal $_", $program, $_, $hows, 'kill,sigqueue', 'timed,descriptor');
}
same('SIGSEGV', $program, SIGSEGV, "default,$hows", 'kill,tgkill,sigqueue,thread,raise,child', 'timed,descriptor,suspend');
same('SIGSEGV: who waits', $program, SIGSEGV, 'handled,blocked', 'kill,sigqueue,raise', 'wait,reading,pending');

# Whether the thread that reads or the one that sends is first to wake is a matter of luck.
same('SIGSEGV: who does not handle it goes on reading', $program, SIGSEGV, 'handled', join(',', ('kill') x 20), 'reading');

same('several at once, those that nobody handles, and ignored ones over an exec', program('pending'));

same('a timer that was stopped', program('stopped_timer'));

# ---- ignored before the program begins ----

# libc's posix_spawn, by which make starts its commands, has a child ignore libc's own two signals;
# the first thread takes them.
my @spawn = (which('python3'), '-c', 'import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))');
SKIP: {
	skip('no python3, or its children ignore nothing', 3) unless $spawn[0] && run(command => [@spawn, which('cat'), '/proc/self/status'])->{out} =~ /^SigIgn:\s*0*18/m;
	my $run = run(command => [@spawn, cli(), '-E', 'sim', '-e', 'instructions', '-o', scratch('spawned.json'), program('threads'), 3]);
	is($run->{out}, run(command => [program('threads'), 3])->{out}, 'libc\'s own signals: as alone');
	is($run->{err}, '', '... without a line');
	is(status_text($run->{status}), 'exit 0', '... to its end');
}

# ---- over an exec ----

same("signal $_, waiting when a program executes another", $program, $_, 'blocked,ignored-blocked', 'kill,sigqueue', 'exec')
	for SIGSEGV, SIGUSR1;

# ---- what is not there ----

{
	my $run = run(command => [cli(), '-E', 'sim', program('user-dispatch')]);
	like($run->{out}, qr/^-1 Invalid argument$/m, 'there is no system call user dispatch');
	like($run->{err}, qr/^cachepeek: the simulated PMU has no system call user dispatch: /m, '... and a line says so');
	my @libc = (program('user-dispatch'), 'libc');
	my $alone = plain(command => \@libc);
	SKIP: {
		skip('no system call user dispatch here', 2) unless $alone->{out} =~ /^0 /;
		is($alone->{out}, "0 \nas alone, 0 handed over\n", 'calls of libc are let pass, alone');
		is(peek(engine => 'perf', command => \@libc)->{out}, $alone->{out}, '... and on perf');
	}
}

{
	my $run = run(command => [cli(), '-E', 'sim', program('autodisarm')]);
	like($run->{out}, qr/^-1 Invalid argument\n-1 Invalid argument\n0 \n/, 'there is no signal stack that disarms itself');
	is(scalar(() = $run->{err} =~ /^cachepeek: the simulated PMU has no signal stack that disarms itself: /mg), 1, '... and one line says so');
	is(peek(engine => 'perf', command => [program('autodisarm')])->{out}, plain(command => [program('autodisarm')])->{out}, '... as alone on perf');
}

done_testing;

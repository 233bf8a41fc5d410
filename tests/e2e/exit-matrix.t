#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# However a process with four busy threads ends: its wait status is its own, and
# the report says which, with every region that was completed.
# EXIT_ROUNDS: how often each row is run (3, and once where it is simulated).  EXIT_ENGINES: on which (perf sim).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my %rounds = (perf => $ENV{EXIT_ROUNDS} || 3, sim => $ENV{EXIT_ROUNDS} || 1);

# Nobody in the process sees these coming: `cachepeek report` does what it can.
my %unseen = map { $_ => 1 } qw(raw 9);
# No region is open any more: their threads were left to end.
my %all_ended = map { $_ => 1 } qw(pthread_exit thrd_exit SYS_exit);

my @rows = (qw(return exit _exit _Exit quick_exit quick_handler syscall raw atexit err
	pthread_exit thrd_exit SYS_exit fork vfork exec daemon thread thread_abort
	thread_segv thread_overflow abort assert segv overflow divide pipe handled
	default_again default_by_sigaction once_raise once_kill once_pthread_kill once_tgkill
	overflow_without_stack), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27,
	29, 30, 31, 34, 63);
my @slow = qw(alarm cpu);
# Valgrind delivers what a process sends itself by kill(2) during the call, or after it:
# this one may have gone on to its end then.
my %late = (sim => {once_kill => 'exit 3'});

# The faults of the report of this row; none: "".
sub faults
{
	my ($how, $report, $status) = @_;
	return 'no report' unless $report;
	my ($process) = grep { @{$_->{threads}} >= 5 } @{$report->{processes}};
	return 'no process with its threads' unless $process;
	my $exit = "$process->{exit}{how} " . ($process->{exit}{code} // '-');
	my $want = $unseen{$how} ? 'unknown -' : $how eq 'exec' ? 'exec -' : status_text($status);
	my @faults;
	push(@faults, "$exit, not $want") if $exit ne $want;
	push(@faults, @{$process->{threads}} . ' threads') if @{$process->{threads}} != 5;
	my @calls = sort { $a <=> $b } map { my $region = region($_, 'work'); $region ? $region->{calls} : () }
		@{$process->{threads}};
	push(@faults, "work: @calls") if "@calls" ne '10 11 12 13';
	my @inner = sort { $a <=> $b }
		map { my $region = region($_, 'work', 'inner'); $region ? $region->{calls} : () }
		@{$process->{threads}};
	push(@faults, "inner: @inner") if "@inner" ne '10 11 12 13';
	my @open = grep { region($_, 'open') } @{$process->{threads}};
	push(@faults, @open . ' open') if @open != 4;
	return join('; ', @faults);
}

my $directories = 0;
sub once
{
	my ($engine, $how, $plain) = @_;
	my $directory = scratch(sprintf('matrix-%05d', ++$directories));
	my $with = peek(engine => $engine, command => [program('ends'), $how],
		env => {CACHEPEEK_DIR => $directory});
	$plain = {%$plain, status => $with->{status}} if status_text($with->{status}) eq ($late{$engine}{$how} // '');
	my $report = $unseen{$how} ? kept_report($directory) : $with->{report};
	my @faults = grep { length } faults($how, $report, $plain->{status});
	push(@faults, status_text($with->{status}) . ' instead of ' . status_text($plain->{status}))
		if status_text($with->{status}) ne status_text($plain->{status});
	push(@faults, "stderr: $with->{err}") if $with->{err} ne $plain->{err} && $how ne 'assert';
	push(@faults, @{$with->{notes}});
	unlink(glob("$directory/*.rec"), "$directory.json");
	rmdir($directory);
	return join('; ', @faults);
}

# Each end without the library, for all engines.
my %plain;
sub row
{
	my ($engine, $how, $times) = @_;
	my $plain = $plain{$how} //= plain(command => [program('ends'), $how]);
	my @faults = grep { length } map { once($engine, $how, $plain) } 1 .. $times;
	ok(!@faults, "$engine, $how, $times times: " . status_text($plain->{status})) or
		diag(@faults . " of $times: $faults[0]");
}

for my $engine (split(q( ), $ENV{EXIT_ENGINES} || q(perf sim))) {
	SKIP: {
		skip("$engine: " . why_not($engine), 1) if why_not($engine);
		row($engine, $_, $rounds{$engine}) for @rows;
		row($engine, $_, 1) for @slow;
	}
}

# The program's questions about its signals have the same answers as without us.  (The
# simulator keeps the last real-time signal for itself, and SIGSTKFLT.)
SKIP: {
	skip('perf: the kernel counts no software events here', 1) if !can_count('software');
	ok_same('a program that looks at its signals', engine => 'perf',
		command => [program('signal_view')]);
}

# A report that nobody reads: what its writing meets is nobody's business.
for my $engine (split(q( ), $ENV{EXIT_ENGINES} || q(perf sim))) {
	SKIP: {
		skip("$engine: " . why_not($engine), 1) if why_not($engine);
		my $run = peek(engine => $engine, output => 'stderr', command => [program('ends'), 'exit'],
			under => ['perl', '-e', 'pipe(R, W); close(R); open(STDERR, ">&", W); exec @ARGV or die $!']);
		is(status_text($run->{status}), status_text(plain(command => [program('ends'), 'exit'])->{status}),
			"$engine: a pipe without a reader for the report");
	}
}
done_testing();

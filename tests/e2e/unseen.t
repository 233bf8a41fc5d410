#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Threads that libc knows nothing of: found while they run, or at least missed.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

sub unattributed { grep { /^<unattributed>/ } @{$_[0]{report}{warnings}} }

# 100,000,000 rounds of two to four instructions, and to the instruction none.
for my $case (['none', 0, 0], ['gone', 200e6, 400e6], ['stays', 200e6, 9e9]) {
	my ($how, $least, $most) = @$case;
	my $run = peek(engine => 'sim', events => 'instructions', command => [program('stray'), $how]);
	is($run->{out}, "$how\n", "sim, $how: the program ran");
	my $process = $run->{report}{processes}[0];
	my $missed = $process->{unattributed}{counts}{instructions}{value};
	cmp_ok($missed, '>=', $least, "sim, $how: $missed instructions are in no thread");
	cmp_ok($missed, '<=', $most, "sim, $how: and no more");
	is(scalar(unattributed($run)), $how eq 'none' ? 0 : 1, "sim, $how: the report says so");
	my $whole = $process->{whole_process}{counts}{instructions}{value};
	my $sum = value(region($run->{report}), 'instructions');
	cmp_ok($sum + $missed, '<=', $whole, "sim, $how: the whole is not less than its parts");
}
SKIP: {
	skip('perf: the kernel counts no software events here', 1) unless can_count('software');
	my %run = map { $_ => peek(engine => 'perf', command => [program('stray'), $_]) } qw(none gone stays);
	is($run{$_}{out}, "$_\n", "perf, $_: the program ran") for sort keys %run;
	my %adopted = map { my $how = $_;
		$how => scalar(grep { $_->{adopted} } @{$run{$how}{report}{processes}[0]{threads}}) } keys %run;
	is($adopted{none}, 0, 'perf, none: nobody is adopted');
	is(scalar(unattributed($run{none})), 0, 'perf, none: nothing is missed');
	is($adopted{gone}, 0, 'perf, gone: too late to adopt');
	is(scalar(unattributed($run{gone})), 1, 'perf, gone: its CPU time is missed');
	cmp_ok($run{gone}{report}{processes}[0]{unattributed}{cpu_s}, '>', 0.01, 'perf, gone: which is known');
	is($adopted{stays}, 1, 'perf, stays: adopted');
	ok(scalar(grep { /found running/ } @{$run{stays}{report}{warnings}}), 'perf, stays: the report says so');

	# The time that a known thread has used is not missed.
	my $busy = peek(engine => 'perf', command => [which('perl'), '-e', '$x += $_ for 1 .. 4000000']);
	is(scalar(unattributed($busy)), 0, 'perf, a busy main thread: nothing is missed');
	cmp_ok($busy->{report}{processes}[0]{unattributed}{cpu_s}, '<', 0.01, 'perf, a busy main thread: hardly any time');

	# Nor what the library takes: a child to begin, and its own thread to read samples.
	my $mapped = peek(engine => 'perf', events => 'perf::PAGE-FAULTS', command => [program('many_mappings'), 60000],
		env => {CACHEPEEK_PROFILE => 'dtlb'});
	is(scalar(unattributed($mapped)), 0, 'perf, many mappings: nothing is missed');
	my @missed = map { $_->{unattributed}{cpu_s} } @{$mapped->{report}{processes}};
	is(scalar(@missed), 2, 'perf, many mappings: a process and its child');
	is(scalar(grep { $_ >= 0.001 } @missed), 0, 'perf, many mappings: no time of either') or diag("@missed");

	# One that ends while its counters are opened, alone or between two of a
	# group, is no lost thread: what it did is in none.
	my ($log, @strace) = (scratch('strace'), which('strace') || 'no strace', '-e', 'trace=perf_event_open');
	# Any user may count these two.
	my $pair = 'perf::PAGE-FAULTS,perf::MINOR-FAULTS';
	my $traced = peek(engine => 'perf', events => $pair, under => [@strace, '-o', $log], command => [program('stray'), 'stays']);
	my (@opened) = grep { /perf_event_open/ } split(/\n/, read_file($log) // '');
	my ($leader) = grep { $opened[$_] =~ /\}, [1-9]\d*, -1, -1, / } 0 .. $#opened;
	SKIP: {
		skip('no strace here', 9) unless $traced->{status} == 0;
		ok(defined $leader, 'the opening of its counters can be seen') or next;
		for my $fault ([1, 'ESRCH'], [2, 'ENODEV']) {
			my ($member, $error) = @$fault;
			my $when = $leader + $member;
			my $run = peek(engine => 'perf', events => $pair, command => [program('stray'), 'stays'],
				under => [@strace, '-o', $log, '-e', "inject=perf_event_open:error=$error:when=$when"]);
			like(read_file($log), qr/$error.*INJECTED/, "$error: the opening failed");
			is(notes($run), 0, "$error: nothing to say") or diag(@{$run->{notes}});
			my @threads = @{$run->{report}{processes}[0]{threads}};
			is(scalar(grep { $_->{adopted} || $_->{state} eq 'lost' } @threads), 0, "$error: it is no thread");
			is(scalar(unattributed($run)), 1, "$error: its CPU time is missed");
		}
	}

	# Nothing is missed where many come and go.
	my $run = peek(engine => 'perf', command => [program('churn'), 2000]);
	is(scalar(unattributed($run)), 0, 'perf, 2,000 threads: nothing is missed');
}
done_testing();

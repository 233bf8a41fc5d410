#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The perf engine, on events that every kernel counts exactly: page faults and
# hardware breakpoints.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

need_perf();
my $faults = 'perf::PAGE-FAULTS';
my @perf = (engine => 'perf', events => "$faults,perf::CONTEXT-SWITCHES");

for my $pages (1, 37, 1000) {
	my $run = peek(@perf, command => [program('region_pages'), $pages, 4]);
	my $report = $run->{report};
	my $touched = $pages;
	ok($report, "$pages pages: a report") or diag($run->{err}), next;
	my ($main) = threads_named($report, 'region_pages');

	is($report->{engine}{name}, 'perf', "$pages pages: counted by the kernel");
	is(value(region($main, 'touch'), $faults), $pages, "$pages pages in main: a fault each");
	for my $i (0 .. 3) {
		my ($thread) = threads_named($report, "page-$i");
		my $count = region($thread, 'touch')->{counts}{$faults};
		is($count->{value}, $pages + $i + 1, "$pages pages: page-$i has its own");
		is($count->{status}, 'exact', "$pages pages: page-$i is exact");
		$touched += $pages + $i + 1;
	}
	is(value(region($report, 'touch'), $faults), $touched, "$pages pages: all together");
	is(region($report, 'touch')->{calls}, 5, "$pages pages: five executions");
	ok_sums($report, "$pages pages");
}

# A second event does not change the first, nor its order.
{
	my $run = peek(engine => 'perf', command => [program('region_pages'), 50, 0],
		events => 'perf::CONTEXT-SWITCHES,perf::MINOR-FAULTS,perf::PAGE-FAULTS,perf::TASK-CLOCK');
	my $touch = region($run->{report}, 'touch');
	is(value($touch, 'perf::PAGE-FAULTS'), 50, 'page faults among four events');
	is(value($touch, 'perf::MINOR-FAULTS'), 50, 'all of them minor');
	like(value($touch, 'perf::CONTEXT-SWITCHES'), qr/^\d+$/, 'context switches are a number, if 0');
	cmp_ok(value($touch, 'perf::TASK-CLOCK'), '>', 0, 'time on a CPU');
}

# Some virtual machines open breakpoints that never count: a 0 would be no count.
SKIP: {
	skip('breakpoints count here, or cannot be opened', 2) unless run(command => [program('can_count')])->{out} =~ /^no breakpoint: .*do not count/m;
	my $run = peek(engine => 'perf', events => "mem:0x1000:x,$faults", command => ['true']);
	my $count = region($run->{report})->{counts}{'mem:0x1000:x'};
	is($count->{status}, 'unavailable', 'breakpoints that do not count: no number');
	like($count->{reason}, qr/^breakpoints open here, but do not count/, 'and the reason');
}

SKIP: {
	skip('the kernel gives no hardware breakpoints here', 1) unless can_count('breakpoint');
	my ($address) = run(command => ['nm', program('calls')])->{out} =~ /^0*([0-9a-f]+) T counted$/m;
	my $event = "mem:0x$address:x";
	my $run = peek(engine => 'perf', events => $event, command => [program('calls'), 321, 3]);
	my $report = $run->{report};
	ok($report, 'calls: a report') or diag($run->{err}), last SKIP;
	my ($main) = threads_named($report, 'calls');

	is(value(region($main), $event), 321, 'calls from main');
	for my $i (0 .. 2) {
		my ($thread) = threads_named($report, "call-$i");
		is(value(region($thread), $event), 321 * ($i + 2), "calls from call-$i");
		is(region($thread)->{counts}{$event}{status}, 'exact', "exact in call-$i");
	}
	is(value(region($report), $event), 321 * (1 + 2 + 3 + 4), 'calls in all');

	# x86 has four, and whether they count has been tried before.
	SKIP: {
		skip('as many breakpoints as x86 has', 1) unless `uname -m` =~ /x86_64/;
		$run = peek(engine => 'perf', events => "mem:0x1000:x,mem:0x2000:x,mem:0x3000:x,$event", command => [program('calls'), 321, 3]);
		is(value(region($run->{report}), $event), 3210, 'four of them at once');
	}
}

# Hardware breakpoints in nested regions: each is its own part and what is inside.
SKIP: {
	skip('the kernel gives no hardware breakpoints here', 1) unless can_count('breakpoint');
	my ($address) = run(command => ['nm', program('region_calls')])->{out} =~ /^0*([0-9a-f]+) T counted$/m;
	my ($event, $times) = ("mem:0x$address:x", 123);
	my $report = peek(engine => 'perf', events => $event,
		command => [program('region_calls'), $times, 2])->{report};
	ok($report, 'calls in regions: a report') or last SKIP;
	my %want = ('' => [1, 11 + 24 * $times, 11], 'outer' => [$times, 24 * $times, 7 * $times],
		'outer inner' => [3 * $times, 17 * $times, 15 * $times],
		'outer inner inner' => [$times, 2 * $times, 2 * $times]);
	for my $thread (map { @{$_->{threads}} } @{$report->{processes}}) {
		my %got = map { ("@{$_->{path}}" => [$_->{calls}, value($_, $event),
			value($_, $event, 'exclusive')]) } @{$thread->{regions}};
		is_deeply(\%got, \%want, "calls in regions of $thread->{name}: to the call, and without those inside");
	}
	my ($each, $n) = (region($report, qw(outer inner))->{counts}{$event}{per_call}, 9 * $times);
	is("$each->{min} $each->{max}", '5 7', 'calls in regions: least and most of an execution');
	cmp_ok(abs($each->{mean} - 17 / 3), '<', 1e-6, 'calls in regions: their mean');
	cmp_ok(abs($each->{stddev} - sqrt(8 / 9 * $n / ($n - 1))), '<', 1e-6, 'calls in regions: and spread');
	is((grep { $_->{counts}{$event}{status} ne 'exact' } @{$report->{regions}}), 0, 'calls in regions: exactly');
	ok_sums($report, 'calls in regions');
}
done_testing();

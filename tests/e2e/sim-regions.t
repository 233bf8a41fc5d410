#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The simulated PMU counts exactly, and in the region and thread that did it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $events = 'instructions,l1d_loads,l1d_stores,l1d_misses,l1d_load_misses,l1d_store_misses,llc_misses,llc_load_misses';
my @sim = (engine => 'sim', machine => 'cachegrind', events => $events);

# Twice as large an L1D as both arrays: what a compiler has on main()'s stack, and has again in a
# region, is still there.
my $large = machine_file('large', l1d => '64K 16 64', llc => '8M 16 64');
sub lines
{
	my ($lines, $times) = @_;
	my $run = peek(@sim, machine => $large, command => [program('region_lines'), $lines, $times]);
	ok($run->{report}, "$lines lines, $times times: a report") || diag($run->{err});
	return $run->{report};
}

# ---- K new lines, N times ----

my %outside;
for my $case ([100, 1], [200, 1], [100, 7], [200, 7], [256, 3]) {
	my ($lines, $times) = @$case;
	my $what = "$lines new lines, $times times";
	my $report = lines($lines, $times) or next;
	my ($touch, $store) = (region($report, 'touch'), region($report, 'store'));

	is($touch->{calls}, 1, "$what: one execution");
	is(value($touch, 'l1d_load_misses'), $lines, "$what: a miss each");
	is(value($touch, 'l1d_store_misses'), 0, "$what: no other");
	is(value($touch, 'llc_load_misses'), $lines, "$what: down to memory");
	is($touch->{counts}{l1d_load_misses}{status}, 'simulated', "$what: said to be simulated");
	is(value($store, 'l1d_store_misses'), $lines, "$what stored: a miss each");
	is(value($store, 'l1d_load_misses'), 0, "$what stored: no other");
	is(value(region($report), 'l1d_misses'), value(region($report), 'l1d_misses', 'exclusive')
		+ value($touch, 'l1d_misses') + value($store, 'l1d_misses')
		+ value(region($report, 'warm'), 'l1d_misses'), "$what: the rest is outside");
	$outside{"$lines $times"} = region($report);
}
# The rest of the program does not see them: in the last level, where nothing is
# evicted, it misses the same; in L1D the same whatever the times.
sub outside { value($outside{$_[0]}, $_[1], 'exclusive') }
is(outside($_, 'llc_misses'), outside('100 1', 'llc_misses'), "$_: as many misses outside")
	for sort keys %outside;
is(outside('100 7', 'l1d_misses'), outside('100 1', 'l1d_misses'), 'L1D misses outside: times');
is(outside('200 7', 'l1d_misses'), outside('200 1', 'l1d_misses'), 'L1D misses outside: times');

# A load is counted for each that was executed: one more pass of the loop is as
# many loads more as it has lines, and nothing else.
{
	my ($one, $two) = (lines(100, 1), lines(100, 2));
	my ($touch1, $touch2) = map { region($_, 'touch') } ($one, $two);
	my $more = value($touch2, 'l1d_loads') - value($touch1, 'l1d_loads');
	my $calls = value(region($two, 'store'), 'l1d_stores') - value(region($one, 'store'), 'l1d_stores');
	ok($more >= 100 && $more <= 104, "one pass more is 100 loads and a call: $more");
	ok($calls >= 100 && $calls <= 104, "or 100 stores and a call: $calls");
}

# ---- threads ----

{
	my $run = peek(@sim, command => [program('region_threads'), 8]);
	my $report = $run->{report};
	my $sum = 0;
	ok($report, 'eight threads: a report') || diag($run->{err});
	for my $i (0 .. 7) {
		my ($thread, @more) = threads_named($report, "walk-$i");
		ok($thread && !@more, "thread walk-$i is there once");
		is(value(region($thread, 'walk'), 'l1d_load_misses'), 8 * ($i + 1), "walk-$i: its own lines");
		$sum += 8 * ($i + 1);
	}
	is(value(region($report, 'walk'), 'l1d_load_misses'), $sum, 'all threads together');
	my $misses = region($report, 'walk')->{counts}{l1d_load_misses};
	my ($last) = threads_named($report, 'walk-7');
	is($misses->{max}, 64, 'most in one thread');
	is($misses->{max_at}{tid}, $last->{tid}, 'in the one that loaded most');
	is($misses->{min}, 8, 'fewest in one thread that has the region');
	ok_sums($report, 'eight threads');
}

# The process as a whole is the sum of its threads, of what came before the
# constructor, and of libc's start and end of each thread.
{
	my @rest;
	my $least = 0;
	for my $count (1, 8) {
		my $run = peek(@sim, command => [program('region_threads'), $count]);
		my $process = root_process($run->{report});
		my $whole = $process->{whole_process}{counts}{instructions}{value};
		my $threads = sum_of_threads($process, 'instructions');
		ok($whole > $threads, "$count threads: more in all than from the constructor on");
		push(@rest, $whole - $threads);
		($least) = sort { $a <=> $b }
			map { value(region($_), 'instructions') } @{$process->{threads}};
	}
	my $each = ($rest[1] - $rest[0]) / 7;
	cmp_ok($each, '<', 1200, 'no thread is missing in the whole');
	cmp_ok($least, '>', 2400, 'it would be seen if it were');
}

# ---- nesting ----

{
	my $report = peek(@sim, command => [program('region_nested')])->{report};
	my ($outer, $inner) = (region($report, 'outer'), region($report, 'outer', 'inner'));
	my $alone = region($report, 'inner');

	is(value($outer, 'l1d_load_misses'), 35, 'outer, with what is inside');
	is(value($outer, 'l1d_load_misses', 'exclusive'), 20, 'outer, without');
	is(value($inner, 'l1d_load_misses'), 15, 'inner in outer');
	is($inner->{calls}, 3, 'three times');
	is_deeply([@{$inner->{counts}{l1d_load_misses}{per_call}}{qw(min max mean)}], [5, 5, 5],
		'the same each time');
	is(value($alone, 'l1d_load_misses'), 7, 'inner on its own is another path');
	is(value($outer, $_), value($outer, $_, 'exclusive') + value($inner, $_),
		"$_: inclusive is exclusive and children") for split(/,/, $events);
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The timing model end to end: loops whose cycles are known, the published tables that
# need time, where time is not known, and that nothing else changes.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my @sim = (engine => 'sim');

# ---- cycles by arithmetic ----

my @events = qw(cycles instructions fb_full fb_full_events data_stall_cycles stall_total
	dtlb_walk_cycles ifetch_stall_cycles 0x1 0x2 0x8 0x9 l1d_misses dtlb_misses
	load_latency_cycles value_stall_memory);

sub timed
{
	my ($machine, %more) = @_;
	my $run = peek(@sim, machine => $machine, events => join(',', @events),
		command => [program('timed'), 60], %more);

	ok($run->{report}, "$machine: a report") || diag($run->{err});
	return $run->{report};
}

# The cost of 60 turns of a loop, one of them: the whole of the second region is the
# first one's and 60 turns more.
my %turn = (
	# two instructions
	spin => {cycles => 2, instructions => 2},
	# 0: the load; the next one, with all three instructions behind it, is at 60
	chase => {cycles => 60, instructions => 3, '0x2' => 57, data_stall_cycles => 57,
		stall_total => 57, l1d_misses => 1, load_latency_cycles => 60,
		value_stall_memory => 57},
	# four stores, four instructions each, take the four fill buffers; the fifth waits
	# until the first is free again: 60 cycles for four
	store => {cycles => 15, instructions => 4, fb_full => 11, '0x8' => 11,
		fb_full_events => 0.25, '0x9' => 0.25, data_stall_cycles => 11, stall_total => 11,
		l1d_misses => 1},
	# 0, 1: loads, the line of the second is there at 61; four more: 65
	pairs => {cycles => 65, instructions => 6, '0x2' => 59, data_stall_cycles => 59,
		stall_total => 59, l1d_misses => 2, load_latency_cycles => 120,
		value_stall_memory => 59},
	# 0: a walk; 120: the load; its line is there at 180, when the next turn begins
	walk => {cycles => 180, instructions => 4, '0x2' => 176, data_stall_cycles => 176,
		stall_total => 176, dtlb_walk_cycles => 120, dtlb_misses => 1, l1d_misses => 1,
		load_latency_cycles => 60, value_stall_memory => 56},
);
{
	my $report = timed('ixp45x') // {};

	for my $loop (sort keys %turn) {
		my ($once, $twice) = map { region($report, "$loop-$_") } qw(once twice);
		my %got = map { $_ => ((value($twice, $_) // -1) - (value($once, $_) // 0)) / 60 } @events;
		my %want = (map({ $_ => 0 } @events), %{$turn{$loop}});

		is_deeply(\%got, \%want, "$loop: a turn costs what it must");
		is($twice->{counts}{$_}{status}, 'estimated', "$loop: $_ is estimated")
			for qw(cycles 0x2 0x8 fb_full dtlb_walk_cycles);
		is($twice->{counts}{cycles}{reason}, 'in-order timing model of machine ixp45x, which assumes memory-latency, walk-latency',
			"$loop: and says by what");
		is($twice->{counts}{l1d_misses}{status}, 'simulated', "$loop: misses are counted");
	}
	my $all = region($report);
	is_near($all->{time_s}{value}, value($all, 'cycles') / 533e6, 'seconds are cycles by the clock');
	is($all->{time_s}{status}, 'estimated', 'and estimated');
}

# ---- the published tables: each column a number, or a reason ----

sub complete
{
	my ($machine, $groups, $program, %wanted) = @_;
	my $run = peek(@sim, machine => $machine, groups => $groups, command => $program);
	my $all = region($run->{report});

	for my $name (sort keys %wanted) {
		my $it = $all->{counts}{$name} // $all->{metrics}{$name};
		ok(defined $it->{value}, "$machine: $name is a number") || diag($it->{reason});
		is($it->{status}, $wanted{$name}, "$machine: $name is $wanted{$name}");
	}
	for my $kind (qw(counts metrics)) {
		my @mute = grep { !defined $all->{$kind}{$_}{value} && !$all->{$kind}{$_}{reason} }
			sort keys %{$all->{$kind}};
		is("@mute", '', "$machine: no other of the $kind is without a reason");
	}
	return $run->{report};
}

# All seven modes of the XScale.
complete('ixp45x', 'icache,dcache,fetch-latency,buffer-full,stall-writeback,itlb,dtlb,dcache-four',
	[program('columns'), 200, 1],
	(map { $_ => 'simulated' } qw(instructions l1i_misses l1i_miss_rate l1d_accesses l1d_misses
		l1d_miss_ratio l1d_half_writebacks l1d_half_wb_per_miss itlb_misses itlb_miss_rate
		dtlb_misses dtlb_miss_ratio l1d_hit_ratio)),
	(map { $_ => 'estimated' } qw(cycles cpi ifetch_stall_cycles ifetch_latency
		ifetch_stall_share fb_full fb_full_events fb_full_share fb_full_duration
		data_stall_cycles data_stall_share fb_full_per_request)));

# The Pentium Pro's, time shares and all.
my $pro = complete('pentium-pro', 'memlevel,basic,stalls,tlb', [program('columns'), 100, 1],
	(map { $_ => 'simulated' } qw(l1d_accesses l1d_fills beyond_l2_fills l2_ifetches
		bus_transactions frac_mem l2_hit_refs l1d_miss_ratio)),
	(map { $_ => 'estimated' } qw(cycles time_l1_share time_l2_share time_mem_share
		bus_bandwidth ifetch_overhead idle_share ipc cpi utilization stall_share
		data_stall_share l1_bound l2_bound l3_bound dram_bound dtlb_walk_share
		dtlb_walk_duration itlb_walk_duration tlb_walk_share)));
{
	my $all = region($pro);
	my %metric = map { $_ => $all->{metrics}{$_}{value} } keys %{$all->{metrics}};
	my $bound = $metric{l1_bound} + $metric{l2_bound} + $metric{l3_bound} + $metric{dram_bound};

	is_near($bound, $metric{data_stall_share}, 'where data was waited for adds up');
	cmp_ok($metric{idle_share}, '<', 1e-12, 'one thread is never idle'); # but for a last bit
	is($metric{dtlb_walk_duration}, 16, 'a walk takes what the file says');
	is_near($metric{bus_bandwidth}, 32 * value($all, 'bus_transactions') / value($all, 'cycles') * 200,
		'bandwidth by its clock');
}

# ---- where time is not known, and when it is counted ----

sub one
{
	my ($machine, $events, %env) = @_;
	my $run = peek(@sim, machine => $machine, events => $events, env => \%env,
		command => [program('columns'), 20, 1]);
	return (region($run->{report}), $run);
}

{
	# The processor of this host decides (tests/unit/machine_known.c); either way it is said.
	my ($all, $run) = one('host', 'cycles,instructions');
	my $of = $run->{report}{machine}{description} =~ /latencies, time\b.* of \S+/;
	my $why = $of ? qr/^out-of-order timing model of machine host, which assumes /
		: qr/^this processor's latencies of .*walk-latency are not known: `cachepeek doctor --calibrate` measures them, or /;

	is(defined(value($all, 'cycles')) ? 1 : 0, $of ? 1 : 0, 'host: cycles, if a file is of it');
	like($all->{counts}{cycles}{reason}, $why, 'and why');

	my $own = write_file(scratch('own.machine'),
		"l2 = 256K 8 64 latency=10\nllc = none\nstlb = 512 4\nmemory-latency = 100\n");
	($all) = one($own, 'cycles');
	like($all->{counts}{cycles}{reason}, qr/names no latency of stlb, walk-latency$/,
		'a file of one\'s own: what it lacks');
	my $text = run(command => [cli(), '-E', 'sim', '-m', $own, '-g', 'time', program('empty')])->{err};
	like($text, qr/\n\nPredicted time.*\nnot available: all of it \(cycles: the machine file names no latency of\s+stlb,\s+walk-latency\)\n\n/,
		'a group without a value says why');
	unlike($text, qr/^whole run/m, 'and has no table');
	$text = run(command => [cli(), '-E', 'sim', '-m', $own, '-g', 'time', program('region_nested')])->{err};
	like($text, qr/not available: all of it .*^region +calls\n.*^  outer +\d/ms, 'but that of calls, where there are regions');
	$own = write_file(scratch('own.machine'),
		"l2 = 256K 8 64 latency=10\nllc = none\nstlb = none\nmemory-latency = 100\nwalk-latency = 30\n");
	($all) = one($own, 'cycles,fb_full');
	cmp_ok(value($all, 'cycles'), '>', 0, 'with all of it there are cycles');
	like($all->{counts}{fb_full}{reason}, qr/has no number of fill buffers/, 'but no buffers to be full');
	is($all->{time_s}{reason}, 'the machine file names no clock-mhz', 'and no seconds without a clock');

	($all) = one('ixp45x', 'cycles', CACHEPEEK_TIMING => 'off');
	like($all->{counts}{cycles}{reason}, qr/CACHEPEEK_TIMING=off/, 'not if it is forbidden');
	($all) = one('ixp45x', 'instructions');
	like($all->{time_s}{reason}, qr/simulator time/, 'nor if nobody asks');
	($all) = one('ixp45x', 'instructions', CACHEPEEK_TIMING => 'on');
	cmp_ok($all->{time_s}{value}, '>', 0, 'but if asked to there is time without an event of it');
}

# ---- nothing else changes ----

# With an environment of one length, or the stack is elsewhere and so are its lines.

for my $machine (qw(ixp45x pentium-pro cachegrind)) {
	my @counts = qw(instructions l1d_accesses l1d_misses l1d_writebacks l1i_misses dtlb_misses);
	my @both = map {
		my $run = peek(@sim, machine => $machine, events => join(',', @counts),
			env => {CACHEPEEK_TIMING => $_, SAME_LENGTH => $_ eq 'on' ? 'x' : ''}, command => [program('timed'), 60]);
		my $report = $run->{report};
		[map { my $r = $_; map { value(region($report, $r), $_) } @counts }
			map { ("$_-once", "$_-twice") } sort keys %turn]
	} qw(on off);
	is_deeply($both[0], $both[1], "$machine: the same counts with time and without");
}

# ---- several threads, and several machines ----

{
	my $run = peek(@sim, machine => 'pentium-pro', groups => 'basic', command => [program('threads'), 3]);
	my $all = region($run->{report});
	my $cycles = sum_of_threads(root_process($run->{report}), 'cycles');

	is(value($all, 'cycles'), $cycles, 'the cycles of all threads');
	cmp_ok($all->{metrics}{idle_share}{value}, '>', 0, 'threads of different length leave cores idle');
}
for my $program ('columns', 'static_columns') {
	my $file = scratch("$program.json");

	run(command => [cli(), 'compare', '--machines', 'cachegrind,pentium-pro,ixp45x', '-o', $file,
		'-e', 'cycles,instructions', program($program), 50, 1]);
	my $json = Json::decode_json(read_file($file) // '{}');
	my %of = map { $_->{name} => $_->{counts} } @{$json->{machines} // []};

	for my $machine (qw(pentium-pro ixp45x)) {
		cmp_ok($of{$machine}{cycles}{value}, '>', $of{$machine}{instructions}{value},
			"compare, $program: $machine has cycles");
		is($of{$machine}{cycles}{status}, 'estimated', "compare, $program: estimated");
		is($of{$machine}{instructions}{status}, 'simulated', "compare, $program: and counts");
	}
	is($of{cachegrind}{cycles}{value}, undef, "compare, $program: cachegrind has no latencies");
}
{
	my $json = scratch('static.json');
	run(command => [cli(), '-E', 'sim', '-m', 'cachegrind', '-e', 'cycles', '-o', $json, program('static_columns'), 50, 1]);
	my $side = run(command => [cli(), 'compare', '--machines', 'pentium-pro,ixp45x', '-e', 'cycles',
			program('columns'), 50, 1]);
	like($side->{out} . $side->{err}, qr/^cycles +~[\d,]+ +~[\d,]+$/m, 'compare marks them so');
	is(value(region(Json::decode_json(read_file($json) // '{}')), 'cycles'), undef, 'static programs alone: not counted is not 0');
}

done_testing;

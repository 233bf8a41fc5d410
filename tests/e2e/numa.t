#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Machines of several sockets: pages are where they were first touched, and who reads
# them from elsewhere is counted; what one socket cannot tell, and what files get wrong.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $two = <<'END';
cores = 4
l1i = 32K 8 64
l1d = 32K 8 64
l2 = 1M 16 64 latency=14
llc = 8M 16 64 latency=50
itlb = 64 4
dtlb = 64 4
stlb = 1536 12 latency=7
memory-latency = 200
walk-latency = 30
sockets = 2
END

sub machine
{
	my ($name, $text) = @_;

	write_file(scratch("$name.machine"), $text);
	return scratch("$name.machine");
}

my @events = qw(l1d_load_lines l2_load_lines llc_load_lines loads_cache_to_cache
	dram_reads_local dram_reads_remote loads_one_hop loads_two_hop remote_hitm
	remote_accesses load_latency_cycles);

# The counts of each region on that machine.
sub counts
{
	my ($machine) = @_;
	my $run = peek(engine => 'sim', machine => $machine, events => join(',', @events),
		command => [program('numa')]);

	ok($run->{report}, "a report") || diag($run->{err});
	return map { my $r = region($run->{report}, $_); $_ => $r->{counts} } qw(own remote written);
}

# To the nearest 16: of the lines that threads share besides (the stack's, libc's) a few
# may be missed, which hangs on where a thread's time slice ended.
sub nearest { my ($n) = @_; return defined $n ? 16 * int(($n + 8) / 16) : 'none' }
sub numbers { my ($counts, @names) = @_; return join(' ', map { "$_=" . nearest($counts->{$_}{value}) } @names) }

# Every line that a load missed is in one of the buckets, and takes as long as that says.
sub ok_latency
{
	my ($counts, $what, %cycles) = @_;
	my %n = map { $_ => $counts->{$_}{value} } @events;
	my $llc = $n{l2_load_lines} - $n{llc_load_lines} - $n{loads_cache_to_cache};
	my $sum = $cycles{l2} * ($n{l1d_load_lines} - $n{l2_load_lines}) + $cycles{llc} * $llc
		+ $cycles{memory} * $n{dram_reads_local} + $cycles{hop} * $n{loads_one_hop}
		+ $cycles{cache} * $n{loads_cache_to_cache};

	is($n{dram_reads_local} + $n{dram_reads_remote}, $n{llc_load_lines}, "$what: all memory is somewhere");
	is($n{load_latency_cycles}, $sum, "$what: cycles of the lines");
}

# ---- two sockets, a thread on each ----

my @buckets = qw(dram_reads_local dram_reads_remote loads_two_hop loads_cache_to_cache remote_hitm);
{
	my %of = counts(machine('two', "$two\none-hop-latency = 320\nremote-cache-latency = 280\n"));

	is(numbers($of{own}, @buckets), 'dram_reads_local=1984 dram_reads_remote=0 loads_two_hop=0 ' .
		'loads_cache_to_cache=0 remote_hitm=0', 'its own pages: local memory');
	is(numbers($of{remote}, @buckets), 'dram_reads_local=0 dram_reads_remote=2048 loads_two_hop=0 ' .
		'loads_cache_to_cache=0 remote_hitm=0', 'the other socket\'s pages: one hop');
	is(numbers($of{written}, @buckets), 'dram_reads_local=0 dram_reads_remote=0 loads_two_hop=0 ' .
		'loads_cache_to_cache=64 remote_hitm=64', 'what that has modified: from its cache');
	cmp_ok($of{remote}{remote_accesses}{value}, '>=', 2048, 'remote accesses: those, and code');
	ok_latency($of{$_}, $_, l2 => 14, llc => 50, memory => 200, hop => 320, cache => 280)
		for sort keys %of;
	is($of{remote}{dram_reads_remote}{status}, 'simulated', 'counted, not estimated');
}

# ---- one after the other; without latencies ----

{
	my %of = counts(machine('close', "$two\nplacement = close\n"));

	is(numbers($of{remote}, @buckets), 'dram_reads_local=2048 dram_reads_remote=0 loads_two_hop=0 ' .
		'loads_cache_to_cache=0 remote_hitm=0', 'close: both threads are on one socket');
	is(numbers($of{written}, @buckets), 'dram_reads_local=0 dram_reads_remote=0 loads_two_hop=0 ' .
		'loads_cache_to_cache=64 remote_hitm=0', 'close: another core had it');
	like($of{remote}{load_latency_cycles}{reason}, qr/names no latency of one-hop-latency$/,
		'lines are counted without latencies, cycles are not');
}

# ---- the latency buckets of a profile ----

{
	my $file = scratch('profile.json');
	my $run = run(command => [cli(), 'dcache', '-m',
		machine('profiled', "$two\none-hop-latency = 320\n"), '-o', $file, program('numa')]);
	my $profile = decode_json(read_file($file) // '{}');
	my @buckets = qw(load_from_l2 load_from_llc load_from_local loads_one_hop loads_two_hop
		loads_cache_to_cache);
	my ($reader) = grep { $_->{function} eq 'read_lines' } @{$profile->{functions}};

	is_deeply($profile->{latencies}, {l1 => 4, l2 => 14, llc => 50, memory => 200, one_hop => 320,
		two_hops => undef, near_cache => 50, far_cache => 320}, 'the latency of each bucket');
	is(join(' ', map { $reader->{counts}{$_} } @buckets[1 .. 5]), '0 1984 2048 0 64',
		'of the function that reads: local, one hop, and what another socket had modified');
	for my $where ($profile, @{$profile->{threads}}, @{$profile->{functions}}) {
		my $counts = $where->{counts};
		my ($lines, $cycles) = (0, 320 * $counts->{loads_remote_cache}
			+ 50 * ($counts->{loads_cache_to_cache} - $counts->{loads_remote_cache}));

		$lines += $counts->{$_} for @buckets;
		$cycles += $counts->{$_->[0]} * $_->[1] for ['load_from_l2', 14], ['load_from_llc', 50],
			['load_from_local', 200], ['loads_one_hop', 320];
		my $name = $where->{function} // $where->{tid} // 'all';
		next if $lines == $counts->{l1d_load_lines} && $cycles == $counts->{load_latency};
		fail("$name: buckets add up: $lines of $counts->{l1d_load_lines}, $cycles of $counts->{load_latency} cycles");
	}
	my $text = scratch('profile.txt');
	run(command => [cli(), 'dcache', '-m', scratch('profiled.machine'), '-o', $text, program('numa')]);
	like(read_file($text), qr/ L2 +L3 +loc +1hop +2hop +c2c +Function$/m, 'its columns');
}

# ---- one socket ----

{
	my $run = peek(engine => 'sim', machine => 'neoverse-n1', groups => 'numa',
		events => 'REMOTE_ACCESS,loads_one_hop', command => [program('numa')]);
	my $all = region($run->{report});

	is(value($all, 'REMOTE_ACCESS'), 0, 'one socket: its own event is 0');
	like($all->{counts}{$_}{reason}, qr/has no sockets in its file/, "one socket: $_")
		for qw(loads_one_hop dram_reads_local dram_reads_remote remote_accesses);
}

# ---- two of a shipped machine ----

{
	my $run = peek(engine => 'sim', machine => 'neoverse-n1', groups => 'numa', events => 'REMOTE_ACCESS',
		env => {CACHEPEEK_WHAT_IF => 'cores=128,sockets=2'}, command => [program('numa')]);
	my $region = region($run->{report}, 'remote');

	is(nearest(value($region, 'dram_reads_remote')), 2048, 'what if there were two of it');
	is(value($region, 'REMOTE_ACCESS'), value($region, 'remote_accesses'), 'the Neoverse\'s own event');
	like($run->{report}{machine}, qr/, 2 sockets$/, 'the report says so') if !ref $run->{report}{machine};
}

# ---- two sockets as shipped, with published latencies ----

{
	my @cycles = qw(cycles data_stall_cycles);
	my $run = peek(engine => 'sim', machine => bare('skylake-sp-2s'), events => join(',', @events, @cycles),
		command => [program('numa')]);
	my %of = map { $_ => region($run->{report}, $_)->{counts} } qw(own remote written);

	# Its last level keeps lines that the threads share (the stack's, libc's): a few come
	# from the other socket's beside those of the region.
	my %memory = (own => 'dram_reads_local=1984 dram_reads_remote=0 loads_two_hop=0',
		remote => 'dram_reads_local=0 dram_reads_remote=2048 loads_two_hop=0',
		written => 'dram_reads_local=0 dram_reads_remote=0 loads_two_hop=0');
	my %cached = (own => 0, remote => 0, written => 64);
	for my $name (sort keys %memory) {
		is(numbers($of{$name}, @buckets[0 .. 2]), $memory{$name}, "skylake-sp-2s, $name: memory");
		for my $quantity (@buckets[3, 4]) {
			my $more = $of{$name}{$quantity}{value} - $cached{$name};
			ok($more >= 0 && $more <= 8, "skylake-sp-2s, $name: $quantity") or diag($more);
		}
	}
	for my $name (sort keys %of) {
		ok_latency($of{$name}, "skylake-sp-2s, $name", l2 => 14, llc => 68, memory => 202, hop => 328,
			cache => 285);
		is($of{$name}{cycles}{status}, 'estimated', "$name: by the model");
	}
	cmp_ok($of{remote}{remote_accesses}{value}, '>=', 2048, 'skylake-sp-2s: remote accesses');
	my $all = region($run->{report});
	is_near($all->{time_s}{value}, value($all, 'cycles') / 2500e6, 'skylake-sp-2s: seconds by its clock');

	# A core in order waits for each line at once: its value is used by the load or just
	# behind it.  One out of order fetches lines side by side.
	my $ordered = write_file(scratch('ordered.machine'),
		read_file(bare('skylake-sp-2s')) . "timing = in-order\n");
	my $waits = peek(engine => 'sim', machine => $ordered, events => join(',', @events, @cycles),
		command => [program('numa')]);
	for my $name (sort keys %memory) {
		my $count = region($waits->{report}, $name)->{counts};

		cmp_ok($count->{data_stall_cycles}{value}, '>', 0.9 * $count->{load_latency_cycles}{value},
			"in order, $name: its cycles are waited for");
		cmp_ok($count->{cycles}{value}, '>', $count->{data_stall_cycles}{value}, "in order, $name: and others");
		cmp_ok($count->{cycles}{value}, '>', 2 * $of{$name}{cycles}{value}, "$name: out of order they overlap");
	}
}

# ---- files ----

for (
	['sockets = 3', qr/:12: the cores cannot be divided into so many sockets \(the host/m],
	['sockets = 65', qr/:12: expected one number above 0, at most 64: sockets \(the host/m],
	["sockets = 2\ntopology = star", qr/:13: expected full or ring: star \(the host/m],
	["sockets = 2\nplacement = far", qr/:13: expected spread or close: far \(the host/m],
	["sockets = 2\nllc = 8M 16 64 shared=4", qr/:13: a last level belongs to one socket: shared must divide its cores \(the host/m],
	["sockets = 4\nl2 = 1M 16 64 shared=2", qr/:13: an L2 belongs to one socket: shared must divide its cores \(the host/m],
) {
	my ($text, $error) = @$_;
	my $run = peek(engine => 'sim', machine => machine('bad', $two =~ s/sockets = 2\n//r . "#\n$text\n"),
		events => 'instructions', command => ['/bin/true']);

	like("@{$run->{notes}}", $error, (split(/\n/, $text))[-1]);
}
done_testing();

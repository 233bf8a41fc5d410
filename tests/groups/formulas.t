#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# The metrics of the groups against the published formulas (the table at the
# end), which are evaluated here, by Perl, on the same random inputs; each input
# that is left out makes a metric unavailable and is named; what cannot be is
# clamped, and flagged.
use strict;
use warnings;
use FileHandle;
use IPC::Open2;
use List::Util qw(min max);
use Test::More;

my $B = $ENV{B} // 'build';
my (%unit, %formula, %expression, %inputs, @metrics);

while (<DATA>) {
	chomp;
	my ($name, $unit, $formula) = split /\t/;
	push @metrics, $name;
	@unit{$name} = $unit;
	$formula{$name} = $formula;
	(my $perl = $formula) =~ s/\b(?!min\b|max\b|abs\b|e\d)([A-Za-z_]\w*)/\$v->{$1}/g;
	$expression{$name} = eval "sub { my \$v = shift; $perl }" or die "$name: $perl: $@";
	my %seen;
	$inputs{$name} = [grep { !/^(?:min|max|abs)$/ && !$seen{$_}++ } $formula =~ /\b([A-Za-z_]\w*)/g];
}

# ---- what the groups say ----

my (%defined, %text, @differ);
open my $description, '-|:utf8', "$B/tests/evaluate", 'describe' or die $!;
while (<$description>) {
	chomp;
	my ($group, $metric, $unit, $text) = split /\t/, $_, -1;
	if ($metric eq '') {
		local $/ = "\n\f\n";
		$text{$group} = <$description>;
		next;
	}
	push @differ, "$metric in $group" if $defined{$metric} && $defined{$metric} ne "$unit $text";
	$defined{$metric} = "$unit $text";
}
is("@differ", '', 'a metric of several groups is the same in all');
is(join(' ', grep { !$defined{$_} } @metrics), '', 'every published metric exists, under its name');
is(join(' ', grep { $defined{$_} && index($defined{$_}, "$unit{$_} ") != 0 } @metrics), '',
	'in the unit of the table');
my @silent = grep { length($text{$_}) < 150 } sort keys %text;
is("@silent", '', 'every group explains itself');
my @wide = grep { $text{$_} =~ /^(?:[^\n]{81,})/m } sort keys %text;
is("@wide", '', 'within 80 columns');

# ---- values ----

my $pid = open2(my $from, my $to, "$B/tests/evaluate") or die $!;
$to->autoflush(1);

# metric -> [status, value, reason], of the group that comes last
sub evaluate
{
	my ($v) = @_;
	my %result;

	print $to join(' ', map { sprintf '%s=%.17g', $_, $v->{$_} } sort keys %$v), "\n";
	while (<$from>) {
		chomp;
		last if $_ eq '.';
		my ($group, $metric, $status, $value, $reason) = split /\t/, $_, -1;
		$result{$metric} = [$status, $value, $reason];
	}
	return \%result;
}

my %names = map { $_ => 1 } map { @$_ } values %inputs;
delete @names{qw(LINE N SECONDS TSC CLOCK)};

sub wild
{
	my %v = map { $_ => int(exp(rand(20))) + 1 } sort keys %names;

	@v{qw(LINE SECONDS TSC CLOCK)} = (32 << int(rand(3)), 0.001 + rand(100), 1 + int(exp(rand(24))), 1e6 + rand(1e10));
	$v{N} = $v{LINE} / 8;
	return \%v;
}

# Counts that a program could have: nothing is to be clamped.
sub consistent
{
	my $v = wild();

	$v->{l1d_accesses} = 1_000_000 + int(rand(1e9));
	$v->{l1d_fills} = int(rand($v->{l1d_accesses} / $v->{N}));
	$v->{beyond_l2_fills} = int(rand($v->{l1d_fills} + 1));
	$v->{$_->[0]} = int(rand($v->{$_->[1]} + 1))
		for ['l2_misses', 'l2_accesses'], ['llc_read_misses', 'llc_reads'], ['cycles', 'TSC'];
	$v->{cycles} ||= 1;
	$v->{l2_misses} ||= 1;
	return $v;
}

sub near
{
	my ($got, $expected) = @_;

	return abs($got - $expected) <= 1e-9 * max(abs($got), abs($expected), 1e-9);
}

srand(20240601);
my (%wrong, %flagged);
for my $round (1 .. 300) {
	my $v = consistent();
	my $result = evaluate($v);
	for my $name (@metrics) {
		my ($status, $value, $reason) = @{$result->{$name}};
		my $expected = eval { $expression{$name}->($v) };
		next if !defined $expected && $status eq 'unavailable'; # 0 / 0
		$wrong{$name} //= "$status $value, not " . ($expected // 'undefined') . " $reason"
			if $status ne 'exact' || !near($value, $expected);
	}
}
is($wrong{$_} // 'equal', 'equal', "$_ = $formula{$_}") for @metrics;

# Outside of what can be, a clamped metric says so; all others stay equal.
my %bounds = (idle_share => [0, 1], refs_l1l2 => [0, undef], l2_hit_share => [0, 1], frac_l2 => [0, 1],
	frac_l1 => [0, 1], l2_hit_ratio => [0, 1], llc_read_hit_ratio => [0, 1]);
my (@unequal, @bare, @outside);
for my $round (1 .. 300) {
	my $v = wild();
	my $result = evaluate($v);
	for my $name (@metrics) {
		my ($status, $value, $reason) = @{$result->{$name}};
		my $expected = eval { $expression{$name}->($v) };
		next if !defined $expected && $status eq 'unavailable'; # 0 / 0
		my $bounds = $bounds{$name};
		if ($status eq 'estimated') {
			$flagged{$name}++;
			push @bare, $name if $reason !~ /which cannot be: taken as/;
		} elsif ($status eq 'exact') {
			push @unequal, "$name: $value, not $expected" if !near($value, $expected);
		} else {
			# only where all references are memory's: there are none left to hit
			push @unequal, "$name: $reason" if $name ne 'l2_hit_share' || $v->{l1d_accesses} > $v->{beyond_l2_fills} * $v->{N};
		}
		push @outside, "$name: $value" if $bounds && $status ne 'unavailable' &&
			($value < $bounds->[0] - 1e-12 || (defined $bounds->[1] && $value > $bounds->[1] + 1e-12));
	}
}
is("@unequal", '', 'on inputs that contradict one another, what is not flagged is the formula');
is("@bare", '', 'what is flagged says what it was');
is("@outside", '', 'shares stay within 0 and 1');
is(join(' ', sort keys %flagged), join(' ', sort keys %bounds), 'each clamp was seen');

# ---- without an input ----

my @available;
for my $input (sort(keys %names), qw(LINE SECONDS TSC CLOCK)) {
	my $v = consistent();
	delete $v->{$input};
	my $result = evaluate($v);
	for my $name (@metrics) {
		my $used = grep { $_ eq $input || ($_ eq 'N' && $input eq 'LINE') } @{$inputs{$name}};
		my ($status, $value, $reason) = @{$result->{$name}};
		push @available, "$name without $input: $status $reason"
			if $used && ($status ne 'unavailable' || $reason !~ /\b\Q$input\E: left out/ && $input ne 'LINE');
		push @available, "$name needs $input?" if !$used && $status eq 'unavailable' && $reason =~ /left out/;
	}
}
is(join("\n", @available), '', 'a metric without one of its inputs is unavailable and names it');

# ---- the guards of the model of memlevel ----

my %streaming = (LINE => 32, L1_CYCLES => 4, L2_CYCLES => 14, MEMORY_CYCLES => 200, l1d_accesses => 4000, l1d_fills => 800, beyond_l2_fills => 500);
my $result = evaluate(\%streaming);
is($result->{frac_mem}[1], 0.5, '500 lines of 4 of 4000 references came from memory');
ok(near($result->{frac_l2}[1], 0.3) && near($result->{frac_l1}[1], 0.2), '300 more from L2, the rest from L1');
ok(near($result->{refs_cost}[1], 0.2 * 4 + 0.3 * 14 + 0.5 * 200), 'references x latency');
ok(near($result->{time_mem_share}[1], 100 / 105) && $result->{time_mem_share}[0] eq 'estimated',
	'is where the time went, estimated');
$result = evaluate({%streaming, beyond_l2_fills => 2000});
is(join(' ', map { $result->{$_}[1] } qw(frac_mem frac_l2 frac_l1)), '1 0 0', 'more lines than references: all of it is memory');
is($result->{frac_l1}[0], 'estimated', 'which is flagged');
is($result->{l2_hit_share}[0], 'unavailable', 'and leaves no share of the rest');
is(evaluate({%streaming, l1d_accesses => 0})->{frac_mem}[0], 'unavailable', 'no references, no shares');

close $to;
waitpid $pid, 0;
done_testing();

# Metric, unit, formula.  bus_transactions is what others call bus_accesses where
# each moves a line (Arm's BUS_ACCESS counts beats).
__DATA__
ipc	instr/cycle	instructions / cycles
cpi	cycle/instr	cycles / instructions
idle_share	ratio	1 - cycles / TSC
utilization	ratio	ref_cycles / TSC
served_l1	ratio	refs_from_l1 / l1d_accesses
served_l2	ratio	refs_from_l2 / l1d_accesses
served_beyond	ratio	refs_beyond_l2 / l1d_accesses
frac_mem	ratio	min(beyond_l2_fills * N, l1d_accesses) / l1d_accesses
refs_l1l2	refs	l1d_accesses - beyond_l2_fills * N
l2_hit_refs	refs	min(abs(l1d_fills - beyond_l2_fills) * N, l1d_accesses)
l2_hit_share	ratio	min(abs(l1d_fills - beyond_l2_fills) * N, l1d_accesses) / (l1d_accesses - beyond_l2_fills * N)
frac_l2	ratio	min(abs(l1d_fills - beyond_l2_fills) * N, l1d_accesses) / (l1d_accesses - beyond_l2_fills * N) * (1 - min(beyond_l2_fills * N, l1d_accesses) / l1d_accesses)
frac_l1	ratio	1 - min(beyond_l2_fills * N, l1d_accesses) / l1d_accesses - min(abs(l1d_fills - beyond_l2_fills) * N, l1d_accesses) / (l1d_accesses - beyond_l2_fills * N) * (1 - min(beyond_l2_fills * N, l1d_accesses) / l1d_accesses)
bus_bandwidth	MB/s	LINE * bus_transactions / 1e6 / SECONDS
ifetch_overhead	fetch/cycle	l2_ifetches / cycles
l1d_request_rate	1/instr	l1d_accesses / instructions
l1d_miss_rate	1/instr	l1d_misses / instructions
l1d_miss_ratio	ratio	l1d_misses / l1d_accesses
l1d_mpki	1/kinstr	1000 * l1d_misses / instructions
l1d_load_mpki	1/kinstr	1000 * l1d_load_misses / instructions
l1d_load_miss_ratio	ratio	l1d_load_misses / l1d_loads
load_to_store_ratio	ratio	l1d_loads / l1d_stores
l1d_wb_per_miss	ratio	l1d_writebacks / l1d_misses
l1d_store_pki	1/kinstr	1000 * l1d_stores / instructions
l2_request_rate	1/instr	l2_accesses / instructions
l2_miss_rate	1/instr	l2_misses / instructions
l2_miss_ratio	ratio	l2_misses / l2_accesses
l2_hit_ratio	ratio	1 - l2_misses / l2_accesses
l2_mpki	1/kinstr	1000 * l2_misses / instructions
l2_apki	1/kinstr	1000 * l2_accesses / instructions
l2_demand_miss_ratio	ratio	l2_demand_misses / l2_demand_accesses
l2_load_bandwidth	MB/s	LINE * l1d_fills / 1e6 / SECONDS
l2_evict_bandwidth	MB/s	LINE * l1d_writebacks / 1e6 / SECONDS
l2_bandwidth	MB/s	LINE * (l1d_fills + l1d_writebacks) / 1e6 / SECONDS
l2_volume	GB	LINE * (l1d_fills + l1d_writebacks) / 1e9
l2_read_share	ratio	l2_reads / l2_accesses
l2_write_share	ratio	l2_writes / l2_accesses
l2_read_miss_ratio	ratio	l2_read_misses / l2_reads
l2_write_miss_ratio	ratio	l2_write_misses / l2_writes
l2_read_mpki	1/kinstr	1000 * l2_read_misses / instructions
l2_write_mpki	1/kinstr	1000 * l2_write_misses / instructions
l2_wb_pki	1/kinstr	1000 * l2_writebacks / instructions
l2_wb_per_refill	ratio	l2_writebacks / l2_misses
l2_wb_victim_share	ratio	l2_wb_victim / l2_writebacks
bus_read_share	ratio	bus_reads / bus_accesses
bus_write_share	ratio	bus_writes / bus_accesses
bus_pki	1/kinstr	1000 * bus_accesses / instructions
bus_beats_per_refill	beats/line	bus_reads / l2_misses
remote_pki	1/kinstr	1000 * remote_accesses / instructions
remote_share	ratio	remote_accesses / l2_misses
llc_request_rate	1/instr	llc_accesses / instructions
llc_miss_rate	1/instr	llc_misses / instructions
llc_miss_ratio	ratio	llc_misses / llc_accesses
llc_mpki	1/kinstr	1000 * llc_misses / instructions
llc_read_miss_ratio	ratio	llc_read_misses / llc_reads
llc_read_hit_ratio	ratio	(llc_reads - llc_read_misses) / llc_reads
llc_read_mpki	1/kinstr	1000 * llc_read_misses / instructions
l3_load_bandwidth	MB/s	LINE * beyond_l2_fills / 1e6 / SECONDS
l3_evict_bandwidth	MB/s	LINE * l2_writebacks / 1e6 / SECONDS
l3_bandwidth	MB/s	LINE * (beyond_l2_fills + l2_writebacks) / 1e6 / SECONDS
l3_volume	GB	LINE * (beyond_l2_fills + l2_writebacks) / 1e9
llc_miss_bandwidth	MB/s	LINE * llc_misses / 1e6 / SECONDS
memory_read_bandwidth	MB/s	LINE * imc_reads / 1e6 / SECONDS
memory_write_bandwidth	MB/s	LINE * imc_writes / 1e6 / SECONDS
memory_bandwidth	MB/s	LINE * (imc_reads + imc_writes) / 1e6 / SECONDS
memory_volume	GB	LINE * (imc_reads + imc_writes) / 1e9
local_dram_ratio	ratio	dram_reads_local / (dram_reads_local + dram_reads_remote)
remote_dram_pki	1/kinstr	1000 * dram_reads_remote / instructions
l1i_request_rate	1/instr	l1i_accesses / instructions
l1i_miss_rate	1/instr	l1i_misses / instructions
l1i_miss_ratio	ratio	l1i_misses / l1i_accesses
l1i_mpki	1/kinstr	1000 * l1i_misses / instructions
ifetch_stall_share	ratio	ifetch_stall_cycles / cycles
ifetch_latency	cycle/miss	ifetch_stall_cycles / l1i_misses
fb_full_share	ratio	fb_full / cycles
fb_full_duration	cycle	fb_full / fb_full_events
data_stall_share	ratio	data_stall_cycles / cycles
l1_bound	ratio	max(data_stall_cycles - stall_l1d_miss, 0) / cycles
l2_bound	ratio	max(stall_l1d_miss - stall_l2_miss, 0) / cycles
l3_bound	ratio	max(stall_l2_miss - stall_l3_miss, 0) / cycles
dram_bound	ratio	stall_l3_miss / cycles
stall_share	ratio	stall_total / cycles
frontend_stalled_cycles	ratio	stall_frontend / cycles
backend_stalled_cycles	ratio	stall_backend / cycles
load_miss_real_latency	cycle	l1d_miss_pending / (load_l1_miss + load_fb_hit)
load_l1_share	ratio	load_l1_hit / (load_l1_hit + load_fb_hit + load_l2_hit + load_l3_hit + load_l3_miss)
load_fb_share	ratio	load_fb_hit / (load_l1_hit + load_fb_hit + load_l2_hit + load_l3_hit + load_l3_miss)
load_l2_share	ratio	load_l2_hit / (load_l1_hit + load_fb_hit + load_l2_hit + load_l3_hit + load_l3_miss)
load_l3_share	ratio	load_l3_hit / (load_l1_hit + load_fb_hit + load_l2_hit + load_l3_hit + load_l3_miss)
load_mem_share	ratio	load_l3_miss / (load_l1_hit + load_fb_hit + load_l2_hit + load_l3_hit + load_l3_miss)
load_l1_hpki	1/kinstr	1000 * load_l1_hit / instructions
load_l2_hpki	1/kinstr	1000 * load_l2_hit / instructions
load_l3_mpki	1/kinstr	1000 * load_l3_miss / instructions
dtlb_miss_rate	1/instr	dtlb_misses / instructions
dtlb_miss_ratio	ratio	dtlb_misses / l1d_accesses
dtlb_mpki	1/kinstr	1000 * dtlb_misses / instructions
dtlb_walk_mpki	1/kinstr	1000 * dtlb_walks / instructions
dtlb_walk_ratio	ratio	dtlb_walks / dtlb_accesses
dtlb_l2_fill_share	ratio	dtlb_l2_hits / dtlb_fills
dtlb_hpw_fill_share	ratio	dtlb_walks / dtlb_fills
dtlb_soft_fill_pki	1/kinstr	1000 * soft_page_faults / instructions
dtlb_walk_share	ratio	dtlb_walk_cycles / cycles
dtlb_walk_duration	cycle	dtlb_walk_cycles / dtlb_walks
itlb_miss_rate	1/instr	itlb_misses / instructions
itlb_mpki	1/kinstr	1000 * itlb_misses / instructions
itlb_walk_mpki	1/kinstr	1000 * itlb_walks / instructions
itlb_walk_ratio	ratio	itlb_walks / itlb_accesses
itlb_walk_share	ratio	itlb_walk_cycles / cycles
itlb_walk_duration	cycle	itlb_walk_cycles / itlb_walks
tlb_walk_share	ratio	(dtlb_walk_cycles + itlb_walk_cycles) / cycles
predicted_cycles	cycles	cycles + 100 * contended_transfers
perfect_cycles	cycles	time_perfect
stall_cycles	cycles	miss_time_cycles + 100 * contended_transfers
stall_cycles_l2	cycles	time_l2
stall_cycles_l3	cycles	time_l3
stall_cycles_memory	cycles	time_memory
stall_cycles_tlb	cycles	time_tlb
stall_cycles_bandwidth	cycles	time_bandwidth
stall_cycles_store	cycles	time_store
stall_cycles_sharing	cycles	100 * contended_transfers
predicted_time	s	(cycles + 100 * contended_transfers) / CLOCK
perfect_time	s	time_perfect / CLOCK
miss_time	s	(miss_time_cycles + 100 * contended_transfers) / CLOCK
miss_time_l2	s	time_l2 / CLOCK
miss_time_l3	s	time_l3 / CLOCK
miss_time_memory	s	time_memory / CLOCK
miss_time_tlb	s	time_tlb / CLOCK
miss_time_bandwidth	s	time_bandwidth / CLOCK
miss_time_store	s	time_store / CLOCK
miss_time_sharing	s	100 * contended_transfers / CLOCK
share_issue	ratio	time_issue / (cycles + 100 * contended_transfers)
share_branch	ratio	time_branch / (cycles + 100 * contended_transfers)
share_l2	ratio	time_l2 / (cycles + 100 * contended_transfers)
share_l3	ratio	time_l3 / (cycles + 100 * contended_transfers)
share_memory	ratio	time_memory / (cycles + 100 * contended_transfers)
share_tlb	ratio	time_tlb / (cycles + 100 * contended_transfers)
share_bandwidth	ratio	time_bandwidth / (cycles + 100 * contended_transfers)
share_store	ratio	time_store / (cycles + 100 * contended_transfers)
share_sharing	ratio	100 * contended_transfers / (cycles + 100 * contended_transfers)

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# References across two lines or pages that are both missing: one miss, two fills.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my ($COUNT, $PAGES) = (4096, 512); # of tests/programs/spans.c
my @levels = qw(l1d l2 llc);
my @events = (qw(l1d_loads l1d_stores l1d_fills l2_accesses l2_misses llc_misses dtlb_misses
	dtlb_fills dtlb_walks), map { ("${_}_load_misses", "${_}_load_lines",
	"${_}_store_misses", "${_}_store_lines") } @levels);

sub counts
{
	my ($machine, $region, %more) = @_;
	my $run = peek(engine => 'sim', machine => $machine, events => join(',', @events),
		groups => 'dcache,tlb', command => [program('spans')], %more);

	ok($run->{report}, "$machine: a report") || diag($run->{err});
	return $run->{report};
}

# But for the program's own few.
sub near
{
	my ($n, $expected, $what) = @_;
	ok(defined $n && $n >= $expected && $n <= $expected + 8, "$what: " . ($n // 'none'))
		or diag("not $expected");
}

# ---- a plain machine, and one that is not; both allocate, neither prefetches ----

for my $machine ('skylake-sp', 'neoverse-n1') {
	my $report = counts($machine =~ /skylake/ ? bare($machine) : $machine);
	my %n = map { my $r = $_; $r => sub { value(region($report, $r), $_[0]) } } qw(loads stores pages);

	near($n{loads}->("${_}_load_misses"), $COUNT, "$machine: a load misses $_ once") for @levels;
	near($n{loads}->("${_}_load_lines"), 2 * $COUNT, "$machine: with two lines") for @levels;
	near($n{stores}->("${_}_store_misses"), $COUNT, "$machine: a store misses $_ once") for @levels;
	near($n{stores}->("${_}_store_lines"), 2 * $COUNT, "$machine: with two lines") for @levels;
	for my $region (qw(loads stores)) {
		near($n{$region}->($_), 2 * $COUNT, "$machine: $region: $_ are lines")
			for qw(l1d_fills l2_accesses l2_misses llc_misses);
	}
	near($n{pages}->('dtlb_misses'), $PAGES, "$machine: a load misses the DTLB once");
	near($n{pages}->($_), 2 * $PAGES, "$machine: $_ are pages") for qw(dtlb_fills dtlb_walks);
	for my $region (qw(loads stores)) {
		my $ratio = region($report, $region)->{metrics}{l1d_miss_ratio}{value};
		ok($ratio > 0.99 && $ratio <= 1, "$machine: $region: all of them missed: $ratio");
	}
	my $walked = region($report, 'pages')->{metrics}{dtlb_hpw_fill_share}{value};
	ok($walked > 0.98 && $walked <= 1, "$machine: nearly all pages were walked for: $walked");
	is_deeply([grep { /more than|prefetch/ } @{$report->{warnings}}], [], "$machine: nothing is odd about it");
}

# ---- a profile counts as the report does ----

for my $machine ('skylake-sp', 'cachegrind') {
	my $file = scratch("$machine.json");
	my $run = run(command => [cli(), 'dcache', '-m', $machine =~ /skylake/ ? bare($machine) : $machine, '-o', $file, program('spans')]);
	my $profile = eval { decode_json(read_file($file)) };
	ok($profile, "$machine: a profile") || diag($run->{err});
	my ($main) = grep { $_->{function} eq 'main' } @{$profile->{functions}};
	my $further = sub { $_[0]{counts}{l1d_load_lines} - $_[0]{counts}{l1d_load_misses} };
	my @by_statement = sort { $further->($b) <=> $further->($a) } @{$main->{statements}};
	is($by_statement[0]{counts}{l1d_load_misses}, $COUNT, "$machine: the loads, once each");
	is($by_statement[0]{counts}{l1d_load_lines}, 2 * $COUNT, "$machine: the lines");
	@by_statement = sort { $b->{counts}{l1d_store_misses} <=> $a->{counts}{l1d_store_misses} } @{$main->{statements}};
	is($by_statement[0]{counts}{l1d_store_misses}, $COUNT, "$machine: the stores, once each");
	for my $name (qw(l1d_load_misses l1d_load_lines l1d_store_misses llc_load_misses)) {
		my %sum = (functions => 0, data => 0);
		for my $part (sort keys %sum) {
			$sum{$part} += $_->{counts}{$name} for @{$profile->{$part}};
			is($sum{$part}, $profile->{counts}{$name}, "$machine: $part: $name add up");
		}
	}
}

# ---- a sweep counts as the level does ----

{
	my $report = counts('cachegrind', undef, env => {CACHEPEEK_SWEEP => 'L1D.ways=1..8'});
	near(value(region($report, 'loads'), 'l1d_misses[ways=8]'), $COUNT, 'a sweep: each load once');
	is(value(region($report), 'l1d_misses[ways=8]'), value(region($report), 'l1d_load_misses')
		+ value(region($report), 'l1d_store_misses'), 'as many as without');
}

# ---- what a prefetcher brings into a last-level L2 comes from memory, too ----

{
	my $run = peek(engine => 'sim', machine => 'core2duo', groups => 'cache', command => [program('spans')]);
	my $walk = region($run->{report}, 'every second');
	my $lines = 2 * (8 << 20) / 128; # the next line of each is fetched

	ok(value($walk, 'memory_lines') > 0.95 * $lines && value($walk, 'memory_lines') <= $lines + 64,
		'core2duo: lines from memory: ' . value($walk, 'memory_lines'));
	cmp_ok(value($walk, 'llc_misses'), '<', value($walk, 'memory_lines'), 'core2duo: of which L2 was asked for some');
	is(sprintf('%.0f', 1e9 * $walk->{metrics}{mem_volume}{value}),
		64 * (value($walk, 'memory_lines') + value($walk, 'llc_writebacks')), 'core2duo: and in bytes');
	# Victims of L1D fill opteron-244's L2, and come from nowhere else.
	$run = peek(engine => 'sim', machine => 'opteron-244', groups => 'cache,l3', command => [program('spans')]);
	$walk = region($run->{report}, 'every second');
	is(sprintf('%.0f', 1e9 * $walk->{metrics}{l3_volume}{value}),
		64 * (value($walk, 'beyond_l2_fills') + value($walk, 'l2_writebacks')), 'opteron-244: lines from beyond L2');
	near(value($walk, 'beyond_l2_fills'), (8 << 20) / 128, 'opteron-244: those that were walked over');
}
done_testing();

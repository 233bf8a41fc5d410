#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The effect of hardware prefetchers on walks of a program, by laws
# and by hand: which walk each one follows, and that nothing of what it brings is lost.
# Reference by reference each is compared in tests/sim/model.t.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @walks = ('sum', 'down', 'stride 256', 'stride 4160', 'records', 'chase');
my %lines = (sum => 262144, down => 262144, 'stride 256' => 65536, 'stride 4160' => 4033,
	records => 65536 + 1024, chase => 262144);

# The events of each walk on a machine whose levels have these words, behind what is the
# same for all.
sub walk
{
	my ($l1d, $l2, %more) = @_;
	my $events = 'l1d_load_misses,l2_demand_misses,memory_lines'
		. ($l1d ? ',' . join(',', map { "l1d_hw_prefetch_$_" } qw(fills used useless)) : '')
		. ($l2 ? ',' . join(',', map { "l2_hw_prefetch_$_" } qw(fills used useless)) : '');
	my $file = write_file(scratch('walks.machine'), "cores = 1\nl1i = 32K 8 64\n"
		. 'l1d = 32K 8 64' . ($l1d ? " prefetch=$l1d" : '') . "\n"
		. 'l2 = 256K 8 64' . ($l2 ? " prefetch=$l2" : '') . "\nllc = none\n"
		. "dtlb = 64 4\nstlb = 1536 12\n");
	my $run = peek(engine => 'sim', machine => $file, events => $events,
		command => [program('prefetch_walks')], env => $more{env} // {});

	is(scalar(@{$run->{notes}}), 0, 'nothing to complain about: ' . ($l1d || $l2 || 'none')) or diag(@{$run->{notes}});
	return {map { my $walk = $_; ($walk => {map { ($_ => value(region($run->{report}, $walk), $_, 'exclusive')) }
		split(/,/, $events)}) } @walks};
}

# Misses of a walk with prefetchers are at most, or at least, so many percent of those
# without.
my $plain = walk('', '');

sub at_most
{
	my ($counts, $walk, $event, $percent, $what) = @_;
	cmp_ok($counts->{$walk}{$event}, '<=', $plain->{$walk}{$event} * $percent / 100, "$what: $walk: $event");
}

sub at_least
{
	my ($counts, $walk, $event, $percent, $what) = @_;
	cmp_ok($counts->{$walk}{$event}, '>=', $plain->{$walk}{$event} * $percent / 100, "$what: $walk: $event");
}

# Used and useless are no more than what came; what is still there fits into the level.
sub accounts
{
	my ($counts, $level, $lines, $what) = @_;
	my %sum;

	for my $walk (@walks) {
		$sum{$_} += $counts->{$walk}{"${level}_hw_prefetch_$_"} for qw(fills used useless);
	}
	my $there = $sum{fills} - $sum{used} - $sum{useless};
	cmp_ok(abs($there), '<=', $lines, "$what: $level: what came is used, useless, or there");
}

for my $walk (@walks) {
	my $got = $plain->{$walk}{l2_demand_misses};
	ok($got >= $lines{$walk} * 0.95 && $got <= $lines{$walk} + 600, "$walk: without prefetchers each line is missed")
		or diag($got);
}

# ---- Intel's, as its manual has them ----

{
	my $counts = walk('next-line:16+ip-stride:256:1:2048', 'adjacent-line+streamer:20:2:32');

	at_most($counts, $_, 'l2_demand_misses', 10, 'Intel') for 'sum', 'down', 'stride 256';
	at_most($counts, 'stride 256', 'l1d_load_misses', 25, 'Intel');
	at_least($counts, $_, 'l2_demand_misses', 98, 'Intel') for 'stride 4160', 'chase';
	at_most($counts, 'chase', 'l2_demand_misses', 102, 'Intel');
	at_least($counts, 'chase', 'memory_lines', 190, 'Intel: the pair of each line comes as well');
	accounts($counts, 'l1d', 512, 'Intel');
	accounts($counts, 'l2', 4096, 'Intel');
}

# ---- each alone: what it follows, and what it does not ----

sub alone
{
	my ($l1d, $l2, $follows, $not) = @_;
	my ($counts, $event) = (walk($l1d, $l2), $l2 ? 'l2_demand_misses' : 'l1d_load_misses');

	at_most($counts, $_, $event, 30, $l1d || $l2) for @$follows;
	at_least($counts, $_, $event, 95, $l1d || $l2) for @$not;
	return $counts;
}

my $next = alone('next-line:16', '', [], ['down', 'stride 256', 'stride 4160', 'records', 'chase']);
# The line before the first of a page is that of another page, but was seen.
sub is_about
{
	my ($got, $expected, $what) = @_;
	ok(abs($got - $expected) < 60, $what) or diag("$got, not $expected");
}

is_about($next->{sum}{l1d_load_misses}, 4096, 'next-line:16: of each page the first line is missed');
is_about($next->{sum}{l1d_hw_prefetch_fills}, 63 * 4096, 'next-line:16: and all others fetched');
is_about($next->{sum}{l1d_hw_prefetch_used}, 63 * 4096, 'next-line:16: and used');
my $step = alone('ip-stride:256:1:2048', '', ['sum', 'down', 'stride 256'], ['stride 4160', 'chase']);
# The first of a page's 16 such lines is missed: the step to it is known, and leaves the page.
is_about($step->{'stride 256'}{l1d_load_misses}, 4096, 'ip-stride: of each page one line is missed');
alone('ip-stride:256:1:128', '', ['sum', 'down'], ['stride 256', 'stride 4160']);
alone('region:16:1024', '', ['records'], ['stride 4160', 'chase']);
alone('streamer:8:2:16', '', ['sum', 'down'], ['stride 256', 'stride 4160', 'records', 'chase']);
alone('', 'streamer:20:2:32', ['sum', 'down'], ['stride 256', 'stride 4160', 'chase']);
alone('', 'up-down:16', ['sum', 'down'], ['stride 256', 'stride 4160', 'chase']);
{
	my $pair = alone('', 'adjacent-line', [], ['stride 256', 'stride 4160']);

	# L2 has what the walk before has left of 256 KiB: that is where this one begins.
	is_about($pair->{sum}{l2_demand_misses}, 131072, 'adjacent-line: half of the lines are missed');
	is_about($pair->{down}{l2_demand_misses}, 131072 - 2048, 'adjacent-line: and of the way back');
}

# ---- what they hide ----

{
	my $hidden = walk('next-line:16+ip-stride:256:1:2048', '', env => {CACHEPEEK_WHAT_IF => 'prefetch=none'});
	is_about($hidden->{$_}{l1d_load_misses}, $plain->{$_}{l1d_load_misses}, "without what the file says: $_") for @walks;
	is($hidden->{sum}{l1d_hw_prefetch_fills}, undef, 'and nothing is prefetched, which is no 0');
}

# ---- machines that come with the library: theirs are on, and can be turned off ----

sub walk_on
{
	my ($machine, $what) = @_;
	return peek(engine => 'sim', machine => $machine, events => 'l2_demand_misses,l2_hw_prefetch_used', command => [program('prefetch_walks')],
		env => $what ? {CACHEPEEK_WHAT_IF => $what} : {});
}

for my $machine ('zen4', 'skylake-sp') {
	my ($on, $off, $bare, $again) = map { walk_on(@$_)->{report} } [$machine], [$machine, 'prefetch=none'], [bare($machine)], [bare($machine), 'prefetch=on'];
	my ($l2, $used) = ('l2_demand_misses', 'l2_hw_prefetch_used');
	my ($with, $without, $alone) = map { my $report = $_; +{map { ($_ => value(region($report, $_), $l2, 'exclusive')) } @walks} } $on, $off, $bare;

	cmp_ok(value(region($on), $used), '>', 0, "$machine: its prefetchers are on");
	is(value(region($_), $used), undef, "$machine: and off") for $off, $bare;
	is_about($without->{$_}, $alone->{$_}, "$machine: $_: as of a file without them") for @walks;
	is_about(value(region($again), $used), value(region($on), $used), "$machine: what a file names and turns off is turned on");
	cmp_ok($with->{$_}, '<=', $without->{$_} / 10, "$machine: $_") for 'sum', 'down', 'stride 256';
	# Skylake's L2 of 16384 lines has the pairs of half of them, which the ring comes to by chance.
	ok(abs($with->{chase} - $without->{chase}) <= $without->{chase} / ($machine eq 'zen4' ? 50 : 25), "$machine: no prefetcher follows the chase")
		or diag("$with->{chase}, $without->{chase}");
}

my %named = map { my $text = read_file($_); m{([^/]+)\.machine$}; ($1 => $text) } glob(source() . '/base/machines/*.machine');
is_deeply([grep { $named{$_} =~ /^prefetch = /m } sort keys %named], [], 'no machine turns off what its file names');
my @with = grep { $named{$_} =~ /^l1d .*\bip-stride.*\nl2 .*\bstreamer/m } sort keys %named;
cmp_ok(scalar(@with), '>=', 10, 'machines with prefetchers');
for my $machine (@with) {
	my @run = (cli(), 'run', '-E', 'sim', '-m', $machine, '-e', 'instructions');
	my ($on, $off) = map { my $run = run(command => [@run, @$_, program('empty')]); $run->{err} . $run->{out} } [], ['--what-if', 'prefetch=none'];
	like($on, qr/L1D [^,]*\bip-stride\b[^,]*,\s+L2 [^,]*\bstreamer\b/s, "$machine: on");
	unlike($off, qr/ip-stride|streamer/, "$machine: prefetch=none");
	like($named{$machine} =~ s/\n# / /gr, qr/ --what-if prefetch=none turns them off\./, "$machine: its file says so");
}
{
	my $run = walk_on('neoverse-n2', 'prefetch=on');
	like("@{$run->{notes}}", qr/prefetch=on: the machine's file names no prefetchers/, 'a machine of which nothing is documented');
}

# ---- a run is a function of its references ----

{
	# The lines that L2 has when a walk begins hang on where the kernel puts the program, too.
	my @runs = map { walk('ip-stride:64:4:2048+region:16:64+streamer:8:2:8', 'streamer:16:2:16+up-down:16',
		env => {CACHEPEEK_REPRODUCIBLE => 1}) } 1 .. 2;
	is_deeply($runs[0], $runs[1], 'the same again');
}

# Why there is nothing to count, and what to do.
for (['zen4', 'l2_hw_prefetch_used', 'no prefetcher of L2 (prefetch=none takes it away)', 'prefetch=none'],
	['zen4', 'l1i_hw_prefetch_used', 'no prefetcher of L1I (prefetch=)']) {
	my ($machine, $event, $why, $what) = @$_;
	my $run = peek(engine => 'sim', machine => $machine, events => "instructions,$event", command => ['true'],
		env => $what ? {CACHEPEEK_WHAT_IF => $what} : {});
	my $of = $what ? "$machine with $what" : $machine;
	like($run->{json}, qr/the simulated machine \Q$of has $why\E/, "$machine, $event: why not");
}

# A level that excludes them names the cure, and is there with it.
{
	my $lru = write_file(scratch('lru.machine'), "l1d = 32K 8 64 prefetch=next-line\nl2 = 256K 8 64 prefetch=streamer:20:2:32\nllc = 2M 16 64\n");
	for my $case (['--sweep', 'L1D.size=16K..64K', qr/l1d has a prefetcher \(--what-if prefetch=none\)\n\z/, qr/^L1D sweep /m],
		['--sample', 'fast', qr/l1d has a prefetcher \(--what-if prefetch=none\) \(everything is simulated/, qr/^sampled /m]) {
		my ($option, $value, $why, $cured) = @$case;
		my ($run, $mended) = map { run(command => [cli(), '-E', 'sim', '-m', $lru, @$_, $option, $value, '-o', '-', program('walk')]) } [], ['--what-if', 'prefetch=none'];
		like(($run->{err} =~ /^(cachepeek: .*\n)/m)[0] // '', $why, "$option: what is in the way");
		unlike($mended->{err}, qr/^cachepeek: /m, "$option: without them nothing is");
		like($mended->{out}, $cured, "$option: and it is there");
	}
}
done_testing;

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Instructions that tell the caches something: what a line of each costs, exactly, on
# machines of each kind: plain, of other policies and inclusions, and those that have
# no ear for it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use POSIX qw(uname);
use Test::More;

plan(skip_all => 'instructions of x86-64') unless (uname())[4] eq 'x86_64';

my @events = qw(l1d_load_misses l1d_store_misses l2_load_misses llc_load_misses
	l1d_writebacks l2_writebacks llc_writebacks cache_flushes
	l1d_loads software_prefetches software_prefetch_lines llc_misses
	l1d_stores stream_stores stream_lines stream_full_lines);
my %machine = (
	plain => machine_file('plain', l2 => '4M 16 64', llc => '16M 16 64'),
	inclusive => machine_file('inclusive', l1d => '32K 8 64 plru', l2 => '4M 16 64 inclusive', llc => '16M 16 64 exclusive'),
	deaf => machine_file('deaf', 'cache-instructions' => 'no'),
);

# The counts of 1,000 lines more, by event.
sub costs
{
	my ($machine, $way, @more) = @_;
	my @of = map {
		my $report = peek(engine => 'sim', machine => $machine, events => join(',', @events), @more,
			command => [program('cache_orders'), $way, $_])->{report};
		[map { value(region($report), $_) // 'none' } @events]
	} 1000, 2000;

	return {map { $events[$_] => $of[1][$_] - $of[0][$_] } 0 .. $#events};
}

# L2 holds all that the program uses, so that nothing leaves but what is told to.
sub is_cost
{
	my ($kind, $way, %expected) = @_;
	my $got = costs($machine{$kind}, $way);

	is_deeply({map { $_ => $got->{$_} } keys %expected}, \%expected, "$kind: $way");
}

for my $kind (qw(plain inclusive)) {
	my %all = (l1d_store_misses => 1000, cache_flushes => 1000);
	my %written = (l1d_writebacks => 1000, l2_writebacks => 1000, llc_writebacks => 1000);

	is_cost($kind, 'nothing', l1d_store_misses => 1000, l1d_load_misses => 0, llc_writebacks => 0, cache_flushes => 0);
	is_cost($kind, $_, %all, %written, l1d_load_misses => 1000, l2_load_misses => 1000, llc_load_misses => 1000)
		for qw(flush flush-middle flush-weakly);
	is_cost($kind, 'flush-loaded', l1d_load_misses => 2000, llc_load_misses => 2000, llc_writebacks => 0,
		l1d_writebacks => 0);
	is_cost($kind, 'demote', %all, l1d_load_misses => 1000, l2_load_misses => 1000, llc_load_misses => 0,
		l1d_writebacks => 1000, l2_writebacks => 1000, llc_writebacks => 0);
	next unless (read_file('/proc/cpuinfo') // '') =~ /\bclwb\b/;
	is_cost($kind, 'write-back', %all, %written, l1d_load_misses => 0);
	is_cost($kind, 'write-back-twice', l1d_store_misses => 1000, cache_flushes => 2000,
		map { $_ => 2000 } keys %written);
}

# ---- non-temporal stores: how many make a line, and which flag of the processor they need ----

my %stream = (stream => [6], 'stream-pd' => [4], 'stream-mmx' => [6], 'stream-avx' => [2, 'avx'],
	'stream-avx512' => [1, 'avx512f'], 'stream-read' => [4], 'stream-stored' => [4]);
my ($flags) = (read_file('/proc/cpuinfo') // '') =~ /^flags(.*)/m;

for my $kind (qw(plain inclusive)) {
	my %none = map { $_ => 0 } qw(l1d_store_misses l1d_load_misses l2_load_misses llc_load_misses llc_writebacks);

	for my $way (sort keys %stream) {
		my ($stores, $flag) = @{$stream{$way}};
		next if $flag && ($flags // '') !~ /\b$flag\b/;
		my $stored = $way eq 'stream-stored' ? 1000 : 0;
		my $read = $way eq 'stream-read' || $stored ? 1000 : 0;
		is_cost($kind, $way, %none, l1d_stores => 1000 * $stores + $stored, stream_stores => 1000 * $stores,
			stream_lines => 1000, stream_full_lines => 1000, l1d_load_misses => $read, l2_load_misses => $read,
			llc_load_misses => $read, l1d_store_misses => $stored,
			map { $_ => $stored } qw(l1d_writebacks l2_writebacks llc_writebacks));
	}
	is_cost($kind, $_, l1d_stores => 1000, l1d_store_misses => 0, stream_stores => 1000, stream_lines => 1000,
		stream_full_lines => 0) for qw(stream-part stream-masked);
}

# ---- prefetches: no loads, no demand misses ----

for my $kind (qw(plain inclusive)) {
	my %none = map { $_ => 0 } qw(l1d_load_misses l1d_store_misses l2_load_misses llc_load_misses);
	my %lines = (software_prefetches => 1000, software_prefetch_lines => 1000, llc_misses => 1000);

	is_cost($kind, $_, %none, %lines, l1d_loads => 1000) for qw(prefetch prefetch-nta);
	is_cost($kind, $_, %none, %lines, l1d_loads => 1000, l1d_load_misses => 1000) for qw(prefetch-l2 prefetch-l3);
	is_cost($kind, 'prefetch-write', %none, %lines, l1d_loads => 0, l1d_stores => 1000);
	is_cost($kind, 'prefetch-twice', %none, %lines, l1d_loads => 0, software_prefetches => 2000);
	is_cost($kind, 'prefetch-loaded', %none, l1d_load_misses => 1000, l2_load_misses => 1000, llc_load_misses => 1000,
		software_prefetches => 1000, software_prefetch_lines => 0);
	is_cost($kind, 'prefetch-nowhere', %none, software_prefetches => 0, software_prefetch_lines => 0);
	is_cost($kind, 'chase', software_prefetches => 0, llc_load_misses => 1000);
	is_cost($kind, 'chase-ahead', software_prefetches => 1000, llc_load_misses => 0);
}

is_cost('deaf', 'prefetch', l1d_load_misses => 1000, llc_load_misses => 1000, software_prefetches => 0);
is_cost('deaf', 'stream-read', l1d_stores => 4000, l1d_store_misses => 1000, l1d_load_misses => 0, stream_stores => 0,
	stream_lines => 0);
is_cost('deaf', $_, l1d_store_misses => 1000, l1d_load_misses => 0, llc_load_misses => 0, llc_writebacks => 0,
	cache_flushes => 0)
	for qw(flush demote);

done_testing();

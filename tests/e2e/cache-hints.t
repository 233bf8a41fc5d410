#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# How the simulated PMU counts what tells caches something, as the manual says.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use POSIX qw(uname);
use Test::More;

plan(skip_all => 'instructions of x86-64') unless (uname())[4] eq 'x86_64';

my $report = peek(engine => 'sim', machine => bare('zen3'), events => 'instructions,l1d_loads,l1d_stores,l1d_load_misses,l1d_store_misses',
	command => [program('cache_hints')])->{report};

sub near
{
	my ($region, $event, $expected, $what) = @_;
	my $got = value(region($report, $region), $event, 'exclusive');
	ok($got >= $expected && $got < $expected + 50, $what) || diag("$region: $got $event, not $expected");
}

near('prefetch', 'l1d_loads', 0, 'prefetch instructions refer to nothing');
near('prefetched', 'l1d_load_misses', 0, 'and bring their lines');
near('clflush', 'l1d_loads', 0, 'clflush refers to nothing');
near('flushed', 'l1d_load_misses', 200, 'and takes its line out');
near('streamed', 'l1d_stores', 200, 'non-temporal stores are stores');
near('streamed', 'l1d_store_misses', 0, 'and bring nothing');
near('filled', 'l1d_stores', 4, 'rep stosb: a store for each line');
near('filled', 'instructions', 1, 'and one instruction');

my $manual = read_file(source() . '/doc/cachepeek-machines.5') =~ s/\\-/-/gr =~ s/\s+/ /gr;
like($manual, qr/clflush .*prefetcht0.*non-temporal stores.*rep stosb/, 'the manual says so');
done_testing();

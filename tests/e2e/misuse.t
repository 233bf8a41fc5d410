#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Regions used wrongly: one line for each kind, and the others come out right.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @sim = (engine => 'sim', machine => 'cachegrind', events => 'l1d_load_misses');

sub misuse
{
	my (@kinds) = @_;
	my $run = peek(@sim, command => [program('region_misuse'), @kinds]);
	is(status_text($run->{status}), 'exit 0', "@kinds: the program runs on");
	ok($run->{report}, "@kinds: a report") || diag($run->{err});
	return $run;
}

# All executions of "good" on any path but the one that warms up.
sub good
{
	my ($report) = @_;
	my ($calls, $misses) = (0, 0);
	for my $region (@{$report->{regions}}) {
		my @path = @{$region->{path}};
		next unless @path && $path[-1] eq 'good' && $path[0] ne 'warm';
		$calls += $region->{calls};
		$misses += value($region, 'l1d_load_misses');
	}
	return "$calls $misses";
}

{
	my $run = misuse();
	is(good($run->{report}), '2 20', 'used rightly');
	is(scalar(@{$run->{report}{warnings}}), 0, 'no warning') || diag(@{$run->{report}{warnings}});
}
for my $kind (qw(unbegun crossed left-open)) {
	my $run = misuse($kind);
	is(good($run->{report}), '2 20', "$kind: the other regions are right");
	my @warnings = @{$run->{report}{warnings} || []};
	is(scalar(@warnings), 1, "$kind: said once, however often it happened") ||
		diag(join("\n", @warnings));
	like($warnings[0] || '', qr/\b$kind\b/, "$kind: by its name");
}
{
	my $run = misuse(qw(unbegun crossed left-open));
	is(good($run->{report}), '2 20', 'all at once: the other regions are right');
	is(scalar(@{$run->{report}{warnings}}), 3, 'all at once: a line each') ||
		diag(join("\n", @{$run->{report}{warnings}}));
}
# ---- other tools' markers ----

# An end without a begin, in each thread and twice, is said once for each tool.
for my $engine (\@sim, [engine => 'perf', events => 'perf::PAGE-FAULTS']) {
	my $run = peek(@$engine, command => [program('marks_unbegun')],
		preload => lib() . ':' . build() . '/libcachepeek/perfstubs.so');
	is($run->{out}, '', 'all functions are there');
	my @warnings = @{$run->{report}{warnings}};
	my %of;
	$of{$_}++ for map { /^END of (?:region "r"|a region) of (\S+) in thread \d+, where .* open: ignored$/ ? $1 : $_ } @warnings;
	is_deeply(\%of, {map { $_ => 1 } qw(LIKWID PAPI Caliper Score-P TAU PerfStubs Kokkos)}, 'each of them is named once');
}
done_testing();

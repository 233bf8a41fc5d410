#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek.load(): what Python reads of a report is what the JSON says; with pandas, where
# it is there, and without.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $python = which('python3') or plan(skip_all => 'no python3');
my $work = scratch('load');
mkdir($work);
for my $i (1, 2) {
	run(command => [cli(), '-E', 'sim', '-m', 'skylake-sp', '-g', 'cache', '-o', "$work/r$i.json", program('stride'), 64, $i]);
}
my $report = decode_json(read_file("$work/r1.json"));

# Runs Python code that prints JSON.
sub python
{
	my ($hide, $code) = @_;
	my $start = $hide ? "import sys; sys.modules['pandas'] = None\n" : '';
	my $run = run(command => [$python, '-c', "${start}import json, cachepeek\n$code"], cwd => $work,
		env => {PYTHONPATH => source() . '/regions:' . source() . '/output'});
	diag($run->{err}) if $run->{status} && $code !~ /other/;
	return ($run->{status} ? undef : decode_json($run->{out}), $run);
}

my ($counts) = python(1, 'print(json.dumps(cachepeek.load("r1.json").counts))');
my ($found, $expected) = (0, 0);
for my $region (@{$report->{regions}}) {
	for my $name (keys %{$region->{counts}}) {
		$expected++;
		$found += grep { $_->{region} eq join('/', @{$region->{path}}) && $_->{name} eq $name &&
			($_->{value} // 'none') eq ($region->{counts}{$name}{value} // 'none') } @$counts;
	}
}
cmp_ok($expected, '>', 20, 'there are counts');
is($found, $expected, 'each count of each region, as it stands in the report');
is(scalar(@$counts), $expected, 'and no other');
my ($metrics) = python(1, 'print(json.dumps([m for m in cachepeek.load("r1.json").metrics if m["status"] == "unavailable"]))');
ok(@$metrics && !(grep { defined $_->{value} || !$_->{reason} } @$metrics), 'unavailable: no value, and why');
my ($both) = python(1, 'r = cachepeek.load("r*.json"); print(json.dumps(sorted({row["file"] for row in r.regions})))');
is_deeply($both, ['r1.json', 'r2.json'], 'several files by a pattern');
my ($threads) = python(1, 'print(json.dumps(sum(row["value"] or 0 for row in cachepeek.load("r1.json").thread_counts if row["name"] == "l1d_misses" and row["region"] == "")))');
is($threads, sum_of_threads($report->{processes}[0], 'l1d_misses'), 'counts of threads');

# ---- Hatchet's literal format: a tree of frames, with what each has alone and inside ----

run(command => [cli(), '-E', 'sim', '-m', 'skylake-sp', '-e', 'instructions,l1d_misses', '-o', "$work/nested.json",
	program('region_nested')]);
my $nested = decode_json(read_file("$work/nested.json"));
my ($literal) = python(1, 'print(json.dumps(cachepeek.load("nested.json").literal()))');
is(scalar(@$literal), 1, 'Hatchet: a root for the report');
my %seen;
sub walk
{
	my ($node, @path) = @_;
	my $region = region($nested, @path);
	$seen{join('/', @path)} = $region && join(' ', sort keys %$node) eq 'children frame metrics' &&
		$node->{metrics}{'l1d_misses (inc)'} == value($region, 'l1d_misses') &&
		$node->{metrics}{l1d_misses} == value($region, 'l1d_misses', 'exclusive') ? 'right' : 'wrong';
	walk($_, @path, $_->{frame}{name}) for @{$node->{children}};
}
walk($literal->[0]);
is_deeply(\%seen, {map { join('/', @{$_->{path}}) => 'right' } @{$nested->{regions}}}, 'each region, where it is, with its counts');
cmp_ok(scalar(keys %seen), '>', 3, 'some of them');
SKIP: {
	skip('no hatchet', 1) if run(command => [$python, '-c', 'import hatchet'])->{status};
	my ($frames) = python(0, 'print(json.dumps(len(cachepeek.load("nested.json").to_hatchet().dataframe)))');
	is($frames, scalar(@{$nested->{regions}}), 'a GraphFrame of them');
}

write_file("$work/other.json", '{"schema": "cachepeek-diff/1"}');
my (undef, $run) = python(1, 'cachepeek.load("other.json")');
like($run->{err}, qr/ValueError: other\.json is no report of a run \(schema: cachepeek-diff\/1\)/, 'what is no report is refused');

SKIP: {
	skip('no pandas', 2) if run(command => [$python, '-c', 'import pandas'])->{status};
	my ($sum) = python(0, 'f = cachepeek.load("r1.json", "r2.json").counts
print(json.dumps([len(f), int(f[(f.name == "l1d_misses") & (f.region == "") & (f.file == "r1.json")].value.iloc[0])]))');
	is($sum->[0], 2 * $expected, 'pandas: a frame of both');
	is($sum->[1], value(region($report), 'l1d_misses'), 'with their values');
}
done_testing();

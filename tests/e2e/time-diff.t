#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Predicted times of a calibrated machine in diff and gate: they go by their intervals.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $program = program('region_pages');
my @spread = map { "spread = $_ 10\n" } qw(l1d l2 llc stlb memory-latency walk-latency clock-mhz fill-buffers write-buffers width window
	mispredict-latency load-ports store-ports walkers l2-fill-buffers l2-cycles-per-line llc-cycles-per-line memory-cycles-per-line
	prefetch-latency cache-to-cache-latency);
my $text = read_file(source() . '/base/machines/skylake-sp.machine');
my $machine = write_file(scratch('measured.machine'), $text . join('', @spread));

sub count_once
{
	my $run = run(command => [cli(), '-E', 'sim', '-m', $machine, '-g', 'time', '-o', scratch('one.json'), $program, 200, 4]);
	is(status_text($run->{status}), 'exit 0', 'counted');
	return decode_json(read_file(scratch('one.json')));
}

# The same report, in which the whole run takes that many times as long, with the same error.
sub report_of
{
	my ($name, $report, $times) = @_;
	my $copy = decode_json(encode_json($report));
	$copy->{regions}[0]{metrics}{predicted_time}{value} *= $times;
	return write_file(scratch($name), encode_json($copy));
}

sub difference
{
	my ($before, $after, @options) = @_;
	my $run = run(command => [cli(), 'diff', '-o', scratch('diff.json'), @options, $before, $after]);
	my ($of) = grep { $_->{name} eq 'predicted_time' && !@{$_->{path}} } @{decode_json(read_file(scratch('diff.json')))->{values}};
	return ($run, $of);
}

my $report = count_once();
my $value = $report->{regions}[0]{metrics}{predicted_time}{value};
my $share = $report->{regions}[0]{metrics}{predicted_time}{error} / $value;
cmp_ok($share, '>', 0.1, 'the clock alone is off by a tenth');
cmp_ok($share, '<', 0.15, 'and the parts by as much at most');
my $first = report_of('first.json', $report, 1);

# The difference of two sides, each with an error of 1, has one of the root of 2.
for my $case ([1.2, 'noise'], [1.6, 'significant']) {
	my ($widths, $verdict) = @$case;
	my $other = report_of('other.json', $report, 1 + $widths * $share);
	my ($run, $of) = difference($first, $other);

	is($of->{verdict}, $verdict, "$widths intervals apart: $verdict");
	is_near($of->{before}{error}, $share * $value, 'its interval');
	($run) = difference($first, $other, '--fail-if', 'predicted_time>+0.01%');
	is(status_text($run->{status}), $verdict eq 'noise' ? 'exit 0' : 'exit 3', 'diff --fail-if: beyond the interval alone');
	is(decode_json(read_file(scratch('diff.json')))->{fail_if}[0]{verdict}, $verdict eq 'noise' ? 'unsure' : 'met', 'and in it unsure');
}

# Runs of one calibration share its error: more of them make it no smaller.
{
	my (undef, $of) = difference($first, $first);
	is($of->{verdict}, 'same', 'the same is the same');
	my $run = run(command => [cli(), 'run', '--repeat', 2, '-d', scratch('runs'), '-E', 'sim', '-m', $machine, '-g', 'time', $program, 200, 4]);
	is(status_text($run->{status}), 'exit 0', 'two runs');
	(undef, $of) = difference(scratch('runs'), $first);
	is($of->{before}{n}, 2, 'both are there');
	cmp_ok($of->{before}{error} / $of->{before}{mean}, '>', 0.9 * $share, 'with the error of one');
}

done_testing;

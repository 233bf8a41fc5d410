#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Chrome's trace events: counters add up to the time series of the JSON report, slices are
# inside one another and as long as it says; and speedscope shows them, as it shows a profile.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Browser;
use Json;
use List::Util qw(sum0);
use Npm;
use Peek;
use Test::More;

# A run with both: (report, trace).
sub traced
{
	my ($name, %run) = @_;
	my @files = map { scratch("$name.$_") } qw(json trace.json);
	my $run = run(%run, env => {LD_PRELOAD => lib(), CACHEPEEK_OUTPUT => join(',', @files), %{$run{env}}});
	my @read = map { eval { decode_json(read_file($_) // '') } } @files;
	ok($read[0] && $read[1], "$name: both are JSON") or BAIL_OUT($run->{err});
	return @read;
}
sub events { my ($trace, $phase) = @_; return grep { $_->{ph} eq $phase } @{$trace->{traceEvents}} }
sub near { return abs($_[0] - $_[1]) <= 1e-3 + 1e-9 * abs($_[1]) }

# ---- a time series ----

sub check_series
{
	my ($report, $trace, $what) = @_;
	my $series = $report->{processes}[0]{series} or return fail("$what: a series");
	my @ends = @{$series->{ends_s}};
	my %counters;
	push(@{$counters{$_->{name}}}, $_) for events($trace, 'C');
	my %expected;
	for my $line (@{$series->{lines}}) {
		my $path = join('/', @{$line->{path}});
		for my $name (keys %{$line->{counts}}) {
			$expected{length $path ? "$path: $name" : $name} = [$line, $line->{counts}{$name}{values}];
		}
	}
	is_deeply([sort keys %counters], [sort keys %expected], "$what: a counter for each count of each line");
	for my $name (sort keys %expected) {
		my ($line, $values) = @{$expected{$name}};
		my @at = @{$counters{$name} || []};
		is_deeply([map { $_->{args}{count} } @at], [@$values, 0], "$what: $name: each interval's, and an end");
		my @times = map { ($_->{ts} - $at[0]{ts}) / 1e6 } @at;
		my $begin = $line->{first} ? $ends[$line->{first} - 1] : 0;
		is_deeply([grep { !near($times[$_ + 1], $ends[$line->{first} + $_] - $begin) } 0 .. $#$values], [],
			"$what: at their times");
	}
	for my $line (grep { @{$_->{path}} } @{$series->{lines}}) {
		my $path = join('/', @{$line->{path}});
		my @slices = grep { $_->{name} eq $path } events($trace, 'X');
		for my $name (sort keys %{$line->{counts}}) {
			# An execution over several intervals is spread over them, in fractions.
			my ($have, $all) = (sum0(map { $_->{args}{$name} } @slices), sum0(@{$line->{counts}{$name}{values}}));
			cmp_ok(abs($have - $all), '<=', 1e-6 * $all, "$what: the slices of $path have all $name");
		}
	}
}

my ($report, $trace) = traced('series', command => [program('phases'), 10, 'exit'], env => {CACHEPEEK_ENGINE => 'sim',
	CACHEPEEK_EVENTS => 'instructions,l1d_misses', CACHEPEEK_MACHINE => 'skylake-sp', CACHEPEEK_INTERVAL => '20ms'});
check_series($report, $trace, 'sim');
cmp_ok(scalar(@{$report->{processes}[0]{series}{lines}}), '>=', 2, 'with a region');
ok(!exists $trace->{otherData}{'left out'}, 'nothing is left out');

(undef, my $timeless) = traced('timeless', command => [program('phases'), 2, 'exit'],
	env => {CACHEPEEK_ENGINE => 'sim', CACHEPEEK_EVENTS => 'instructions'});
is(scalar(events($timeless, 'C')) + events($timeless, 'X'), 0, 'without a series a simulated run has nothing to show');
like($timeless->{otherData}{'left out'}, qr/CACHEPEEK_INTERVAL/, 'and says what to do');

# ---- times of regions ----

my $threads;
SKIP: {
	skip('the kernel counts nothing', 1) unless can_count('software');
	($report, $threads) = traced('threads', command => [program('region_threads')],
		env => {CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $SOFTWARE});
	my %name = map { ($_->{tid} => $_->{args}{name}) } grep { $_->{name} eq 'thread_name' } events($threads, 'M');
	my ($process) = grep { $_->{tid} == 1 << 24 } events($threads, 'X');
	is($process->{name}, 'region_threads', 'a slice of the process');
	my $rows = 0;
	for my $thread (@{$report->{processes}[0]{threads}}) {
		my @slices = grep { $_->{tid} == $thread->{tid} } events($threads, 'X') or next;
		$rows++;
		like($name{$thread->{tid}}, qr/^\Q$thread->{name}\E: times of regions, added up$/, "$thread->{name}: its row");
		is(scalar(@slices), scalar(@{$thread->{regions}}), 'a slice for each region');
		my %slice = map { $_->{name} => $_ } @slices;
		my $whole = $slice{'(thread)'};
		ok(near($slice{walk}{ts}, $slice{warm}{ts} + $slice{warm}{dur}), 'one behind the other');
		for my $region (grep { @{$_->{path}} } @{$thread->{regions}}) {
			my $slice = $slice{$region->{path}[-1]};
			ok(near($slice->{dur}, 1e6 * $region->{time_s}{value}), "$region->{path}[-1]: as long as it took");
			is($slice->{args}{calls}, $region->{calls}, 'with its calls');
			ok($slice->{ts} >= $whole->{ts} && $slice->{ts} + $slice->{dur} <= $whole->{ts} + $whole->{dur} + 1e-3, 'inside');
		}
	}
	is($rows, 8, 'eight threads have regions');
}

# ---- speedscope itself ----

SKIP: {
	skip(no_browser(), 1) if no_browser();
	my ($speedscope, $why) = npm_package('speedscope', '1.25.0');
	skip($why, 1) unless $speedscope;
	my ($index) = glob("$speedscope/dist/release/index.html");
	my @files = (scratch('series.trace.json'), scratch('dcache.speedscope.json'));
	my $json = scratch('dcache.json');
	run(command => [cli(), 'dcache', '--call-paths', '-m', 'skylake-sp', '-o', "$files[1],$json", program('call_paths')]);
	my $run = run(command => ['/usr/bin/python3', source() . '/tests/browser/check_speedscope.py', $index, @files]);
	my $shown = eval { decode_json($run->{out}) } or diag($run->{err});
	my @touch = grep { $_->[-1] =~ /^touch / } @{$shown->{$files[0]}{rows}};
	my @slices = grep { $_->{name} eq 'touch' } events($trace, 'X');
	my %different = map { join(' ', map { $_ // '' } @{$_->{args}}{qw(instructions l1d_misses)}) => 1 } @slices;
	is(scalar(@touch), scalar(keys %different), 'speedscope shows the slices of the trace');
	like(join(' ', @{$shown->{$files[0]}{complaints}}), qr/Importing as Trace Event Format/, 'as trace events');
	my $scope = decode_json(read_file($files[1]));
	my $misses = $scope->{profiles}[$scope->{activeProfileIndex}];
	my %own;
	$own{$scope->{shared}{frames}[$misses->{samples}[$_][-1]]{name}} += $misses->{weights}[$_] for 0 .. $#{$misses->{samples}};
	my ($first) = sort { $own{$b} <=> $own{$a} || $a cmp $b } keys %own;
	my ($row) = grep { $_->[-1] eq $first } @{$shown->{$files[1]}{rows}};
	is(($row->[1] // 'no row') =~ s/ \(.*//r =~ s/,//gr, $own{$first}, "and of a profile what $first missed by itself");
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_INTERVAL: what each interval counted adds up to what was counted, the
# program does not notice, and who is killed loses nothing that was written down.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use List::Util qw(sum max);
use Peek;
use Test::More;

my $faults = 'perf::PAGE-FAULTS';

sub series { return $_[0]{series} }
sub line
{
	my ($process, @path) = @_;
	my ($line) = grep { join("\0", @{$_->{path}}) eq join("\0", @path) } @{$process->{series}{lines}};
	return $line;
}
sub total
{
	my ($process, $name, @path) = @_;
	my $line = line($process, @path) or return undef;
	return sum(map { defined $_ ? $_ : 'NaN' } @{$line->{counts}{$name}{values}});
}

# Rows, lines and times of a process's series belong together.
sub ok_series
{
	my ($process, $least, $what) = @_;
	my $series = $process->{series};
	return fail("$what: a series") unless $series;
	my @ends = @{$series->{ends_s}};
	cmp_ok(scalar(@ends), '>=', $least, "$what: intervals");
	is_deeply([sort { $a <=> $b } @ends], \@ends, "$what: one after the other");
	is_deeply([grep { my $line = $_; grep { @{$_->{values}} != @ends - $line->{first} } values %{$line->{counts}} }
		@{$series->{lines}}], [], "$what: a value for each");
	is($series->{not_recorded}, 0, "$what: all of it");
}

sub phases
{
	my ($engine, $how, %more) = @_;
	my $events = $engine eq 'perf' ? $faults : 'instructions,l1d_misses';
	my $command = [program('phases'), 10, $how];
	my $plain = run(command => $command);
	my $with = peek(engine => $engine, events => $events, command => $command,
		env => {CACHEPEEK_INTERVAL => '20ms', %{$more{env} || {}}});
	is($with->{out}, $plain->{out}, "$engine, $how: same output");
	is($with->{err}, $plain->{err}, "$engine, $how: same errors");
	is(status_text($with->{status}), status_text($plain->{status}), "$engine, $how: same status");
	return $with;
}

for my $engine (qw(perf sim)) {
	SKIP: {
		skip('the kernel counts nothing', 1) if $engine eq 'perf' && !can_count('software');
		my $name = $engine eq 'perf' ? $faults : 'instructions';
		my $with = phases($engine, 'return');
		my ($process) = @{$with->{report}{processes}};
		ok_series($process, 8, $engine);
		my $wanted = $engine eq 'perf' ? value(region($with->{report}), $name)
			: $process->{whole_process}{counts}{$name}{value};
		is(total($process, $name), $wanted, "$engine: the whole process adds up");
		is(total($process, $name, 'touch'), value(region($with->{report}, 'touch'), $name), "$engine: its region, too");
		cmp_ok(scalar(grep { $_ } @{line($process, 'touch')->{counts}{$name}{values}}), '>=', 3,
			"$engine: not all of it in one interval");
		is(line($process)->{counts}{$name}{status}, $engine eq 'perf' ? 'exact' : 'simulated', "$engine: status");

		$with = phases($engine, 'fork');
		for my $process (leaves($with->{report})) {
			ok_series($process, 5, "$engine, fork: " . ($process->{counted_from} eq 'fork' ? 'child' : 'parent'));
			is(total($process, $name, 'touch'), sum_of_threads($process, $name, 'touch'), "$engine, fork: adds up");
		}
		is(scalar(@{$with->{report}{processes}}), 2, "$engine, fork: both");

		$with = phases($engine, 'exec');
		is(scalar(grep { $_->{series} } @{$with->{report}{processes}}), 2, "$engine, exec: both images");

		$with = phases($engine, 'leave');
		($process) = @{$with->{report}{processes}};
		is(scalar(@{$process->{threads}}), 2, "$engine, leave: two threads, ours is none of them");
		is(total($process, $name, 'touch'), value(region($with->{report}, 'touch'), $name), "$engine, leave: adds up");
	}
}

SKIP: {
	skip('the kernel counts nothing', 1) unless can_count('software');

	# Killed: what is in the record is in the report.
	my $records = scratch('killed');
	my $run = run(command => [program('phases'), 10, 'kill'], env => {LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'perf',
		CACHEPEEK_EVENTS => $faults, CACHEPEEK_INTERVAL => '20ms', CACHEPEEK_DIR => $records});
	is(status_text($run->{status}), 'signal 9', 'kill: killed');
	my $report = decode_json(run(command => [cli(), 'report', '--json', $records])->{out});
	my ($process) = @{$report->{processes}};
	ok_series($process, 20, 'kill');
	is(total($process, $faults, 'touch'), 1000, 'kill: nothing of what came before the last interval is lost');
	is(total($process, $faults), value(region($report), $faults), 'kill: nor of the whole process');

	# seccomp's strict mode: our thread would be the end of the process.
	phases('perf', 'strict');

	# Threads.
	my $with = peek(engine => 'perf', events => $faults, command => [program('region_threads')],
		env => {CACHEPEEK_INTERVAL => '10ms'});
	is(status_text($with->{status}), 'exit 0', 'threads');
	ok_sums($with->{report}, 'threads, with a series');
	($process) = @{$with->{report}{processes}};
	is(total($process, $faults), value(region($with->{report}), $faults), 'threads: the series adds up');

	# Threads that are folded into one: their regions go.
	$with = peek(engine => 'perf', events => $faults, command => [program('churn'), 300], env => {CACHEPEEK_INTERVAL => '10ms'});
	is(status_text($with->{status}), 'exit 0', 'churn');
	($process) = @{$with->{report}{processes}};
	my @wrong = grep { my $line = $_; grep { !defined } map { @{$_->{values}} } values %{$line->{counts}} } @{$process->{series}{lines}};
	is_deeply(\@wrong, [], 'churn: no value is less than nothing');
	is(total($process, $faults), value(region($with->{report}), $faults), 'churn: adds up') if !$process->{series}{not_recorded};

	# For people, and for tables.
	my $csv = scratch('series.csv');
	$run = run(command => [cli(), '-e', $faults, '-o', "-,$csv", program('phases'), 10], env => {CACHEPEEK_INTERVAL => '20ms'});
	like($run->{out}, qr/^Over time: \d+ intervals of 20 ms$/m, 'text: the intervals');
	like($run->{out} =~ s/\n {11}/ /gr, qr/^over time +half of the \Q$faults\E in \d+ of \d+ intervals; most, [\d,.]+ ?k?, from \d+ m?s on$/m, 'text: the answer');
	like($run->{out}, qr/^  \Qperf::PAGE-FAULTS\E +(?:\xe2\x96[\x81-\x88])+ \d+ to \d+$/m, 'text: bars');
	is_deeply([grep { length(s/\xe2\x96./x/gr) > 80 } split(/\n/, $run->{out})], [], 'text: 80 columns');
	my $python = 'import csv,sys; print(int(sum(float(r["value"]) for r in csv.DictReader(open(sys.argv[1], newline="")) '
		. 'if r["scope"]=="interval" and r["region"]=="touch" and float(r["end_s"])>0)))';
	$run = run(command => ['/usr/bin/python3', '-c', $python, $csv]);
	is($run->{out}, "1000\n", 'CSV: a row for each');
}

# ---- a job: why there is none, and where it is ----

{
	my $records = scratch('job');
	for my $rank (0, 1) {
		run(command => [program('phases'), 10, 'return'], env => {LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'sim',
			CACHEPEEK_EVENTS => 'instructions', CACHEPEEK_INTERVAL => '20ms', CACHEPEEK_OUTPUT => '/dev/null',
			OMPI_COMM_WORLD_RANK => $rank, CACHEPEEK_DIR => "$records/$rank"});
	}
	my $report = decode_json(run(command => [cli(), 'merge', '--json', $records])->{out});
	my @why = grep { /time series/ } @{$report->{warnings}};
	is(scalar(@why), 1, 'a job: said once');
	like($why[0], qr/no clock in common.*cachepeek report/, 'why, and how to see it');
	my $one = decode_json(run(command => [cli(), 'report', '--json', "$records/1"])->{out});
	ok_series($one->{processes}[0], 5, 'one rank');
	is_deeply([grep { /time series/ } @{$one->{warnings}}], [], 'one rank: nothing is missing');
}

# ---- many intervals, and mistakes ----

for my $case (['5ms', 0], ['100', 0], ['fast', 0], ['2h', 0], ['1s', 1], ['250ms', 1], ['off', 1], ['0', 1]) {
	my ($value, $fine) = @$case;
	my $run = run(command => ['true'], env => {LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'perf', CACHEPEEK_OUTPUT => '/dev/null',
		CACHEPEEK_EVENTS => 'perf::PAGE-FAULTS', CACHEPEEK_INTERVAL => $value});
	is(status_text($run->{status}), 'exit 0', "CACHEPEEK_INTERVAL=$value: the program runs");
	my @said = grep { /INTERVAL/ } split(/\n/, $run->{err});
	is(scalar(@said), $fine ? 0 : 1, $fine ? 'nothing is said' : 'one line is said');
	like($said[0], qr/^cachepeek: CACHEPEEK_INTERVAL=\Q$value\E is not a TIME: off is used/, 'this one') unless $fine;
}
# ---- an execution that is longer than an interval ----

for my $engine ((can_count('software') ? 'perf' : ()), 'sim') {
	my $event = $engine eq 'perf' ? $faults : 'l1d_stores';
	my $run = peek(engine => $engine, events => $event, command => [program('long_region')], env => {CACHEPEEK_INTERVAL => '50ms'},
		output => scratch('long.json') . ',' . scratch('long.txt'));
	my $report = decode_json(read_file(scratch('long.json')));
	my $process = $report->{processes}[0];
	my ($whole, $long) = map { line($process, @$_) } [], ['long'];
	my @most = @{$whole->{counts}{$event}{values}};
	my @got = ((0) x $long->{first}, @{$long->{counts}{$event}{values}});
	ok_series($process, 5, "$engine, a long region");
	is_deeply([grep { $got[$_] > $most[$_] } 1 .. $#got], [], "$engine: nowhere more than the process counted") || diag("@got; @most");
	is(sum(@got), value(region($report, 'long'), $event), "$engine: all of it");
	cmp_ok(scalar(grep { $_ > 0 } @got), '>=', 4, "$engine: over the intervals that it may have been in");
	is($long->{counts}{$event}{status}, 'estimated', "$engine: an estimate");
	isnt($whole->{counts}{$event}{status}, 'estimated', "$engine: of the process it is known");
	like(read_file(scratch('long.txt')), qr/ of regions \(long executions are spread: ~\)\n  ~long /, "$engine: the text says so");
}

# ---- one after the other, in one thread ----

{
	my $run = peek(engine => 'sim', events => 'l1d_stores,instructions', command => [program('serial_regions')], env => {CACHEPEEK_INTERVAL => '10ms'},
		output => scratch('serial.json'));
	is(status_text($run->{status}), 'exit 0', 'serial: ran') || diag($run->{err});
	my $report = decode_json(read_file(scratch('serial.json')));
	my $process = $report->{processes}[0];
	for my $event ('l1d_stores', 'instructions') {
		my ($both, $one, $two) = map { my $line = line($process, @$_); [(0) x $line->{first}, @{$line->{counts}{$event}{values}}] }
			['both'], ['both', 'one'], ['both', 'two'];
		is_deeply([grep { $one->[$_] + $two->[$_] > 1.000001 * $both->[$_] } 1 .. $#$both], [], "serial: $event: together nowhere more than what they are in")
			|| diag("@$one; @$two; @$both");
		ok(abs(sum(@$one) - value(region($report, 'both', 'one'), $event)) < 0.001, "serial: $event: all of it");
		cmp_ok(scalar(grep { $one->[$_] > 0 && $two->[$_] > 0 } 1 .. $#$both), '<=', 6, "serial: $event: both only where one ends");
		cmp_ok(scalar(grep { $one->[$_] > 0 } 0 .. $#$both), '>=', 4, "serial: $event: in several intervals");
	}
}

done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# More children than anybody wants to see: those that have ended are folded into one
# record, the sums are exact, and the run's directory does not grow.
# CHILDREN: how many there are (3,000).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $kept = 200;   # of fold_records.h
my $faults = 'perf::PAGE-FAULTS';

sub bytes_of
{
	my ($directory) = @_;
	my $bytes = 0;
	$bytes += (stat)[12] * 512 for glob("$directory/*");
	return $bytes;
}

sub children
{
	my ($engine, $count, @more) = @_;
	my $directory = scratch("$engine-$count-" . scalar(@more));
	my $run = peek(engine => $engine, events => $engine eq 'perf' ? $faults : 'instructions',
		command => [program('fork_loop'), $count, 5], env => {CACHEPEEK_DIR => $directory, @more});
	$run->{directory} = $directory;
	return $run;
}

# How many ended like this, in their own rows and in folded ones.
sub ended
{
	my ($report, $how, $code) = @_;
	my $sum = 0;
	for my $process (@{$report->{processes}}) {
		my @ends = $process->{folded} ? @{$process->{folded}{ends}} : {%{$process->{exit}}, processes => 1};
		$sum += $_->{processes} for grep { $_->{how} eq $how && ($_->{code} // -1) == $code } @ends;
	}
	return $sum;
}

sub ok_folded
{
	my ($run, $count, $what) = @_;
	my $report = $run->{report};
	is(status_text($run->{status}), 'exit 0', "$what: the program ran");
	is($run->{out}, sprintf("%d %d %d\n", $count * 8 / 10, $count / 10, $count / 10), "$what: and so did its children");
	is(notes($run), 0, "$what: nothing to say") or diag(@{$run->{notes}});
	ok($report, "$what: a report") or return;
	my @folded = grep { $_->{folded} } @{$report->{processes}};
	my $processes = @{$report->{processes}} - @folded;
	$processes += $_->{folded}{processes} for @folded;
	is($processes, $count + 1, "$what: every process, once");
	cmp_ok(scalar(@{$report->{processes}}), '<=', $kept + 10, "$what: not a row for each");
	is(ended($report, 'exit', 0), $count * 8 / 10 + 1, "$what: how many returned 0");
	is(ended($report, 'exit', 3), $count / 10, "$what: how many returned 3");
	is(ended($report, 'signal', 11), $count / 10, "$what: how many died of SIGSEGV");
	my $touch = region($report, 'touch');
	is($touch->{calls}, $count, "$what: every execution");
	is($touch->{threads}, $count, "$what: of every thread");
	ok_sums($report, $what);
	my @said = grep { /folded: their counts/ } @{$report->{warnings}};
	is(scalar(@said), scalar(@folded), "$what: the report says what was folded");
	is(scalar(grep { /not seen/ } @{$report->{warnings}}), 0, "$what: nothing is unattributed");
	cmp_ok(bytes_of($run->{directory}), '<', 8 << 20, "$what: the directory is small");
	is(scalar(grep { /tmp/ } glob("$run->{directory}/*tmp*")), 0, "$what: nothing half done");
}

SKIP: {
	skip('perf: the kernel counts no software events here', 1) unless can_count('software');
	my $count = $ENV{CHILDREN} || 3000;
	my $run = children('perf', $count);
	ok_folded($run, $count, 'perf');
	my $touch = region($run->{report}, 'touch');
	is(value($touch, $faults), 5 * $count, 'perf: every fault');
	is($touch->{counts}{$faults}{status}, 'exact', 'perf: exactly');

	# It is not known what ended these, folded or not.
	my $killed = peek(engine => 'perf', events => $faults, command => ['perl', '-e',
		'my ($n, @program) = @ARGV; system(@program) for 1 .. $n', 230, program('exits'), 'kill']);
	my $report = $killed->{report};
	is(scalar(grep { $_->{folded} } @{$report->{processes}}) > 0, 1, 'killed: some are folded');
	is(ended($report, 'unknown', 0) + ended($report, 'unknown', -1), 230, 'killed: not seen to end');
	like("@{$report->{warnings}}", qr/they ended: .*\d+ not seen to end/, 'killed: the report says so');
	is($touch->{counts}{$faults}{per_call}{min}, 5, 'perf: the least of one execution');
	is($touch->{counts}{$faults}{per_call}{max}, 5, 'perf: the most');
	is($touch->{counts}{$faults}{per_call}{stddev}, 0, 'perf: no spread');

	my ($sum) = glob("$run->{directory}/folded-*.rec");
	my ($name) = read_file($sum) =~ /folding\0(\d+-\d+\.rec) /;
	ok($name && !-e "$run->{directory}/$name", 'a sum names what it took');

	# Other programs: each has its sum, and none is taken for not followed.
	my $shell = run(command => ['sh', '-c', 'i=0; while [ $i -lt 400 ]; do (exec "$0" 1 >&2); i=$((i+1)); done',
		program('region_calls')], env => {LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $faults,
		CACHEPEEK_DIR => scratch('shell'), CACHEPEEK_OUTPUT => '/dev/null'});
	my $kept = kept_report(scratch('shell'));
	my %kinds;
	for my $process (@{$kept->{processes}}) {
		my $exe = $process->{exe} =~ s{.*/}{}r;
		$kinds{"$exe $process->{exit}{how}"}++ if $process->{folded};
	}
	is($kinds{'region_calls folded'}, 1, 'exec: the programs, folded');
	is(scalar(grep { /exec$/ } keys %kinds), 1, 'exec: and what became them');
	is(scalar(@{$kept->{not_followed} || []}), 0, 'exec: all were followed');

	# No room at all.
	$run = children('perf', 400, CACHEPEEK_LIMIT => '1M');
	my ($lacks) = map { /^(\d+) process\w* (?:was|were) not recorded.*CACHEPEEK_LIMIT/ } @{$run->{report}{warnings}};
	ok($lacks, 'limit: the report says how many it lacks');
	is(region($run->{report}, 'touch')->{calls} + ($lacks || 0), 400, 'limit: all the others are there');
	is(notes($run), 0, 'limit: nothing on stderr') or diag(@{$run->{notes}}[0 .. 3]);
	cmp_ok(bytes_of($run->{directory}), '<', 2 << 20, 'limit: the directory keeps to it');
}

my $count = 220;
ok_folded(children('sim', $count), $count, 'sim');
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Jobs of MPI, under Open MPI and MPICH: which rank counted what, and what is left
# when some of them end badly.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use JSON::PP;
use Test::More;

need_perf();

my $faults = 'perf::PAGE-FAULTS';
$ENV{OMPI_ALLOW_RUN_AS_ROOT} = $ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} = 1;
$ENV{"OMPI_MCA_$_->[0]"} = $_->[1]
	for ['rmaps_base_oversubscribe', 1], ['btl', 'self,vader'], ['mpi_yield_when_idle', 1];
my %implementations = (
	openmpi => {cc => 'mpicc.openmpi', run => ['mpirun.openmpi', '--oversubscribe']},
	mpich => {cc => 'mpicc.mpich', run => ['mpiexec.hydra']});

# A job; the library is set for the ranks only.
sub job
{
	my ($mpi, $ranks, $directory, $env, @program) = @_;
	my %env = (LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $faults,
		CACHEPEEK_DIR => $directory, %$env);
	return run(command => [@{$mpi->{run}}, '-n', $ranks, 'env',
		map({ "$_=$env{$_}" } sort keys %env), @program]);
}

sub merged
{
	my ($directory) = @_;
	my $json = scratch('merged.json');
	my $merge = run(command => [cli(), 'merge', '-o', $json, $directory]);
	is($merge->{err}, '', 'merge has nothing to say');
	return decode_json(read_file($json) // '{}');
}

# The region "work" of ranks 0 .. n-1 that are in @ranks.
sub check_work
{
	my ($report, $what, @ranks) = @_;
	my @pages = map { 10 * ($_ + 1) + 5 } @ranks;
	my $sum = 0;
	$sum += $_ for @pages;
	my $work = region($report, 'work');
	my $count = $work->{counts}{$faults};
	is($work->{calls}, scalar(@ranks), "$what: work: once in each rank");
	is($count->{value}, $sum, "$what: work: the sum over the ranks");
	is("$count->{min} $count->{min_at}{rank}", "$pages[0] $ranks[0]", "$what: the least, and its rank");
	is("$count->{max} $count->{max_at}{rank}", "$pages[-1] $ranks[-1]", "$what: the most, and its rank");
	my $mean = $sum / @ranks;
	my $squares = 0;
	$squares += ($_ - $mean) ** 2 for @pages;
	my $deviation = @ranks > 1 ? sqrt($squares / (@ranks - 1)) : 0;
	ok(abs($count->{mean} - $mean) < 1e-6 * $mean, "$what: the mean");
	ok(abs($count->{stddev} - $deviation) < 1e-6 * ($deviation + 1), "$what: the deviation")
		or diag("$count->{stddev}, not $deviation");
	ok(abs($count->{imbalance} - $pages[-1] / $mean) < 1e-6, "$what: the imbalance");
	for my $kind (0, 1) {
		my $path = region($report, 'work', $kind ? 'odd' : 'even');
		my $those = grep { $_ % 2 == $kind } @ranks;
		is($path ? value($path, $faults) : 0, 5 * $those, "$what: regions that some ranks have");
	}
	is(value($work, $faults, 'exclusive'), $sum - 5 * @ranks, "$what: work, without what is inside");
}

for my $name (sort keys %implementations) {
	my $mpi = $implementations{$name};
	SKIP: {
		skip("no $name", 1) unless which($mpi->{cc}) && which($mpi->{run}[0]);
		my $exe = scratch("pages-$name");
		my $build = run(command => [$mpi->{cc}, '-O1', '-D_GNU_SOURCE', '-I' . source() . '/regions',
			source() . '/tests/mpi/pages.c', '-o', $exe]);
		is($build->{status}, 0, "$name: compiles") or next;
		for my $ranks (1, 2, 3, 5, 8) {
			my $directory = scratch("$name-$ranks");
			my $job = job($mpi, $ranks, $directory, {CACHEPEEK_OUTPUT => "$directory/rank%r.json"}, $exe);
			is($job->{out}, $ranks * ($ranks - 1) / 2 . "\n", "$name, $ranks: output of the program");
			is(status_text($job->{status}), 'exit 0', "$name, $ranks: its status");
			my $report = merged($directory);
			is_deeply($report->{ranks}, {recorded => $ranks, of => $ranks, processes => $ranks,
				missing => []}, "$name, $ranks: all ranks are there");
			check_work($report, "$name, $ranks", 0 .. $ranks - 1);
			is_deeply($report->{warnings}, [], "$name, $ranks: nothing to warn of");
		}

		# The launcher ends the others, some before they have done anything more.
		for my $how ('abort', 'kill', 'exit', 'mpi_abort') {
			my $directory = scratch("$name-$how");
			my $job = job($mpi, 3, $directory, {CACHEPEEK_OUTPUT => "$directory/rank%r.json"}, $exe, $how, 1);
			ok(defined $job->{status}, "$name, $how: no hang");
			my $report = merged($directory);
			check_work($report, "$name, $how", 0 .. 2);
			my $warnings = join("\n", @{$report->{warnings}});
			like($warnings, $how eq 'abort' ? qr/^rank 1 ended by signal 6$/m
				: qr/^rank 1 was killed: its counts are up to its last region's end$/m,
				"$name, $how: and the report says how it ended") if $how =~ /^(abort|kill)$/;
		}

		# What is not there is named.
		my $directory = scratch("$name-5");
		for my $record (glob("$directory/*.rec")) {
			my $one = decode_json(run(command => [cli(), 'report', '--json', $record])->{out});
			unlink($record) if $one->{processes}[0]{rank} =~ /^[13]$/;
		}
		my $report = merged($directory);
		is_deeply($report->{ranks}{missing}, [1, 3], "$name: ranks that are missing");
		like($report->{warnings}[0], qr/nothing is recorded of 2 of 5 ranks \(1, 3\)/, "$name: are named");
		check_work($report, "$name, without some", 0, 2, 4);
		my $text = run(command => [cli(), 'merge', $directory])->{out};
		like($text, qr/^ran +3 of 5 ranks/m, "$name: and in the text report");
		like($text, qr/^  work +3 +15 +rank 0 +35 +55 +rank 4$/m, "$name: with the ranks");
	}
}

my $nothing = run(command => [cli(), 'merge']);
is(status_text($nothing->{status}), 'exit 2', 'merge of nothing');
like($nothing->{err}, qr/name the directories or records/, 'says what to name');
mkdir(scratch('empty'));
$nothing = run(command => [cli(), 'merge', scratch('empty')]);
is(status_text($nothing->{status}), 'exit 1', 'merge of an empty directory');
like($nothing->{err}, qr/holds no run records/, 'says so');
done_testing();

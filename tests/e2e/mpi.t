#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Jobs of MPI, under Open MPI and MPICH: which rank counted what, and what is left
# when some of them end badly.  MPI_RANKS=1,2,3,5,8,16 tries so many ranks.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Mpi;
use Peek;
use Test::More;

need_perf();

my $faults = 'perf::PAGE-FAULTS';
my %implementations = implementations();
my @ranks = split(/,/, $ENV{MPI_RANKS} // '1,3,8');

sub counted
{
	my ($mpi, $ranks, $directory, $env, @program) = @_;
	return job($mpi, $ranks, {CACHEPEEK_EVENTS => $faults, CACHEPEEK_DIR => $directory, %$env}, @program);
}

# One report, of rank 0, and nothing else.
sub check_one
{
	my ($what, $mpi, $ranks, $exe, %env) = @_;
	my $json = scratch('one.json');
	unlink($json);
	my $plain = run(command => [@{$mpi->{run}}, '-n', $ranks, $exe]);
	my $job = counted($mpi, $ranks, scratch("records-" . ($what =~ s/\W+/-/gr)),
		{CACHEPEEK_OUTPUT => $json, %env}, $exe);
	is($job->{out}, $plain->{out}, "$what: same output");
	is(status_text($job->{status}), status_text($plain->{status}), "$what: same status");
	my $report = read_json($json);
	is_deeply($report->{ranks}, {recorded => $ranks, of => $ranks, processes => $ranks, missing => []},
		"$what: one report of all ranks");
	is_deeply([glob(scratch("records-" . ($what =~ s/\W+/-/gr)) . '/*.parcels')], [], "$what: what they sent is not left behind");
	my $whole = region($report)->{counts}{$faults};
	# A thread that the MPI library has just begun, or ended, is in no reading.
	like($whole->{reason}, qr/\A(?:without 1 of 2 threads: )?counted up to the last reading\z/, "$what: the whole run, up to there");
	cmp_ok($whole->{value} // 0, '>', value(region($report, 'work'), $faults), "$what: is more than its regions");
	return ($report, $job);
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
	is_near($count->{mean}, $mean, "$what: the mean");
	is_near($count->{stddev}, $deviation, "$what: the deviation");
	is_near($count->{imbalance}, $pages[-1] / $mean, "$what: the imbalance");
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
		skip("no $name", 1) unless has($mpi);
		my $exe = scratch("pages-$name");
		my $build = run(command => [$mpi->{cc}, '-O1', '-D_GNU_SOURCE', '-I' . source() . '/regions',
			source() . '/tests/mpi/pages.c', '-o', $exe]);
		is($build->{status}, 0, "$name: compiles") or next;
		for my $ranks (@ranks) {
			my $directory = scratch("$name-$ranks");
			my $job = counted($mpi, $ranks, $directory, {CACHEPEEK_MPI_TIMEOUT => 0,
				CACHEPEEK_OUTPUT => "$directory/rank%r.json"}, $exe);
			is($job->{out}, $ranks * ($ranks - 1) / 2 . "\n", "$name, $ranks: output of the program");
			is(status_text($job->{status}), 'exit 0', "$name, $ranks: its status");
			my $report = merged($directory);
			is_deeply($report->{ranks}, {recorded => $ranks, of => $ranks, processes => $ranks,
				missing => []}, "$name, $ranks: all ranks are there");
			check_work($report, "$name, $ranks", 0 .. $ranks - 1);
			is_deeply($report->{warnings}, [], "$name, $ranks: nothing to warn of");
		}

		# The report that the ranks make by themselves.
		for my $ranks (grep { $_ > 1 } @ranks) {
			my ($report, $job) = check_one("$name, $ranks, at MPI_Finalize", $mpi, $ranks, $exe);
			check_work($report, "$name, $ranks, at MPI_Finalize", 0 .. $ranks - 1);
			is_deeply($report->{warnings}, [], "$name, $ranks: nothing to warn of");
			is($job->{err}, '', "$name, $ranks: nothing on stderr");
			my $later = merged(scratch("records-$name-$ranks-at-MPI_Finalize"));
			is_deeply(region($report, 'work'), region($later, 'work'),
				"$name, $ranks: merge makes the same of the records");
		}
		# Another tool of MPI, before us and after us.
		my $other = built("$name, other tool", "other-$name.so", $mpi->{cc}, '-shared', '-fPIC',
			source() . '/tests/mpi/other.c');
		for my $order ([$other, lib()], [lib(), $other]) {
			my ($report, $job) = check_one("$name, other tool $order->[0]", $mpi, 3, $exe,
				LD_PRELOAD => join(':', @$order));
			check_work($report, "$name, other tool", 0 .. 2);
			is($job->{err}, "the other tool\n" x 3, "$name: the other tool is called once");
		}

		# Some are not counted at all: no hang, and the rest has what it has.
		my $some = scratch("some-$name.sh");
		write_file($some, "#!/bin/sh\n" . 'case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in ' .
			"1) exec $exe ;; *) LD_PRELOAD=" . lib() . " exec $exe ;; esac\n");
		chmod(0755, $some);
		my $without = scratch("without-$name");
		my $partly = counted($mpi, 3, $without, {LD_PRELOAD => '', CACHEPEEK_MPI_TIMEOUT => 1,
			CACHEPEEK_OUTPUT => "$without/rank%r.json", UCX_LOG_LEVEL => 'error'}, $some);
		# UCX, below some, complains on stdout of what was not received, in the midst of others' lines.
		like($partly->{out}, qr/^3$/m, "$name, one without us: output");
		is(status_text($partly->{status}), 'exit 0', "$name, one without us: status");
		like($partly->{err}, qr/no report of the whole job: not all ranks came.* 1 s/,
			"$name, one without us: it says so");
		my $rest = merged($without);
		check_work($rest, "$name, one without us", 0, 2);
		is_deeply($rest->{ranks}{missing}, [1], "$name, one without us: which is missing");
		ok(read_json("$without/rank2.json"), "$name, one without us: the others' own reports");

		# The launcher ends the others, some before they have done anything more.
		for my $how ('abort', 'kill', 'exit', 'mpi_abort') {
			my $directory = scratch("$name-$how");
			my $job = counted($mpi, 3, $directory, {CACHEPEEK_OUTPUT => "$directory/rank%r.json"}, $exe, $how, 1);
			ok(defined $job->{status}, "$name, $how: no hang");
			my $report = merged($directory);
			check_work($report, "$name, $how", 0 .. 2);
			my $warnings = join("\n", @{$report->{warnings}});
			like($warnings, $how eq 'abort' ? qr/^rank 1 ended by signal 6$/m
				: qr/^rank 1 was not seen to end: its counts are up to its last region's end$/m,
				"$name, $how: and the report says how it ended") if $how =~ /^(abort|kill)$/;
		}

		# Missing records are named.
		my $directory = scratch("$name-of-5");
		counted($mpi, 5, $directory, {CACHEPEEK_MPI_TIMEOUT => 0, CACHEPEEK_OUTPUT => "$directory/rank%r.json"}, $exe);
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

# The library set by the launchers themselves, and for them: they say nothing.
my %set = (openmpi => sub { ('-x', "LD_PRELOAD=$_[0]") }, mpich => sub { ('-genv', 'LD_PRELOAD', $_[0]) });
for my $name (sort keys %implementations) {
	my $mpi = $implementations{$name};
	SKIP: {
		skip("no $name", 1) unless has($mpi);
		for my $how ('by', 'for') {
			my $json = scratch("$how-$name.json");
			my $job = run(command => [@{$mpi->{run}}, $how eq 'by' ? $set{$name}->(lib()) : (), '-n', 2, scratch("pages-$name")],
				env => {CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $faults, CACHEPEEK_OUTPUT => $json,
					$how eq 'for' ? (LD_PRELOAD => lib()) : ()});
			is($job->{err}, '', "$name: the library set $how the launcher");
			check_work(read_json($json), "$name: set $how the launcher", 0, 1);
		}
	}
}

# Every rank counts what needs no PMU, also where they share the events.
SKIP: {
	skip('no MPICH', 1) unless has($implementations{mpich});
	my ($report, $job) = check_one('shared events', $implementations{mpich}, 3, scratch('pages-mpich'), CACHEPEEK_SCHEDULE => 'ranks');
	check_work($report, 'shared events', 0 .. 2);
	is($job->{err}, '', 'shared events: nothing on stderr');
	my $alone = peek(engine => 'perf', command => ['true'], env => {CACHEPEEK_SCHEDULE => 'ranks'});
	is(scalar(grep { /CACHEPEEK_SCHEDULE=ranks is for jobs of MPI/ } @{$alone->{notes}}), 1, 'without ranks: it says so');
}

# A rank that its MPI takes for a job of one is still the rank that the launcher says.
SKIP: {
	skip('no MPICH', 1) unless has($implementations{mpich});
	my $alone = run(command => [scratch('pages-mpich')], env => {LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'perf',
		CACHEPEEK_EVENTS => $faults, CACHEPEEK_OUTPUT => scratch('alone%r.json'),
		SLURM_STEP_ID => 0, SLURM_PROCID => 1, SLURM_STEP_NUM_TASKS => 2});
	my $report = read_json(scratch('alone1.json'));
	is($report && $report->{processes}[0]{rank}, 1, 'a rank that its MPI knows nothing of');
}

my $nothing = run(command => [cli(), 'merge']);
is(status_text($nothing->{status}), 'exit 2', 'merge of nothing');
like($nothing->{err}, qr/name the directories or records/, 'says what to name');
mkdir(scratch('empty'));
$nothing = run(command => [cli(), 'merge', scratch('empty')]);
is(status_text($nothing->{status}), 'exit 1', 'merge of an empty directory');
like($nothing->{err}, qr/holds no run records/, 'says so');
done_testing();

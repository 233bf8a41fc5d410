#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A rank is counted once, whoever started its launcher, and the launcher is not.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Mpi;
use Peek;
use Test::More;

need_perf();

# Each rank touches 100 pages more than the one before.  Two simulated ranks are enough to
# tell them apart; the start of an MPI is most of what each of them simulates.
my %engines = (perf => 'perf::PAGE-FAULTS', sim => 'l1d_misses');
my %ranks = (perf => 4, sim => 2);
my %implementations = implementations();
my %export = (openmpi => ['-x', 'LD_PRELOAD=' . lib()], mpich => ['-genv', 'LD_PRELOAD', lib()]);
my $preload = 'LD_PRELOAD=' . lib();

sub script
{
	my ($name, @lines) = @_;
	write_file(scratch($name), join("\n", '#!/bin/sh', @lines) . "\n");
	chmod(0755, scratch($name));
	return scratch($name);
}

# The ways that are this MPI's, so that each is simulated with one of them (the kernel
# counts each with both).  LAUNCHER_WAYS=all: all.
sub one_mpi_each
{
	my ($name, $ways) = @_;
	my @there = sort grep { has($implementations{$_}) } keys %implementations;
	my ($mine) = grep { $there[$_] eq $name } 0 .. $#there;
	my @names = sort keys %$ways;
	return $ways if ($ENV{LAUNCHER_WAYS} // '') eq 'all';
	return {map { ($names[$_] => $ways->{$names[$_]}) } grep { $_ % @there == $mine } 0 .. $#names};
}

# Each way: the whole command.
sub ways
{
	my ($name, $mpi, $engine, @program) = @_;
	my @run = (@{$mpi->{run}}, '-n', $ranks{$engine});
	my %ways = (
		'the launcher exports the library' => [@{$mpi->{run}}, @{$export{$name}}, '-n', $ranks{$engine}, @program],
		'env sets it for each rank' => [@run, 'env', $preload, @program],
		'cachepeek starts the launcher' => [cli(), @run, @program],
		'each rank is cachepeek' => [@run, cli(), @program],
		'the library is set for the launcher' => ['env', $preload, @run, @program],
		'timeout starts the launcher' => ['env', $preload, 'timeout', 100, @run, @program],
		'sh -c' => ['env', $preload, 'sh', '-c', "@run @program; true"],
		'a wrapper script' => ['env', $preload, script("wrap-$name.sh", "@run @program", 'exit $?')],
	);
	return one_mpi_each($name, \%ways) if $engine eq 'sim';
	$ways{'env starts the launcher'} = ['env', $preload, 'env', 'FOO=1', @run, @program];
	$ways{'cachepeek sh -c'} = [cli(), 'sh', '-c', "@run @program; true"];
	$ways{'cachepeek timeout'} = [cli(), 'timeout', 100, @run, @program];
	$ways{'numactl'} = ['env', $preload, 'numactl', '--localalloc', @run, @program] if which('numactl');
	return \%ways;
}

sub settings
{
	my ($engine, %more) = @_;
	return {CACHEPEEK_ENGINE => $engine, CACHEPEEK_EVENTS => $engines{$engine}, CACHEPEEK_OUTPUT => scratch('job.json'), %more};
}

# A thread of the MPI's that shares the simulated core may run in the region, when its time
# has come: of the few lines that the region uses beside the pages (the stack's, the
# marker's), some are missed again then, fewer than 16 in each rank.
sub pages
{
	my ($count, $event, $pages, $ranks) = @_;
	return $count // '-' if !defined $count || $event !~ /^l1d/ || $count < $pages || $count >= $pages + 16 * $ranks;
	return $pages;
}

sub check_touch
{
	my ($what, $report, $event, $processes, $ranks) = @_;
	my $count = region($report, 'touch');
	$count = $count ? $count->{counts}{$event} : {};
	$ranks //= 4;
	my ($all, $last) = (50 * $ranks * ($ranks + 1), $ranks - 1);
	my @counts = map { pages($count->{$_->[0]}, $event, @$_[1, 2]) } ['value', $all, $ranks], ['min', 100, 1], ['max', 100 * $ranks, 1];
	is("$counts[0] $counts[1] " . ($count->{min_at}{rank} // '-') . " $counts[2] " . ($count->{max_at}{rank} // '-'),
		"$all 100 0 ${ranks}00 $last", "$what: $all pages, from 100 of rank 0 to ${ranks}00 of rank $last");
	is_deeply($report->{ranks}, {recorded => $ranks, of => $ranks, processes => $processes // $ranks, missing => []},
		"$what: $ranks ranks, and nothing else");
}

my %built;
for my $name (sort keys %implementations) {
	my $mpi = $implementations{$name};
	SKIP: {
		skip("no $name", 1) unless has($mpi);
		my $exe = $built{$name} = built($name, "touch-$name", $mpi->{cc}, '-O1', '-D_GNU_SOURCE', '-I' . source() . '/regions',
			source() . '/tests/mpi/touch.c') or next;
		for my $engine (split(/,/, $ENV{LAUNCHER_ENGINES} // 'perf,sim')) {
			my $ways = ways($name, $mpi, $engine, $exe);
			for my $way (sort keys %$ways) {
				unlink(glob(scratch('job*.json')));
				my $run = run(command => $ways->{$way}, env => settings($engine));
				my $what = "$name, $engine: $way";
				is(status_text($run->{status}), 'exit 0', "$what: the status");
				is($run->{err}, '', "$what: nothing is said");
				check_touch($what, read_json(scratch('job.json')), $engines{$engine}, undef, $ranks{$engine});
				is(scalar(() = glob(scratch('job.*.json'))), 0, "$what: there is no other report");
			}
		}
	}
}

# Processes of a run beside ranks.
for my $name (sort keys %built) {
	my ($mpi, $exe) = ($implementations{$name}, $built{$name});
	my $run = join(' ', @{$mpi->{run}}, '-n');
	my $faults = $engines{perf};
	unlink(glob(scratch('job*.json')));

	# A rank's own children are its own.
	my $rank = script("rank-$name.sh", "$exe", 'exit $?');
	run(command => [cli(), @{$mpi->{run}}, '-n', 4, $rank], env => settings('perf'));
	check_touch("$name, ranks are scripts", read_json(scratch('job.json')), $faults, 8);

	# Two jobs, and a program beside them.
	my $directory = scratch("two-$name");
	my $two = run(command => [cli(), 'sh', '-c', "$run 4 $exe; $run 2 $exe; " . program('empty')],
		env => settings('perf', CACHEPEEK_DIR => $directory));
	check_touch("$name, two jobs: the first", read_json(scratch('job.json')), $faults);
	my $second = read_json(scratch('job.2.json'));
	is(value(region($second, 'touch'), $faults), 300, "$name, two jobs: the second has a file of its own");
	is($second->{ranks}{of}, 2, "$name, two jobs: and its ranks");
	my $beside = read_json(scratch('job.3.json'));
	is(join(' ', sort map { $_->{exe} =~ s{.*/}{}r } leaves($beside)), 'dash empty', "$name, two jobs: what else ran is in a third");
	is(join('', grep { /touch/ } map { @{$_->{path}} } @{$beside->{regions}}), '', "$name, two jobs: without the ranks");
	is($two->{err}, join('', map { "cachepeek: the report of job $_ of this run is in " . scratch("job.$_.json") . "\n" } 2, 3),
		"$name, two jobs: it is said where");

	# The command makes the same of the records, as often as it is asked.
	for my $again (1, 2) {
		run(command => [cli(), 'report', '-o', scratch('again.json'), $directory]);
		check_touch("$name, cachepeek report, $again", read_json(scratch('again.json')), $faults);
		is(value(region(read_json(scratch('again.2.json')), 'touch'), $faults), 300, "$name: cachepeek report, $again: the second job");
	}

	# The same directory once more: another run, whose first job is job 1 again.
	unlink(glob(scratch('job*.json')));
	my $other = run(command => [cli(), @{$mpi->{run}}, '-n', 4, $exe], env => settings('perf', CACHEPEEK_DIR => $directory));
	check_touch("$name, the same directory again", read_json(scratch('job.json')), $faults);
	is($other->{err}, '', "$name, the same directory again: nothing is said");

	# The root of a run that is a rank of nobody: one job in one run directory.
	my $cache = scratch("cache-$name");
	run(command => [@{$mpi->{run}}, '-n', 4, 'env', $preload, $exe], env => settings('perf', XDG_CACHE_HOME => $cache));
	is(scalar(() = glob("$cache/cachepeek/run-*")), 1, "$name: the ranks share a directory");
	run(command => [cli(), 'report', '-o', scratch('last.json')], env => {XDG_CACHE_HOME => $cache});
	check_touch("$name, cachepeek report of the last run", read_json(scratch('last.json')), $faults);

	# Commands with a report of their own: no other is made.
	unlink(glob(scratch('job*.json')));
	my $repeat = run(command => [cli(), '--repeat', 2, '-o', scratch('repeat.json'), @{$mpi->{run}}, '-n', 4, $exe], env => settings('perf'));
	my ($touch) = grep { join('/', @{$_->{path} || []}) eq 'touch' && $_->{name} eq $faults } @{(read_json(scratch('repeat.json')) || {})->{values}};
	is_deeply($touch && $touch->{values}, [1000, 1000], "$name, --repeat: all ranks, each time");
	is($repeat->{err}, '', "$name, --repeat: nothing is said");
	ok(!-e scratch('job.json'), "$name, --repeat: no report of a single job");
	run(command => [cli(), '--passes', @{$mpi->{run}}, '-n', 4, $exe], env => settings('perf'));
	check_touch("$name, --passes", read_json(scratch('job.json')), $faults);

	# Without a place for the user's runs.
	unlink(scratch('job.json'));
	mkdir(scratch("tmp-$name"));
	run(command => [@{$mpi->{run}}, '-n', 4, 'env', $preload, $exe, 'return'],
		env => settings('perf', XDG_CACHE_HOME => undef, HOME => '/nonexistent', TMPDIR => scratch("tmp-$name")));
	check_touch("$name, without HOME", read_json(scratch('job.json')), $faults);
}
done_testing();

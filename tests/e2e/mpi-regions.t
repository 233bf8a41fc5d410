#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_MPI_REGIONS=1: what is counted inside of MPI's functions, and what
# outside, in C and in Fortran.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Mpi;
use Peek;
use Test::More;

need_perf();

my $tests = source() . '/tests/mpi';
my $faults = 'perf::PAGE-FAULTS';
my @flags = ('-O1', '-D_GNU_SOURCE', '-I' . source() . '/regions');
my $ranks = 3;
my $computed = 10 * $ranks * ($ranks + 1) / 2;
# Executions per rank.
my %calls = ('work' => 1, 'work compute' => 1, 'work MPI_Sendrecv' => 3, 'work MPI_Isend' => 1, 'work MPI_Irecv' => 1,
	'work MPI_Waitall' => 1, 'work MPI_Barrier' => 1, 'work MPI_Allreduce' => 2, 'MPI_Barrier' => 1);

sub report_of
{
	my ($what, $mpi, $exe, %env) = @_;
	my $json = scratch('calls.json');
	unlink($json);
	my $job = job($mpi, $ranks, {CACHEPEEK_EVENTS => $faults, CACHEPEEK_OUTPUT => $json, %env}, $exe);
	is(status_text($job->{status}) . $job->{err}, 'exit 0', "$what: it ends well");
	return read_json($json);
}

sub calls_of { my ($report) = @_; return {map { join(' ', @{$_->{path}}) => $_->{calls} } grep { @{$_->{path}} } @{$report->{regions}}} }

sub check
{
	my ($what, $mpi, $exe) = @_;
	my $report = report_of($what, $mpi, $exe, CACHEPEEK_MPI_REGIONS => 1);
	is_deeply(calls_of($report), {map { $_ => $ranks * $calls{$_} } keys %calls}, "$what: a region for each function");
	is(value(region($report, 'work', 'compute'), $faults), $computed, "$what: what is no call of MPI");
	is_deeply($report->{warnings}, [], "$what: nothing to warn of");
	is_deeply(calls_of(report_of($what, $mpi, $exe)), {work => $ranks, 'work compute' => $ranks}, "$what: none without the variable");
}

my %implementations = implementations();
for my $name (sort keys %implementations) {
	my $mpi = $implementations{$name};
	SKIP: {
		skip("no $name", 1) unless has($mpi);
		my $exe = built("$name, C", "calls-$name", $mpi->{cc}, @flags, "$tests/calls.c");
		check("$name, C", $mpi, $exe);

		# Behind us is another tool, which does the work: all pages are known.
		my $other = built("$name, barrier", "barrier-$name.so", $mpi->{cc}, @flags, '-shared', '-fPIC', "$tests/barrier.c");
		my @behind = ($mpi, $exe, LD_PRELOAD => lib() . ":$other", CACHEPEEK_MPI_REGIONS => 1);
		my $report = report_of("$name, barrier", @behind);
		for my $path ('work MPI_Barrier', 'MPI_Barrier') {
			is(value(region($report, split(/ /, $path)), $faults), 7 * $ranks, "$name: $path: pages inside");
		}
		is_deeply(calls_of($report), {map { $_ => $ranks * $calls{$_} } keys %calls}, "$name: one region for two tools");
		$report = report_of("$name, left out", @behind, CACHEPEEK_REGIONS => '!MPI_Barrier');
		is(region($report, 'work', 'MPI_Barrier'), undef, "$name: one that is left out");
		is(region($report, 'work', 'MPI_Allreduce')->{calls}, 2 * $ranks, "$name: is the only one");

		# Before us: it is called, and calls no MPI.
		$report = report_of("$name, hidden", $mpi, $exe, LD_PRELOAD => "$other:" . lib(), CACHEPEEK_MPI_REGIONS => 1);
		is(region($report, 'work', 'MPI_Barrier'), undef, "$name: a function of another tool is no region");
		is(region($report, 'work', 'MPI_Allreduce')->{calls}, 2 * $ranks, "$name: but what it calls is");

		skip("no Fortran", 1) unless which($mpi->{fc});
		my $work = built("$name, work", "work-$name.o", $mpi->{cc}, @flags, '-c', "$tests/work.c");
		for my $language (qw(f90 f08)) {
			my $program = built("$name, $language", "calls-$language-$name", $mpi->{fc}, '-J', scratch(),
				"$tests/calls_$language.f90", $work) or next;
			check("$name, $language", $mpi, $program);
		}
	}
}
done_testing();

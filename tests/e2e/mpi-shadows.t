#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Shadows of the ranks of a job: each rank has its own, and the job's report, which is made
# before they end, has the sum.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Mpi;
use Peek;
use Test::More;

plan(skip_all => why_not('shadow')) if why_not('shadow');

my $turns = 25_000_000_000; # of three instructions
my $source = write_file(scratch('adds.c'), <<"C");
#include <mpi.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	__asm__ volatile("1: add \$1, %0\\n\\tcmp %1, %0\\n\\tjne 1b" :: "r"(0l), "r"(${turns}l) : "cc");
	MPI_Finalize();
	return 0;
}
C

my %implementations = implementations();
for my $name (sort keys %implementations) {
	my $mpi = $implementations{$name};
	SKIP: {
		skip("no $name", 1) unless has($mpi);
		push(@{$mpi->{run}}, qw(--bind-to none)); # else there is no spare core
		my $exe = built($name, "adds-$name", $mpi->{cc}, '-O1', $source) or next;
		my $file = scratch("$name.json");
		my $job = job($mpi, 2, {CACHEPEEK_ENGINE => 'shadow', CACHEPEEK_EVENTS => 'instructions', CACHEPEEK_BUDGET => 20,
			CACHEPEEK_DIR => scratch("records-$name"), CACHEPEEK_OUTPUT => $file}, $exe);
		is(status_text($job->{status}), 'exit 0', "$name: status");
		my $report = read_json($file);
		is($report->{ranks}{recorded}, 2, "$name: both ranks");
		my $all = region($report)->{counts}{instructions};
		is($all->{status}, 'estimated', "$name: an estimate of both") or diag(explain($all), $job->{err});
		my $true = 2 * 3 * $turns;
		cmp_ok(abs(($all->{value} // 0) - $true), '<', 3 * ($all->{error} // 0) + $true / 20, "$name: of what both did") or diag(explain($all));
	}
}
done_testing();

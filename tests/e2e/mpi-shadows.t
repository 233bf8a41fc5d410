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

my @turns = (10_000_000_000, 20_000_000_000); # of three instructions; more, until there are enough windows
my $source = write_file(scratch('adds.c'), <<'C');
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	__asm__ volatile("1: add $1, %0\n\tcmp %1, %0\n\tjne 1b" :: "r"(0l), "r"(atol(argv[1])) : "cc");
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
		my ($job, $report, $all, $true);
		for my $turns (@turns) {
			my $file = scratch("$name-$turns.json");
			$job = job($mpi, 2, {CACHEPEEK_ENGINE => 'shadow', CACHEPEEK_EVENTS => 'instructions', CACHEPEEK_BUDGET => 20,
				CACHEPEEK_DIR => scratch("records-$name-$turns"), CACHEPEEK_OUTPUT => $file}, $exe, $turns);
			$report = read_json($file);
			$all = region($report)->{counts}{instructions};
			$true = 2 * 3 * $turns;
			last if ($all->{status} // '') eq 'estimated';
		}
		is(status_text($job->{status}), 'exit 0', "$name: status");
		is($report->{ranks}{recorded}, 2, "$name: both ranks");
		is($all->{status}, 'estimated', "$name: an estimate of both") or diag(explain($all), $job->{err});
		cmp_ok(abs(($all->{value} // 0) - $true), '<', 3 * ($all->{error} // 0) + $true / 20, "$name: of what both did") or diag(explain($all));
	}
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Ranks that MPI_Comm_spawn has started are a job of their own, and those of each call:
# also where the launcher starts them from the same daemon and tells only that they were
# spawned, as MPICH 5's does.  A daemon of its name stands for it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Standin;
use Test::More;

need_perf();

my $daemon = compiled('hydra_pmi_proxy', <<'C', 'gcc', '-O1', '-w', '-D_GNU_SOURCE', 'SOURCE');
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
/* RANKS:SPAWNED each, all of one number at once: the parents, and those of two calls. */
static void start(int ranks, int spawned, char **command)
{
	for (int rank = 0; rank < ranks; rank++) {
		char number[12], size[12];
		if (fork())
			continue;
		snprintf(number, sizeof(number), "%d", rank);
		snprintf(size, sizeof(size), "%d", ranks);
		setenv("PMI_RANK", number, 1);
		setenv("PMI_SIZE", size, 1);
		setenv("MPI_LOCALRANKID", number, 1);
		if (spawned)
			setenv("PMI_SPAWNED", "1", 1);
		execv(command[0], command);
		_exit(127);
	}
	while (wait(NULL) > 0)
		;
}
int main(int argc, char **argv)
{
	start(3, 0, argv + 1);
	start(2, 1, argv + 1);
	start(2, 1, argv + 1);
	return 0;
}
C
my $json = scratch('job.json');
for my $by ('cachepeek', 'ranks') {
	my $directory = scratch("run-$by");
	my %env = (CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => 'perf::PAGE-FAULTS', CACHEPEEK_OUTPUT => $json, CACHEPEEK_DIR => $directory);
	unlink(glob(scratch('job*.json')));
	my @program = ($daemon, program('empty'));
	my $run = $by eq 'cachepeek' ? run(command => [cli(), @program], env => \%env)
		: run(command => [@program], env => {%env, LD_PRELOAD => lib()});
	is(status_text($run->{status}), 'exit 0', "$by: its end") or diag($run->{err});
	is_deeply([map { s{.*/}{}r } sort(glob(scratch('job*.json')))], ['job.2.json', 'job.3.json', 'job.json'], "$by: three jobs have a report each");
	for (['job.json', 3], ['job.2.json', 2], ['job.3.json', 2]) {
		my ($name, $ranks) = @$_;
		my $report = decode_json(read_file(scratch($name)) // '{}');
		is_deeply($report->{ranks}, {recorded => $ranks, of => $ranks, processes => $ranks, missing => []}, "$by, $name: its ranks");
	}
}
done_testing();

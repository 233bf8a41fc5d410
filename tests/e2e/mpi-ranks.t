#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A job's report of each rank: processes, threads, time, and how much of that
# it was in MPI; and which ranks have the regions that not all have.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Mpi;
use Peek;
use Test::More;

need_perf();

my %implementations = implementations();
for my $name (sort keys %implementations) {
	my $mpi = $implementations{$name};
	SKIP: {
		skip("no $name", 1) unless has($mpi);
		my $exe = built($name, "uneven-$name", $mpi->{cc}, '-O1', '-D_GNU_SOURCE', '-I' . source() . '/regions',
			source() . '/tests/mpi/uneven.c', '-pthread') or next;
		my %file = map { $_ => scratch("$name.$_") } qw(json txt html);
		my $job = job($mpi, 4, {CACHEPEEK_EVENTS => 'perf::PAGE-FAULTS', CACHEPEEK_DIR => scratch("records-$name"),
			CACHEPEEK_OUTPUT => join(',', @file{qw(json txt html)})}, $exe);
		is(status_text($job->{status}), 'exit 0', "$name: status");
		my $report = read_json($file{json});
		my $ranks = $report->{by_rank};
		is_deeply([map { $_->{rank} } @$ranks], [0 .. 3], "$name: each rank, by number");
		is_deeply([map { $_->{processes} } @$ranks], [(1) x 4], "$name: its processes");
		is($ranks->[1]{threads} - $ranks->[0]{threads}, 1, "$name: its threads");
		my $threads = 0;
		$threads += $_->{threads} for @$ranks;
		is($threads, $report->{regions}[0]{threads}, "$name: of all threads of the job");
		ok((!grep { !($_->{time_s}{value} > $_->{mpi_s}{value}) } @$ranks), "$name: no rank is longer in MPI than it ran");
		is_deeply([map { $_->{mpi_calls} } @$ranks], [(2) x 4], "$name: calls that wait");
		my @waiting = map { $_->{mpi_s}{value} } @$ranks;
		ok((!grep { $waiting[$_] <= $waiting[2] } 0, 1, 3), "$name: who waited") || diag("@waiting");

		my %by = map { join('/', @{$_->{path}}) => $_->{entered_by} } @{$report->{regions}};
		is_deeply(\%by, {'' => undef, all => undef, 'all/late' => [2], 'all/early' => [0, 1, 3]}, "$name: regions of some ranks");

		my $text = read_file($file{txt});
		my ($table) = $text =~ /^(rank +processes.*?)(?:\n\n|\z)/ms;
		is(() = ($table // '') =~ /^\d +1 +\d+ +~[\d.]+ +~[\d.]+ +~[\d.]+$/mg, 4, "$name: the text has them") || diag($text);
		my ($waits) = grep { $_->{title} eq 'waits' } map { @{$_->{lines}} } @{$report->{answers}};
		like($waits->{text} // '', qr/^rank [013] most, ~[\d.]+ % of its time is in MPI; for rank 2, which is there least \(~[\d.]+ %\)$/,
			"$name: the answer says who waited for whom");
		like($text, qr/^waits +rank [013] most/m, "$name: so does the whole text");
		my $screen = run(command => [cli(), 'report', '-o', '-', scratch("records-$name")])->{out};
		my @first = split(/\n/, $screen);
		like(join("\n", @first[0 .. 6]), qr/^waits +rank [013] most/m, "$name: in the first lines") || diag($screen);
		like($text, qr/^regions of some ranks only\n(?=.*^all\/late: rank 2$).*^all\/early: ranks 0, 1, 3$/ms,
			"$name: and the regions that few entered");
		unlike($text, qr/.{81}/, "$name: in 80 columns");
		like(read_file($file{html}), qr/id="ranks-table"/, "$name: the page has a table of them");

		my $schema = source() . '/doc/cachepeek-report-1.schema.json';
		my $valid = run(command => ['/usr/bin/python3', source() . '/tests/validate.py', $schema, $file{json}]);
		is($valid->{out}, "1 reports, 0 faults\n", "$name: the JSON is what its schema says") || diag($valid->{err});

		# The answer says which rank has more than its part.
		my $source = write_file(scratch('shares.c'), <<'C');
#include <mpi.h>
#include <stdlib.h>
int main(int n, char **v)
{
	int rank;
	long sum = 0;
	MPI_Init(&n, &v);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	long lines = 300000L * (rank == 1 && n > 1 ? 8 : 1);
	volatile char *at = calloc(lines, 64);
	for (long i = 0; i < lines; i++) sum += at[64 * i];
	MPI_Finalize();
	return sum == 7;
}
C
		my $shares = built($name, "shares-$name", $mpi->{cc}, '-O1', $source) or next;
		for my $case (['even', qr/even: none has 1\.1 times the mean of the miss cost$/],
			['uneven', qr/uneven: rank 1 has 1\.\d\d times the mean of the miss cost, rank 0 has 0\.\d\d/, 'more']) {
			my ($what, $says, @arguments) = @$case;
			my $to = scratch("$name-$what.json");
			job($mpi, 2, {CACHEPEEK_ENGINE => 'sim', CACHEPEEK_GROUPS => 'cache', CACHEPEEK_OUTPUT => $to}, $shares, @arguments);
			my ($line) = grep { $_->{title} eq 'ranks' } map { @{$_->{lines}} } @{read_json($to)->{answers} || []};
			like($line->{text} // '', $says, "$name: the answer, $what ranks");
		}

		# The simulated PMU has no clock: what MPI takes is unknown, and not 0.
		my $simulated = job($mpi, 2, {CACHEPEEK_ENGINE => 'sim', CACHEPEEK_EVENTS => 'instructions',
			CACHEPEEK_OUTPUT => scratch("$name-sim.json")}, $exe);
		is(status_text($simulated->{status}), 'exit 0', "$name, simulated: status");
		is_deeply([map { [$_->{rank}, $_->{mpi_s}{value}, $_->{mpi_calls}] } @{read_json(scratch("$name-sim.json"))->{by_rank}}],
			[map { [$_, undef, undef] } 0, 1], "$name, simulated: neither time nor calls");
		my $counted = read_json(scratch("$name-sim.json"));
		my $instructions = 0;
		$instructions += $_->{counts}{instructions}{value} for @{$counted->{by_rank}};
		is($instructions, $counted->{regions}[0]{counts}{instructions}{value}, "$name, simulated: instructions of each rank, which add up");
		is_deeply([map { sort keys %{$_->{counts}} } @{$counted->{by_rank}}], [('instructions') x 2], "$name, simulated: and nothing that was not asked for");

		# Merged from their records, later; without those of some.
		my $merged = merged(scratch("records-$name"));
		my @same = map { [map { delete $_->{time_s}; $_ } map { {%$_} } @$_] } $merged->{by_rank}, $ranks;
		is_deeply(@same, "$name: merge says the same, but of the time, which went on");
		is_deeply([map { $_->{entered_by} } @{$merged->{regions}}], [map { $_->{entered_by} } @{$report->{regions}}],
			"$name: of the regions, too");
	}
}
done_testing();

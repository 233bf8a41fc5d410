#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_SAMPLE in parallel programs: ranks of MPI, threads of both OpenMP runtimes.  Each
# has too few bursts for an estimate; all of them together have enough.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Mpi;
use Peek;
use Test::More;

my $work = <<'C';
#define WORDS (1 << 18)
static int table[WORDS];
void work(unsigned x);
__attribute__((noinline)) void work(unsigned x)
{
	for (int i = 0; i < 750000; i++) {
		x = x * 1664525u + 1013904223u;
		table[x >> 8 & (WORDS - 1)]++;
	}
}
C
my $machine = write_file(scratch('plain.machine'), join("\n", 'l1i = 32K 8 64', 'l1d = 32K 8 64', 'l2 = 256K 8 64', 'llc = 2M 16 64',
	'itlb = 64 4', 'dtlb = 64 4', 'stlb = 1536 6', 'page = 4K', 'cores = 4') . "\n");
my %settings = (CACHEPEEK_ENGINE => 'sim', CACHEPEEK_MACHINE => $machine, CACHEPEEK_REGIONS => 'func:work',
	CACHEPEEK_EVENTS => 'instructions,l1d_misses,l2_misses', OMP_WAIT_POLICY => 'passive', OMP_NUM_THREADS => 4);

# In one length.
sub settings
{
	my ($sampled) = @_;
	return (%settings, ($sampled ? 'CACHEPEEK_SAMPLE' : 'NOT_LOOKED_AT_XX') => 'sets=16,warm=20000,burst=20000,period=300000,seed=2');
}

# The work in whatever regions it is, of a report or of a thread.
sub of_work { return grep { @{$_->{path}} && $_->{path}[-1] eq 'work' } @{$_[0]{regions} // []} }

sub check
{
	my ($what, $true, $report) = @_;
	my ($full, $all) = map { (of_work($_))[0]{counts} } $true, $report;
	is($all->{instructions}{value}, $full->{instructions}{value}, "$what: instructions are exact");
	for my $event (qw(l1d_misses l2_misses)) {
		my $got = $all->{$event};
		is($got->{status}, 'estimated', "$what: $event is estimated") or diag($got->{reason});
		cmp_ok(abs(($got->{value} // 0) - $full->{$event}{value}), '<=', 2 * ($got->{error} // 0), "$what: $event is what it should be")
			or diag("$full->{$event}{value}, not $got->{value} +- $got->{error}");
		cmp_ok($got->{error} // 1e99, '<', 0.2 * $full->{$event}{value}, "$what: $event: and told well");
	}
}

my %implementations = implementations();
for my $name (sort keys %implementations) {
	my $mpi = $implementations{$name};
	SKIP: {
		skip("no $name", 1) unless has($mpi);
		my $source = write_file(scratch("$name.c"), "#include <mpi.h>\n$work" . <<'C');
int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	work((unsigned)rank);
	MPI_Finalize();
	return 0;
}
C
		my $exe = built($name, "ranks-$name", $mpi->{cc}, '-O2', '-g', $source) or next;
		my @reports;
		for my $sampled (0, 1) {
			my $file = scratch("$name-$sampled.json");
			my $job = job($mpi, 3, {settings($sampled), CACHEPEEK_DIR => scratch("records-$name-$sampled"), CACHEPEEK_OUTPUT => $file}, $exe);
			is(status_text($job->{status}), 'exit 0', "$name: status") or diag($job->{err});
			push(@reports, read_json($file));
		}
		is($reports[1]{ranks}{recorded}, 3, "$name: all ranks");
		check($name, @reports);
	}
}

for my $compiler ('gcc', 'clang') {
	my $source = write_file(scratch("$compiler.c"), $work . <<'C');
int main(void)
{
#pragma omp parallel for num_threads(4) schedule(static, 1)
	for (unsigned i = 0; i < 4; i++)
		work(i);
	return 0;
}
C
	my $exe = scratch("threads-$compiler");
	SKIP: {
		my $made = run(command => [$compiler, '-O2', '-g', '-fopenmp', '-o', $exe, $source]);
		skip("$compiler makes no program with OpenMP", 1) if $made->{status};
		my @reports = map { my $sampled = $_; peek(command => [$exe], engine => 'sim', machine => $machine, env => {settings($sampled)})->{report} } 0, 1;
		check("OpenMP of $compiler", @reports);
		my @threads = map { of_work($_) } map { @{$_->{threads}} } @{$reports[1]{processes}};
		my @few = grep { ($_->{counts}{l1d_misses}{reason} // '') =~ /fewer than about 30 bursts/ } @threads;
		cmp_ok(scalar(@few), '>=', 2, "OpenMP of $compiler: not each of them alone");
	}
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# One report of a job, whatever language the program is in and whichever MPI it
# uses, on both engines; each rank's counts are exact.  MPI_RANKS=1,2,3,5,8,16 runs
# every program on so many ranks.
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
my $misses = 'l1d_store_misses';
# The counts of a rank in each region: pages, or lines.
my %oracle = (
	perf => {event => $faults, regions => sub { my ($rank) = @_; return (
		work => 10 * ($rank + 1) + 5, lines => undef,
		($rank % 2 ? 'work odd' : 'work even') => 5) }},
	sim => {event => $misses, regions => sub { my ($rank) = @_; return (
		lines => 10 * ($rank + 1)) }});

# The program, its source, and how many ranks it has in the short run, on the one
# engine and on the other.
my @programs = (['C', 'pages.c', 8, 3], ['C, MPI_Init_thread', 'init_thread.c', 2],
	['mpif.h', 'f77.f', 3], ['use mpi', 'f90.f90', 1], ['use mpi, MPI_Init_thread', 'f90_thread.f90', 2],
	['mpi_f08', 'f08.f90', 5, 2], ['mpi_f08, MPI_Init_thread', 'f08_thread.f90', 2]);
my @all = split(/,/, $ENV{MPI_RANKS} // '');

sub check_rank
{
	my ($report, $what, $rank, $oracle) = @_;
	my %want = $oracle->{regions}->($rank);
	for my $path (sort keys %want) {
		my $region = region($report, split(/ /, $path));
		is($region && $region->{calls}, 1, "$what: rank $rank: $path is there");
		is(value($region, $oracle->{event}), $want{$path}, "$what: rank $rank: $path")
			if defined $want{$path};
	}
}

sub sum { my $sum = 0; $sum += $_ for @_; return $sum }

# The report of the job: sums, and where the least and the most is.
sub check_job
{
	my ($report, $what, $ranks, $oracle) = @_;
	my %first = $oracle->{regions}->(0);
	for my $path (grep { !/ / && defined $first{$_} } sort keys %first) {
		my @want = map { my %of = $oracle->{regions}->($_); $of{$path} } 0 .. $ranks - 1;
		my $count = region($report, $path)->{counts}{$oracle->{event}};
		is($count->{value}, sum(@want), "$what: the sum of $path");
		is("$count->{min} $count->{min_at}{rank}", "$want[0] 0", "$what: the least and its rank");
		is("$count->{max} $count->{max_at}{rank}", "$want[-1] " . ($ranks - 1), "$what: the most and its rank");
	}
}

my $jobs = 0;
sub check
{
	my ($what, $mpi, $ranks, $engine, @command) = @_;
	my $oracle = $oracle{$engine};
	my $directory = scratch('job' . ++$jobs);
	my $job = job($mpi, $ranks, {CACHEPEEK_ENGINE => $engine, CACHEPEEK_EVENTS => $oracle->{event},
		CACHEPEEK_MACHINE => 'cachegrind', CACHEPEEK_DIR => $directory,
		CACHEPEEK_OUTPUT => "$directory/job-%r.json"}, @command);
	is($job->{out}, $ranks * ($ranks - 1) / 2 . "\n", "$what: its output");
	is($job->{err}, '', "$what: nothing on stderr");
	is(status_text($job->{status}), 'exit 0', "$what: its status");
	is_deeply([map { s{.*/}{}r } glob("$directory/*.json")], ['job-0.json'], "$what: one report");
	my $report = read_json("$directory/job-0.json") or return;
	if ($ranks > 1) {
		is_deeply($report->{ranks}, {recorded => $ranks, of => $ranks, processes => $ranks, missing => []},
			"$what: of all ranks");
		check_job($report, $what, $ranks, $oracle);
	}
	# Code that is bound to libc by RTLD_DEEPBIND begins threads behind our back.
	my @warnings = grep { $what !~ /^ABI/ || !/found running/ } @{$report->{warnings}};
	is_deeply(\@warnings, [], "$what: nothing to warn of");
	my $each = of_ranks($directory);
	is_deeply([sort { $a <=> $b } keys %$each], [0 .. $ranks - 1], "$what: a record for each rank");
	check_rank($each->{$_}, $what, $_, $oracle) for 0 .. $ranks - 1;
}

sub built_from
{
	my ($name, $mpi, $source) = @_;
	my $exe = "$name-$source" =~ s/\W/-/gr;
	my @flags = ('-O1', '-D_GNU_SOURCE', '-I' . source() . '/regions');
	return built("$name, $source", $exe, $mpi->{cc}, @flags, "$tests/$source") if $source =~ /\.c$/;
	my $work = built("$name, $source", "$exe.o", $mpi->{cc}, @flags, '-c', "$tests/work.c") or return undef;
	return built("$name, $source", $exe, $mpi->{fc}, '-J', scratch(), "$tests/$source", $work);
}

# On both engines, on as many ranks as were asked for.
sub check_all
{
	my ($what, $mpi, $perf, $sim, @command) = @_;
	check("$what, $_ ranks", $mpi, $_, 'perf', @command) for @all ? @all : $perf;
	check("$what, $_ ranks, simulated", $mpi, $_, 'sim', @command) for @all ? @all : $sim || ();
}

my %implementations = Mpi::implementations();
for my $name (sort keys %implementations) {
	my $mpi = $implementations{$name};
	SKIP: {
		skip("no $name", 1) unless has($mpi);
		for my $program (@programs) {
			my ($language, $source, $perf, $sim) = @$program;
			next if $source =~ /\.f/ && !which($mpi->{fc});
			my $exe = built_from($name, $mpi, $source) or next;
			check_all("$name, $language", $mpi, $perf, $sim, $exe);
		}
	}
}

# Debian has mpi4py for Open MPI.
SKIP: {
	my $mpi = $implementations{openmpi};
	skip('no mpi4py', 1) unless has($mpi) &&
		run(command => ['/usr/bin/python3', '-c', 'import mpi4py'])->{status} == 0;
	my $work = built('mpi4py', 'work.so', 'gcc', '-O1', '-D_GNU_SOURCE', '-I' . source() . '/regions',
		'-shared', '-fPIC', "$tests/work.c");
	check_all('mpi4py', $mpi, 3, undef, '/usr/bin/python3', "$tests/pages.py", $work);
}

# The ABI of MPI 5, of which Debian has no library: one of the tests', over MPICH.
SKIP: {
	my $mpi = $implementations{mpich};
	skip('no MPICH', 1) unless has($mpi);
	my @flags = ('gcc', '-O1', '-D_GNU_SOURCE', '-I' . source() . '/regions', "-I$tests/abi");
	my $library = built('MPI 5', 'libmpi_abi.so', @flags, '-shared', '-fPIC', "$tests/abi/library.c");
	my $exe = built('MPI 5', 'pages-abi', @flags, "$tests/pages.c", $library, '-Wl,-rpath,' . scratch());
	check_all('ABI of MPI 5', $mpi, 5, undef, $exe);
}

# On the simulated PMU nobody spins, unless the user wants that.
SKIP: {
	skip('no Open MPI', 1) unless which('ompi_info');
	for my $case ([undef, 'sim', 'true environment'], ['0', 'sim', 'false environment'], [undef, 'perf', 'false default']) {
		my ($user, $engine, $want) = @$case;
		my $info = run(command => [qw(ompi_info --param mpi all --level 9 --parsable)],
			env => {LD_PRELOAD => lib(), CACHEPEEK_ENGINE => $engine, CACHEPEEK_EVENTS => $oracle{$engine}{event},
				CACHEPEEK_OUTPUT => scratch('info.json'), OMPI_MCA_mpi_yield_when_idle => $user});
		my %is = $info->{out} =~ /:mpi_yield_when_idle:(value|source):(\w+)$/mg;
		is("$is{value} $is{source}", $want, "$engine: does Open MPI yield when it waits?");
	}
}
done_testing();

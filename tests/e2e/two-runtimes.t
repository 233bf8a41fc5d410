#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Two MPIs, and several runtimes of OpenMP, in one process, each of a library that was
# loaded for itself: each library's calls, jumps among them, come to its own.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Mpi;
use Peek;
use Test::More;

need_perf();

my @perf = (engine => 'perf', events => 'perf::PAGE-FAULTS');
my @fast = ('-O2', '-foptimize-sibling-calls', '-g', '-shared', '-fPIC');

sub source_of { my ($name, $text) = @_; return write_file(scratch($name), $text) }

# The program: "LIBRARY:FUNCTION" each, and what they give back.
my $host = built('host', 'host', 'gcc', '-O1', source_of('host.c', <<'E'));
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
	for (int i = 1; i < argc; i++) {
		char *name = strchr(argv[i], ':');
		*name++ = 0;
		void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		int (*function)(void) = library ? dlsym(library, name) : 0;
		if (!function)
			return fprintf(stderr, "%s\n", dlerror()), 1;
		printf("%s %d\n", name, function());
	}
	return 0;
}
E

# ---- MPI ----

my $mpi_plugin = source_of('mpi.c', <<'E');
#include <mpi.h>
int start(void) { return MPI_Init(0, 0); }
int jump_barrier(void) { return MPI_Barrier(MPI_COMM_SELF); }
int call_barrier(void) { return MPI_Barrier(MPI_COMM_SELF) ? 1 : 0; }
int jump_end(void) { return MPI_Finalize(); }
int call_end(void) { return MPI_Finalize() ? 1 : 0; }
int over(void) { int started = 0, over = 0; MPI_Initialized(&started); MPI_Finalized(&over); return 2 * started + over; }
int which(void) { char name[MPI_MAX_LIBRARY_VERSION_STRING]; int length; MPI_Get_library_version(name, &length); return name[0] == 'O' ? 1 : 2; }
E
my %mpi = implementations();
my %library;
for my $name (sort grep { has($mpi{$_}) } keys %mpi) {
	$library{$name} = built($name, "plugin-$name.so", $mpi{$name}{cc}, @fast, $mpi_plugin) or next;
	my $jumps = run(command => ['objdump', '-d', '--disassemble=jump_end', $library{$name}])->{out};
	like($jumps, qr/\bjmp\b.*MPI_Finalize|\bb\s.*MPI_Finalize/, "$name: its last call is a jump");
}
sub runs
{
	my ($what, @steps) = @_;
	my @command = ($host, map { "$library{$_->[0]}:$_->[1]" } @steps);
	my $run = peek(@perf, command => \@command);
	is(status_text($run->{status}), 'exit 0', "$what: its end") or diag($run->{err});
	is($run->{out}, join('', map { "$_->[1] $_->[2]\n" } @steps), "$what: each calls its own");
	is(join('', @{$run->{notes}}), '', "$what: and nothing is said");
}
runs("$_, by a jump", [$_, 'start', 0], [$_, 'jump_barrier', 0], [$_, 'jump_end', 0], [$_, 'over', 3]) for sort keys %library;
SKIP: {
	skip('no two MPIs', 1) unless keys %library == 2;
	my ($one, $two) = sort keys %library;
	for ([$one, $two], [$two, $one]) {
		my ($first, $second) = @$_;
		# Open MPI makes itself global: what is loaded behind that would be its.
		my @both = ([$second, 'over', 0], [$first, 'over', 0]);
		runs("$first, then $second", @both, [$first, 'start', 0], [$first, 'jump_barrier', 0], [$first, 'jump_end', 0],
			[$first, 'over', 3], [$second, 'start', 0], [$second, 'jump_barrier', 0], [$second, 'call_end', 0], [$second, 'over', 3],
			[$first, 'which', $first eq 'mpich' ? 2 : 1], [$second, 'which', $second eq 'mpich' ? 2 : 1]);
		runs("$first and $second at once", @both, [$first, 'start', 0], [$second, 'start', 0], [$first, 'call_barrier', 0], [$second, 'call_barrier', 0],
			[$second, 'call_end', 0], [$first, 'over', 2], [$first, 'jump_barrier', 0], [$first, 'jump_end', 0], [$first, 'over', 3]);
	}
}

# ---- OpenMP ----

# None of the threads that come to the barrier is late behind it: else it was another runtime's.
my $omp_plugin = source_of('omp.c', <<'E');
#include <omp.h>
#include <unistd.h>
static int came;
__attribute__((noinline)) void meet(void) {
#pragma omp barrier
}
static void (*volatile meeting)(void) = meet;
static int late;
static __attribute__((noinline)) void behind(void) {
	if (__atomic_load_n(&came, __ATOMIC_SEQ_CST) % 2)
		__atomic_fetch_add(&late, 1, __ATOMIC_SEQ_CST);
}
int run(void) {
	int threads = 0;
	late = 0;
#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num() == 1) {
			threads = omp_get_num_threads();
			usleep(20000);
		}
		__atomic_fetch_add(&came, 1, __ATOMIC_SEQ_CST);
		meeting();
		behind();
#pragma omp barrier
	}
	return 10 * threads + late;
}
__attribute__((noinline)) static void team(void) {
#pragma omp parallel num_threads(2)
	__asm__ volatile("");
}
int jump(void) { team(); return 0; }
E
%library = map { ($_ => built($_, "omp-$_.so", $_, @fast, '-fopenmp', $omp_plugin)) } grep { which($_) } qw(gcc clang);
# Another libgomp, as packages of Python bring their own: of another name.
my ($gomp) = run(command => ['gcc', '-print-file-name=libgomp.so.1'])->{out} =~ /^(\/.*)$/m;
if ($gomp) {
	my $text = read_file($gomp) =~ s/libgomp\.so\.1\0/libgomq.so.1\0/gr;
	write_file(scratch('libgomq.so.1'), $text);
	write_file(scratch('omp-own.o'), '');
	built('own', 'omp-own.o', 'gcc', (grep { !/shared/ } @fast), '-fopenmp', '-c', $omp_plugin);
	my $own = built('own', 'omp-own.so', 'gcc', '-shared', scratch('omp-own.o'), scratch('libgomq.so.1'), '-Wl,-rpath,' . scratch());
	$library{own} = $own if $own && run(command => [$host, "$own:run"])->{out} eq "run 20\n";
}
delete @library{grep { !$library{$_} } keys %library};
cmp_ok(scalar(keys %library), '>=', 1, 'runtimes of OpenMP: ' . join(', ', sort keys %library));
$ENV{OMP_WAIT_POLICY} = 'passive';
for my $first (sort keys %library) {
	runs("OpenMP, $first first", map { ([$_, 'run', 20], [$_, 'jump', 0]) } $first, sort(keys %library), reverse(sort(keys %library)));
}
done_testing();

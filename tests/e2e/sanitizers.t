#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Programs built with the compilers' sanitizers, whose runtimes are not ready yet when
# the library starts: their own findings and statuses are as without it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

need_perf();

# A program with one defect of each kind, asked for by its number.  The accesses of the race come one
# after the other, by flags that order nothing, while both threads live: ThreadSanitizer may miss others.
my $source = write_file(scratch('sanitized.c'), <<'C');
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
static int shared, which;
static int done[2] __attribute__((aligned(64)));
static void wait_for(int *flag)
{
	while (which == 2 && !__atomic_load_n(flag, __ATOMIC_RELAXED)) sched_yield();
}
static void *run(void *unused)
{
	shared++;
	__atomic_store_n(&done[0], 1, __ATOMIC_RELAXED);
	wait_for(&done[1]);
	return unused;
}
int main(int argc, char **argv)
{
	int one = argc;
	char *volatile block = malloc(10);
	pthread_t thread;
	which = argc > 1 ? atoi(argv[1]) : 0;
	if (pthread_create(&thread, NULL, run, NULL)) return 1;
	wait_for(&done[0]);
	if (which == 2) shared++;
	__atomic_store_n(&done[1], 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	if (which == 1) one += block[10];
	if (which == 3) one = 1 << (argc + 60);
	if (which == 4 && block[5]) one++;
	if (which != 5) free(block);
	block = NULL;
	printf("%d\n", one > 1000 || one < -1000);
	return 3;
}
C

# By sanitizer: the defect that it finds, compilers, and whether it can be simulated.
my @cases = (
	['address', 1, [qw(gcc clang)], 0], ['thread', 2, [qw(gcc clang)], 0],
	['undefined', 3, [qw(gcc clang)], 1], ['memory', 4, ['clang'], 0], ['leak', 5, [qw(gcc clang)], 0],
);

sub outcome
{
	my ($run) = @_;
	my ($finding) = $run->{err} =~ /((?:ERROR|WARNING): \w+Sanitizer(?:: [\w-]+)?|runtime error: [\w ]+)/;
	return join(' ', status_text($run->{status}), $run->{out} =~ s/\n//r, $finding // 'nothing found');
}

# ThreadSanitizer keeps four accesses of each eight bytes, and which of them by chance: a run in which it
# found nothing, as it does in one of many on a busy machine, is repeated.
sub peek_until
{
	my ($alone, @how) = @_;
	my $run;

	for (1 .. 5) {
		$run = peek(@how);
		last if outcome($run) eq $alone || outcome($run) !~ /nothing found$/;
	}
	return $run;
}

for (@cases) {
	my ($sanitizer, $defect, $compilers, $simulated) = @$_;
	for my $compiler (@$compilers) {
		my $what = "$compiler -fsanitize=$sanitizer";
		my $exe = scratch("$compiler-$sanitizer");
		my $built = which($compiler) && run(command => [$compiler, '-g', '-O0', '-w', "-fsanitize=$sanitizer",
			'-pthread', '-o', $exe, $source]);
		SKIP: {
			skip("no $what here", 1) if !$built || $built->{status};
			for my $argument (0, $defect) {
				my @command = ($exe, $argument);
				my $alone = outcome(run(command => \@command));
				for (1 .. 5) {
					last if !$argument || $alone !~ /nothing found$/;
					$alone = outcome(run(command => \@command));
				}
				skip("$what does not run here: $alone", 1) if !$argument && $alone !~ /^exit 3 /;
				isnt($alone, 'exit 3 0 nothing found', "$what: finds the defect alone") if $argument;
				my $perf = peek_until($alone, engine => 'perf', command => \@command);
				is(outcome($perf), $alone, "$what, $argument: perf: as alone");
				# After a finding these runtimes end by a system call of their own.
				ok($perf->{report}, "$what: perf: a report") unless $argument;
				my $sim = peek_until($alone, engine => 'sim', events => 'instructions', command => \@command);
				is(outcome($sim), $alone, "$what, $argument: sim: as alone") or diag($sim->{err});
				if ($simulated) { ok($sim->{report}, "$what, $argument: sim: a report"); next }
				like("@{$sim->{notes}}", qr/is not counted: .*built with \w+Sanitizer.*: build it without/,
					"$what, $argument: sim: one line says why it is left alone");
				is(notes($sim), 1, "$what, $argument: sim: and nothing else");
			}
		}
	}
}

# A runtime does not wait for the symbolizer that it started, which is simulated as well and
# writes its report when it ends: into a directory that would be gone.
sub left { return grep { !m{/$$/} && index(read_file($_) // '', scratch()) >= 0 } glob('/proc/[0-9]*/environ') }
my $until = time() + 60;
select(undef, undef, undef, 0.05) while time() < $until && left();
is(scalar(left()), 0, 'no process is left');
done_testing();

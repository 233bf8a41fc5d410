#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# What the simulator's core has limits of its own for is the program's: address space, the main
# stack, threads.  What it cannot have, programs at fixed addresses where the simulator is, is
# said before they begin, and they run natively.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my %ran;
sub compile
{
	my ($name, $text, @flags) = @_;
	my $to = scratch($name);
	write_file("$to.c", "#define _GNU_SOURCE\n$text");
	return system('gcc', '-O1', '-w', '-o', $to, "$to.c", @flags) == 0 ? $to : undef;
}

# As alone on each engine; returns the simulated run.
sub same
{
	my ($name, @command) = @_;
	my $alone = run(command => [@command]);
	my $sim;
	for my $engine (qw(perf sim)) {
		my $run = peek(engine => $engine, events => 'page-faults', command => [@command]);
		is_deeply([@$run{qw(out status)}], [@$alone{qw(out status)}], "$name: $engine, as alone");
		$sim = $run;
	}
	return $sim;
}

# ---- address space ----

my $reserve = compile('reserve', <<'C');
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/mman.h>
#define NOTHING MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
int main(int argc, char **argv)
{
	int got = 0;
	/* From 1 GiB to 64 TiB, with and without a hint; each end can be used. */
	for (int shift = 30; shift <= 46; shift++)
		for (int hinted = 0; hinted < 2; hinted++) {
			size_t size = (size_t)1 << shift;
			volatile char *p = mmap(hinted ? (void *)0x200000000000 : NULL, size, PROT_NONE, NOTHING, -1, 0);
			if (p == MAP_FAILED) {
				printf("%d: %s\n", shift, strerror(errno));
				continue;
			}
			if (mprotect((char *)p, 4096, PROT_READ | PROT_WRITE) || mprotect((char *)p + size - 4096, 4096, PROT_READ | PROT_WRITE))
				return 1;
			p[0] = p[size - 1] = 1;
			got += p[0] + p[size - 1];
			munmap((char *)p, size);
		}
	printf("reserved %d\n", got);
	got = 0;
	for (int i = 0; i < 200; i++)
		got += mmap(NULL, (size_t)8 << 30, PROT_NONE, NOTHING, -1, 0) != MAP_FAILED;
	printf("of 8 GiB %d\n", got);
	/* A sparse file. */
	int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd >= 0 && ftruncate(fd, (off_t)256 << 30) == 0) {
		volatile char *file = mmap(NULL, (size_t)256 << 30, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (file != MAP_FAILED)
			file[((size_t)200 << 30)] = 7;
		printf("file %d\n", file != MAP_FAILED && file[(size_t)200 << 30] == 7);
	}
	/* What the kernel refuses as well. */
	errno = 0;
	printf("%d %s\n", mmap(NULL, (size_t)1 << 47, PROT_NONE, NOTHING, -1, 0) == MAP_FAILED, strerror(errno));
	errno = 0;
	printf("%d %s\n", mmap(NULL, 0, PROT_NONE, NOTHING, -1, 0) == MAP_FAILED, strerror(errno));
	errno = 0;
	printf("%d %s\n", mmap(NULL, 4096, PROT_NONE, MAP_ANONYMOUS, -1, 0) == MAP_FAILED, strerror(errno));
	return 0;
}
C
same('reservations', $reserve, scratch('sparse'));

# ---- mappings ----

my $many = compile('many', <<'C');
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
	int n = atoi(argv[1]), made = 0;
	char *area = mmap(NULL, (size_t)n * 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	while (made < n && mprotect(area + (size_t)made * 8192, 4096, PROT_READ | PROT_WRITE) == 0)
		area[(size_t)made++ * 8192] = 1;
	printf("%s\n", made == n ? "all" : strerror(errno));
	munmap(area, (size_t)n * 8192);
	printf("%d\n", mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	return 0;
}
C
same('28,000 mappings', $many, 14000);
{
	my $run = run(command => [$many, 20000], env => {LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'sim', CACHEPEEK_OUTPUT => '/dev/null'});
	is("$run->{out}$run->{status}", "Cannot allocate memory\n1\n0", '40,000: an error that the kernel has, too, at 65,530');
	like($run->{err}, qr/\Acachepeek: the program has more mappings than the simulated PMU can have .*\n\z/, 'which one line says');
}

# ---- the main stack ----

my $deep = compile('deep', <<'C');
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
__attribute__((noinline)) long deep(long n)
{
	volatile char block[1 << 20];
	block[0] = block[sizeof(block) - 1] = (char)n;
	return n ? deep(n - 1) + block[0] : 0;
}
int main(int argc, char **argv)
{
	struct rlimit limit;
	getrlimit(RLIMIT_STACK, &limit);
	printf("%ld %ld\n", (long)limit.rlim_cur, deep(atol(argv[1])));
	return 0;
}
C
for (['8192', 6], ['100000', 90], ['unlimited', 200]) {
	my ($limit, $depth) = @$_;
	same("a stack of $limit KiB", '/bin/sh', '-c', "ulimit -s $limit && exec $deep $depth");
	same("and in a program that it starts", '/bin/sh', '-c', "ulimit -s $limit && $deep $depth; echo \$?");
}

# ---- static data ----

my $big = <<'C';
#include <stdio.h>
static volatile double big[N];
int main(void)
{
	big[0] = 1;
	big[N - 1] = 2;
	printf("%g\n", big[0] + big[N - 1]);
	return 0;
}
C
my $elsewhere = qr/the program is not counted: its code and static data.* (?:are more than the simulated PMU has room for|are where the simulated PMU is)/m;
for (
	['1400 MB', 1, '-DN=175000000L'], ['1600 MB', 0, '-DN=200000000L'], ['1600 MB, not PIE', 0, '-DN=200000000L', '-no-pie'],
	['9 GB', 0, '-DN=1125000000L', '-mcmodel=medium'], ['9 GB, not PIE', 0, '-DN=1125000000L', '-mcmodel=medium', '-no-pie', '-fno-pie'],
	['at the address of the simulator', 0, '-DN=100L', '-no-pie', '-fno-pie', '-Wl,-Ttext-segment=0x58000000'],
	['behind the simulator', 1, '-DN=100L', '-no-pie', '-fno-pie', '-Wl,-Ttext-segment=0x70000000'],
) {
	my ($name, $fits, @flags) = @$_;
	SKIP: {
		my $exe = compile("big $name" =~ s/\W/_/gr, $big, @flags) or skip("$name: cannot be built", 4);
		my $run = same("static data: $name", $exe);
		is(scalar("@{$run->{notes}}" =~ $elsewhere), $fits ? '' : 1, $fits ? 'counted' : 'not counted, which is said') or diag($run->{err});
		my $auto = run(command => [cli(), '-o', scratch('auto.json'), $exe]);
		is("$auto->{out}$auto->{status}", "3\n0", 'auto: as alone');
	}
}
done_testing();

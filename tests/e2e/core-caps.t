#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Limits that the simulator's core has of its own are the program's: address space, the heap,
# the main stack, threads.  A line names programs that it cannot have, those at fixed addresses
# where the simulator is, before they begin, and they run natively.
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

# ---- the heap by brk ----

my $heap = <<'C';
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
static char buffer[1000];
static sigjmp_buf back;
static void fault(int number)
{
	siglongjmp(back, 1);
}
/* Grows by so many MiB, MiB by MiB, with a limit of so many; and gives them back. */
int main(int argc, char **argv)
{
	size_t want = atol(argv[1]), limit = atol(argv[2]), got = 0, sum = 0;
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	char *p = sbrk(0);
	if (limit && setrlimit(RLIMIT_DATA, &(struct rlimit){limit << 20, RLIM_INFINITY}))
		return 1;
	for (; got < want && sbrk(1 << 20) != (void *)-1; got++)
		p[got << 20] = p[((got + 1) << 20) - 1] = 1;
	for (size_t i = 0; i < got; i++)
		sum += p[i << 20] + p[((i + 1) << 20) - 1];
	printf("%zu %d\n", limit ? (got + 40) * 8 / limit : got, sum == 2 * got);
	if (brk(p + 5000))
		return 2;
	signal(SIGSEGV, fault);
	if (sigsetjmp(back, 1) == 0)
		p[8192 + 5000] = 1;
	else
		printf("what is given back cannot be used\n");
	signal(SIGSEGV, SIG_DFL);
	if (brk(p) || sbrk(0) != p || sbrk(100 << 20) != p)
		return 3;
	/* It is new memory. */
	for (size_t i = sum = 0; i < 100 << 20; i += 1024)
		sum += p[i];
	printf("%zu\n", sum);
	/* Far too much, and back, as GNU Common Lisp looks how much there is. */
	for (int shift = 47; shift > 30; shift--)
		if (sbrk(1L << shift) != (void *)-1)
			sbrk(-(1L << shift));
	printf("%d\n", sbrk(0) == p + (100 << 20));
	return 0;
}
C
for (['PIE'], ['not PIE', '-no-pie', '-fno-pie']) {
	my ($kind, @flags) = @$_;
	my $exe = compile("heap $kind" =~ s/\W/_/gr, $heap, @flags) or next;
	same("$kind: a heap of $_ MiB", $exe, $_, 0) for 1, 9, 1200, 2000;
	same("$kind: and in a program whose addresses are not random", 'setarch', '-R', $exe, $_, 0) for 9, 1200;
	same("$kind: a limit of its own", $exe, 1000, 400);
}
SKIP: {
	my ($exe) = compile('fixed', $heap, '-no-pie', '-fno-pie') or skip('no program at fixed addresses', 2);
	my $run = run(command => ['setarch', '-R', $exe, 1500, 0], env => {LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'sim', CACHEPEEK_OUTPUT => '/dev/null'});
	like($run->{out}, qr/\A1[34]\d\d 1\n/, 'behind its static data, where the simulator is: 1.4 GiB');
	is($run->{err}, "cachepeek: the simulated PMU has no more room for the program's heap by brk: it does not grow; " .
		"count it with CACHEPEEK_ENGINE=perf\n", 'which one line says');
}
SKIP: {
	skip('no maxima', 1) unless grep { -x "$_/maxima" } split(/:/, $ENV{PATH});
	my $command = ['maxima', '--very-quiet', '--batch-string=factor(x^6-1);'];
	my $alone = run(command => $command);
	my $run = run(command => $command, env => {LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'sim', CACHEPEEK_OUTPUT => '/dev/null'});
	is_deeply([@$run{qw(out status)}], [@$alone{qw(out status)}], 'maxima, whose Lisp looks how much there is: as alone');
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
# A limit that the program sets itself, in which the simulator finds no memory.
SKIP: {
	skip('functions of x86-64', 4) unless `uname -m` =~ /x86_64/;
	is(run(command => [program('own_limit')])->{out}, "200000\n", 'within its own limit, alone');
	my $run = run(command => [cli(), '-E', 'sim', '-o', '/dev/null', program('own_limit')]);
	is(status_text($run->{status}), 'exit 1', 'the simulator has no memory: the status');
	like($run->{err}, qr/\A(?:cachepeek: [^\n]*\n){1,2}\z/, '... nothing of the core');
	like($run->{err}, qr/^cachepeek: the simulator cannot go on \(no more memory: .*RLIMIT_AS/m, '... and why') or diag($run->{err});
}
done_testing();

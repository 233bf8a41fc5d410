#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_ENGINE=shadow and a program that writes to files, and wakes who waits: a shadow goes on, as if
# it had written, and nothing is written twice.
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

plan(skip_all => why_not('shadow')) if why_not('shadow');

my $program = scratch('writes');
my $source = write_file(scratch('writes.c'), <<'C');
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
enum { BLOCK = 512, BLOCKS = 64, MOST = 40 };
static int to;
static unsigned long trace = 1;
__attribute__((noinline)) void turn(int reads)
{
	static unsigned long block[BLOCK / sizeof(long)], back[BLOCK / sizeof(long)];
	struct iovec parts[2] = {{block, BLOCK / 2}, {block + BLOCK / sizeof(long) / 2, BLOCK / 2}};
	static unsigned word;
	off_t at = (off_t)(trace >> 33) % BLOCKS * BLOCK;

	for (int i = 0; i < 20000; i++)
		trace = trace * 6364136223846793005u + 1442695040888963407u;
	for (unsigned i = 0; i < BLOCK / sizeof(long); i++)
		block[i] = trace + i;
	if (pwrite(to, block, BLOCK, at) != BLOCK || fdatasync(to) != 0)
		exit(3);
	if (reads && (pread(to, back, BLOCK, at) != BLOCK || memcmp(block, back, BLOCK) != 0))
		exit(4);
	if (syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1) != 0)
		exit(6);
	if (lseek(to, 0, SEEK_SET) != 0 || writev(to, parts, 2) != BLOCK || lseek(to, 0, SEEK_CUR) != BLOCK)
		exit(5);
}
int main(int argc, char **argv)
{
	struct rusage usage;
	long turns = 0, ms = atol(argv[2]);

	to = open(argv[1], O_RDWR | O_CREAT, 0600);
	do {
		for (int i = 0; i < MOST; i++, turns++)
			turn(argc > 3);
		getrusage(RUSAGE_SELF, &usage);
	} while (usage.ru_utime.tv_sec * 1000 + usage.ru_utime.tv_usec / 1000 < ms);
	return printf("%ld\n", turns) < 0;
}
C
system('gcc', '-O1', '-o', $program, $source) == 0 or die("writes.c does not compile\n");

sub said { my ($run) = @_; return join("\n", map { ref($_) ? $_->{text} // '' : $_ } @{$run->{report}{warnings}}) }

# What a system call leaves in R11 is there for as long as nothing is written to it.
my $calls = scratch('calls');
$source = write_file(scratch('calls.c'), <<'C');
#include <sys/resource.h>
#include <sys/syscall.h>
/* It is another one in a shadow, whose registers may not point to it where the loop is. */
__attribute__((noinline)) static long seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec;
}
int main(int argc, char **argv)
{
	unsigned long trace = 1, turns, result;

	do {
		for (int i = 0; i < 20; i++) {
			turns = 10000;
			result = SYS_getpid;
			__asm__ volatile("xor %%r11d, %%r11d\n\tsyscall\n"
					 "1:\n\t.rept 20\n\timul $31, %0\n\tadd %1, %0\n\t.endr\n\tdec %1\n\tjnz 1b"
					 : "+r"(trace), "+r"(turns), "+a"(result) : : "rcx", "r11", "cc", "memory");
		}
	} while (seconds() < (argc > 1 ? 8 : 2));
	return trace == 0;
}
C
system('gcc', '-O1', '-o', $calls, $source) == 0 or die("calls.c does not compile\n");

my ($run, $counted);
for my $more ([], ['more']) {
	$run = peek(engine => 'shadow', command => [$calls, @$more], env => {CACHEPEEK_BUDGET => 20});
	($counted) = said($run) =~ /(\d+) windows are counted/;
	last if $counted >= 5;
}
cmp_ok($counted, '>=', 5, 'R11 may be what the kernel left') or diag(said($run));
for my $ms (2000, 8000) {
	$run = peek(engine => 'shadow', command => [$program, scratch('file'), $ms], env => {CACHEPEEK_BUDGET => 20});
	($counted) = said($run) =~ /(\d+) windows are counted/;
	last if $counted >= 5;
}
is($run->{status}, 0, 'what was written is there');
like($run->{out}, qr/^\d+\n\z/, 'and once');
cmp_ok($counted, '>=', 5, 'windows are counted') or diag(said($run));
unlike(said($run), qr/windows met a system call/, 'pwrite, writev, fdatasync and waking end none');

# A shadow of a region may be ahead of the program: it cannot read what that has not yet written.
$run = peek(engine => 'shadow', command => [$program, scratch('file'), 2000, 'reads'], env => {CACHEPEEK_BUDGET => 20, CACHEPEEK_REGIONS => 'func:turn'});
is($run->{status}, 0, 'reading: what was written is there');
like(said($run), qr/\d+ of those met a system call that would have had an effect \(the last: 17,/, 'reading: a region\'s window ends there') or diag(said($run));

# Each turn reads what the one before has written: a shadow reads what the program, which is ahead, has
# written since, and goes another way.
my $again = scratch('again');
$source = write_file(scratch('again.c'), <<'C');
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
static int file;
__attribute__((noinline)) static long turn(void)
{
	unsigned long trace;

	if (pread(file, &trace, sizeof(trace), 0) != sizeof(trace))
		exit(3);
	for (int i = 0; i < 1000000; i++)
		trace = trace * 6364136223846793005u + 1442695040888963407u;
	if (pwrite(file, &trace, sizeof(trace), 0) != sizeof(trace))
		exit(4);
	return trace == 0;
}
int main(int argc, char **argv)
{
	unsigned long sum = 1;

	file = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (pwrite(file, &sum, sizeof(sum), 0) != sizeof(sum))
		return 5;
	for (long n = atol(argv[2]); n > 0; n--)
		sum += turn();
	return sum == 0;
}
C
system('gcc', '-O1', '-o', $again, $source) == 0 or die("again.c does not compile\n");
for my $turns (1000, 4000, 16000) {
	$run = peek(engine => 'shadow', command => [$again, scratch('file'), $turns], env => {CACHEPEEK_BUDGET => 40});
	last if said($run) =~ /has changed since/;
}
is($run->{status}, 0, 'what a turn has written the next one reads');
like(said($run), qr/\d+ windows read a file that the program has changed since \(the last: /, 'a window that lost its way so: why') or diag(said($run));
unlike(said($run), qr/windows did not get there within/, 'and none is said to have been too long');
for my $turns (1000, 4000, 16000) {
	$run = peek(engine => 'shadow', command => [$again, scratch('file'), $turns], env => {CACHEPEEK_BUDGET => 40, CACHEPEEK_REGIONS => 'func:turn'});
	last if said($run) =~ /of those read a file that the program has changed since/;
}
like(said($run), qr/\d+ of those read a file that the program has changed since \(the last: /, 'nor is it in a region\'s count') or diag(said($run));
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Other libraries that are preloaded stand in for libc (fakechroot, faketime, eatmydata).  Until
# their constructors have run they are not ready: nothing of ours calls them before, but what
# only asks the dynamic linker, the kernel's vector, or for signals' handlers.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

# Functions that the library imports, or finds by name, and that a stand-in is likely to have.
my @names = grep { /^\w+$/ } qw(open open64 openat openat64 creat close read pread pread64 write pwrite pwrite64 readv writev stat lstat
	fstat fstatat stat64 lstat64 fstat64 fstatat64 __xstat __lxstat __fxstat statx access faccessat readlink readlinkat realpath
	getenv mmap mmap64 munmap mprotect madvise fcntl fcntl64 dup dup2 dup3 pipe pipe2 unlink unlinkat mkdir mkdirat rename
	renameat chdir getcwd getpid getppid geteuid getuid getegid getgid opendir readdir fopen flock ftruncate fchmod chmod
	fchown chown lseek nanosleep clock_gettime gettimeofday time prctl syscall getrlimit setrlimit sigprocmask
	pthread_sigmask pthread_create execve execv execvp fork vfork clone setsid memfd_create ioctl sched_getaffinity
	malloc calloc realloc free dlopen);
my $text = <<'C';
extern void *dlsym(void *, const char *);
static int ready;
static long kernel(long n, long a, long b, long c)
{
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}
__attribute__((constructor)) static void begin(void) { ready = 1; }
static void note(const char *name, long size)
{
	if (!ready) {
		kernel(1, 2, (long)"early ", 6);
		kernel(1, 2, (long)name, size);
		kernel(1, 2, (long)"\n", 1);
	}
}
#define STAND_IN(name) \
long in_##name(long, long, long, long, long, long) __asm__(#name); \
long in_##name(long a, long b, long c, long d, long e, long f) \
{ \
	static long (*next)(long, long, long, long, long, long); \
	note(#name, sizeof(#name) - 1); \
	if (!next) \
		*(void **)&next = dlsym((void *)-1L, #name); \
	return next ? next(a, b, c, d, e, f) : -1; \
}
C
plan skip_all => 'system calls of x86-64' if `uname -m` !~ /^x86_64/;
# Before malloc and its relatives are known, dlsym may ask for some.
$text .= join('', map { "STAND_IN($_)\n" } grep { !/alloc|^free$/ } @names);
my $source = write_file(scratch('standing.c'), $text);
my $library = scratch('libstanding.so');
system('gcc', '-w', '-O1', '-fno-builtin', '-shared', '-fPIC', '-o', $library, $source) == 0 or die;

for my $engine (qw(perf sim)) {
	for my $order ([lib(), $library], [$library, lib()]) {
		my $run = run(command => ['/bin/true'], env => {LD_PRELOAD => join(':', @$order), CACHEPEEK_ENGINE => $engine,
			CACHEPEEK_EVENTS => $engine eq 'sim' ? 'instructions' : 'page_faults', CACHEPEEK_OUTPUT => scratch('report.json')});
		my %early = map { $_ => 1 } $run->{err} =~ /^early (\S+)$/mg;
		is_deeply([sort(keys(%early))], [], "$engine, " . ($order->[0] eq $library ? 'behind' : 'before') . ' it: nothing early');
		is(status_text($run->{status}), 'exit 0', 'the program runs');
	}
}
done_testing();

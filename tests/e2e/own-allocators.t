#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A sampled profile stands before malloc and its relatives (heap.so).  Whatever allocator a
# program has, each of its calls reaches the function that it reaches alone, and blocks have
# names, or a warning says why not.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

need_perf();
my $compiler = which('g++') or plan(skip_all => 'no g++');
my %library = map { my ($name) = $_; $name => (split(/\n/, `ldconfig -p | sed -n 's/.*\\(lib$name\\.so[.0-9]*\\).* => //p'`))[0] }
	qw(jemalloc mimalloc);

# An allocator that ends the program when it is given a block of another one.  It lacks
# reallocarray, as jemalloc does: libc's calls realloc.
my $allocator = write_file(scratch('allocator.c'), <<'C');
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define MARK 0x5eed5eed5eed5eedull
struct head { size_t size; uint64_t mark; };
static char *at, *end;
void *memalign(size_t alignment, size_t size)
{
	char *block;
	if (alignment < 16)
		alignment = 16;
	if (!at || (size_t)(end - at) < size + 2 * alignment + 32) {
		size_t room = (size + 2 * alignment + (1 << 20)) & ~(size_t)4095;
		at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		end = at + room;
	}
	block = (char *)(((uintptr_t)at + sizeof(struct head) + alignment - 1) & -alignment);
	((struct head *)block)[-1] = (struct head){size, MARK};
	at = block + size;
	return block;
}
static struct head *check(void *block)
{
	if (((struct head *)block)[-1].mark != MARK)
		abort();
	return (struct head *)block - 1;
}
void *malloc(size_t size) { return memalign(16, size); }
void *calloc(size_t n, size_t size) { return memset(memalign(16, n * size), 0, n * size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
void *valloc(size_t size) { return memalign(4096, size); }
void *pvalloc(size_t size) { return memalign(4096, (size + 4095) & -4096); }
size_t malloc_usable_size(void *block) { return block ? check(block)->size : 0; }
void free(void *block) { if (block) check(block)->mark = 0; }
int posix_memalign(void **to, size_t alignment, size_t size)
{
	*to = memalign(alignment, size);
	return 0;
}
void *realloc(void *block, size_t size)
{
	void *moved = malloc(size);
	if (block) {
		size_t old = check(block)->size;
		memcpy(moved, block, old < size ? old : size);
		free(block);
	}
	return moved;
}
C

# Each way to get a block, each way to change one, and every pair of them.
my $source = write_file(scratch('ways.cc'), <<'C');
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <initializer_list>
#include <new>
static void *posix(size_t size) { void *p; return posix_memalign(&p, 64, size) ? nullptr : p; }
static void *(*const ways[])(size_t) = {
	malloc, [](size_t n) { return calloc(1, n); }, [](size_t n) { return realloc(nullptr, n); },
	[](size_t n) { return reallocarray(nullptr, 1, n); }, [](size_t n) { return aligned_alloc(64, n); },
	[](size_t n) { return memalign(64, n); }, posix, valloc,
};
static void *(*const changes[])(void *, size_t) = {
	[](void *p, size_t n) { return realloc(p, n); }, [](void *p, size_t n) { return reallocarray(p, 2, n); },
	[](void *p, size_t) { return malloc_usable_size(p) >= 100 ? p : nullptr; },
};
struct alignas(128) Wide { char c[256]; };
__attribute__((noinline)) static void *large(void)
{
	return malloc(300 * 4096); // large
}
int main()
{
	int right = 0;
	for (auto way : ways)
		for (auto change : changes)
			for (size_t to : {50, 300000}) {
				char *p = (char *)way(100);
				memset(p, 7, 100);
				p = (char *)change(p, to);
				right += p[0] == 7 && p[49] == 7;
				free(p);
			}
	for (int i = 0; i < 3; i++) {
		delete new int;
		delete[] new char[100000];
		delete new Wide;
		delete[] new Wide[3];
		operator delete(operator new(10, std::nothrow), std::nothrow);
		operator delete[](operator new[](10, std::nothrow), std::nothrow);
		operator delete(operator new(10, std::align_val_t(64), std::nothrow), std::align_val_t(64), std::nothrow);
		operator delete[](operator new[](10, std::align_val_t(64), std::nothrow), std::align_val_t(64), std::nothrow);
		right++;
	}
	volatile char *p = (volatile char *)large();
	for (int i = 0; i < 300; i++)
		p[4096 * i] = 1;
	free((void *)p);
	printf("%d\n", right);
}
C
my $right = 8 * 3 * 2 + 3;

sub compile
{
	my ($name, @flags) = @_;
	my $to = scratch($name);
	return system($compiler, '-std=c++17', '-g', '-O1', '-w', '-o', $to, @flags) == 0 ? $to : undef;
}
system('gcc', '-O1', '-fno-builtin', '-w', '-c', '-fPIC', '-o', scratch('allocator.o'), $allocator) and die;
system('gcc', '-shared', '-o', scratch('liballocator.so'), scratch('allocator.o')) and die;
my $plain = compile('plain', $source);

# The ways to use an allocator: the program, what is preloaded, whether blocks have names.
my @kinds = (
	["libc's", $plain, '', 1],
	['one in the program', compile('inside', $source, scratch('allocator.o')), '', 0],
	['one that the program is linked with', compile('linked', $source, '-Wl,--no-as-needed', scratch('liballocator.so')), '', 1],
	['one that is preloaded', $plain, scratch('liballocator.so'), 1],
	map { my $name = $_; my $path = $library{$name};
		$path ? (["$name, preloaded", $plain, $path, 1], ["$name, linked", compile($name, $source, '-Wl,--no-as-needed', $path), '', 1]) : () }
		sort keys(%library),
);
for (@kinds) {
	my ($name, $exe, $preload, $named) = @$_;
	my %env = $preload ? (LD_PRELOAD => $preload) : ();
	my $alone = run(command => [$exe], env => {%env});
	is($alone->{out}, "$right\n", "$name: every way, alone");
	my $file = scratch('profile.json');
	my $run = run(command => [cli(), 'dtlb', '-E', 'perf', '-o', $file, $exe], env => {%env});
	is_deeply([@$run{qw(out status)}], [@$alone{qw(out status)}], "$name: the same");
	my $profile = decode_json(read_file($file));
	my ($block) = grep { $_->{name} =~ /^Heap: \w+::large/ } @{$profile->{data}};
	my ($warning) = grep { /blocks of the heap have no names/ } @{$profile->{warnings}};
	is(!!$block, !!$named, "$name: the block " . ($named ? 'has its name' : 'has none'));
	is($block->{counts}{page_faults}, 300, "$name: and its pages") if $named && $name !~ /malloc/;
	is($warning, $named ? undef : 'blocks of the heap have no names: ' .
		"the program has a malloc of its own, or a sanitizer's", "$name: the warning");
}

# A plugin with operators of its own, in a scope of its own, in a program without C++.
{
	my $plugin = write_file(scratch('plugin.cc'), <<'C');
#include <cstdlib>
#include <initializer_list>
#include <new>
static int mine;
void *operator new(size_t size) { mine++; return (char *)malloc(size + 32) + 32; }
void operator delete(void *p) noexcept { free((char *)p - 32); }
void operator delete(void *p, size_t) noexcept { free((char *)p - 32); }
extern "C" int use(void) { for (int i = 0; i < 10; i++) { int *volatile q = new int; delete q; } int *volatile p = new int; delete p; return mine; }
C
	my $host = write_file(scratch('host.c'), <<'C');
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int (*use)(void) = (int (*)(void))dlsym(dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL), "use");
	printf("%d\n", use());
	return 0;
}
C
	system($compiler, '-std=c++17', '-O0', '-fno-builtin', '-w', '-shared', '-fPIC', '-o', scratch('plugin.so'), $plugin) and die;
	system('gcc', '-w', '-o', scratch('host'), $host) and die;
	my $alone = run(command => [scratch('host'), scratch('plugin.so')]);
	is($alone->{out}, "11\n", 'operators of a plugin, alone');
	my $run = run(command => [cli(), 'dtlb', '-E', 'perf', '-o', scratch('p.json'), scratch('host'), scratch('plugin.so')]);
	is_deeply([@$run{qw(out status)}], [@$alone{qw(out status)}], 'the same');
}
done_testing();

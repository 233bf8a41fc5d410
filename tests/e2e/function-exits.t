#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A patched function that an exception or longjmp leaves has ended there: what comes next
# is not counted as its own.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

plan(skip_all => 'functions are patched on x86-64 only') unless `uname -m` =~ /x86_64/;
need_perf();
my $source = write_file(scratch('exits.cc'), <<'CC');
#include <csetjmp>
#include <sys/mman.h>
#define F extern "C" __attribute__((noinline, noclone))
volatile long sink;
static std::jmp_buf back;
static char *page;
F void thrower(int n) { if (n) thrower(n - 1); else throw 1; sink++; }
F void jumper(int n) { if (n) jumper(n - 1); else std::longjmp(back, 1); sink++; }
static __attribute__((noinline)) void touch(int n) { for (int i = 0; i < n; i++, page += 4096) *page = 1; }
F void catcher() { try { thrower(2); } catch (int) { touch(100); } sink++; }
F void lander() { if (!setjmp(back)) jumper(2); else touch(70); sink++; }
int main()
{
	page = (char *)mmap(nullptr, 4096 * 500, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(page, 4096 * 500, MADV_NOHUGEPAGE);
	catcher();
	lander();
	catcher();
	lander();
}
CC
my $program = scratch('exits');
is(system('g++', '-std=c++14', '-O1', '-o', $program, $source), 0, 'a program');
my $run = peek(engine => 'perf', events => 'page-faults', command => [$program],
	env => {CACHEPEEK_REGIONS => 'func:thrower,func:catcher,func:jumper,func:lander'});
for (['catcher', 'thrower', 200], ['lander', 'jumper', 140]) {
	my ($outer, $inner, $pages) = @$_;
	my $own = region($run->{report}, $outer)->{counts}{'page-faults'}{exclusive};
	ok($own >= $pages && $own < $pages + 20, "$outer has the pages that it touches: $own");
	cmp_ok(value(region($run->{report}, $outer, $inner), 'page-faults'), '<', 40, "$inner has none of them");
}
done_testing();

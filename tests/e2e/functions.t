#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Programs built with -finstrument-functions: each function is a region, whatever
# leaves it, and CACHEPEEK_REGIONS chooses.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @perf = (engine => 'perf', events => 'perf::PAGE-FAULTS');

my $source = write_file(scratch('functions.cc'), <<'CC');
#include <csetjmp>
#include <cstdio>
#include "cachepeek.h"
static std::jmp_buf back;
extern "C" {
int leaf(int n) { return n + 1; }
int twice(int n) { return leaf(n) + leaf(n); }
int down(int n) { return n ? down(n - 1) : 0; }
void throws(int n) { if (n) throws(n - 1); else throw 1; }
void catches() { try { throws(1); } catch (int) { leaf(0); } }
void jumps() { std::longjmp(back, 1); }
void lands() { if (setjmp(back) == 0) jumps(); leaf(0); }
void opens() { CACHEPEEK_BEGIN("across"); }
void closes() { CACHEPEEK_END("across"); }
int main()
{
	int sum = 0;
	for (int i = 0; i < 3; i++)
		sum += twice(i);
	sum += down(2);
	catches();
	lands();
	opens();
	leaf(0);
	closes();
	std::printf("%d\n", sum);
}
}
CC

sub paths
{
	my ($in) = @_;
	return [sort map { join('/', @{$_->{path}}) . " $_->{calls}" }
		grep { @{$_->{path}} && $_->{path}[0] eq 'main' } @{($in || {})->{regions} || []}];
}

my @all = ('main 1', 'main/twice 3', 'main/twice/leaf 6', 'main/down 1', 'main/down/down 1',
	'main/down/down/down 1', 'main/catches 1', 'main/catches/throws 1', 'main/catches/throws/throws 1',
	'main/catches/leaf 1', 'main/lands 1', 'main/lands/jumps 1', 'main/lands/jumps/leaf 1',
	'main/opens 1', 'main/opens/across 1', 'main/across 1', 'main/across/leaf 1', 'main/across/closes 1',
	'main/closes 1');

for my $compiler (qw(g++ clang++)) {
	for my $kind (['a PIE', '-pie'], ['no PIE', '-no-pie'], ['with dynamic symbols', '-rdynamic']) {
		my ($what, $flag) = @$kind;
		SKIP: {
			skip("no $compiler here", 1) unless which($compiler);
			my $exe = scratch('functions');
			unlink($exe);
			my $build = run(command => [$compiler, '-O0', '-w', '-finstrument-functions', $flag,
				'-I' . source() . '/regions', '-o', $exe, $source]);
			is(status_text($build->{status}), 'exit 0', "$compiler, $what: compiles") or diag($build->{err});
			my $plain = run(command => [$exe]);
			my $with = peek(@perf, command => [$exe]);
			is($with->{out}, $plain->{out}, "$compiler, $what: its output");
			# clang does not tell of a function that an exception leaves.
			my @want = $compiler eq 'g++' ? @all
				: map { s{catches/leaf}{catches/throws/throws/leaf}r } @all;
			is_deeply(paths($with->{report}), [sort @want], "$compiler, $what: its functions");
			is_deeply($with->{report}{warnings}, [], "$compiler, $what: nothing to warn of");
			ok_sums($with->{report}, "$compiler, $what");
		}
	}
}

# ---- chosen ----

for my $case (['main,leaf', 'main 1', 'main/across 1', 'main/leaf 9'],
	['main,t*e', 'main 1', 'main/twice 3'],
	['!leaf,!down,!throws,!catches,!jumps,!lands,!opens,!closes,!across', 'main 1', 'main/twice 3']) {
	my ($regions, @want) = @$case;
	my $with = peek(@perf, command => [scratch('functions')], env => {CACHEPEEK_REGIONS => $regions});
	@want = grep { $_ ne 'main/across 1' } @want;
	is_deeply(paths($with->{report}), [sort @want], "CACHEPEEK_REGIONS=$regions");
}

# ---- a stripped program has addresses ----

{
	my $exe = scratch('functions');
	run(command => ['strip', $exe]);
	my $with = peek(@perf, command => [$exe]);
	ok((grep { ($_->{path}[0] || '') =~ /^functions\+0x[0-9a-f]+$|^main$/ } @{$with->{report}{regions}}),
		'stripped: addresses');
}
done_testing();

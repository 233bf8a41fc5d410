#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Time of samples: of long programs on cores that execute out of order, the time of some
# instructions stands for that of others; what has too few of them has none.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

# Loads from all over, most of which miss; then so few instructions that no two units are in
# them, and they are in none; and branches that nobody can foresee.
my $source = write_file(scratch('long.c'), <<'C');
#include <stdint.h>
#include "cachepeek.h"
enum { WORDS = 1 << 19 };
static uint64_t words[WORDS];
int main(void)
{
	uint64_t at = 1, sum = 0;

	CACHEPEEK_BEGIN("long");
	for (int i = 0; i < 2000000; i++) {
		at = at * 6364136223846793005u + 1442695040888963407u;
		sum += words[(at >> 40) % WORDS]++;
	}
	CACHEPEEK_END("long");
	CACHEPEEK_BEGIN("short");
	for (volatile int i = 0; i < 5000; i++)
		;
	CACHEPEEK_END("short");
	CACHEPEEK_BEGIN("branches");
	for (int i = 0; i < 1000000; i++) {
		at = at * 6364136223846793005u + 1442695040888963407u;
		if (at >> 63)
			*(volatile uint64_t *)&words[0] = at;
	}
	CACHEPEEK_END("branches");
	return sum == 42;
}
C
my $program = scratch('long');
is(run(command => [(split(' ', $ENV{CC} || 'gcc'))[0], '-O1', '-I', source() . '/regions', '-o', $program, $source,
	'-L' . build(), '-lcachepeek'])->{status}, 0, 'compiled');

my $plain = timed_machine('plain.machine', map { "spread = $_ 1" }
	qw(l1d l2 llc stlb memory-latency walk-latency clock-mhz width window mispredict-latency));

sub timed
{
	my ($machine, %env) = @_;
	my $file = scratch('time.json');
	my $run = run(command => [cli(), '-E', 'sim', '-m', $machine, '-g', 'time,cache', '-o', join(',', $file, scratch('time.txt')), $program],
		env => {LD_LIBRARY_PATH => build(), %env});

	is($run->{err}, '', "$machine: nothing is said");
	my $report = decode_json(read_file($file));
	return (read_file(scratch('time.txt')) =~ s/\s+/ /gr, map { join('/', @{$_->{path}}) => $_ } @{$report->{regions}});
}

# Two runs may differ by a few: their environments are not the same.
sub near
{
	my ($got, $want, $share) = @_;
	return abs($got - $want) <= $share * $want;
}

# One without a front, and one with.
for my $machine ($plain, 'zen3') {
	my ($full_text, %full) = timed($machine);
	my ($text, %some) = timed($machine, CACHEPEEK_TIMING => 'sample');
	my ($all, $long, $short) = map { $some{$_}{counts} } '', 'long', 'short';

	ok(!exists $full{''}{counts}{untimed_instructions}, "$machine, in full: of no sample");
	unlike($full_text, qr/time is modelled/, 'nor does the text say so');
	like($text, qr/time is modelled of \d+\.?\d* % of the instructions, which stand for the others/, 'of a sample: it does');
	for my $name ('', 'long', 'short') {
		my $counts = $some{$name}{counts};

		is($counts->{timed_instructions}{value} + $counts->{untimed_instructions}{value}, $counts->{instructions}{value},
			"'$name': each instruction is one or the other");
		cmp_ok(abs($counts->{$_}{value} - $full{$name}{counts}{$_}{value}), '<', 5, "'$name': $_ are counted in full")
			for 'instructions', 'l1d_misses', 'l2_misses';
	}
	cmp_ok($long->{untimed_instructions}{value}, '>', 10 * 1000 * 1000, 'most is not modelled');
	ok(near($long->{time_issue}{value}, $full{long}{counts}{time_issue}{value}, 0.0001), 'what nobody waits for is known')
		or diag("$long->{time_issue}{value}, $full{long}{counts}{time_issue}{value}");
	cmp_ok($long->{time_issue}{error} // 0, '>', 0, 'but for chains, which are in it: it has an interval');
	ok(near($long->{$_}{value}, $full{long}{counts}{$_}{value}, 0.03), "$_: that of all, about")
		or diag("$long->{$_}{value}, $full{long}{counts}{$_}{value}") for 'cycles', 'time_memory';
	my ($branch, $issue) = @{$some{branches}{counts}}{qw(time_branch time_issue)};
	cmp_ok($branch->{value}, '>', 1_000_000, 'half of the branches are not foreseen');
	# What both have is the variance of the sample.
	my $square = $branch->{error} ** 2 - $issue->{error} ** 2;
	cmp_ok(abs($square / $branch->{value} ** 2 / 0.2 ** 2 - 1), '<', 0.15, 'branches are learnt of some instructions, and a fifth may be fewer') or
		diag(explain([$branch, $issue]));
	is($long->{cycles}{status}, 'estimated', 'it is an estimate');
	ok(!defined $long->{cycles}{executions}, 'of which single executions have none');
	is($short->{cycles}{value}, undef, 'too few instructions: no cycles');
	like($short->{cycles}{reason}, qr/^time is modelled in samples, which had \d+ of its instructions: too few \(CACHEPEEK_TIMING=on models all\)$/, 'and why');
	like($some{short}{time_s}{reason}, qr/^time is modelled in samples/, 'nor seconds');
	cmp_ok($full{short}{counts}{cycles}{value}, '>', 5000, 'in full they have some');
	if ($machine ne $plain) {
		cmp_ok($long->{cycles}{error}, '>', 0, 'of a machine without spreads, the interval is the sample\'s');
		like($text, qr/predicted_time ±\S+ %, miss_time ±\S+ %: by the sample alone, as the machine file does not say/, 'and the text says so');
		next;
	}
	like($text, qr/predicted_time ±\S+ %, miss_time ±\S+ %: by the sample, and by how far the rounds/, 'of one with spreads, it is of both');
	my ($error, $exact) = map { $_->{long}{metrics}{predicted_time}{error} / $_->{long}{metrics}{predicted_time}{value} } \%some, \%full;
	cmp_ok($error, '>', $exact, 'the interval has the sample in it');
	cmp_ok($error, '<', 0.05, 'which is large enough');
}

# Regions so short that some lie in a unit as a whole: these stand for others, and are too few as well.
{
	my $of = write_file(scratch('many.c'), <<'C');
#include <stdint.h>
#include <stdio.h>
#include "cachepeek.h"
enum { WORDS = 1 << 19, REGIONS = 600 };
static uint64_t words[WORDS], at = 1;
static __attribute__((noinline)) void load(int n)
{
	while (n--) {
		at = at * 6364136223846793005u + 1442695040888963407u;
		words[(at >> 40) % WORDS]++;
	}
}
int main(void)
{
	char name[16];

	load(700000);
	for (int i = 0; i < REGIONS; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		cachepeek_begin_named(name);
		load(200);
		cachepeek_end_named(name);
	}
	return 0;
}
C
	$program = scratch('many');
	is(run(command => [(split(' ', $ENV{CC} || 'gcc'))[0], '-O1', '-I', source() . '/regions', '-o', $program, $of,
		'-L' . build(), '-lcachepeek'])->{status}, 0, 'compiled');
	my (undef, %many) = timed($plain, CACHEPEEK_TIMING => 'sample');
	my @short = map { $many{$_}{counts} } grep { /^r/ } keys %many;
	my @inside = grep { !$_->{untimed_instructions}{value} } @short;

	is(scalar(@short), 600, 'regions');
	cmp_ok(scalar(@inside), '>=', 5, 'of which some are in a unit as a whole');
	cmp_ok(scalar(@inside), '<', 100, 'and most are not');
	is(scalar(grep { defined $_->{cycles}{value} } @short), 0, 'none has cycles');
	is(scalar(grep { $_->{cycles}{reason} !~ /^time is modelled in samples, which had \d+ of its instructions: too few/ } @short), 0, 'and each says why');
	$program = scratch('long');
}

# Where parts are smaller than units, and where machines are compared, time is in full.
{
	my (undef, %paths) = timed($plain, CACHEPEEK_TIMING => 'sample', CACHEPEEK_CALL_PATHS => 1);

	ok(!exists $paths{''}{counts}{untimed_instructions}, 'call paths: in full');
}
{
	my $file = scratch('compared.json');
	my @cycles = map {
		run(command => [cli(), 'compare', '-m', "$plain,zen3", '-g', 'time', '-o', $file, $program],
			env => {LD_LIBRARY_PATH => build(), CACHEPEEK_TIMING => $_, PAD => 'x' x (6 - length)});
		map { $_->{counts}{cycles}{value} } @{decode_json(read_file($file))->{machines}};
	} qw(auto sample);

	ok(near($cycles[$_ + 2], $cycles[$_], 1e-4), "compared machine $_, which has a run of its own: in full") or diag("@cycles") for 0, 1;
}

done_testing();

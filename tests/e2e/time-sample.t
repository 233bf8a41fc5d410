#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Time of samples: the first instructions of each region are modelled in full, on cores that
# execute out of order, and the time of some of the others stands for the rest.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

# Loads from all over, most of which miss; a few instructions, again and again; branches that
# nobody can foresee; some that are taken; some that wait for L2; and loads that begin to miss behind
# what is modelled in full.
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
	for (int n = 0; n < 20; n++) {
		CACHEPEEK_BEGIN("short");
		for (volatile int i = 0; i < 5000; i++)
			;
		CACHEPEEK_END("short");
		for (int i = 0; i < 100000; i++)
			sum += words[i & 511]++;
	}
	CACHEPEEK_BEGIN("branches");
	for (int i = 0; i < 2000000; i++) {
		at = at * 6364136223846793005u + 1442695040888963407u;
		if (at >> 63)
			*(volatile uint64_t *)&words[0] = at;
	}
	CACHEPEEK_END("branches");
	CACHEPEEK_BEGIN("skipping");
	for (int i = 0; i < 3000000; i++)
		__asm__ volatile("jmp 1f\n"
				 "nop\n"
				 "1:\n");
	CACHEPEEK_END("skipping");
	for (int i = 0; i < WORDS; i++)
		words[i] = (at = at * 6364136223846793005u + 1442695040888963407u) >> 32;
	CACHEPEEK_BEGIN("behind");
	for (int i = 0; i < 600000; i++) {
		at = at * 6364136223846793005u + 1442695040888963407u;
		if (words[(at >> 40) % 16384] & 1)
			*(volatile uint64_t *)&words[WORDS - 1] = at;
	}
	CACHEPEEK_END("behind");
	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = (i * 40503u + 12345) % WORDS;
	CACHEPEEK_BEGIN("late");
	for (volatile int i = 0; i < 750000; i++)
		;
	for (int i = 0; i < 20000; i++)
		at = words[at % WORDS];
	CACHEPEEK_END("late");
	sum += at;
	return sum == 42;
}
C
our $program = scratch('long');
is(run(command => [(split(' ', $ENV{CC} || 'gcc'))[0], '-O1', '-I', source() . '/regions', '-o', $program, $source,
	'-L' . build(), '-lcachepeek'])->{status}, 0, 'compiled');

my $plain = timed_machine('plain.machine', map { "spread = $_ 1" }
	qw(l1d l2 llc stlb memory-latency walk-latency clock-mhz width window mispredict-latency));

sub timed
{
	my ($machine, %env) = @_;
	my $file = scratch('time.json');
	# Stacks begin at one place.
	$env{PAD} = 'x' x (6 - length $env{CACHEPEEK_TIMING});
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
	my ($full_text, %full) = timed($machine, CACHEPEEK_TIMING => 'on');
	my ($text, %some) = timed($machine, CACHEPEEK_TIMING => $machine eq $plain ? 'sample' : 'auto');
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
	ok(near($long->{$_}{value}, $full{long}{counts}{$_}{value}, 0.05), "$_: that of all, about")
		or diag("$long->{$_}{value}, $full{long}{counts}{$_}{value}") for 'cycles', 'time_memory';
	my ($branch, $issue) = @{$some{branches}{counts}}{qw(time_branch time_issue)};
	cmp_ok($branch->{value}, '>', 1_000_000, 'half of the branches are not foreseen');
	# Both have the variance of the sample.
	my $square = $branch->{error} ** 2 - $issue->{error} ** 2;
	my $unlearnt = 0.2 * $branch->{value};
	cmp_ok(abs($square / $unlearnt ** 2 - 1), '<', 0.15, 'branches are learnt of some instructions, and a fifth may be fewer') or
		diag("$square, $unlearnt");
	my $behind = $some{behind}{counts};
	my ($less) = sort { $a <=> $b } map { $behind->{$_}{value} } 'time_branch', 'miss_time_cycles';
	cmp_ok($less, '>', 0.1 * $behind->{cycles}{value}, 'of those that wait for L2');
	cmp_ok(abs($behind->{miss_time_cycles}{value} - $full{behind}{counts}{miss_time_cycles}{value}), '<=', $behind->{miss_time_cycles}{error}, 'and it is');
	cmp_ok($some{skipping}{counts}{miss_time_cycles}{error}, '>=', 0.0099 * $some{skipping}{counts}{cycles}{value}, 'and what has no misses might have');
	ok(near($some{skipping}{counts}{time_issue}{value}, $full{skipping}{counts}{time_issue}{value}, 0.01), 'branches that are taken end a cycle in all of them')
		or diag("$some{skipping}{counts}{time_issue}{value}, $full{skipping}{counts}{time_issue}{value}");
	my $late = $some{late}{counts}{cycles};
	if (defined $late->{value}) {
		cmp_ok(abs($late->{value} - $full{late}{counts}{cycles}{value}), '<=', $late->{error}, "the interval has what no unit did");
	} else {
		like($late->{reason}, qr/^time is modelled in samples, which say no more than that it is up to \d+ cycles \(CACHEPEEK_TIMING=on models all\)/,
			'what no unit has is not said to be known');
		cmp_ok($late->{reason} =~ /up to (\d+)/ ? $1 : 0, '>=', $full{late}{counts}{cycles}{value}, 'and it is no more than that');
	}
	is($long->{cycles}{status}, 'estimated', 'it is an estimate');
	ok(!defined $long->{cycles}{executions}, 'of which single executions have none');
	is($short->{untimed_instructions}{value}, 0, 'few instructions: all are modelled');
	ok(near($short->{cycles}{value}, $full{short}{counts}{cycles}{value}, 0.01), 'so their cycles are right')
		or diag("$short->{cycles}{value}, $full{short}{counts}{cycles}{value}");
	cmp_ok($short->{cycles}{error} // 0, '<', 0.1 * $short->{cycles}{value}, 'and known');
	if ($machine ne $plain) {
		cmp_ok($long->{cycles}{error}, '>', 0, 'of a machine without spreads, the interval is the sample\'s');
		like($text, qr/predicted time ±\S+ %, stall cycles ±\S+ %: by the sample alone, as the machine file does not say/, 'and the text says so');
		next;
	}
	like($text, qr/predicted time ±\S+ %, stall cycles ±\S+ %: by the sample, and by how far the rounds/, 'of one with spreads, it is of both');
	my ($error, $exact) = map { $_->{long}{metrics}{predicted_time}{error} / $_->{long}{metrics}{predicted_time}{value} } \%some, \%full;
	cmp_ok($error, '>', $exact, 'the interval has the sample in it');
	cmp_ok($error, '<', 0.05, 'which is large enough');
}

# Code before anything is counted, as the dynamic linker's, has no share of what is in full.
{
	my $loop = 'for (volatile long i = 0; i < ROUNDS; i++) ;';
	my $early = write_file(scratch('early.c'), <<"C");
static int none(void) { return 0; }
static int (*choose(void))(void) { $loop return none; }
int linked(void) __attribute__((ifunc("choose")));
C
	my $main = write_file(scratch('main.c'), "int linked(void);\nint main(void) { $loop return linked(); }\n");
	my ($cc, $library) = ((split(' ', $ENV{CC} || 'gcc'))[0], scratch('libearly.so'));

	is(run(command => [$cc, '-O1', '-DROUNDS=1500000', '-shared', '-fPIC', '-o', $library, $early])->{status}, 0, 'a library is compiled');
	local $program = scratch('main');
	is(run(command => [$cc, '-O1', '-DROUNDS=250000', '-Wl,-z,now', '-o', $program, $main, $library])->{status}, 0, 'and who needs it');
	my (undef, %whole) = timed('zen3', CACHEPEEK_TIMING => 'sample');
	my $counts = $whole{''}{counts};

	cmp_ok($counts->{instructions}{value}, '<', 2_000_000, 'few instructions are counted');
	is($counts->{untimed_instructions}{value}, 0, 'all of them are modelled, for all that came before');
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
	} qw(on auto);

	ok(near($cycles[$_ + 2], $cycles[$_], 1e-4), "compared machine $_, which has a run of its own: in full") or diag("@cycles") for 0, 1;
}

done_testing();

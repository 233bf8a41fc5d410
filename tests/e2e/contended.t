#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Lines that threads would take from each other if all ran at the same time: the simulated
# PMU runs them one after the other, and estimates them in every run (tools/sim/transfers.h).
# What they cost is in the miss cost, so that it is never said of a program that hands lines
# to and fro that there is nothing to mend.  `cachepeek sharing --quantum` goes through all
# references, in turns as long as a slot of the estimate.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

plan(skip_all => why_not('sim')) if why_not('sim');
my $machine = 'zen4';
my $rounds = 3_000_000;

# The whole run's counts and metrics, and the screen.
sub counted
{
	my ($command, @options) = @_;
	my $file = scratch('contended.json');
	my $run = run(command => [cli(), '-E', 'sim', '--reproducible', '-m', $machine, '-g', 'cache', @options, '-o', "stderr,$file", @$command]);
	is(status_text($run->{status}), 'exit 0', "@$command: runs");
	my $report = Json::decode_json(read_file($file));
	return {report => $report, whole => $report->{regions}[0], text => $run->{err} =~ s/\s+/ /gr};
}

sub transfers { return $_[0]{whole}{counts}{contended_transfers} }

# In turns of 50 references.
sub replayed
{
	my @command = @_;
	my $file = scratch('replayed.json');
	run(command => [cli(), 'sharing', '-m', $machine, '--quantum', 50, '-o', $file, @command]);
	my $sum = 0;
	$sum += $_->{hitm} // 0 for @{Json::decode_json(read_file($file))->{lines}};
	return $sum;
}

# ---- beside all references ----

# A thread that has the first turn knows nothing of the others, and behind the end of one nobody is left.
for my $how (qw(false true)) {
	my $run = counted([program('sharing'), $how, $rounds]);
	my ($estimate, $replay) = (transfers($run)->{value}, replayed(program('sharing'), $how, $rounds));
	cmp_ok($estimate, '>=', 0.6 * $replay, "$how: not many fewer than go to and fro in turns ($replay)");
	cmp_ok($estimate, '<=', 1.1 * $replay, "$how: nor more");
	my $cost = $run->{whole}{metrics}{cost_sharing};
	is($cost->{value}, 60 * $run->{whole}{counts}{hitm}{value} + 100 * $estimate, "$how: what they cost");
	is(transfers($run)->{status}, 'estimated', "$how: an estimate");
	like(transfers($run)->{reason}, qr/^from a sample of the references/, "$how: of what");
	like($run->{text}, qr/look first other threads' lines: ~9\d % of the miss cost \(cachepeek sharing/, "$how: they are looked at first");
	unlike($run->{text}, qr/nothing to mend/, "$how: there is something to mend");
	my @threads = map { value($_->{regions}[0], 'contended_transfers') } map { @{$_->{threads}} } @{$run->{report}{processes}};
	is(eval { my $sum = 0; $sum += $_ for @threads; $sum }, $estimate, "$how: the threads' are the whole");
}

# ---- what is none ----

my $padded = counted([program('sharing'), 'padded', $rounds]);
cmp_ok(transfers($padded)->{value}, '<=', $rounds / 5000, 'padded: next to none');
like($padded->{text}, qr/nothing to mend/, 'padded: there is nothing to mend');
is(transfers(counted([program('chase'), 1000]))->{value}, 0, 'one thread: none');

# Two threads that write the same lines, one after the other: who waits takes nothing.
my $source = write_file(scratch('phases.c'), <<'C');
#include <pthread.h>
#include <stdlib.h>
static volatile long buffer[512];
static pthread_barrier_t both;
static long turns, each;
static void *work(void *me)
{
	for (long turn = 0; turn < turns; turn++) {
		if ((turn & 1) == (long)me)
			for (long i = 0; i < each; i++)
				buffer[i & 511]++;
		pthread_barrier_wait(&both);
	}
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	turns = argc > 1 ? atol(argv[1]) : 0;
	each = argc > 2 ? atol(argv[2]) : 0;
	pthread_barrier_init(&both, 0, 2);
	pthread_create(&thread, 0, work, (void *)1);
	work((void *)0);
	return pthread_join(thread, 0);
}
C
is(run(command => ['cc', '-O1', '-pthread', '-o', scratch('phases'), $source])->{status}, 0, 'a program of phases');
for my $case ([4, 1_000_000], [40, 100_000]) {
	my $run = counted([scratch('phases'), @$case]);
	cmp_ok(transfers($run)->{value}, '<=', 2000, "$case->[0] phases: next to none of 4,000,000 writes");
}

# Lines that both write, among more others than the table has room for.
my $busy = write_file(scratch('busy.c'), <<'C');
#include <pthread.h>
#include <stdlib.h>
#define LINE 64
static volatile char shared[512 * LINE], *own[2];
static long times;
static void *work(void *me)
{
	volatile char *mine = own[(long)me];
	unsigned random = 1 + (unsigned)(long)me;
	for (long i = 0; i < times; i++) {
		random = random * 1103515245 + 12345;
		shared[(random >> 16 & 511) * LINE]++;
		for (int k = 0; k < 8; k++)
			mine[(8 * i + k) * LINE]++;
	}
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	times = argc > 1 ? atol(argv[1]) : 0;
	own[0] = malloc(8 * LINE * times);
	own[1] = malloc(8 * LINE * times);
	pthread_create(&thread, 0, work, (void *)1);
	work((void *)0);
	return pthread_join(thread, 0);
}
C
is(run(command => ['cc', '-O1', '-pthread', '-o', scratch('busy'), $busy])->{status}, 0, 'a program with many lines');
{
	my $run = counted([scratch("busy"), 200_000]);
	my $replay = replayed(scratch("busy"), 200_000);
	cmp_ok(transfers($run)->{value}, '>=', 0.6 * $replay, "busy lines are kept ($replay)");
	cmp_ok(transfers($run)->{value}, '<=', 1.1 * $replay, 'others are none');
}

# ---- in predicted time ----

my %side;
for my $how (qw(false padded)) {
	my $file = scratch("$how.json");
	my $run = run(command => [cli(), '-E', 'sim', '--reproducible', '-m', $machine, '-o', "stderr,$file", program('sharing'), $how, $rounds]);
	my $whole = Json::decode_json(read_file($file))->{regions}[0];
	$side{$how} = {file => $file, text => $run->{err} =~ s/\s+/ /gr};
	my ($count, $metric) = map { my $of = $_; sub { $whole->{$of}{$_[0]}{value} } } qw(counts metrics);
	my $taken = 100 * $count->('contended_transfers');
	is($metric->('stall_cycles_sharing'), $taken, "$how: cycles for each of them");
	is($metric->('stall_cycles'), $count->('miss_time_cycles') + $taken, "$how: they are stalls");
	is($metric->('predicted_cycles'), $count->('cycles') + $taken, "$how: ... and time");
	my ($told) = $side{$how}{text} =~ /whole run ~(\d+\.\d{3}) /;
	cmp_ok(abs(($told // 0) - 1000 * $metric->('predicted_time')), '<=', 0.001, "$how: the table has that time");
	cmp_ok(abs($metric->('share_sharing') - $taken / $metric->('predicted_cycles')), '<', 1e-6, "$how: their share");
}
like($side{false}{text}, qr/look first other threads' lines: ~9\d % of the miss cost \(cachepeek sharing/, 'by default: what threads take from each other');
like($side{padded}{text}, qr/cycles of stall[^:]* of the predicted time[^:]*: nothing to mend/, 'by default: where they take nothing');
my $diff = run(command => [cli(), 'diff', map { $_->{file} } @side{qw(false padded)}])->{out} =~ s/\s+/ /gr;
like($diff, qr/ less predicted time: .*? to .*? \(-\d\d\.?\d* %, estimated\); .*? causes: other threads' lines -/, 'diff: ... is a cause');

# ---- where it is known ----

my $several = scratch('several.json');
run(command => [cli(), 'compare', '--reproducible', '-m', 'zen4,skylake-sp', '-o', $several, program('sharing'), 'false', $rounds]);
my @costs = read_file($several) =~ /"cost_sharing":\s*\{[^}]*"value":\s*([\d.]+)/g;
is(scalar(grep { $_ > 100 * 100_000 } @costs), 2, 'of each of two machines') or diag("@costs");
my $plain = write_file(scratch('plain.machine'), "l1i = 32K 8 64\nl1d = 32K 8 64\nl2 = 256K 8 64\nllc = 32M 16 64\n");
my $sampled = transfers(counted([program('sharing'), 'false', 5000], '-m', $plain, '--sample', 'fast'));
is("$sampled->{status}: $sampled->{reason}", 'unavailable: cannot be sampled (CACHEPEEK_SAMPLE): it depends on what is not in the sample', 'of a sample: not known');
done_testing();

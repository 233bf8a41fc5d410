#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# --sample by itself: one seed is one sample, to the last count; instructions are those of a
# full simulation; sets that are all of the sets miss what a full simulation misses.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Sim;
use Test::More;

our @program = ("$BUILD/sim/matmul", 120);

# The counts of the process, and the sums of the thread's parts.
sub counted {
	my (@options) = @_;
	my ($status, $out, $log) = sim_run('--report=yes', @options, @program);
	my %count;

	is($status, 0, "@options: it runs") or diag($log);
	for (split /\n/, $log) {
		$count{$1} = $2 if /process \d+ (\w+) (\d+)$/;
		$count{$1}[$2] = $3 if /thread \d+ (sample_\w+)_(\d+) (\d+)$/;
	}
	return \%count;
}

sub sum { my $sum = 0; $sum += $_ for @_; return $sum }

my $full = counted();
my @again = map { counted('--sample=8,10000,10000,100000,5') } 1 .. 2;
my $other = counted('--sample=8,10000,10000,100000,6');
my @named = grep { /^sample_/ } keys %{$again[0]};
cmp_ok(scalar(@named), '==', 40, 'all parts are there');
is_deeply($again[0], $again[1], 'one seed, one sample');
isnt(join(' ', @{$other->{sample_instructions}}), join(' ', @{$again[0]{sample_instructions}}),
	'another seed, another sample');
is($_->{instructions}, $full->{instructions}, 'instructions are exact') for @again, $other;

my $in_bursts = sum(@{$other->{sample_instructions}}[0 .. 15]);
my $share = $in_bursts / ($full->{instructions} - $other->{sample_instructions}[16]);
cmp_ok(abs($share - 0.1), '<', 0.01, 'a tenth of the instructions is in bursts');

# ---- all of the sets ----

# 16 groups of sets, all of them sampled.
my @small = ('--l1d=16,4,64', '--l1i=16,4,64', '--l2=64,8,64', '--llc=256,16,64');
my $truth = counted(@small);
my $all = counted(@small, '--sample=16,10000,10000,100000,1');
for my $name (qw(l2_load_lines l2_store_lines l2_ifetch_misses l2_writebacks l2_fills
	llc_load_lines llc_store_lines llc_writebacks llc_fills)) {
	my $sum = sum(@{$all->{"sample_$name"}}[0 .. 15]);
	my $few = 2 + $truth->{$name} / 500; # references that span two lines

	cmp_ok(abs($sum - $truth->{$name}), '<=', $few, "all sets: $name") or
		diag("$sum, not $truth->{$name}");
}

# L1D of those is kept: the lines that came there by and by are all that came.
{
	my $lines = $truth->{l1d_load_lines} + $truth->{l1d_store_lines};
	my $kept = $all->{sample_kept_lines};

	cmp_ok(abs(sum(@$kept) - $lines), '<=', 2 + $lines / 500, 'all sets: lines that were kept') or
		diag(sum(@$kept) . ", not $lines");
	cmp_ok(sum(@$kept[0 .. 15]), '>', $lines / 50, 'all sets: of which bursts have a part');
	cmp_ok($kept->[17], '>', $lines / 2, 'all sets: and most come between them');
}

# First references to sets that are kept are what may be none in those that a burst has
# emptied; those of them that missed are what it has not too many of.
my %unsure;
for my $seed (1 .. 3) {
	my ($all, $few) = map { counted(@small, "--sample=$_,200,10000,100000,$seed") } 16, 4;
	my %firsts = (l1d_load_lines => 'load', l1d_store_lines => 'store', l1i_misses => 'code');

	for my $name (sort keys %firsts) {
		my ($firsts, $missed) = map { my $of = "sample_$firsts{$name}_$_";
			sum(@{$all->{$of}}) - sum(@{$few->{$of}}) } qw(firsts firsts_missed);
		my ($unsure, @counts) = ($few->{"sample_$name"}[17], map { sum(@{$_->{"sample_$name"}}[0 .. 15]) } $few, $all);

		is($all->{"sample_$name"}[17], 0, "seed $seed: $name: all sets are sure");
		$unsure{$name} += $unsure;
		is($firsts, $unsure, "seed $seed: $name: as many as the others' first references");
		is($counts[0] - $counts[1], $unsure - $missed, "seed $seed: $name: those that did not miss were none");
	}
}
cmp_ok($unsure{$_}, '>', 0, "$_: some may be none in few sets") for sort keys %unsure;

# A line that a load brings and that is stored to while L1D has it, between bursts, too.
{
	open(my $source, '>', "$SCRATCH/later.c") or die;
	print $source <<'C';
static volatile char a[1 << 20];
int main(void)
{
	for (int pass = 0; pass < 4; pass++)
		for (int i = 0; i < 1 << 20; i += 64) {
			a[i];
			if (i >= 512)
				a[i - 512] = 1;
		}
	return 0;
}
C
	close($source);
	is(system('gcc', '-O1', '-o', "$SCRATCH/later", "$SCRATCH/later.c"), 0, 'a program that stores later');
	local @program = ("$SCRATCH/later");
	my ($true, $sample) = (counted(@small), counted(@small, '--sample=16,1000,1000,100000,1'));
	my $sum = sum(@{$sample->{sample_l2_writebacks}}[0 .. 15]);
	cmp_ok($true->{l2_writebacks}, '>', 50000, 'stored later: l2_writebacks');
	cmp_ok(abs($sum - $true->{l2_writebacks}), '<=', 2 + $true->{l2_writebacks} / 500, 'stored later: all sets: l2_writebacks') or
		diag("$sum, not $true->{l2_writebacks}");
}

# ---- references that share a word ----

# References to one structure, which spans lines; and to the next one, by the same register.
# In another one each line has one reference, and one of them a store behind it, and is
# touched by nothing else.  A load whose value nobody uses is none to VEX.
{
	open(my $source, '>', "$SCRATCH/spans.c") or die;
	print $source <<'C';
static struct { volatile long a[9]; volatile int b[2]; volatile char c[16]; } s[20000];
static struct { volatile long a[32]; } far[8000];
int main(void)
{
	long sum = 0;

	for (int pass = 0; pass < 3; pass++)
		for (int i = 1; i < 19999; i += 1 + pass % 2) {
			sum += s[i].a[1];
			s[i].a[3] = i;
			sum += s[i].a[6];
			s[i].a[8]++;
			sum += s[i].b[1];
			s[i].c[3] = 1;
			sum += s[i].a[3];
			sum += s[i + 1].a[0];
			sum += s[i - 1].c[9];
		}
	for (int i = 0; i < 8000; i++) {
		sum += far[i].a[0];
		sum += far[i].a[16];
		sum += far[i].a[31];
		sum += far[i].a[8];
		sum += far[i].a[24];
		far[i].a[8] = i;
	}
	return sum == 42;
}
C
	close($source);
	is(system('gcc', '-O1', '-o', "$SCRATCH/spans", "$SCRATCH/spans.c"), 0, 'a program of structures that span lines');
	local @program = ("$SCRATCH/spans");
	my @names = map { "sample_$_" } qw(l2_load_lines l2_store_lines l2_writebacks llc_load_lines);
	# Neighbours are sampled here, and no word is shared by lines.
	my $each = counted(@small, '--sample=16,1000,1000,100000,1');
	my $whole = counted(@small);
	for my $name (@names) {
		my ($sum, $of) = (sum(@{$each->{$name}}[0 .. 15]), $whole->{$name =~ s/^sample_//r});
		cmp_ok(abs($sum - $of), '<=', 2 + $of / 500, "spans, all sets: $name") or diag("$sum, not $of");
	}
	for my $seed (1 .. 4) {
		my $few = counted(@small, "--sample=4,1000,1000,100000,$seed");
		for my $part (0 .. 3) {
			my @count = map { $few->{$_}[$part] } @names;
			my @like = grep { my $group = $_;
				!grep { abs($count[$_] - $each->{$names[$_]}[$group]) > 2 + $count[$_] / 500 } 0 .. $#names } 0 .. 15;
			cmp_ok(scalar(@like), '>', 0, "spans, seed $seed: part $part counts what a group does") or diag("@count");
			cmp_ok($count[0], '>', 1000, "spans, seed $seed: part $part has misses");
		}
	}
	my ($true, $sample) = (counted(), counted('--sample=8,1000,1000,1000000000,1'));
	for my $name (qw(l1d_load_lines l1d_store_lines l1d_load_misses l1d_writebacks dtlb_load_pages)) {
		is($sample->{"sample_$name"}[16], $true->{$name}, "spans, in full: $name");
	}
}

# ---- all of it in full ----

# No thread ends its first period.
my $begun = counted('--sample=8,1000,1000,1000000000,1');
for my $name (grep { !/^sample_(?:l2_(?!accesses)|llc|beyond)/ } @named) {
	my ($counter) = $name =~ /^sample_(.*)/;
	my @parts = @{$begun->{$name}};

	is($parts[16], $full->{$counter}, "in full: $counter") if defined $full->{$counter};
	is(sum(@parts[0 .. 15]), 0, "in full: $counter is in no burst");
}

# A fault ends a superblock before what it does has been written.
{
	open(my $source, '>', "$SCRATCH/faults.c") or die;
	print $source <<'C';
#include <signal.h>
#include <sys/mman.h>
static _Alignas(4096) volatile long page[512];
static volatile long seen[64 * 512];
static void handle(int number)
{
	(void)number;
	mprotect((void *)page, sizeof(page), PROT_READ | PROT_WRITE);
}
int main(void)
{
	long sum = 0;
	signal(SIGSEGV, handle);
	for (int i = 0; i < 500; i++) {
		mprotect((void *)page, sizeof(page), PROT_NONE);
		sum += seen[i * 64] + page[i];
		seen[i * 64] = sum;
	}
	return sum != 0;
}
C
	close($source);
	is(system('gcc', '-O1', '-o', "$SCRATCH/faults", "$SCRATCH/faults.c"), 0, 'faults: it is compiled');
	local @program = ("$SCRATCH/faults");
	my ($true, $sample) = (counted(), counted('--sample=8,1000,1000,1000000000,1'));
	for my $name (qw(instructions l1d_load_lines l1d_store_lines l1i_misses dtlb_load_pages)) {
		is($sample->{"sample_$name"}[16], $true->{$name}, "faults, in full: $name");
	}
}

# ---- several machines ----

# The counts, and the parts, of each machine.
sub machines {
	my (@options) = @_;
	my ($status, $out, $log) = sim_run('--report=yes', @options, @program);
	my @of;

	is($status, 0, "@options: it runs") or diag($log);
	for (split /\n/, $log) {
		$of[0]{$1} = $2 if /process \d+ (\w+) (\d+)$/;
		$of[$1]{$2}[$3] = $4 if /machine (\d+) (sample_\w+)_(\d+) (\d+)$/;
		$of[$1]{$2} = $3 if /machine (\d+) ((?!sample_)\w+) (\d+)$/;
	}
	return @of;
}

# The last has fewer sets, of which all take no more than it has.
my @geometry = (['--l2=256,8,64', '--llc=2048,16,64'], ['--l1d=128,4,64', '--l2=512,8,64', '--llc=1024,8,64'],
	['--l1d=16,4,64', '--l1i=16,4,64', '--l2=64,8,64', '--llc=256,16,64']);
my @row = map { ($_ ? '--next-machine' : (), @{$geometry[$_]}) } 0 .. 2;
for my $how ('16,1000,1000,1000000000,1', '8,10000,10000,100000,5') {
	my @together = machines(@row, "--sample=$how");
	is(scalar(@together), 3, "$how: three machines");
	for my $i (0 .. 2) {
		# alone, but with as many groups: those of the third
		my ($alone) = machines(@{$geometry[$i]}, $i == 2 ? () : ('--next-machine', @{$geometry[2]}), "--sample=$how");
		my @parts = grep { /^sample_/ } keys %$alone;
		is(scalar(@parts), 40, "$how: machine $i has parts");
		is_deeply({map { $_ => $together[$i]{$_} } @parts}, {map { $_ => $alone->{$_} } @parts},
			"$how: machine $i counts what it counts without the others");
		is($together[$i]{instructions}, $full->{instructions}, "$how: machine $i: instructions are exact");
		next if $how =~ /^8/;
		my $truth = counted(@{$geometry[$i]});
		for my $name (sort @parts) {
			my ($counter) = $name =~ /^sample_(.*)/;
			next if $counter eq 'instructions' || !defined($truth->{$counter});
			is(sum(@{$together[$i]{$name}}), $truth->{$counter}, "all sets, in full: machine $i: $counter");
		}
	}
}

# ---- a sweep ----

# A point that is the level's own counts what the level counts, whatever the sample; and all
# of the sets, in full, what a full simulation counts.
my @small_level = @{$geometry[2]};
for my $case (['l2', '64:8', '64:2,32:8,64:8,128:8'], ['llc', '256:16', '256:4,256:16,512:16']) {
	my ($level, $own, $points) = @$case;
	my @points = split(/,/, $points);
	my $sweep = "--sweep=$level,$points";
	my $truth = counted(@small_level, $sweep);
	my ($full_sample, $sample) = map { (machines(@small_level, $sweep, "--sample=$_"))[0] }
		'16,1000,1000,1000000000,1', '8,10000,10000,100000,5';
	for my $i (0 .. $#points) {
		is(sum(@{$full_sample->{"sample_sweep$i"}}), $truth->{"sweep_$i"}, "$level: $points[$i]: all sets, in full");
		cmp_ok($truth->{"sweep_$i"}, '>', 1000, "$level: $points[$i]: there are some");
		next unless $points[$i] eq $own;
		my @level = map { my $g = $_; sum(map { $sample->{"sample_${level}_$_"}[$g] } qw(ifetch_misses load_lines store_lines)) } 0 .. 17;
		is_deeply($sample->{"sample_sweep$i"}, \@level, "$level: $points[$i]: each sampled set misses what the level does");
	}
	my ($first, $last) = map { sum(@{$sample->{"sample_sweep$_"}}) } 0, $#points;
	cmp_ok($first, '>', $last, "$level: the smallest misses more than the largest");
}

# ---- children ----

# Into which groups bursts were drawn: those of children that are forked one right after the
# other would be the same ones.
my ($status, $out, $log) = sim_run('--report=yes', '--sample=8,10000,10000,100000,5', $^X, '-e',
	'for (1 .. 6) { fork or do { $x += $_ for 1 .. 6000; exit }; wait }');
my %bursts;
push @{$bursts{$1}}, $2 ? 1 : 0
	while $log =~ /^\W*(\d+)\W+thread \d+ sample_instructions_(?!16)\d+ (\d+)$/mg;
my %drawn = map { join('', @$_) => 1 } values %bursts;
is(scalar(keys %bursts), 7, 'a program with six children');
is(scalar(keys %drawn), 7, 'each child draws bursts of its own') or diag(join("\n", keys %drawn));

# ---- what cannot be ----

for my $bad ('--sample=17,1,1,10,1', '--sample=8,10,10,10,1', '--sample=8,10,0,100,1', '--sample=x') {
	my ($status, $out, $log) = sim_run($bad, '/bin/true');
	is($status >> 8, 2, "$bad: refused");
	like($log . slurp("$SCRATCH/err"), qr/--sample: expected SETS,WARM,BURST,PERIOD,SEED/, "$bad: why");
}
for my $with ('--window=1000', '--sweep=l1d,64:4', '--sweep=stlb,64:4', '--timing=10,20,100,30,5,30,0,0',
	"--profile-misses=$SCRATCH/misses") {
	my ($status, $out, $log) = sim_run('--sample=8,10,10,100,1', $with, '/bin/true');
	is($status >> 8, 2, "$with: not together");
	like($log . slurp("$SCRATCH/err"), qr/--sample: not with .*\bneed every reference: without them, or without --sample/, "$with: why, and what to do");
}
for my $machine (['--l1d=64,8,64,plru'], ['--l2=0,0,0'], ['--l1d=8,8,64'], ['--sweep=llc,8:4'],
	['--next-machine', '--l1d=64,8,64,plru']) {
	my ($status, $out, $log) = sim_run('--sample=8,10,10,100,1', @$machine, '/bin/true');
	is($status >> 8, 2, "@$machine: not there");
}

done_testing();

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

my @program = ("$BUILD/sim/matmul", 120);

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
cmp_ok(scalar(@named), '==', 33, 'all parts are there');
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

# ---- all of it in full ----

# No thread ends its first period.
my $begun = counted('--sample=8,1000,1000,1000000000,1');
for my $name (grep { !/^sample_(?:l2_(?!accesses)|llc|beyond)/ } @named) {
	my ($counter) = $name =~ /^sample_(.*)/;
	my @parts = @{$begun->{$name}};

	is($parts[16], $full->{$counter}, "in full: $counter") if defined $full->{$counter};
	is(sum(@parts[0 .. 15]), 0, "in full: $counter is in no burst");
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
for my $with ('--window=1000', '--next-machine', '--timing=10,20,100,30,5,30,0,0') {
	my ($status, $out, $log) = sim_run('--sample=8,10,10,100,1', $with, '/bin/true');
	is($status >> 8, 2, "$with: not together");
}
for my $machine ('--l1d=64,8,64,plru', '--l2=0,0,0', '--l1d=8,8,64') {
	my ($status, $out, $log) = sim_run('--sample=8,10,10,100,1', $machine, '/bin/true');
	is($status >> 8, 2, "$machine: not there");
}

done_testing();

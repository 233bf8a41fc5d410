#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Samples of a stream whose every miss is known: the product's periods, estimates
# and error bars against the truth, 100 seeds each.  SAMPLED_LONG=1: a stream with
# 1,000 samples at the longest period.
use strict;
use warnings;
use File::Temp 'tempdir';
use FindBin;
use lib $FindBin::Bin;
use Sim;
use Profile;
use Test::More;

%ENV = (PATH => $ENV{PATH}, B => $ENV{B} // 'build', map { $_ => $ENV{$_} }
	grep { defined $ENV{$_} } 'SAMPLED_LONG');

my $SEEDS = 100;
my $calls = $ENV{SAMPLED_LONG} ? 16000 : 3000;
my $text = "$SCRATCH/text";
{
	my $state = 1;
	open(my $out, '>', $text) or die "$text: $!";
	for (1 .. 40000) {
		$state = ($state * 1103515245 + 12345) & 0x7fffffff;
		print $out "word", ($state >> 16) % 700, $_ % 9 ? ' ' : "\n";
	}
	close($out);
}

# The misses of a run, and the file that has it in its order.
sub misses_of {
	my (@command) = @_;
	my $dir = tempdir(CLEANUP => 1);
	my $file = "$dir/misses";
	sim_run("--profile=$dir", "--profile-misses=$file", @command);
	my ($profile) = glob "$dir/*.profile";
	my $total = 0;
	$total += $_->{count}{l1d_load_misses} + $_->{count}{l1d_store_misses}
		for @{profile_read($profile)->{sites}};
	is(-s $file, 8 * $total, "$command[0]: each miss of L1D is in the stream");
	return ($file, $dir, $total);
}

# {misses, places, period, median, surplus, covered => [...]}
sub sampled {
	my ($file, $period, $shift) = @_;
	my $out = `$BUILD/sim/sampled $file $period $SEEDS $shift`;
	my %got = $out =~ /(\w+) ([\d.]+)(?= |$)/g;
	$got{covered} = [$out =~ /%:(\d+)/g];
	return \%got;
}

sub check {
	my ($file, $period, $shift, $what) = @_;
	my $got = sampled($file, $period, $shift);
	my ($least) = sort { $a <=> $b } @{$got->{covered}};
	is(scalar @{$got->{covered}}, 10, "$what: ten places");
	cmp_ok($least, '>=', 90, "$what, period $got->{period}: the truth lies in the interval");
	cmp_ok($got->{surplus}, '<', 1e-9, "$what, period $got->{period}: places add up");
	diag("period $got->{period}: @{$got->{covered}}") if $least < 90;
	return $got;
}

{
	my ($file, $dir, $total) = misses_of("$BUILD/sim/places", 3, $calls);
	cmp_ok($total, '>', 3_000_000, 'many misses');
	for my $period (101, 211, 499, 1009, 2003, 5003, 10007, 20011) {
		check($file, $period, 9, 'functions, threads');
	}
	my $got = check($file, 0, 9, 'functions, threads');
	cmp_ok($got->{median}, '<=', 25, "1,000 samples: +-$got->{median} %, the median");
	cmp_ok($got->{median}, '>', 5, 'which no 1,000 samples can be much better than');
}
# Where most of the misses are in few instructions: on average.
SKIP: {
	skip 'no gzip', 3 unless -x '/bin/gzip';
	my ($file) = misses_of('/bin/gzip', '-c', $text);
	my ($sum, $n) = (0, 0);
	for my $period (101, 211, 307) {
		my $got = sampled($file, $period, 0);
		cmp_ok($got->{surplus}, '<', 1e-9, "gzip, period $period: places add up");
		$sum += $_, $n++ for @{$got->{covered}};
	}
	is($n, 30, 'ten places of gzip, at each period');
	cmp_ok($sum / $n, '>=', 93, sprintf('instructions of gzip: the truth in %.1f of 100', $sum / $n));
}

done_testing;

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# How long a mistake takes to be refused: each of tests/e2e/Mistakes.pm so many times, in
# turn; of each the median, wall clock and CPU time of the command.  The budget is 0.2 s.
#	tests/bench/mistakes.pl [ROUNDS]
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Mistakes;
use Peek;
use Time::HiRes;

my $rounds = shift // 5;
my $budget = 0.2;
my $file = write_file(scratch('file'), "of no matter\n");
my $directory = scratch('directory.json');
mkdir($directory);

# Seconds of wall clock and of CPU.
sub refused
{
	my ($options) = @_;
	my @before = (Time::HiRes::time(), (times)[2, 3]);
	my $child = fork() // die "fork: $!";
	if ($child == 0) {
		open(STDERR, '>', '/dev/null');
		exec(cli(), split(/ /, $options), 'true') or exit(127);
	}
	waitpid($child, 0);
	die "cachepeek $options: status $?, not exit 2\n" if $? != 2 << 8;
	my @after = (Time::HiRes::time(), (times)[2, 3]);
	return ($after[0] - $before[0], $after[1] + $after[2] - $before[1] - $before[2]);
}

sub median
{
	my @sorted = sort { $a <=> $b } @_;
	return $sorted[@sorted / 2];
}

my @mistakes = map { $_->[0] } mistakes($file, $directory);
my (%wall, %cpu);
for (1 .. $rounds) {
	for my $options (@mistakes) {
		my ($wall, $cpu) = refused($options);
		push(@{$wall{$options}}, $wall);
		push(@{$cpu{$options}}, $cpu);
	}
}
my @slowest = sort { median(@{$wall{$b}}) <=> median(@{$wall{$a}}) } @mistakes;
printf("%d mistakes, median of %d times each, milliseconds; the slowest:\n%8s %8s\n", scalar(@mistakes), $rounds, 'wall', 'CPU');
printf("%8.0f %8.0f  %s\n", 1000 * median(@{$wall{$_}}), 1000 * median(@{$cpu{$_}}), substr($_, 0, 60)) for @slowest[0 .. 4];
my $over = grep { median(@{$wall{$_}}) > $budget } @mistakes;
printf("%8.0f %8s  the median of all; %d took more than %.0f\n", 1000 * median(map { median(@{$wall{$_}}) } @mistakes), '', $over, 1000 * $budget);

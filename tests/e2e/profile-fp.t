#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A machine whose floating-point loads go around L1D: where they are, and what the
# report says of it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my ($N, $ROUNDS) = (512, 40); # 4 KiB, which any L1D holds

my $source = write_file(scratch('floats.c'), <<"C");
#define N $N
double table[N];
long whole[N];
__attribute__((noipa)) double floats(void)
{
	double sum = 0;
	for (int i = 0; i < N; i++)
		sum += table[i]; /* the load */
	return sum;
}
__attribute__((noipa)) long integers(void)
{
	long sum = 0;
	for (int i = 0; i < N; i++)
		sum ^= whole[i] + i;
	return sum;
}
int main(void)
{
	double sum = 0;
	for (int i = 0; i < N; i++)
		table[i] = whole[i] = i;
	for (int i = 0; i < $ROUNDS; i++)
		sum += floats() + (double)integers();
	return sum == 7;
}
C
my $program = scratch('floats');
is(system('cc', '-g', '-O1', '-fno-tree-vectorize', '-o', $program, $source), 0, 'a program');

sub profile
{
	my ($machine) = @_;
	my ($json, $text) = (scratch("$machine.json"), scratch("$machine.txt"));
	my $dir = scratch("records-$machine");
	run(command => [cli(), 'dcache', '-m', $machine, '-d', $dir, '-o', $json, $program]);
	run(command => [cli(), 'dcache', '-d', $dir, '-o', $text]);
	return (decode_json(read_file($json)), read_file($text) =~ s/\s+/ /gr);
}

sub counts
{
	my ($profile, $name) = @_;
	my ($function) = grep { $_->{function} eq $name } @{$profile->{functions}};
	return $function ? $function->{counts} : {};
}

my $note = qr/On this machine floating-point loads are L2's by design and never look into L1D: /;
my ($profile, $text) = profile('itanium2');
my $floats = counts($profile, 'floats');
is($floats->{l1d_bypasses}, $N * $ROUNDS, 'each floating-point load goes around L1D');
is($floats->{l1d_load_misses}, 0, 'and misses nothing there');
cmp_ok($floats->{load_from_l2}, '>=', $N * ($ROUNDS - 1), 'L2 serves them');
is($floats->{load_from_l2} + $floats->{load_from_llc} + $floats->{load_from_memory}, $N * $ROUNDS,
	'or what is behind it');
is(counts($profile, 'integers')->{l1d_bypasses} // 0, 0, 'integers do not');
like($text, $note, 'the report explains it');
like($text, qr/ floats +\(floats\.c\)| \S+::floats \(floats\.c\)/, 'beside the function');

($profile, $text) = profile('skylake-sp');
is($profile->{counts}{l1d_bypasses}, 0, 'on other machines there is no such thing');
unlike($text, $note, 'and no note');
is(counts($profile, 'floats')->{l1d_bypasses} // 0, 0, 'and the loop hits');

done_testing;

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Names that do not fit are cut in the middle: they differ at their ends, too.  And of two
# runs, a metric that has changed comes before the count that it is made from.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Encode qw(decode);
use Peek;
use Test::More;

my $long = 'a::name::of::templates<' . 'x' x 90 . '>::';
my $source = write_file(scratch('long.c'), <<"C");
#include <cachepeek.h>
#include <stdlib.h>
double m[512][512];
int main(int argc, char **argv)
{
	double sum = 0;

	(void)argv;
	CACHEPEEK_BEGIN("${long}first");
	for (int i = 0; i < 512; i++)
		for (int j = 0; j < 512; j++)
			sum += argc > 1 ? m[j][i] : m[i][j];
	CACHEPEEK_END("${long}first");
	CACHEPEEK_BEGIN("${long}second");
	sum *= 2;
	CACHEPEEK_END("${long}second");
	return sum == 7;
}
C
my $program = scratch('long');
is(run(command => [(split(' ', $ENV{CC} || 'gcc'))[0], '-O1', '-I' . source() . '/regions', '-o', $program, $source])->{status}, 0, 'compiled');

my $text = decode('UTF-8', peek(engine => 'sim', groups => 'cache', output => '-', command => [$program])->{out});
is(scalar(grep { length > 80 } split(/\n/, $text)), 0, 'no row is longer than 80 columns');
like($text, qr/^ +a::name\S*\N{U+2026}\S*::first +1 /m, 'one name has its beginning and its end');
like($text, qr/^ +a::name\S*\N{U+2026}\S*second +1 /m, 'and so has the other');

for my $side (['rows'], ['columns', 1]) {
	my ($name, @arguments) = @$side;
	run(command => [cli(), '-E', 'sim', '-m', 'skylake-sp', '-o', scratch("$name.json"), $program, @arguments]);
}
my $diff = run(command => [cli(), 'diff', scratch('columns.json'), scratch('rows.json')])->{out};
like($diff, qr/^(?:less|more) (?:predicted time|cost|misses): (?:predicted_time|cycles|miss_cost|l1d_misses) /m, 'what the run costs comes first');
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# 100,000 regions, 1,000 threads, names of every byte and of 4 KB.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

need_perf();
my @perf = (engine => 'perf', events => 'perf::PAGE-FAULTS');

# ---- names ----

{
	my $run = peek(@perf, command => [program('region_scale')]);
	my @names = map { $_->{path}[0] } grep { @{$_->{path}} } @{$run->{report}{regions}};
	is(scalar(@names), 3, 'names: each is a region, and cut ones are the same');
	is(length((sort { length $b <=> length $a } @names)[0]), 4096, 'names: 4,096 bytes are kept');
	my ($long) = grep { $_->{path}[0] && $_->{path}[0] =~ /^x/ } @{$run->{report}{regions}};
	is($long->{calls}, 2, 'names: what is longer is cut');
	unlike($run->{json}, qr/[\x00-\x09\x0b-\x1f\x7f]/, 'names: JSON has no control character as such');
	ok((grep { $_ eq '' } @names), 'names: empty is one, too');
	my $text = peek(@perf, output => 'stderr', command => [program('region_scale')]);
	unlike($text->{err}, qr/[\x00-\x09\x0b-\x1f\x7f]/, 'names: nor has the page');
}

# ---- 1,000 threads at once ----

{
	my $run = peek(@perf, command => [program('region_scale'), 0, 1000]);
	my $region = region($run->{report}, 'thread');
	is($region->{calls}, 3000, '1,000 threads: all executions');
	is($region->{threads}, 1000, '1,000 threads: of all');
	ok_sums($run->{report}, '1,000 threads');
}

# ---- 100,000 regions: counted on the page, since decoding takes Perl minutes ----

{
	my $file = scratch('many.txt'); # which has all of them
	my $run = peek(@perf, output => $file, command => [program('region_scale'), 100000]);
	my ($text, %seen) = read_file($file);
	$seen{$1}++ while $text =~ /^  region (\d+) +1 /mg;
	is(scalar(keys %seen), 100000, '100,000 regions: a row each');
	is((grep { $_ != 1 } values %seen), 0, '100,000 regions: once each');
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The library goes into other people's programs: it is small, and has nothing of reports in
# it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Test::More;

my %from = map { $_ => 1 } run(command => ['nm', '-a', lib()])->{out} =~ /^[0-9a-f]+ a (\S+\.c)$/mg;
ok($from{'threads.c'}, 'the files that it is made of are named in it');
my %output = map { s{.*/}{}r => 1 } glob(source() . '/output/*.c ' . source() . '/output/{report,text}/*.c');
my %others = map { s{.*/}{}r => 1 } map { glob(source() . "/$_/*.c") } qw(base base/* preload preload/* regions regions/* output/metrics);
is_deeply([grep { $output{$_} && !$others{$_} } sort keys %from], [], 'none of them writes reports');

my ($with) = (read_file(build() . '/flags') // '') =~ /( -O2 -g)$/m;
SKIP: {
	skip('it was built with flags of their own', 1) unless $with && `uname -m` eq "x86_64\n";
	my ($text, $data) = run(command => ['size', lib()])->{out} =~ /^\s*(\d+)\s+(\d+)/m;
	cmp_ok($text + $data, '<=', 800 * 1024, 'at most 800 KiB of code and data');
}
done_testing();

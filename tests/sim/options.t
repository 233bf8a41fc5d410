#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Option values that make no sense are refused with one line that names them.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Sim;
use Test::More;

sub refused {
	my ($option, $why, $named) = @_;
	my ($status, $out, $log) = sim_run($option, '/bin/true');
	my ($name) = $named // $option =~ /^(--\w+)/;
	my @lines = split /\n/, $log . slurp("$SCRATCH/err");

	is($status >> 8, 2, "$option: exit status");
	is(scalar(@lines), 1, "$option: one line");
	like($lines[0] // '', qr/\Q$name\E.*$why/, "$option: $why");
}

refused('--l1d=64,8', 'SETS,WAYS,LINE');
refused('--l1d=64,8,x', 'SETS,WAYS,LINE');
refused('--l1d=64,8,64,1', 'SETS,WAYS,LINE');
refused('--dtlb=16,4,64', 'SETS,WAYS');
refused('--l1d=64,129,64', '1 to 128');
refused('--l1d=64,0,64', '1 to 128');
refused('--string-instructions=half', 'expected whole or iterations');
refused('--l2=0,8,64', 'sets');
refused('--l2=1024,8,48', 'line size');
refused('--l2=1024,8,32', 'must not be smaller');
refused('--llc=1024,8,32', 'must not be smaller');
refused('--l1d=64,6,64,plru', 'power of two');
refused('--l1d=64,8,64,nru', 'WORD');
refused('--l1d=64,8,64,mru', 'are of l2 and llc');
refused('--l1d=64,8,64,stream:2', 'WORD');
refused('--l1d=64,8,64,ip-stride:16:1', 'WORD');
refused('--l1d=64,8,64,region:65:16', 'WORD');
refused('--l1d=64,8,64,next-line,stream:1:1,streamer:4:2:8,region:16:16,ip-stride:1:1:1', 'WORD');
refused('--l1d=64,8,64,fp-bypass', 'write-through');
refused('--l2=64,8,64,exclusive,next-line', 'no prefetcher');
refused('--llc=64,8,64,next-line', 'no prefetcher');
refused('--dtlb2=64,8', 'excludes', '--stlb');
refused('--dtlb-2m=8', 'SETS,WAYS', '--dtlb-2m');
refused('--stlb-2m=0,4', 'sets', '--stlb-2m');
refused('--cores=0', '1 to 4096');
refused('--l1d=0,0,0', 'cannot be absent');
refused('--page=5000', 'power of two');

# The ranges of machine files; 0: what may be left out.
refused('--out-of-order=4,224,15', '22 numbers', '--out-of-order');
refused("--time-sample=$_", 'expected FULL,PERIOD,BRANCHES,WARM,UNIT', '--time-sample')
	for '', '100', '100,1000,10,100,0', '100,1000,10,100,300', '100,1000,10,600,500', '100,1000,10,100,500,1',
	'100,1000,1000000001,100,500', '100,1000,100,500';
{
	my @good = (4, 224, 15, 2, 48, 400, 200, 100, 580, 580, 1000, 20, 5, 5000, 2, 4, 400, 1150, 1200, 290, 700, 8);
	my @ranges = (['L1', 1, 100000], ['WINDOW', 1, 4096], ['MISPREDICTED', 1, 1000],
		['WALKERS', 0, 16], ['L2-FILL-BUFFERS', 0, 1024], ['WIDTH', 10, 3200],
		['LOADS', 10, 3200, 0], ['STORES', 10, 3200, 0], ['L2-LINE', 0, 100000],
		['LLC-LINE', 0, 100000], ['MEMORY-LINE', 0, 1000000],
		['DISTANCE', 0, 31], ['NEAR', 0, 100000], ['STAY', 0, 4000000000], ['FLOAT-ADD', 0, 100],
		['FLOAT-MULTIPLY', 0, 100], ['STORE-LINE', 0, 100000], ['SET-LINE', 0, 100000], ['LONE-LINE', 0, 100000], ['LOAD-SET-LINE', 0, 100000],
		['LLC-SET-LINE', 0, 100000], ['BANKS', 0, 64]);

	for my $i (0 .. $#ranges) {
		my ($name, $least, $most, @more) = @{$ranges[$i]};
		my $with = sub { '--out-of-order=' . join(',', @good[0 .. $i - 1], @_, @good[$i + 1 .. $#good]) };

		refused($with->($_), "$name: expected", '--out-of-order') for $most + 1, $least ? $least - 1 : ();
		for ($least, $most, @more) {
			my ($status) = sim_run('--timing=14,50,200,0,7,30,12,56', $with->($_), '/bin/true');

			is($status, 0, "$name: $_ is admitted");
		}
	}
}

{
	my ($status, $out, $log) = sim_run('--string-instructions=iterations', '--next-machine', '/bin/true');
	is($status >> 8, 2, 'machines that count string instructions otherwise: exit status');
	like($log . slurp("$SCRATCH/err"), qr/--next-machine.*same --string-instructions/, 'and why');
}

my ($status, $out, $log) = sim_run('--report=yes', '/bin/echo', 'hello');
is($status, 0, '--report: exit status');
is($out, "hello\n", '--report: the output is the program\'s');
like($log, qr/process \d+ instructions [1-9]/, '--report: prints counters');
($status, $out, $log) = sim_run('/bin/echo', 'hello');
is($log, '', 'silent otherwise');

done_testing;

#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Instructions of SVE on a processor that has it: the simulated PMU has not.  A program
# that asks is told so; one that does not ask ends, and the report says of what and where.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Vm;

my $dir = need_vm('arm64');
my $sim = 'CACHEPEEK_ENGINE=sim CACHEPEEK_MACHINE=neoverse-n1 CACHEPEEK_EVENTS=instructions /bin/vm_sve';
my $runs = boot($dir, 'max', 'free', 'run natively CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS=page_faults /bin/vm_sve always', "run asked $sim", "run always $sim always");

is(status($runs->{natively}), 0, 'the processor has it');
like($runs->{natively}{out}, qr/^SVE is there\nexecuted$/m, 'and says so');
is(status($runs->{asked}), 0, 'simulated, a program that asks goes on');
like($runs->{asked}{out}, qr/^SVE is not there$/m, 'because it is told that there is none');
is(status($runs->{always}), 128 + 4, 'one that does not ask ends with SIGILL');
like(join("\n", @{$runs->{always}{report}{warnings} || []}),
	qr/ended with SIGILL of 00 00 20 04 [0-9a-f ]*\(SVE\) at \S*vm_sve\+0x\w+: .*Use a program built for less/,
	'and the report says which instruction, where, and what to do');

done_testing();

#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Real programs do under the simulated PMU what they do without it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Sim;
use Test::More;

my $text = "$SCRATCH/text";
system("cat $FindBin::Bin/*.c $FindBin::Bin/*.t >$text");
my $python = `python3 -c 'import sys; print(sys.executable)' 2>/dev/null`;
chomp $python;

my @programs = (
	['/bin/gzip', '-c', $text],
	['/usr/bin/xz', '-T2', '--block-size=20000', '-c', $text],
	['/bin/bash', '-c', 'for i in 1 2 3; do (exit 3); echo $?; done; echo a | cat; exit 7'],
	['/bin/bash', '-c', 'kill -TERM $$'],
	['/usr/bin/perl', '-e', 'my %h = map { $_ => 1 } 1 .. 1000; print scalar keys %h; exit 3'],
	['/usr/bin/luajit', '-e', 'local s = 0 for i = 1, 3e6 do s = s + i % 7 end print(s, jit.status())'],
	['/usr/bin/node', '-e', 'let s = 0; for (let i = 0; i < 30000; i++) s += i % 7; console.log(s)'],
	[$python, '-c', 'print(sum(range(1000)))'],
	["$BUILD/sim/threads", 50],
	["$BUILD/sim/threads", 600],
);

sub natively {
	my $pid = fork;

	if ($pid == 0) {
		open STDOUT, '>', "$SCRATCH/native";
		open STDERR, '>', '/dev/null';
		exec @_;
		exit 127;
	}
	waitpid $pid, 0;
	return ($?, slurp("$SCRATCH/native"));
}

for my $p (@programs) {
	SKIP: {
		skip 'no such program', 2 unless -x $p->[0];
		my ($status, $out) = natively(@$p);
		my ($sim_status, $sim_out, $log) = sim_run('--max-threads=5000', @$p);

		is($sim_status, $status, "$p->[0] $p->[1]: exit status");
		ok($sim_out eq $out, "$p->[0] $p->[1]: output");
	}
}

done_testing;

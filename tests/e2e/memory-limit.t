#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Little memory, and none: the program runs as it does alone, and one line says what
# is not counted.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

# As many groups as fit, so that the constructor asks for much.
my @all = map { s{.*/}{}r =~ s/\.group$//r } sort glob(source() . '/output/groups/*.group');
my $groups = join(',', @all[0 .. 15]);

sub limited
{
	my ($engine, $option, $kib, $command, %env) = @_;
	return run(command => ['sh', '-c', 'ulimit "$0" "$1"; ulimit -c 0; export LD_PRELOAD="$2"; shift 2; exec "$@"',
		$option, $kib, lib(), @$command], env => {CACHEPEEK_ENGINE => $engine,
		CACHEPEEK_GROUPS => $groups, CACHEPEEK_OUTPUT => '/dev/null', %env});
}

# The lowest limit with which the dynamic linker gets both of them loaded.
sub least
{
	my ($option, $command) = @_;
	my ($low, $high) = (1000, 64000);
	while ($high - $low > 8) {
		my $middle = int(($low + $high) / 2);
		my $run = limited('perf', $option, $middle, $command, CACHEPEEK_DISABLE => 1);
		if ($run->{status} == 0 && $run->{err} eq '') { $high = $middle } else { $low = $middle }
	}
	return $high;
}

for my $option ('-v', '-d') {
	my $command = ['echo', 'done'];
	my $least = least($option, $command);
	for my $engine ('perf', 'sim', 'auto') {
		my (@bad, %said);
		for my $step (0 .. 50) {
			my $kib = $least + 32 * $step;
			my $run = limited($engine, $option, $kib, $command);
			my @lines = split(/^/, $run->{err});
			push(@bad, "$kib: " . status_text($run->{status}) . " $run->{out}$run->{err}")
				if $run->{status} || $run->{out} ne "done\n" || @lines > 3 ||
				grep { !/^cachepeek: / } @lines;
			$said{/nothing is counted: no memory/ ? 'no memory' : /takes \d+ MiB/ ? 'sim' : 'other'}++
				for @lines;
		}
		is(scalar(@bad), 0, "$engine, ulimit $option: as alone, at every limit") or diag(@bad);
		ok($said{'no memory'}, "$engine, ulimit $option: no memory to count") if $option eq '-v';
		ok($said{sim}, "$engine, ulimit $option: too little for the simulated PMU") if $engine eq 'sim';
	}
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_SPARSE: of a short region one execution in some is counted and stands
# for the others, and the report says so; everything else is exact, as before.
# (How often the truth lies within the error bars: tests/unit/regions_sparse.c.)
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

need_perf();
my $faults = 'perf::PAGE-FAULTS';
my ($n, $threads) = (4000, 2);
my @command = (program('region_short'), $n, $threads - 1);
my %on = (CACHEPEEK_SPARSE => 1);

sub ok_counts
{
	my ($in, $times, $what) = @_;
	my ($page, $outer, $slow) = (region($in, 'outer', 'page'), region($in, 'outer'), region($in, 'slow'));
	is($page->{calls}, $times * $n, "$what: every execution");
	is(value($page, $faults), $times * $n, "$what: of which each has the same count");
	is($outer->{counts}{$faults}{status}, 'exact', "$what: what is around them was counted");
	is(value($outer, $faults) - value($outer, $faults, 'exclusive'), $times * $n,
		"$what: and without them has what is left");
	is(value($slow, $faults), $times * 40 * 300, "$what: long executions");
	is($slow->{counts}{$faults}{status}, 'exact', "$what: are all counted");
	return ($page->{counts}{$faults}, $outer->{counts}{$faults}, $page);
}

# Our own memory has its first touch in "outer": what more executions add is exact.
sub ok_more
{
	my ($what, %env) = @_;
	my ($few, $many) = map { region(peek(engine => 'perf', events => $faults, env => {%env},
		command => [program('region_short'), $_, 0])->{report}, 'outer') } 1000, 3000;
	is(value($many, $faults) - value($few, $faults), 3 * 2000, "$what: each page, once");
}

my $run = peek(engine => 'perf', events => $faults, env => {%on}, command => \@command);
is(status_text($run->{status}), 'exit 0', 'the program runs');
is(notes($run), 0, 'nothing to say') or diag(@{$run->{notes}});
for my $in ([$run->{report}, $threads, 'all threads'],
	map { [$_, 1, "thread $_->{name}"] } map { @{$_->{threads}} } @{$run->{report}{processes}}) {
	my ($page, $outer, $region) = ok_counts(@$in);
	is($page->{status}, 'scaled', "$in->[2]: short executions are scaled");
	cmp_ok($page->{coverage}, '<', 0.9, "$in->[2]: from some of them");
	is($page->{error}, 0, "$in->[2]: that did not differ");
	is($page->{per_call}{mean}, 1, "$in->[2]: mean of an execution");
	is($outer->{exclusive_status}, 'scaled', "$in->[2]: what is left of the region around is, too");
	is($region->{time_s}{status}, 'scaled', "$in->[2]: and so is the time");
}
ok_more('sparse', %on);

my $exact = peek(engine => 'perf', events => $faults, command => \@command);
my ($page, $outer, $region) = ok_counts($exact->{report}, $threads, 'without it');
is($page->{status}, 'exact', 'without it: all are counted');
is($outer->{exclusive_status}, undef, 'without it: nothing is scaled');
is($region->{time_s}{status}, 'exact', 'without it: time');
ok_more('without it');

$run = peek(engine => 'perf', events => $faults, output => 'stderr', env => {%on}, command => \@command);
my ($column) = $run->{err} =~ /  (counted)\n/;
my ($part) = $run->{err} =~ /^ +page +8,000 .* ([\d.]+)\n/m;
is($column, 'counted', 'the text says what of them was counted');
cmp_ok($part // 100, '<', 90, '... in per cent');

# The simulated PMU has no reason to leave any out.
my @nested = (engine => 'sim', events => 'instructions', command => [program('region_short'), 200, 0]);
my ($sparse, $all) = map { region($_->{report}, 'outer', 'page')->{counts}{instructions} }
	peek(@nested, env => {%on}), peek(@nested, env => {CACHEPEEK_SPARSE => 0});
is($sparse->{status}, 'simulated', 'on the simulated PMU all are counted');
is($sparse->{value}, $all->{value}, '... to the instruction');
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# More threads than anybody wants to see: what the older ones counted is in one
# row, the sums are exact, and neither memory nor record grows.
# CHURN_THREADS: how many threads there are (10,000).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $kept = 3000;   # of ended.h
my $faults = 'perf::PAGE-FAULTS';

sub churn
{
	my ($engine, $threads, %more) = @_;
	my $directory = scratch("$engine-$threads");
	my $run = peek(engine => $engine, events => $engine eq 'perf' ? $faults : 'instructions',
		command => [program('churn'), $threads], env => {CACHEPEEK_DIR => $directory}, %more);
	my ($record) = glob("$directory/*.rec");
	$run->{size} = -s $record;
	return $run;
}

sub ok_churn
{
	my ($run, $threads, $what) = @_;
	my ($engine) = $what =~ /^(\w+)/;
	is(status_text($run->{status}), 'exit 0', "$what: the program ran");
	is(notes($run), 0, "$what: nothing to say") or diag(@{$run->{notes}});
	my ($process, @more) = @{$run->{report}{processes}};
	my @folded = grep { $_->{state} eq 'folded' } @{$process->{threads}};
	my $folded = $threads > $kept ? $threads - $kept : 0;
	is(scalar(@folded), $folded ? 1 : 0, "$what: rows of folded threads");
	is($folded[0]{threads}, $folded, "$what: how many they were") if $folded;
	is(scalar(@{$process->{threads}}), $folded ? $kept + 2 : $threads + 1, "$what: the others have theirs");
	my @said = grep { /folded/ } @{$run->{report}{warnings}};
	is(scalar(@said), $folded ? 1 : 0, "$what: the report says so");
	like($said[0], qr/^$folded ended threads, folded/, "$what: with the number") if $folded;
	for my $path (['tenth'], ['tenth', 'page']) {
		my $region = region($run->{report}, @$path);
		is($region->{calls}, $threads / 10, "$what: every execution of @$path");
		is($region->{threads}, $threads / 10, "$what: and how many threads had it");
	}
	my $first = region($run->{report}, 'first');
	is($first->{calls}, 1, "$what: the first thread's own region");
	ok(defined value($first, $engine eq 'perf' ? $faults : 'instructions'), "$what: with its counts");
	is(region($run->{report})->{threads}, $threads + 1, "$what: all threads are in the whole run");
	ok_sums($run->{report}, $what);
}

SKIP: {
	skip('perf: the kernel counts no software events here', 1) unless can_count('software');
	my $many = $ENV{CHURN_THREADS} || 10000;
	my ($few, $run) = (churn('perf', 4000), churn('perf', $many));
	ok_churn(churn('perf', 500), 500, 'perf, few');
	ok_churn($run, $many, 'perf, many');
	is(value(region($run->{report}, 'tenth', 'page'), $faults), $many / 10, 'perf, many: every fault');
	is(region($run->{report}, 'tenth', 'page')->{counts}{$faults}{status}, 'exact', 'perf, many: exactly');
	is($run->{size}, $few->{size}, 'perf, many: the record does not grow');
	my ($size, $resident) = $run->{out} =~ /^grown (-?\d+) (-?\d+)$/m;
	cmp_ok($size, '<=', 64, 'perf, many: memory does not grow') if $many >= 10000;
	cmp_ok($resident, '<=', 256, 'perf, many: nor does what of it is used') if $many >= 10000;

	# Without descriptors nothing is counted, and that does not grow either.
	my $directory = scratch('lost');
	run(command => ['perl', '-MPOSIX', '-e', 'POSIX::close($_) for 3 .. 1023; exec @ARGV or die $!',
		'prlimit', '--nofile=6:6', 'env', 'LD_PRELOAD=' . lib(), program('churn'), 4000],
		env => {CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $faults, CACHEPEEK_DIR => $directory});
	my $json = scratch('lost.json');
	run(command => [cli(), 'report', '-o', $json, $directory]);
	my $lost = Json::decode_json(read_file($json));
	my @threads = map { @{$_->{threads}} } @{$lost->{processes}};
	my ($said) = map { /^(\d+) threads? could not be counted/ } @{$lost->{warnings}};
	my $sum = 0;
	$sum += $_->{threads} // 1 for grep { $_->{state} =~ /lost/ } @threads;
	is($said, $sum, 'lost threads: the report says how many');
	is($said, 4001, 'lost threads: all of them');
	is(scalar(@threads), $kept + 2, 'lost threads: not a row for each');
	is(region($lost)->{counts}{$faults}{status}, 'unavailable', 'lost threads: no count is made up');

	# A fork child gives back what its parent's threads had, and copies no page for that.
	my @pages = map { peek(engine => 'perf', events => $faults, command => [program('fork_faults'), $_])->{out} } 1, $kept;
	cmp_ok($pages[1], '<', $pages[0] + 500, "perf: a fork child after $kept threads writes as little as after one");
}

my $run = churn('sim', 4000);
ok_churn($run, 4000, 'sim');
# Counts in no thread were before the first: the dynamic linker's.
sub outside
{
	my ($report) = @_;
	return $report->{processes}[0]{whole_process}{counts}{instructions}{value} -
		value(region($report), 'instructions');
}
# Its work depends on where on the stack a string is: as many letters in both.
# Some of its work depends on addresses, a little; a thread has thousands.
my ($of_4000, $of_400) = (outside($run->{report}), outside(churn('sim', '0400')->{report}));
cmp_ok(abs($of_4000 - $of_400), '<', 200, 'sim: every instruction is in some thread')
	or diag("$of_4000 $of_400");
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The group time: seconds of the timing model, in parts that add up, and what ranks by them.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use List::Util qw(sum);
use Peek;
use Test::More;

my $CLOCK = 1e6 * (read_file(source() . '/base/machines/skylake-sp.machine') =~ /^clock-mhz = (\d+)/m)[0];
my @SHARES = map { "share_$_" } qw(issue branch l2 l3 memory tlb bandwidth store);
my @PARTS = map { "miss_time_$_" } qw(l2 l3 memory tlb bandwidth store);
my @STALLS = map { s/^miss_time/stall_cycles/r } @PARTS;

# A chain of loads that all miss, in a region inside another; and one that misses nothing.
my $source = write_file(scratch('two.c'), <<'C');
#include <stdint.h>
#include <stdlib.h>
#include "cachepeek.h"
enum { LINES = 1 << 16, HOPS = 60000 };
static struct line { struct line *next; uint64_t more[7]; } lines[LINES];
int main(void)
{
	struct line *at = lines;
	uint64_t sum = 0, to = 0;

	for (int i = 0; i < LINES; i++)
		lines[i].more[0] = 1;
	for (int i = 0; i < HOPS; i++) {
		to = (to * 1103515245 + 12345) % LINES;
		at = at->next = &lines[to];
	}
	at->next = NULL;
	CACHEPEEK_BEGIN("outer");
	CACHEPEEK_BEGIN("chain");
	for (int turn = 0; turn < 4; turn++)
		for (at = lines[0].next; at; at = at->next)
			sum += at->more[0];
	CACHEPEEK_END("chain");
	CACHEPEEK_END("outer");
	CACHEPEEK_BEGIN("none");
	for (volatile int i = 0; i < 100000; i++)
		;
	CACHEPEEK_END("none");
	return sum == 42;
}
C
my @cc = ((split(' ', $ENV{CC} || 'gcc'))[0], '-O1', '-I', source() . '/regions');
my $two = scratch('two');
is(run(command => [@cc, '-o', $two, $source, '-L' . build(), '-lcachepeek'])->{status}, 0, 'compiled');

sub counted
{
	my ($machine, $groups, @command) = @_;
	my $file = scratch('time.json');
	my $run = run(command => [cli(), '-E', 'sim', '-m', $machine, '-g', $groups, '-o', join(',', $file, scratch('time.txt'), scratch('time.csv')), @command],
		env => {LD_LIBRARY_PATH => build()});
	is($run->{err}, '', "$machine, $groups: nothing is said");
	my $report = decode_json(read_file($file));
	return ($report, map { join('/', @{$_->{path}}) => $_ } @{$report->{regions}});
}
sub metric { $_[0]{metrics}{$_[1]}{value} }

# ---- numbers ----

{
	my ($report, %region) = counted('skylake-sp', 'time', $two);
	is_deeply([sort keys %region], ['', 'none', 'outer', 'outer/chain'], 'regions');
	for my $name (sort keys %region) {
		my $one = $region{$name};
		is(join(' ', grep { $one->{metrics}{$_}{status} ne 'estimated' } sort keys %{$one->{metrics}}), '', "'$name': all is estimated");
		is_near(metric($one, 'predicted_time'), $one->{counts}{cycles}{value} / $CLOCK, "'$name': cycles by the clock");
		is_near(metric($one, 'predicted_time'), $one->{time_s}{value}, "'$name': which is its time");
		is(metric($one, 'predicted_cycles'), $one->{counts}{cycles}{value}, "'$name': cycles, too");
		is_near(metric($one, $_), metric($one, s/^stall_cycles/miss_time/r) * $CLOCK, "'$name': $_") for 'stall_cycles', @STALLS;
		is_near(metric($one, 'perfect_cycles'), metric($one, 'perfect_time') * $CLOCK, "'$name': and without misses");
		is_near(sum(map { metric($one, $_) } @SHARES), 1, "'$name': shares add up to 1");
		is_near(sum(map { metric($one, $_) } @PARTS), metric($one, 'miss_time'), "'$name': parts add up to the time of misses");
		is_near(metric($one, 'perfect_time') + metric($one, 'miss_time'), metric($one, 'predicted_time'), "'$name': and the rest is instructions");
	}
	is($report->{answers}[0]{ranked_by}, 'stall_cycles', 'ranked by the time of misses');
	is_deeply($report->{answers}[0]{look_first}, ['outer', 'chain'], 'of its own, not of what is inside') or diag(encode_json($report->{answers}[0]));
	my $text = read_file(scratch('time.txt'));
	like($text, qr/^<== chain: the most stall_cycles of its own, /m, 'the mark says what it goes by');
}

# ---- who ranks by it ----

{
	my ($report) = counted('skylake-sp', 'cache,time', $two);
	is_deeply([map { $_->{ranked_by} } grep { $_->{group} } @{$report->{answers}}], ['stall_cycles', 'stall_cycles'], 'with it, costs are ranked by it');
	($report) = counted('skylake-sp', 'cache', $two);
	is_deeply([map { $_->{ranked_by} } grep { $_->{group} } @{$report->{answers}}], ['miss_cost'], 'without it by weights');
	($report) = counted('skylake-sp', 'tlb,time', $two);
	is_deeply([map { $_->{ranked_by} } grep { ($_->{group} || '') eq 'tlb' && $_->{ranked_by} =~ /stall/ } @{$report->{answers}}], [], 'what is no cost stays');
	($report) = counted('milan-2s', 'cache,time', $two);
	is($report->{answers}[0]{ranked_by}, 'miss_cost', 'nor where it has no value');
}

# ---- the answer ----

{
	my $run = run(command => [cli(), '-E', 'sim', '-m', 'skylake-sp', '-g', 'cache,time', $two], env => {LD_LIBRARY_PATH => build()});
	my ($report) = counted('skylake-sp', 'cache,time', $two);
	my ($of_cache, $of_time) = map { my $group = $_; grep { ($_->{group} || '') eq $group } @{$report->{answers}} } 'cache', 'time';
	is(join('|', map { $_->{title} } @{$of_cache->{lines}}), 'served by|miss cost|look first|harmless', 'its lines');
	is_deeply($of_time->{lines}, [], 'which are not said again');
	like($of_cache->{lines}[1]{text}, qr/^~\S+ \S+ cycles of stall( \S+ %)?, \d+ % of the predicted time, ~\S+ \S+$/, 'what can be saved');
	like($of_cache->{lines}[2]{text}, qr{^outer/chain: ~\d+ % of the miss cost, ~\d+ % of that for }, 'where');
	like($run->{err}, qr/^ +miss .*\n.* cost /m, 'a column of cache has it');
	unlike($run->{err}, qr/^Predicted time/m, 'one screen has no other table of it');
	$run = run(command => [cli(), '-E', 'sim', '-m', 'skylake-sp', '-g', 'time,cache', $two], env => {LD_LIBRARY_PATH => build()});
	like($run->{err}, qr/^Predicted time.*^miss cost .*^ +chain .*^Data caches.*^served by .*^ +chain /ms, 'but if it comes first');
	is(scalar(() = $run->{err} =~ /^miss cost/mg), 1, 'which has the answer');
}
{
	my ($report, %region) = counted('skylake-sp', 'time', program('region_calls'), 2000, 0);
	my $share = metric($region{''}, 'miss_time') / metric($region{''}, 'predicted_time');
	my ($line) = map { $_->{text} } @{$report->{answers}[0]{lines}};
	like($line, $share < 0.05 ? qr/: nothing to mend$/ : qr/ of the predicted time, ~\S+ \S+$/, 'little is nothing to mend');
}

# ---- where there is none ----

{
	my ($report, %region) = counted('milan-2s', 'time', $two);
	is($region{''}{metrics}{miss_time}{value}, undef, 'a machine without latencies');
	like($region{''}{metrics}{miss_time}{reason}, qr/^miss_time_cycles: the machine file names no latency of one-hop-latency$/, 'and why not');
	my $untimed = write_file(scratch('untimed.machine'), read_file(source() . '/base/machines/skylake-sp.machine') =~ s/^clock-mhz.*$//mr);
	($report, %region) = counted($untimed, 'time', $two);
	is($region{''}{metrics}{predicted_time}{reason}, 'CLOCK: the machine file names no clock-mhz', 'without a clock');
	is_near(sum(map { metric($region{''}, $_) } @SHARES), 1, 'there are shares');
	is_near(sum(map { metric($region{''}, $_) } @STALLS), metric($region{''}, 'stall_cycles'), 'and cycles');
	is($report->{answers}[0]{ranked_by}, 'stall_cycles', 'which the regions are ranked by');
	like($report->{answers}[0]{lines}[0]{text}, qr/ of the predicted time$/, 'and the answer says');
}
{
	my $run = run(command => [cli(), 'compare', '-m', 'skylake-sp,zen3,milan-2s', '-g', 'time', '-o', scratch('compared.json'), $two],
		env => {LD_LIBRARY_PATH => build()});
	my $made = decode_json(read_file(scratch('compared.json')));
	my %of = map { $_->{name} => $_->{metrics} } @{$made->{machines}};
	is_near(sum(map { $of{'skylake-sp'}{$_}{value} } @PARTS), $of{'skylake-sp'}{miss_time}{value}, 'compare: the same parts');
	is_near($of{'skylake-sp'}{predicted_time}{value}, $made->{machines}[0]{counts}{cycles}{value} / $CLOCK, 'compare: the same clock');
	is($of{'milan-2s'}{predicted_time}{value}, undef, 'compare: none for another');
	is($made->{runs}, 2, 'compare: cores of other widths are in a run of their own');
}

# ---- how far it may be off ----

# The machine with a spread for each figure that time hangs on, as calibration writes them.
{
	my $text = read_file(source() . '/base/machines/skylake-sp.machine');
	my %spread = (l1d => 1, l2 => 20, llc => 3, stlb => 4, 'memory-latency' => 5, 'clock-mhz' => 2);
	$spread{$_} = 6 for grep { $text =~ /^\Q$_\E = /m } qw(walk-latency fill-buffers width window mispredict-latency load-ports
		store-ports walkers l2-fill-buffers l2-cycles-per-line llc-cycles-per-line memory-cycles-per-line prefetch-latency
		cache-to-cache-latency);
	my $machine = write_file(scratch('measured.machine'), $text . join('', map { "spread = $_ $spread{$_}\n" } sort keys %spread));
	my ($report, %region) = counted($machine, 'time', $two);
	my %part = %{$report->{spreads}};

	is($part{memory}, 0.05, 'JSON: how far memory may be off');
	is($part{clock}, 0.02, 'and the clock');
	for my $name ('', 'outer/chain') {
		my $one = $region{$name};
		my %square = map { $_ => ($part{$_} * $one->{counts}{"time_$_"}{value}) ** 2 } qw(issue branch l2 l3 memory tlb bandwidth store);
		my $cycles = $one->{counts}{cycles}{value};
		my $misses = sum(map { $square{$_} } qw(l2 l3 memory tlb bandwidth store));
		my $clock = ($part{clock} * $cycles) ** 2;

		is_near($one->{counts}{cycles}{error}, sqrt(sum(values %square)), "'$name': cycles are off by their parts");
		is_near($one->{counts}{miss_time_cycles}{error}, sqrt($misses), "'$name': those of misses by theirs");
		is_near($one->{metrics}{predicted_time}{error}, sqrt(sum(values %square) + $clock) / $CLOCK, "'$name': seconds by the clock as well");
		is_near($one->{time_s}{error}, $one->{metrics}{predicted_time}{error}, "'$name': which is its time");
		is_near($one->{metrics}{miss_time_memory}{error}, $one->{metrics}{miss_time_memory}{value} * sqrt(0.05 ** 2 + 0.02 ** 2), "'$name': one part");
		cmp_ok($one->{metrics}{share_memory}{error}, '<', 0.05, "'$name': a share is off by less than its part, which is in the whole, too");
		is(scalar(grep { !/instructions$|^contended_transfers$/ && !defined $one->{counts}{$_}{error} } keys %{$one->{counts}}), 0, "'$name': no count of cycles without");
		is(scalar(grep { /variance/ } map { keys %$_ } @$one{qw(counts metrics)}), 0, "'$name': of variances the intervals alone are told");
	}
	my $of = 100 * $region{''}{metrics}{predicted_time}{error} / metric($region{''}, 'predicted_time');
	my ($said) = read_file(scratch('time.txt')) =~ /^predicted time \xc2\xb1([\d.]+) %, stall cycles \xc2\xb1/m;
	cmp_ok(abs($said - $of), '<', 0.01 * $of, 'text: the same') or diag($of);
	my ($row) = grep { /^run,,,,,,,metric,predicted_time,/ } split /\n/, read_file(scratch('time.csv'));
	is_near((split /,/, $row)[13], $region{''}{metrics}{predicted_time}{error}, 'CSV: the same');
	my $check = run(command => ['/usr/bin/python3', source() . '/tests/validate.py', source() . '/doc/cachepeek-report-1.schema.json', scratch('time.json')]);
	is(status_text($check->{status}), 'exit 0', 'as its schema says') or diag($check->{out} . $check->{err});

	# A comparison: the same, and machines that are no further apart than that are not told from each other.
	my $near = write_file(scratch('near.machine'), read_file($machine) =~ s/^(memory-latency = )(\d+)/$1 . ($2 + 1)/mer);
	my $compare = run(command => [cli(), 'compare', '-m', "$machine,$near,zen3", '-g', 'time', '-o', scratch('compared.json') . ',-', $two],
		env => {LD_LIBRARY_PATH => build()});
	my $made = decode_json(read_file(scratch('compared.json')));
	my ($one, $other, $named) = @{$made->{machines}};
	my %square = map { $_ => ($part{$_} * $one->{counts}{"time_$_"}{value}) ** 2 } qw(issue branch l2 l3 memory tlb bandwidth store);
	is_near($one->{counts}{cycles}{error}, sqrt(sum(values %square)), 'compare: cycles are off by their parts');
	is_near($one->{metrics}{predicted_time}{error}, sqrt(sum(values %square) + ($part{clock} * $one->{counts}{cycles}{value}) ** 2) / $CLOCK, 'compare: seconds by the clock as well');
	is_near($one->{metrics}{miss_time_memory}{error}, $one->{metrics}{miss_time_memory}{value} * sqrt(0.05 ** 2 + 0.02 ** 2), 'compare: one part');
	is($named->{metrics}{predicted_time}{error}, undef, 'compare: a machine from documents has none');
	cmp_ok($other->{metrics}{miss_time}{value}, '>', $one->{metrics}{miss_time}{value}, 'compare: slower memory costs more');
	my $told = $compare->{out} =~ s/\s+/ /gr;
	like($told, qr/\S+near\.machine and \S+measured\.machine differ by no more than figures of their calibrations do from round to round/,
		'compare: but not by more than it may be off');
	like($told, qr/ \xc2\xb1 \(rounds\) .* \xc2\xb1 \(rounds\) .*zen3 .* of \S+measured\.machine, \S+near\.machine: by how far the rounds of the calibration are apart; errors of the model are not in it/,
		'compare: the table has that, and says what it is');
	$check = run(command => ['/usr/bin/python3', source() . '/tests/validate.py', source() . '/doc/cachepeek-compare-1.schema.json', scratch('compared.json')]);
	is(status_text($check->{status}), 'exit 0', 'compare: as its schema says') or diag($check->{out} . $check->{err});

	# A metric that weighs misses, or stalls, is estimated otherwise; so is one that has that beside the time.
	my $mixed = write_file(scratch('mixed.group'), "\@group mixed\n\@title Both\n\@need cycles\n"
		. "both [ratio] = cycles / MEMORY_CYCLES\nalone [ratio] = cycles / 4\n\@columns both \"both\"\n\@long\nboth\n\@end\n");
	my ($mixture, %mixed) = counted($machine, "time,$mixed", $two);
	is($mixed{''}{metrics}{both}{error}, undef, 'with an assumed weight: none');
	is_near($mixed{''}{metrics}{alone}{error}, $mixed{''}{counts}{cycles}{error} / 4, 'a formula of cycles has that of theirs');
	($report, %region) = counted($machine, 'cache,stalls,time', $two);
	is($region{''}{metrics}{$_}{error}, undef, "$_: none") for qw(miss_cost stall_share);
	ok(defined $region{''}{metrics}{predicted_time}{error}, 'but the time has one');
	my $cycles = run(command => [cli(), '-E', 'sim', '-m', $machine, '-e', 'cycles', '-o', scratch('time.json'), $two], env => {LD_LIBRARY_PATH => build()});
	is(decode_json(read_file(scratch('time.json')))->{regions}[0]{counts}{cycles}{error}, undef, 'nor has it without its parts');
	($report) = counted('skylake-sp', 'time', $two);
	is($report->{no_spreads}, 'the machine file does not say how far its figures may be off', 'a machine from documents: none, and why');
	like(read_file(scratch('time.txt')) =~ s/\s+/ /gr, qr/predicted times have no interval: the machine file does not say/, 'text: the same');
}

done_testing;

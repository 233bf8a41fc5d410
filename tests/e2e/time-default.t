#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Where cycles of the simulated machine are known, the first answer goes by them: what
# overlaps costs once.  Elsewhere it is a sum of latencies, and says so.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

# As many lines from memory each way: one after the other has come, and as they come.
my $source = write_file(scratch('ways.c'), <<'C');
#include <stdint.h>
#include "cachepeek.h"
enum { LINES = 1 << 20 };
static struct line { struct line *next; uint64_t more[7]; } lines[LINES];
int main(void)
{
	struct line *at = lines;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < LINES; i++)
		lines[i].next = &lines[(i * 1103515245 + 12345) % LINES];
	CACHEPEEK_BEGIN("stream");
	for (int i = 0; i < LINES; i++)
		sum += lines[i].more[0];
	CACHEPEEK_END("stream");
	CACHEPEEK_BEGIN("chase");
	for (int i = 0; i < LINES; i++)
		at = at->next;
	CACHEPEEK_END("chase");
	for (uint64_t i = 0; i < LINES; i++)
		lines[i].next = &lines[(i + 1) % LINES];
	CACHEPEEK_BEGIN("list");
	for (int i = 0; i < 4 * LINES; i++)
		at = at->next;
	CACHEPEEK_END("list");
	return sum != 0 || at != lines;
}
C
my $program = scratch('ways');
is(run(command => [(split(' ', $ENV{CC} || 'gcc'))[0], '-O1', '-I', source() . '/regions', '-o', $program, $source,
	'-L' . build(), '-lcachepeek'])->{status}, 0, 'compiled');

my %env = (LD_LIBRARY_PATH => build());

# The counts on that machine, and the report.
sub counted
{
	my ($machine, @more) = @_;
	my $file = scratch('ways.json');
	my $run = run(command => [cli(), '-E', 'sim', '-m', $machine, '-o', "$file,-", @more, $program], env => \%env);
	is($run->{err}, '', "$machine @more: nothing is said");
	my $report = decode_json(read_file($file));
	return ($run->{out}, $report, map { join('/', @{$_->{path}}) => $_ } @{$report->{regions}});
}
sub metric { $_[0]{metrics}{$_[1]}{value} }
sub groups { join(' ', map { ref() ? $_->{name} : $_ } @{$_[0]{groups}}) }

# ---- where it is known ----

# A list whose nodes lie in order is a stream, which each core of today fetches ahead; it
# has four times as many.
for my $machine ('zen4', 'skylake-sp', 'neoverse-n2') {
	my (undef, undef, %region) = counted($machine);
	my ($list, $chase) = map { metric($region{$_}, 'stall_cycles') // 'unavailable' } 'list', 'chase';
	ok($list =~ /^\d+$/ && $chase =~ /^\d+$/ && $list < $chase, "$machine: a list in order is fetched ahead") or diag("$list, $chase");
}

for my $machine ('zen4', 'zen5') {
	my ($text, $report, %region) = counted(bare($machine));
	my ($chase, $stream) = @region{'chase', 'stream'};

	is(groups($report), 'cache time', "$machine: time is counted beside caches");
	cmp_ok(metric($chase, 'miss_cost'), '<', 1.02 * metric($stream, 'miss_cost'), 'by latencies the chase costs no more');
	cmp_ok(metric($chase, 'stall_cycles'), '>', 8 * metric($stream, 'stall_cycles'), 'but by time')
		or diag(join(' ', map { metric($_, 'stall_cycles') } $chase, $stream));
	cmp_ok(metric($chase, 'stall_cycles'), '>', 0.9 * metric($chase, 'miss_cost'), 'where nothing hides what one after the other takes');
	is($region{''}{metrics}{stall_cycles}{status}, 'estimated', 'cycles are estimated');
	cmp_ok($region{''}{metrics}{stall_cycles}{error} // 0, '>', 0, 'with an interval, by the sample');
	is(defined metric($region{''}, 'miss_time'), $machine eq 'zen4', 'seconds are there if the clock is');

	my ($answer) = @{$report->{answers}};
	is($answer->{ranked_by}, 'stall_cycles', 'regions are ranked by cycles');
	is_deeply($answer->{look_first}, ['chase'], 'which the chase has most of');
	like($text, qr/^miss cost  ~\S+ M cycles of stall \xc2\xb1\S+ %, \d+ % of the predicted time/m, 'text: what misses cost');
	like($text, qr/^look first chase: ~\d+ % of the miss cost, ~\d+ % of that for memory\b/m, 'text: where to look first');
	like($text, qr/^  chase +1 .*<==$/m, 'text: the row has the mark');
	like($text, qr/^time is modelled of \S+ % of the instructions, which stand for the others$/m, 'text: what of that is known');
	is(scalar(() = $text =~ /^whole run/mg), 1, 'text: one table');
}

# ---- where it is not, or is not wanted ----

sub by_latencies
{
	my ($what, $text, $report, %region) = @_;

	is(groups($report), 'cache', "$what: caches alone");
	is($report->{answers}[0]{ranked_by}, 'miss_cost', "$what: ranked by latencies");
	is($region{''}{metrics}{stall_cycles}, undef, "$what: no cycles");
	like($text =~ s/\s+/ /gr, qr/miss cost ~\S+ [MG] cycles, ~\S+ per instruction, if nothing hides the latencies/, "$what: which is said");
}
by_latencies('a machine without latencies', counted('cachegrind'));
by_latencies('a group by name', counted('zen4', '-g', 'cache'));
{
	local $env{CACHEPEEK_TIMING} = 'off';
	by_latencies('CACHEPEEK_TIMING=off', counted('zen4'));
}
for my $more ([CACHEPEEK_CALL_PATHS => 1, CACHEPEEK_PROFILE => 'dcache'], [CACHEPEEK_SWEEP => 'L1D.ways=4..8'], [CACHEPEEK_WORKING_SET => 100000],
	[CACHEPEEK_INTERVAL => '100ms']) {
	local @env{map { $more->[2 * $_] } 0 .. $#$more / 2} = map { $more->[2 * $_ + 1] } 0 .. $#$more / 2;
	my ($text, $report) = counted('zen4');
	is(groups($report), 'cache', "$more->[0]: caches alone");
}
{
	my $file = scratch('compared.json');
	run(command => [cli(), 'compare', '-m', 'zen4,zen5', '-o', $file, $program], env => \%env);
	my $made = decode_json(read_file($file));
	is_deeply([map { $_->{metrics}{stall_cycles} } @{$made->{machines}}], [undef, undef], 'compare: caches alone');
}

done_testing;

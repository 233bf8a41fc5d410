#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Working sets: what a thread touches in so many instructions, against the TLBs.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

# neoverse-n2: 64-byte lines, pages of 4 KiB, a DTLB of 44 entries and 1280 behind it.
my %sim = (engine => 'sim', machine => 'neoverse-n2');

sub working_set
{
	my ($length, @more) = @_;
	my $run = peek(%sim, command => [program('walk'), 100], env => {CACHEPEEK_WORKING_SET => $length}, @more);
	my $set = $run->{report}{working_set} or return {};
	return {run => $run, set => $set, map { join('/', @{$_->{path}}) => $_ } @{$set->{regions}}};
}

# A round of "walk" is 384 lines in 6 pages and less than 2,000 instructions, one of "long"
# 1536 lines in 24 pages and less than 8,000: windows of 20,000 see all of it.
my $sets = working_set(20000);
is("@{$sets->{set}}{qw(length line code_line page dtlb_entries second_tlb_entries)}",
	'20000 64 64 4096 44 1280', 'what they are of');
for my $case (['walk', 384, 6], ['long', 1536, 24]) {
	my ($name, $lines, $pages) = @$case;
	my $region = $sets->{$name};
	is($region->{status}, 'simulated', "$name: its status");
	cmp_ok($region->{data_lines}, '>=', $lines * 0.9, "$name: its lines");
	cmp_ok($region->{data_lines}, '<=', $lines + 2, "$name: and few others");
	cmp_ok($region->{data_pages}, '>=', $pages * 0.9, "$name: its pages");
	cmp_ok($region->{data_pages}, '<=', $pages + 2, "$name: and few others");
	cmp_ok($region->{code_lines}, '<=', 8, "$name: its code is small");
	my $counts = region($sets->{run}{report}, $name)->{counts};
	is_near($region->{data_lines}, $counts->{window_data_lines}{value} / $counts->{windows}{value},
		"$name: the mean of the counts");
}
ok_sums($sets->{run}{report}, 'as other counts');

# In a part of a round there is a part of it.
my $few = working_set(1000);
cmp_ok($few->{long}{data_lines}, '<', 1536 / 4, 'shorter windows see less');
cmp_ok($few->{long}{windows}, '>', 15 * $sets->{long}{windows}, 'and are more');

# One execution within one window: exactly what it touches.
my $once = peek(%sim, command => [program('walk'), 1], env => {CACHEPEEK_WORKING_SET => 1000000});
my ($walk) = grep { "@{$_->{path}}" eq 'walk' } @{$once->{report}{working_set}{regions}};
is($walk->{windows}, 1, 'a region begins a window of its own');
cmp_ok($walk->{data_lines}, '>=', 384, 'all that it touches');
cmp_ok($walk->{data_lines}, '<=', 392, 'and nothing of what was before');

my $text = peek(%sim, command => [program('walk'), 100], output => '-', env => {CACHEPEEK_WORKING_SET => 20000});
like($text->{out}, qr/^Working set: what a thread touches in 20,000 instructions/m, 'text: its title');
like($text->{out}, qr/^  long +\d+ +1,5\d\d +9\d\.\d KiB +2\d\.\d +first +[\d.]+ KiB$/m, 'text: a row');
unlike($text->{out}, qr/^Events$/m, 'text: no other events');
my $small = peek(%sim, command => [program('walk'), 100], output => '-',
	env => {CACHEPEEK_WORKING_SET => 20000, CACHEPEEK_WHAT_IF => 'DTLB.entries=8,DTLB.ways=8'});
like($small->{out}, qr/^  walk .* first .*\n  long .* second /m, 'text: beyond the reach of the first level');

# ---- over time: a window ends with its interval ----

# From the first interval that is so on, which is: those before and after may have
# something of both phases, or of what is around them.
sub in_order
{
	my ($sets, @wanted) = @_;
	my ($text) = join(' ', map { $_ // '-' } @$sets) =~ /((?:\b$wanted[0]\b ?){2,}.*(?:\b$wanted[1]\b ?){2,})/;
	return defined $text;
}

{
	my ($file, $csv, $txt) = map { scratch("sets.$_") } qw(json csv txt);
	my $run = run(command => [cli(), '-E', 'sim', '-m', 'neoverse-n2', '-o', $file, '-o', $csv, '-o', $txt,
		program('two_sets'), 12000000],
		env => {CACHEPEEK_INTERVAL => '10ms', CACHEPEEK_WORKING_SET => 1000000000});
	my $report = decode_json(read_file($file) // '{}');
	my ($whole) = grep { !@{$_->{path}} } @{$report->{processes}[0]{series}{lines}};
	my $set = $whole->{working_set} // {};
	my $pages = $set->{data_pages}{values} // [];

	ok(in_order($pages, 10, 1000), 'intervals with ten pages, then with a thousand') || diag("@{[map { $_ // '-' } @$pages]}");
	ok(in_order($set->{data_lines}{values}, 10, 1000), 'as many lines');
	is($set->{data_pages}{status}, 'simulated', 'counted');
	my @reach = map { !defined $_ ? undef : $_ <= 44 ? 'first' : $_ <= 1280 ? 'second' : 'none' } @$pages;
	is_deeply($set->{tlb_reach}, \@reach, 'the TLB that has room for them');
	is(scalar(@$pages), @{$whole->{counts}{windows}{values}}, 'one for each interval');
	is_deeply([grep { ($whole->{counts}{windows}{values}[$_] // 0) > 1 && $pages->[$_] == 1000 } 0 .. $#$pages], [],
		'an interval is one window');
	my @rows = grep { /,working_set_data_pages,/ } split(/\n/, read_file($csv) // '');
	ok(scalar(grep { /,working_set_data_pages,10,pages,simulated,,,TLB reach: first,/ } @rows), 'CSV: ten');
	ok(scalar(grep { /,working_set_data_pages,1000,pages,simulated,,,TLB reach: second,/ } @rows), 'CSV: a thousand');
	like(read_file($txt), qr/^  data pages +[^ ]+ [\d.]+ to 1,\d\d\d; first to second$/m, 'text: a line of bars');
}

# A region's windows are counted where it ends: unlike its other counts, they are not
# spread over the intervals before, because they are means.
{
	my $run = peek(%sim, command => [program('long_region')], events => 'l1d_stores',
		env => {CACHEPEEK_INTERVAL => '50ms', CACHEPEEK_WORKING_SET => 1000000000});
	my ($long) = grep { "@{$_->{path}}" eq 'long' } @{$run->{report}{processes}[0]{series}{lines}};
	my $set = $long->{working_set};
	is($long->{counts}{l1d_stores}{status}, 'estimated', 'a long region: its stores are spread');
	is_deeply([map { $_->{status} } $long->{counts}{windows}, @{$set}{qw(data_lines data_pages)}], [('simulated') x 3],
		'... and its windows not');
	is(scalar(grep { defined } @{$set->{data_pages}{values}}), 1, '... which are those of one interval');
}

my $plain = peek(%sim, command => [program('empty')]);
ok(!$plain->{report}{working_set}, 'nothing where nobody asked');
for my $bad ('0', 'many') {
	my $run = peek(%sim, command => [program('empty')], env => {CACHEPEEK_WORKING_SET => $bad});
	like("@{$run->{notes}}", qr/CACHEPEEK_WORKING_SET is not a number of instructions/, "$bad: said");
	ok(!$run->{report}{working_set}, "$bad: and nothing counted");
}

done_testing;

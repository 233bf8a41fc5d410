#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek diff answers whether a run costs less: by its predicted time and the interval of
# that, else by the cost of its misses, in the regions themselves; of reports that are made of
# one by changing its values.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $run = run(command => [cli(), '-E', 'sim', '-m', 'skylake-sp', '-g', 'cache', '-o', scratch('one.json'), program('region_nested')]);
is(status_text($run->{status}), 'exit 0', 'a run');
my $report = decode_json(read_file(scratch('one.json')));

my @parts = qw(time_issue time_branch time_l2 time_l3 time_memory time_tlb time_bandwidth time_store);

sub region_at
{
	my ($of, $path) = @_;
	return (grep { "@{$_->{path}}" eq $path } @{$of->{regions}})[0];
}

# The report with other values: 'path name' => value, of counts or metrics.
sub with
{
	my ($name, %values) = @_;
	my $made = decode_json(encode_json($report));
	for my $key (keys %values) {
		my ($path, $what) = $key =~ /^(.*) (\S+)$/;
		my $of = region_at($made, $path);
		my $in = exists $of->{metrics}{$what} ? 'metrics' : 'counts';
		$of->{$in}{$what} = {%{$of->{$in}{$what} // {}}, ref $values{$key} ? %{$values{$key}} : (value => $values{$key})};
		$of->{$in}{$what}{unit} //= 'cycles' if $in eq 'metrics';
	}
	return write_file(scratch("$name.json"), encode_json($made));
}

# A predicted time, made of one part, and half of its interval.
sub timed
{
	my ($cycles, $error, $part) = @_;
	my %time = map { (" $_" => {value => $_ eq $part ? $cycles : 0, error => $error, status => 'estimated', reason => undef}) } @parts;
	$time{' cycles'} = {value => $cycles, error => $error, status => 'estimated', reason => undef};
	$time{" $_"} = {value => 7 * $cycles, status => 'simulated', reason => undef} for 'time_variance', 'miss_time_variance';
	return %time;
}

sub text
{
	my (@arguments) = @_;
	my $diff = run(command => [cli(), 'diff', @arguments]);
	is($diff->{err}, '', 'nothing to complain about');
	return $diff->{out} =~ s/\n  / /gr;
}

# ---- the verdict ----

my $before = with('before', timed(100e6, 1e6, 'time_memory'));
my $half = text($before, with('half', timed(50e6, 1e6, 'time_memory')));
like($half, qr/^less predicted time: cycles ~100 M to ~50\.0 M \(-50\.0 %, p <0\.001\); the same instructions, /m, 'less, by the predicted time');
like($half, qr/^causes: memory -50\.0 M \(-50\.0 %\)$/m, 'because of a part of it');
is((split /\n/, $half)[2] =~ /^less/, 1, 'in the first line behind the two sides');
unlike($half, qr/variance|Look first|<==/, 'no variance, no mark');
unlike(text('--all', $before, with('half', timed(50e6, 1e6, 'time_memory'))), qr/variance/, 'nor of all values');

my $noise = text($before, with('noise', timed(100.5e6, 1e6, 'time_memory')));
like($noise, qr/^no change: predicted time within 1\.9 %: cycles ~100 M to ~10[01] M \(\+0\.5 %, p [\d.]+\)/m, 'no change, within what its interval allows');
unlike($noise, qr/^causes/m, 'and no cause');
like(text($before, with('more', timed(150e6, 1e6, 'time_tlb'))),
	qr/^more predicted time: .*\ncauses: page walks \+150 M \(from 0\), memory -100 M \(-100\.0 %\)$/m, 'the largest cause first');

# Without a time on both sides it is the misses' cost, which has no interval.
my $cost = region_at($report, '')->{metrics}{miss_cost}{value};
like(text($before, with('dearer', ' miss_cost' => 2 * $cost)), qr/^more cost: miss_cost ~\S+ k to ~\S+ k \(\S+2\.00, estimated\)/m, 'the cost of misses, where one side has no time');
like(text(scratch('one.json'), with('little', ' miss_cost' => 1.004 * $cost)), qr/^no change: cost within 0\.4 %: /m, 'an estimate that hardly differs is no change');
like(text(scratch('one.json'), with('some', ' miss_cost' => 1.04 * $cost)), qr/^more cost: .*\(\+4\.0 %, estimated\)/m, 'one that differs is');

# ---- misses that went another way ----

my %misses = (' instructions' => 10e6, ' l1d_misses' => 1e6);
$before = with('before', timed(100e6, 1e6, 'time_memory'), %misses);
like(text($before, with('yet', timed(150e6, 1e6, 'time_memory'), %misses, ' l1d_misses' => 6e5)),
	qr/^and yet: fewer misses, l1d_misses 1\.00 M to 600 k \(-40\.0 %, exact\)$/m, 'fewer misses that cost more');
like(text($before, with('yet', timed(100e6, 1e6, 'time_memory'), %misses, ' l1d_misses' => 6e5)), qr/^and yet: fewer misses/m, 'or nothing less');
unlike(text($before, with('yet', timed(50e6, 1e6, 'time_memory'), %misses, ' l1d_misses' => 6e5)), qr/^and yet/m, 'not those that cost less');

# Lines that prefetchers ask for are misses of L2 and the last level, too, that nothing waits for.
{
	my %all = (' instructions' => 10e6, ' miss_cost' => 100e6, ' cost_memory' => 60e6, ' cost_l3' => 20e6, ' l2_misses' => 1e6, ' llc_misses' => 1e6);
	my $fetched = with('fetched', %all);
	my %less = (%all, ' miss_cost' => 50e6, ' cost_memory' => 15e6);
	unlike(text($fetched, with('ahead', %less, ' llc_misses' => 2e6)), qr/^and yet/m, 'more misses of the last level, and less that waits for memory');
	like(text($fetched, with('ahead', %less, ' cost_memory' => 80e6, ' llc_misses' => 2e6)), qr/^and yet: more misses, llc_misses /m, 'or more');
	unlike(text($fetched, with('ahead', %less, ' cost_l3' => 5e6, ' l2_misses' => 2e6)), qr/^and yet/m, 'more misses of L2, and less that waits for what is behind it');
	like(text($fetched, with('ahead', %less, ' cost_l3' => 30e6, ' l2_misses' => 2e6)), qr/^and yet: more misses, l2_misses /m, 'or more');
}

# ---- where, without the regions in it ----

{
	my %nested = ('' => 1e6, warm => 3e5, 'warm outer' => 2e5, outer => 5e5);
	my ($one, $other) = map { my $more = $_; with("nested$more", map { ("$_ miss_cost" => $nested{$_} + ($_ eq 'outer' ? 0 : $more)) } keys %nested) } 0, 5e4;
	my $text = text($one, $other);
	like($text, qr/^region: miss_cost +before +after +change +p +mostly\nwarm\/outer +~[\d.]+ k +~[\d.]+ k +\S+(?: %)? +estimated *\n\n/m,
		'of nested regions the one that changed, and not those around it') or diag($text);
	my $run = run(command => [cli(), 'diff', '--json', $one, $other]);
	my $json = decode_json($run->{out});
	is($json->{cost}{name}, 'miss_cost', 'the JSON names the cost');
	my ($first, @others) = @{$json->{cost}{places}};
	is_deeply([$first->{path}, $first->{after} - $first->{before}], [['warm', 'outer'], 5e4], 'and what each place has by itself');
	is_deeply([grep { $_->{before} != $_->{after} } @others], [], 'the others are as before');
	my $order = join('', map { substr($_->{role}, 0, 2) . ' ' } @{$json->{values}});
	like($order, qr/^(?:co )(?:pa )+(?:pl )+(?:al )*(?:re )+$/, 'values come in the order of the text');
}

# ---- neither cost nor time ----

{
	my @counted = map { my $seed = $_; my $made = scratch("plain$seed.json");
		run(command => [cli(), '-E', 'sim', '-m', 'skylake-sp', '-e', 'l1d_stores', '-o', $made, program('stride'), 64, $seed]); $made } 1, 2;
	like(text(@counted), qr/^(?:difference: |No value differs)/m, 'nothing says what it costs');
}
done_testing();

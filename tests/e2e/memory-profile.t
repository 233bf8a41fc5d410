#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Reports of a processor's samples of memory: those of page faults, with
# words in them that processors write (no machine of ours has them), where what each
# bucket and estimate has to be is known.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

need_perf();

my ($LOAD, $HIT) = (2, 2 << 5);
sub word
{
	my ($level, $number, $snoop, $remote) = @_;
	return $LOAD | $HIT | $level << 5 | ($snoop // 2) << 19 | $number << 33 |
		($remote ? 1 << 37 : 0);
}
# In turn; the first is no miss.
my @words = (['l1', word(0x08, 1)], ['l2_sampled', word(0x20, 2)],
	['lfb_sampled', word(0x10, 12)], ['l3_sampled', word(0x40, 3)],
	['c2c_sampled', word(0x40, 3, 0x10)], ['local_sampled', word(0x80, 13)],
	['hop1_sampled', word(0x100, 13, 2, 1)], ['unknown_sampled', word(0x1000, 15)]);
my $PERIOD = 2003;
my $TOTAL = 1_000_003;

# The file with page faults as samples of memory: (what is in it by bucket, by thread
# {all, missed}, the bytes).
sub rewrite
{
	my ($bytes, $unit) = @_;
	my (%bucket, %thread, @threads);
	my $at = 4096;
	my $turn = 0;

	while ($at + 8 <= length $bytes) {
		my ($type, $size) = unpack('L L', substr($bytes, $at, 8));
		last unless $size;
		if ($type == 32) {
			my $event = unpack('L', substr($bytes, $at + 8, 4));
			substr($bytes, $at + 32, 96) = "\0" x 96;
			if ($event) {
				substr($bytes, $at + 12, 20) = pack('L Q L L', $unit, $PERIOD, 5, 0);
				substr($bytes, $at + 32, 96) = pack('a96', 'invented');
				substr($bytes, $at + 128, 16) = pack('a16', 'intel');
				substr($bytes, $at + 144, 400) = "\0" x 400;
			}
		} elsif ($type == 33) {
			push(@threads, $at);
		} elsif ($type == 34) {
			my ($thread, $n) = unpack('L L', substr($bytes, $at + 8, 8));
			for my $i (0 .. $n - 1) {
				my ($name, $source) = @{$words[$turn++ % @words]};
				$bucket{$name}++;
				$thread{$thread}{all}++;
				$thread{$thread}{missed}++ if $name ne 'l1';
				substr($bytes, $at + 16 + 56 * $i + 24, 24) =
					pack('Q Q L L', $source, $PERIOD, 1, 100);
			}
		}
		$at += $size;
	}
	for my $at (@threads) {
		my $id = unpack('L', substr($bytes, $at + 8, 4));
		my $n = $thread{$id}{all} // 0;
		substr($bytes, $at + 24, 96) = pack('Q5 l L Q5 l L', (0) x 5, 0, 32, $TOTAL, $n,
			$n * $PERIOD, 0, 0, 0, 32);
	}
	return (\%bucket, \%thread, $bytes);
}

sub near
{
	my ($got, $want, $what) = @_;
	ok(defined $got && abs($got - $want) <= 1e-6 * $want, $what) or
		diag(($got // 'undef') . " is not $want");
}

my $dir = scratch('run');
run(command => [cli(), 'dtlb', '--engine', 'perf', '-d', $dir, '-o', scratch('first.json'),
	program('faulted'), 3]);
my ($file) = glob "$dir/*.samples";
my $original = read_file($file);

for my $case ([0, 'misses'], [1, 'operations']) {
	my ($unit, $name) = @$case;
	my ($bucket, $thread, $bytes) = rewrite($original, $unit);
	write_file($file, $bytes);
	my $out = scratch("$name.json");
	run(command => [cli(), 'dcache', '-d', $dir, '-o', $out]);
	my $p = decode_json(read_file($out));
	my ($missed, $want) = (0, 0);
	for my $t (values %$thread) {
		$missed += $t->{missed};
		$want += $unit ? $TOTAL * $t->{missed} / $t->{all} : $TOTAL;
	}
	is($p->{sampling}{memory}{unit}, $name, "$name: the unit is said");
	is($p->{sampling}{memory}{period}, $PERIOD, "$name: and the period");
	is($p->{counts}{memory_sampled}, $missed, "$name: what did not miss is no miss");
	for my $word (@words[1 .. $#words]) {
		is($p->{counts}{$word->[0]}, $bucket->{$word->[0]}, "$name: $word->[0]");
	}
	is($p->{counts}{latency_sampled}, 100 * $missed, "$name: latency");
	near($p->{counts}{memory_misses}, $want, "$name: the whole");
	for my $rows (qw(threads modules functions data)) {
		my $sum = 0;
		$sum += $_->{counts}{memory_misses} for @{$p->{$rows}};
		near($sum, $want, "$name: $rows add up to it");
	}
	my @rows = sort { $a->{tid} <=> $b->{tid} } @{$p->{threads}};
	for my $id (sort { $a <=> $b } keys %$thread) {
		my $t = $thread->{$id};
		my ($row) = grep { $_->{counts}{memory_sampled} == $t->{missed} &&
			abs($_->{counts}{memory_misses} - ($unit ? $TOTAL * $t->{missed} / $t->{all}
				: $TOTAL)) < 1 } @rows;
		ok($row, "$name: thread $id is scaled by itself");
	}
	my ($global) = grep { $_->{name} eq 'faulted::a_global' } @{$p->{data}};
	my $counts = $global->{counts};
	cmp_ok($counts->{memory_sampled}, '>=', 15, "$name: a variable");
	cmp_ok($counts->{memory_misses_error}, '>', 0.3 * $counts->{memory_misses},
		"$name: whose few samples have a wide interval");
	cmp_ok($counts->{memory_misses_error}, '<', $counts->{memory_misses},
		"$name: but not anything");

	run(command => [cli(), 'dcache', '-d', $dir, '-o', scratch('r.txt')]);
	my $text = read_file(scratch('r.txt'));
	like($text, qr/event=invented unit=$name period=2003 \+-5%/, "$name: in the text, too");
	like($text, qr/^ *%Tot +Cum% +Sampled +Est +\+-95% +Avg +L2 +LFB +L3 +c2c +loc +1hop +2hop +\? +Function/m,
		"$name: its columns");
	like($text, qr/not been verified on hardware/, "$name: and how sure that is");
}

# Lost samples are made up for, and said.
{
	my ($bucket, $thread, $bytes) = rewrite($original, 0);
	my $at = 4096;
	while ($at + 8 <= length $bytes) {
		my ($type, $size) = unpack('L L', substr($bytes, $at, 8));
		last unless $size;
		substr($bytes, $at + 24 + 48 + 24, 8) = pack('Q', 17) if $type == 33;
		$at += $size;
	}
	write_file($file, $bytes);
	my $out = scratch('lost.json');
	run(command => [cli(), 'dcache', '-d', $dir, '-o', $out]);
	my $p = decode_json(read_file($out));
	is($p->{sampling}{memory}{lost}, 17 * 4, 'lost samples are counted');
	is($p->{exact}, Json::false, 'not exact');
	like(join(' ', @{$p->{warnings}}), qr/68 samples of memory accesses were lost/, 'a warning');
}

# ---- damaged files: whatever is there is used ----

srand(1);
my $crashes = 0;
for my $try (1 .. 40) {
	my $bytes = $original;
	for (1 .. 1 + rand 20) {
		my $end = $try % 2 ? length($bytes) : 60000;
		substr($bytes, 4096 + int(rand($end - 4104)), 1 + int(rand 4)) = pack('L', rand(2**32));
	}
	$bytes = substr($bytes, 0, 4096 + int(rand(length($bytes) - 4096))) if $try % 5 == 0;
	write_file($file, $bytes);
	my $run = run(command => [cli(), 'dtlb', '-d', $dir, '-o', scratch('damaged.json')]);
	$crashes++ unless status_text($run->{status}) =~ /^exit [01]$/;
}
is($crashes, 0, 'damaged files');

done_testing;

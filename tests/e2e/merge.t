#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# `cachepeek merge` of records in pairs: what the ranks of a job count need not be the same, nor the
# engine, and one of them may be damaged.  Each pair has a report in each format, or one line.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $seeds = source() . '/tests/fuzz/seeds/record';
opendir(my $directory, $seeds) or die "$seeds: $!";
my @names = sort grep { !/^\./ } readdir($directory);
closedir($directory);
for my $name (@names) {
	write_file(scratch("$name.rec"), read_file("$seeds/$name"));
}
for my $first (@names) {
	for my $second (@names) {
		my @records = map { scratch("$_.rec") } $first, $second;
		my $json = run(command => [cli(), 'merge', '--json', @records]);
		like(status_text($json->{status}), qr/^exit [01]$/, "$first and $second: JSON");
		ok(eval { decode_json($json->{out}); 1 }, "$first and $second: which can be read")
			if status_text($json->{status}) eq 'exit 0';
		my $text = run(command => [cli(), 'merge', @records]);
		is(status_text($text->{status}), status_text($json->{status}), "$first and $second: text");
	}
}

# ---- ranks of another engine, and of another machine ----

# The record of one run, as rank's.
sub rank_of
{
	my ($name, $rank, @options) = @_;
	my $records = scratch($name);
	run(command => [cli(), @options, '-d', $records, '-o', '/dev/null', program('region_nested')]);
	my ($file) = glob("$records/*.rec");
	my $record = read_file($file);
	substr($record, 48, 4) = pack('l', $rank);
	write_file(scratch("$name.rec"), $record);
	return scratch("$name.rec");
}

sub merged
{
	return decode_json(run(command => [cli(), 'merge', '--json', @_])->{out});
}

my @engines = (rank_of('zen4', 0, '-E', 'sim', '-m', 'zen4'), rank_of('faults', 1, '-E', 'perf', '-e', 'perf::PAGE-FAULTS'));
my $total = region(merged(@engines));
my ($alone) = region(merged($engines[0]));
is($total->{time_s}{value}, $alone->{time_s}{value}, 'two engines: times that are predicted, and none that was measured');
is($total->{metrics}{predicted_time}{value}, $alone->{metrics}{predicted_time}{value}, 'and so what rests on them');
like(join("\n", @{merged(@engines)->{warnings}}), qr/^ranks were counted by different engines: /m, 'which is said');
my @machines = ($engines[0], rank_of('skylake', 1, '-E', 'sim', '-m', 'skylake-sp'));
like(join("\n", @{merged(@machines)->{warnings}}), qr/^ranks were simulated on different machines: /m,
	'two machines: whose latencies weigh');
unlike(join("\n", @{merged($engines[0], rank_of('again', 1, '-E', 'sim', '-m', 'zen4'))->{warnings}}), qr/^ranks were/m,
	'one engine and machine: nothing to say');
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The first that a person sees, on a terminal of 24 lines of 80: the row to look at, with
# few regions and with many, of one thread and of 64, and of a job of 1,000 ranks.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Encode qw(decode);
use Peek;
use JSON::PP qw(decode_json);
use Test::More;

my $script = terminal_script() or plan(skip_all => 'no script(1) (util-linux), or no terminals for it');

# The lines that a report has on such a terminal, without colour.
sub screen
{
	my ($command, $what) = @_;
	my $to = scratch('typescript');
	unlink($to);
	my $run = run(command => [$script, '-qec', 'stty rows 24 cols 80; ' . join(' ', cli(), @$command), $to]);
	is(status_text($run->{status}), 'exit 0', "$what: shown");
	my @lines = lines_shown(decode('UTF-8', read_file($to)));
	is_deeply([grep { length > 80 } @lines], [], "$what: no line is longer than the screen");
	return @lines;
}

sub record
{
	my ($name, @command) = @_;
	my $records = scratch("records-$name");
	my $run = run(command => [cli(), '-E', 'sim', '-m', 'cachegrind', '-d', $records, '-o', '/dev/null', @command]);
	is(status_text($run->{status}), 'exit 0', "$name: ran");
	return $records;
}

# The first line of that kind is on the first screen, below others.
sub ok_first
{
	my ($lines, $pattern, $what) = @_;
	my ($at) = grep { $lines->[$_] =~ $pattern } 0 .. $#$lines;
	return ok(defined $at && $at < 23, $what) || diag(join("\n", @$lines[0 .. ($#$lines < 40 ? $#$lines : 40)]));
}

sub ok_screen
{
	my ($lines, $what) = @_;
	ok_first($lines, qr/ <==$/, "$what: the row to look at is on the first screen");
	ok_first($lines, qr/^(?:look first .+: ~\d+ % of the miss cost|miss cost .* nothing to mend$)/, "$what: and why");
	ok_first($lines, qr/^whole run /, "$what: the whole run, too");
}

my @few = screen(['report', record('few', program('region_nested'))], 'few');
ok_screen(\@few, 'few');
is(scalar(grep { /^ +(?:outer|inner|warm) / } @few[0 .. 23]), 7, 'few: each region');
unlike(join("\n", @few), qr/regions with less/, 'few: none is left out');

# Counts that no column shows are below them, each value whole, however many there are.
my $whole = run(command => [cli(), '-E', 'sim', '-m', 'zen4', '-o', scratch('whole.json'), '-o', scratch('whole.txt'),
	program('region_nested')]);
is(status_text($whole->{status}), 'exit 0', 'whole: ran');
my $values = region(decode_json(read_file(scratch('whole.json'))))->{metrics};
my $flat = decode('UTF-8', read_file(scratch('whole.txt'))) =~ s/\s+/ /gr;
my %unit = ('GB' => '(?:bytes|[kMG]B)', 's' => '(?:s|ms|\N{U+00B5}s|ns)', '1/instr' => '/I', ratio => '%');
my @others = grep { $values->{$_}{status} ne 'unavailable' && $flat =~ m{(?:whole run: |, )$_ } } sort keys %$values;
cmp_ok(scalar(@others), '>=', 25, 'whole: what no column shows');
is_deeply([grep { my $unit = $unit{$values->{$_}{unit}} // $values->{$_}{unit}; $flat !~ m{\b$_ ~?[\d.,]+ ?$unit(?:,| [a-z])} } @others],
	[], 'whole: each with its value and unit');

my $many = record('many', program('phases_of_threads'), 300);
my @many = screen(['report', $many], 'many');
ok_screen(\@many, 'many');
my @rows = grep { /^ +phase-\d+ / } @many[0 .. 23];
cmp_ok(scalar(@rows), '>=', 5, 'many: some of them');
my ($less) = join("\n", @many) =~ /^\N{U+2026} and (\d+) regions with less \(-o FILE\.html or FILE\.txt has them\)$/m;
ok_first(\@many, qr/regions with less/, 'many: that there are others is');
my $all = run(command => [cli(), 'report', '-v', $many])->{out};
my $regions = () = $all =~ /^ +phase-\d+ +[\d,]/mg;
cmp_ok($regions, '>=', 300, 'many: all of them with -v');
is(@rows + ($less || 0), $regions, 'many: none is lost');
my $log = decode('UTF-8', run(command => [cli(), 'report', $many])->{out});
is(scalar(() = $log =~ /^ +phase-\d+ +[\d,]/mg), 18, 'many: where there is no screen, 20 rows with those around them');
like($log, qr/^\N{U+2026} and @{[$regions - 18]} regions with less /m, 'many: and how many there are more');
my ($costliest) = map { $_->{path}[-1] } sort { $b->{metrics}{miss_cost}{value} <=> $a->{metrics}{miss_cost}{value} }
	grep { ($_->{path}[-1] // '') =~ /^phase-/ } @{kept_report($many)->{regions}};
like($log, qr/^ +$costliest /m, 'many: with the costliest');

my @threads = screen(['report', record('threads', program('phases_of_threads'), 3, 64)], 'threads');
ok_screen(\@threads, 'threads');
cmp_ok(scalar(@threads), '<', 60, 'threads: none has a row of its own');

# A job's: the same record as so many ranks'.
my $one = record('one', program('region_nested'));
my ($file) = glob("$one/*.rec");
my ($record, $job) = (read_file($file), scratch('job'));
mkdir($job);
for my $rank (0 .. 999) {
	substr($record, 48, 4) = pack('l', $rank);
	write_file(sprintf('%s/%d-0.rec', $job, 100000 + $rank), $record);
}
my @job = screen(['merge', $job], 'job');
ok_screen(\@job, 'job');
ok_first(\@job, qr/^ran +1000 ranks, 1000 processes/, 'job: how many ranks');
cmp_ok(scalar(@job), '<', 60, 'job: none has a row of its own');
like(join("\n", @job), qr/^rank +processes +threads\n(?:\d+ +1 +1\n){4}\N{U+2026} and 996 more ranks$/m,
	'job: some ranks, and no column of times that none has');
like(join("\n", @job), qr/by rank/, 'job: which rank has the least and the most');
done_testing();

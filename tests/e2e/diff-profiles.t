#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek diff of profiles: functions, lines and data are found again by their names, in a
# program whose file has another name and whose lines have moved.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $work = scratch('profiles');
mkdir($work);
mkdir("$work/$_") for qw(before after);
my $cc = (split(' ', $ENV{CC} || 'gcc'))[0];

# A table that is read by columns, or by rows: 256 rows of 256 lines.
sub source_of
{
	my ($extra, $index) = @_;
	return <<"C";
#include <stdlib.h>
${extra}static long (*table)[256][8];
__attribute__((noinline, noipa)) long sum(void)
{
	long s = 0;
	for (int i = 0; i < 256; i++)
		for (int j = 0; j < 256; j++)
			s += table[256 * $index][0][0];
	return s;
}
__attribute__((noinline, noipa)) long other(const long *of)
{
	long s = 0;
	for (int i = 0; i < 65536; i += 8)
		s += of[i];
	return s;
}
int main(int argc, char **argv)
{
	table = calloc(256, sizeof(*table));
	long *of = calloc(65536, 8);
	return argc > 5 ? (int)(sum() + other(of)) : (int)(sum() + other(of)) & 0;
}
C
}
# Both loops are the same code but for their index: [256 * 0 + …] is written out below.
sub compile
{
	my ($side, $name, $extra, $index) = @_;
	write_file("$work/$side/walk.c", source_of($extra, $index) =~ s/table\[256 \* (\S+)\]\[0\]\[0\]/(\&table[0][0][0])[$1]/r);
	my $run = run(command => [$cc, '-g', '-O1', '-o', "$name", "walk.c"], cwd => "$work/$side");
	is(status_text($run->{status}), 'exit 0', "$name: built") or diag($run->{err});
}
compile('before', 'walk', '', '2048*j+8*i');
compile('after', 'walk-mended', "/* one */\n/* two */\n/* three */\n", '256*i+j');

sub profile
{
	my ($side, $name, $kind, @more) = @_;
	my $run = run(command => [cli(), $kind, '-m', bare('skylake-sp'), '-o', "$work/$side.$kind.json", @more, "./$name"], cwd => "$work/$side");
	is(status_text($run->{status}), 'exit 0', "$kind of $name") or diag($run->{err});
}
for my $kind (qw(dcache dtlb icache)) {
	profile('before', 'walk', $kind);
	profile('after', 'walk-mended', $kind);
}

sub diff
{
	my (@arguments) = @_;
	return run(command => [cli(), 'diff', @arguments], cwd => $work);
}

sub value_of
{
	my ($diff, $what, $path, $name) = @_;
	return (grep { ($_->{what} // '') eq $what && "@{$_->{path}}" eq $path && $_->{name} eq $name } @{$diff->{values}})[0];
}

my %profile = map { my $side = $_; $side => decode_json(read_file("$work/$side.dcache.json")) } qw(before after);
my $made = diff('--json', 'before.dcache.json', 'after.dcache.json');
is($made->{err}, '', 'profiles are compared');
my $diff = decode_json($made->{out});

# ---- what is the same on both sides ----

sub function_of
{
	my ($side, $name) = @_;
	return (grep { $_->{function} eq $name } @{$profile{$side}{functions}})[0];
}
for my $name (qw(sum other)) {
	for my $counter (qw(l1d_load_misses l2_load_misses)) {
		my $of = value_of($diff, 'function', $name, $counter);
		is_deeply([$of->{before}{mean}, $of->{after}{mean}], [map { function_of($_, $name)->{counts}{$counter} } qw(before after)],
			"$name: $counter of each side, though the program has another name");
	}
}
is(value_of($diff, 'function', 'other', 'l1d_load_misses')->{verdict}, 'same', 'what was not changed');
cmp_ok(value_of($diff, 'function', 'sum', 'miss_cost')->{ratio}, '<', 0.9, 'and what was');
my $cost = value_of($diff, 'function', 'sum', 'miss_cost')->{before};
{
	my ($of, $latency) = (function_of('before', 'sum')->{counts}, $profile{before}{latencies});
	my $loads = $of->{load_from_l2} * $latency->{l2} + $of->{load_from_llc} * $latency->{llc} + $of->{load_from_memory} * $latency->{memory};
	my $stores = ($of->{l1d_store_lines} - $of->{l2_store_lines}) * $latency->{l2} + ($of->{l2_store_lines} - $of->{llc_store_lines}) * $latency->{llc}
		+ $of->{llc_store_lines} * $latency->{memory};
	is($cost->{mean}, $loads + $stores, 'its cost is that of its lines, by where they came from');
	is($cost->{status}, 'estimated', 'an estimate');
}

# Lines by their text, wherever they are.
my ($line) = grep { ($_->{what} // '') eq 'line' && $_->{path}[2] =~ /s \+= of\[i\]/ && $_->{name} eq 'l1d_load_misses' } @{$diff->{values}};
is_deeply([@{$line->{path}}[0, 1], $line->{verdict}, $line->{lines}[1] - $line->{lines}[0]], ['other', 'walk.c', 'same', 3], 'a line that moved is the same one');
my @changed = grep { ($_->{what} // '') eq 'line' && $_->{path}[2] =~ /\(&table/ && $_->{name} eq 'l1d_load_misses' } @{$diff->{values}};
is_deeply([map { [$_->{before}{n}, $_->{after}{n}, $_->{lines}[1] - $_->{lines}[0]] } @changed], [[1, 1, 3]],
	'and so is the only one of a function that was edited');

my ($heap) = grep { ($_->{what} // '') eq 'data' && "@{$_->{path}}" =~ /^Heap: main walk\.c$/ && $_->{name} eq 'l1d_load_misses' } @{$diff->{values}};
ok($heap && $heap->{before}{mean} > 0 && $heap->{after}{mean} > 0, 'data by what allocated it');

# ---- text ----

my $text = diff('before.dcache.json', 'after.dcache.json')->{out};
like($text, qr/^less cost: miss_cost ~\S+ [kM] to ~\S+ [kM] \(-\d+\.\d %, estimated\)$/m, 'the verdict');
like($text, qr/^function: miss_cost +before +after +change +p +mostly\nsum +~/m, 'functions');
like($text, qr/^line: miss_cost .*\n(?:.*\n)*?walk\.c:8 \(now 11, edited\) in sum +~\S+ M +~\S+ M +-8\d/m, 'lines');
like($text, qr/^data: miss_cost .*\nHeap: main\/walk\.c +~/m, 'data');
like($text, qr/^Lines were moved or edited: /m, 'it says how lines were found');
unlike($text, qr/^other /m, 'what did not change is no row');
like(diff('--all', 'before.dcache.json', 'after.dcache.json')->{out}, qr/^walk\.c:\d+ \(now \d+\) in other /m, 'all: where a line was and is');
is_deeply([grep { length(s/\xc3\x97|\xe2\x80\x94/x/gr) > 80 } split(/\n/, $text)], [], 'in 80 columns');

# The source as it is now is another one's: its lines are not compared.
{
	utime(time + 100, time + 100, "$work/after/walk.c");
	profile('after', 'walk-mended', 'dcache');
	my $run = diff('before.dcache.json', 'after.dcache.json');
	like($run->{out}, qr/^\d+ lines are compared with their functions alone/m, 'a source that was changed after it was compiled');
	my $json = decode_json(diff('--json', 'before.dcache.json', 'after.dcache.json')->{out});
	is(scalar(grep { ($_->{what} // '') eq 'line' && $_->{after}{n} && "@{$_->{path}}" =~ /walk\.c/ } @{$json->{values}}), 0, 'has no lines');
}

# ---- other measurements ----

like(diff('before.dtlb.json', 'after.dtlb.json')->{out}, qr/^(?:less|more|no change).*(?:walks|misses)/m, 'dtlb: by page walks');
like(diff('before.icache.json', 'after.icache.json')->{out}, qr/^(?:less|more|no change).*miss_cost/m, 'icache: by cost');
{
	my $run = diff('before.dtlb.json', 'after.icache.json');
	is(status_text($run->{status}), 'exit 2', 'one of each is an error');
	is($run->{err}, "cachepeek: diff: before.dtlb.json is a profile (cachepeek dtlb), and after.icache.json is a profile (cachepeek icache): "
		. "compare two files of one kind\n", 'in one line that names both');
}
profile('before', 'walk', 'dcache', '--call-paths');
like(diff('before.dcache.json', 'after.dcache.json')->{out}, qr/^function: miss_cost /m, 'one with call paths, and one without');
is(status_text(diff('--fail-if', 'miss_cost in sum < -5%', 'before.dcache.json', 'after.dcache.json')->{status}), 'exit 3', '--fail-if takes a function');

for my $output (qw(d.json d.csv d.html d.txt)) {
	is(status_text(diff('-o', $output, 'before.dcache.json', 'after.dcache.json')->{status}), 'exit 0', $output);
}
is(run(command => ['/usr/bin/python3', source() . '/tests/validate.py', source() . '/doc/cachepeek-diff-1.schema.json', "$work/d.json"])->{out},
	"1 reports, 0 faults\n", 'the JSON as the schema says');
done_testing();

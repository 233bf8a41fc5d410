#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Findings of profiles: programs with random strides, sizes and names that have what a
# rule is about, and others that only look so.  ADVICE_SEEDS=20 (default: 1 each way).
use strict;
use warnings;
use Config;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;
use Words;

my $seeds = $ENV{ADVICE_SEEDS} || 1;

# An array of so many bytes: [declarations, code that makes it, its name].
sub array
{
	my ($bytes) = @_;
	my $name = name();
	return ["char $name\[$bytes] __attribute__((aligned(64)));", '', $name] if rand() < 0.5;
	return ["static char *$name;", "$name = aligned_alloc(64, ($bytes + 63) / 64 * 64);", $name];
}

# ---- loops: [declarations, setup, function, call, what findings may say of it] ----

sub strided
{
	my ($stride, $n) = @_;
	my ($array, $function) = (array($stride * $n), name());
	my ($declare, $make, $data) = @$array;
	return [$declare, $make, "__attribute__((noipa)) long $function(void)\n{\n\tlong sum = 0;\n" .
		"\tfor (long i = 0; i < $n; i++)\n\t\tsum += $data\[$stride * i];\n\treturn sum;\n}\n",
		"for (int i = 0; i < 2; i++) sum += $function();", $function];
}

sub scattered
{
	my ($pages, $accesses) = @_;
	my ($array, $function, $size) = (array($pages * 4096), name(), $pages * 4096);
	my ($declare, $make, $data) = @$array;
	return [$declare, $make, "__attribute__((noipa)) long $function(void)\n{\n" .
		"\tunsigned long x = 88172645463325252ul;\n\tlong sum = 0;\n" .
		"\tfor (long i = 0; i < $accesses; i++) {\n\t\tx ^= x << 13; x ^= x >> 7; x ^= x << 17;\n" .
		"\t\tsum += $data\[x % $size];\n\t}\n\treturn sum;\n}\n", "sum += $function();", $data];
}

sub written
{
	my ($bytes, $read) = @_;
	my ($array, $function) = (array($bytes), name());
	my ($declare, $make, $data) = @$array;
	my $reads = $read ? "\tfor (long i = 0; i < $bytes; i += 64)\n\t\tsum += $data\[i];\n" : '';
	return [$declare, $make, "__attribute__((noipa)) long $function(long by)\n{\n\tlong sum = 0;\n" .
		"\tfor (long i = 0; i + 8 <= $bytes; i += 8)\n\t\t*(volatile long *)&$data\[i] = by;\n" .
		"$reads\treturn sum;\n}\n", "for (int i = 0; i < 2; i++) sum += $function(i);", $data];
}

# Columns of rows that far apart: skylake-sp's L1D has 64 sets of 8 ways.
sub columned
{
	my ($rows, $stride, $columns) = @_;
	my ($array, $function) = (array($rows * $stride + 8 * $columns), name());
	my ($declare, $make, $data) = @$array;
	return [$declare, $make, "__attribute__((noipa)) long $function(void)\n{\n\tlong sum = 0;\n" .
		"\tfor (long j = 0; j < $columns; j++)\n\t\tfor (long i = 0; i < $rows; i++)\n" .
		"\t\t\tsum += $data\[$stride * i + 8 * j];\n\treturn sum;\n}\n", "sum += $function();", $function];
}

# The same, written.
sub crossed
{
	my $loop = columned(@_);
	$loop->[2] =~ s/sum \+= (.*);/*(volatile long *)&$1 = i + j;/;
	return $loop;
}

# The same in blocks of so many rows, one here and one there; or each block's columns together,
# which uses its lines up.
sub blocked
{
	my ($in, $rows, $stride, $columns, $together) = @_;
	my ($array, $function, $blocks) = (array($rows * $stride + 8 * $columns), name(), $rows / $in);
	my ($declare, $make, $data) = @$array;
	my $row = "$stride * ($in * (7 * b % $blocks) + i)";
	my @loops = ("for (long j = 0; j < $columns; j++)", "for (long b = 0; b < $blocks; b++)");
	@loops = ("for (long k = 0; k < $columns; k += 8)", $loops[1], 'for (long j = k; j < k + 8; j++)') if $together;
	return [$declare, $make, "__attribute__((noipa)) long $function(void)\n{\n\tlong sum = 0;\n" .
		join('', map { "\t$_\n" } @loops) . "\t\t\tfor (long i = 0; i < $in; i++)\n" .
		"\t\t\t\tsum += *(volatile char *)&$data\[$row + 8 * j];\n\treturn sum;\n}\n", "sum += $function();", $function];
}

# Elements here and there, that are read, or read and written.
sub tabled
{
	my ($bytes, $accesses, $update) = @_;
	my ($array, $function, $n) = (array($bytes), name(), int($bytes / 8));
	my ($declare, $make, $data) = @$array;
	return [$declare, $make, "__attribute__((noipa)) long $function(void)\n{\n" .
		"\tunsigned long x = 88172645463325252ul;\n\tlong sum = 0, *at = (long *)$data;\n" .
		"\tfor (long i = 0; i < $accesses; i++) {\n\t\tx ^= x << 13; x ^= x >> 7; x ^= x << 17;\n" .
		"\t\t$update;\n\t}\n\treturn sum;\n}\n" =~ s/AT/at[x % $n]/gr, "sum += $function();", $function];
}

# Objects of the heap, which an array has pointers to in another order than that in which they were made.
sub pointed
{
	my ($bits) = @_;
	my ($function, $data, $n) = (name(), name(), 1 << $bits);
	return ["struct $data { long first, second[10], last; } *$data\[$n];",
		"for (long i = 0; i < $n; i++) $data\[spread(i, $bits)] = calloc(1, sizeof(struct $data));",
		"__attribute__((noipa)) long $function(void)\n{\n\tlong sum = 0;\n\tfor (long i = 0; i < $n; i++)\n\t\tsum += $data\[i]->last;\n\treturn sum;\n}\n",
		"for (int i = 0; i < 5; i++) sum += $function();", $function];
}

# So many arrays, of which the next element of any one is read: no distance between two reads repeats.
sub merged
{
	my ($n) = @_;
	my ($function, $data, $at) = (name(), name(), name());
	return ["long $data\[$n][32768 + 72], $at\[$n];", '',
		"__attribute__((noipa)) long $function(void)\n{\n\tunsigned long x = 88172645463325252ul;\n\tlong sum = 0;\n" .
		"\tfor (long i = 0; i < 30000L * $n; i++) {\n\t\tx ^= x << 13; x ^= x >> 7; x ^= x << 17;\n" .
		"\t\tsum += $data\[x % $n][$at\[x % $n]++ & 32767];\n\t}\n\treturn sum;\n}\n", "sum += $function();", $function];
}

# Pages that a thread has touched first, and another one, or the same, reads.
sub placed
{
	my ($pages, $elsewhere) = @_;
	my ($function, $data) = (name(), name());
	my $call = $elsewhere ? "pthread_t t; pthread_create(&t, 0, $function, 0); pthread_join(t, 0);" : "$function(0);";
	return ["#include <pthread.h>\nchar $data\[$pages * 4096] __attribute__((aligned(4096)));", '',
		"__attribute__((noipa)) void *$function(void *sum)\n{\n\tlong all = 0;\n\tfor (long i = 0; i < $pages * 4096; i += 64)\n" .
		"\t\tif (i % 4096)\n\t\t\tall += $data\[i];\n\treturn (char *)sum + all;\n}\n",
		"for (long i = 0; i < $pages; i++) $data\[4096 * i] = 1;\n\t$call", $data];
}

# They have spread(), a number less than 2 to the power of bits for each of these, in no order.
sub compile
{
	my ($file, @loops) = @_;
	my $source = "#define _GNU_SOURCE\n#include <stdlib.h>\n#include <sys/mman.h>\n#include <sys/prctl.h>\n" .
		"static inline unsigned long spread(unsigned long i, int bits)\n{\n\tunsigned long most = (1ul << bits) - 1;\n" .
		"\ti ^= i >> (bits / 2); i = i * 0x9e3779b1 & most; i ^= i >> (bits / 2); i = i * 0x85ebca6b & most;\n\treturn i ^ i >> (bits / 2);\n}\n" .
		join("\n", map { $_->[0] } @loops) . "\n" .
		join('', map { $_->[2] } @loops) . "int main(void)\n{\n\tlong sum = 0;\n\tprctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);\n" .
		join('', map { "\t$_->[1]\n" } @loops) . join('', map { "\t$_->[3]\n" } @loops) .
		"\treturn sum == 7;\n}\n";
	write_file("$file.c", $source);
	system('cc', '-O1', '-g', '-pthread', '-o', $file, "$file.c") == 0 or die $source;
}

# The machine has no prefetchers, so that no finding is hidden.
our $machine = bare('skylake-sp');
our $unused = 0;
sub findings
{
	my ($measurement, @command) = @_;
	my $json = scratch('profile.json');
	unlink($json);
	my $run = run(command => [cli(), $measurement, '-m', $machine, '-o', $json, @command]);
	my $profile = eval { decode_json(read_file($json) // '') };
	diag($run->{err}) unless $profile;
	# tests/e2e/line-use.t is about lines of which a part is used, as are those of most loops here.
	return [grep { $_->{rule} ne 'unused-bytes' || $unused } @{$profile->{findings}}];
}

# Without what is said of look-ups here and there, which other rules' programs may have.
sub told_else { return [grep { !/^unprefetched: / } @{told(@_)}] }
sub told { return [sort map { "$_->{rule}: " . ($_->{function} || $_->{data} =~ s/.*:://r) } @{$_[0]}] }

# skylake-sp: lines of 64 bytes, 1600 pages in the TLBs, 1 MiB of L2.
for my $seed (1 .. $seeds) {
	srand($seed);
	my $file = scratch('there');
	my $strided = strided(8 * between(9, 500), between(12000, 20000));
	my $scattered = scattered(between(2600, 5000), 120000);
	my $streamed = written(between(1200, 2600) * 1024, 0);
	compile($file, $strided, $scattered, $streamed);
	my $found = findings('dcache', $file);
	my @heap = map { $_->[1] ne '' } $scattered, $streamed;
	# A block of the heap is named by who allocated it.
	my @names = map { $_->[1] ? qr/main, \d+ B/ : qr/\Q$_->[4]\E/ } $scattered, $streamed;
	my $told = join("\n", @{told_else($found)});
	like($told, qr/\Astreaming-writes: $names[1]\nstride: $strided->[4]\ntlb-reach: $names[0]\z/,
		"seed $seed: what is there is found");
	my ($stride) = grep { $_->{rule} eq 'stride' } @$found;
	my ($bytes) = $strided->[2] =~ /\[(\d+) \* i\]/;
	like(($stride || {})->{evidence} =~ s/,//gr, qr/ are $bytes bytes from the one before/, 'with its stride');
	like(join("\n", @{told(findings('dtlb', $file))}), qr/\Atlb-reach: $names[0]\z/, 'dtlb: its own rule') if $seed <= 2;

	{
		local $unused = 1;
		is_deeply([grep { /^unused/ } @{told(findings('dcache', $file))}], [], 'of each line a part is used: said once');
	}

	$file = scratch('not');
	compile($file, strided(between(1, 8) * 8, between(120000, 200000)), scattered(between(300, 1200), 120000),
		written(between(1200, 2600) * 1024, 1), written(between(100, 700) * 1024, 0));
	is_deeply(told_else(findings('dcache', $file)), [], "seed $seed: what is not there is not");
}

# ---- few sets, scattered updates, another socket's memory ----

for my $seed (1 .. $seeds) {
	srand(1000 + $seed);
	my $file = scratch('planted');
	my $columns = columned(between(40, 250), 2048 * between(1, 9), 160);
	compile($file, $columns);
	my $found = findings('dcache', $file);
	is_deeply(told($found), ["set-conflicts: $columns->[4]"], "seed $seed: columns that meet few sets");
	like($found->[0]{evidence} // '', qr/ are in [12] of the 64 sets, which have (?:8|16) lines, and a walk touches about \d+; L1D has room for 512 /,
		'... with how many');
	my $updates = tabled(between(3000, 5500) * 1024, 60000, (map { "$_ AT" } '++', '--')[$seed % 2]);
	compile($file, $updates);
	is_deeply(told(findings('dcache', $file)), ["cold-updates: $updates->[4]"], "seed $seed: updates of cold lines");
	my $slowly = tabled(between(3000, 5500) * 1024, 60000, 'AT = AT * 3 + 1');
	compile($file, $slowly);
	is_deeply(told(findings('dcache', $file)), ["cold-updates: $slowly->[4]"], "seed $seed: ... by a load and a store");

	my $crossed = crossed(between(17000, 20000), 64 * between(2, 6), 24);
	compile($file, $crossed);
	$found = findings('dcache', $file);
	is_deeply([grep { !/^tlb-reach/ } @{told($found)}], ["stride: $crossed->[4]"], "seed $seed: columns that are written are no streams");
	compile($file, columned(between(40, 90), 2048 * between(1, 9) + 64, 160));
	is_deeply([grep { !/^streams/ } @{told(findings('dcache', $file))}], [], "seed $seed: rows with a line more meet all sets");
	compile($file, columned(between(4, 8), 4096 * between(1, 4), 400));
	is_deeply(told(findings('dcache', $file)), [], "seed $seed: as many rows as a set has ways");
	my $read = tabled(between(3000, 5500) * 1024, 60000, 'sum += AT');
	compile($file, $read);
	$found = findings('dcache', $file);
	is_deeply(told($found), ["unprefetched: $read->[4]"], "seed $seed: look-ups are no updates");
	like($found->[0]{evidence} // '', qr/\Aits [\d,]+ misses in L2 wait for their lines .*; no distance between its addresses repeats, so that no prefetcher follows\z/,
		'... and no prefetcher follows them, known or not');
	like($found->[0]{advice} // '', qr/, look up in the order of addresses, /, '... with what to do about a table');
	my $objects = pointed(between(15, 16));
	compile($file, $objects);
	($found) = grep { ($_->{function} // '') eq $objects->[4] } @{findings('dcache', $file)};
	is(($found || {})->{rule}, 'unprefetched', "seed $seed: objects here and there, by pointers of an array");
	like($found->{advice} // '', qr/\AKeep objects that are used one after another side by side: in an array of objects, not of pointers,/, '... with what to do about those');
	compile($file, merged(between(3, 60)));
	is_deeply(told(findings('dcache', $file)), [], "seed $seed: a few arrays that are gone through in any order");
	compile($file, tabled(between(100, 400) * 1024, 60000, '++AT'));
	is_deeply(told(findings('dcache', $file)), [], "seed $seed: nor are updates of what L2 holds of cold lines");

	local $machine = bare('skylake-sp-2s');
	my $remote = placed(between(60, 200), 1);
	compile($file, $remote);
	is_deeply([grep { /^remote/ } @{told(findings('dcache', $file))}], ["remote-memory: $remote->[4]"], "seed $seed: pages of another socket");
	compile($file, placed(between(60, 200), 0));
	is_deeply(told(findings('dcache', $file)), [], "seed $seed: pages of the own one");
}

# ---- streams in step, and records on two lines ----

# Streams so many bytes apart, of $n elements each that are all read, one of each stream after the other.
sub stepped
{
	my ($streams, $apart, $n) = @_;
	my ($array, $function) = (array($streams * $apart + 8 * $n), name());
	my ($declare, $make, $data) = @$array;
	return [$declare, $make, "__attribute__((noipa)) long $function(void)\n{\n\tlong sum = 0;\n" .
		"\tfor (long i = 0; i < $n; i++)\n\t\tfor (long k = 0; k < $streams; k++)\n" .
		"\t\t\tsum += *(long *)&$data\[$apart * k + 8 * i];\n\treturn sum;\n}\n", "sum += $function();", $function,
		$make ? 'main' : $data];
}

# Records here and there, of which these bytes are read; the first one is that far from the start of a line.
sub looked_up
{
	my ($size, $begin, $unit, @fields) = @_;
	my $n = int(between(3000, 5000) * 1024 / $unit);
	my ($array, $function) = (array($n * $unit + $size + 64), name());
	my ($declare, $make, $data) = @$array;
	return [$declare, $make, "__attribute__((noipa)) long $function(void)\n{\n" .
		"\tunsigned long x = 88172645463325252ul;\n\tlong sum = 0;\n" .
		"\tfor (long i = 0; i < 60000; i++) {\n\t\tx ^= x << 13; x ^= x >> 7; x ^= x << 17;\n" .
		"\t\tchar *p = &$data\[$begin + x % $n * $unit];\n" . join('', map { "\t\tsum += *(volatile long *)&p[$_];\n" } @fields) .
		"\t}\n\treturn sum;\n}\n", "sum += $function();", $function, $make ? 'main' : $data];
}

# Two fields of 64 bytes, and where these begin in a line, so that the fields are on two lines or on one.
sub fields
{
	my ($on_two) = @_;
	while (1) {
		my ($begin, $one, $other) = map { 8 * between(0, 7) } 1 .. 3;
		next if $one == $other || (int(($begin + $one) / 64) != int(($begin + $other) / 64)) != $on_two;
		return ($begin, $one, $other);
	}
}

# skylake-sp: 64 entries in the DTLB, 512 lines in L1D.
for my $seed (1 .. $seeds) {
	srand(3000 + $seed);
	my $file = scratch('steps');
	for my $aside (0, 8 * between(1, 7)) {
		my $streams = between(100, 250);
		my $many = stepped($streams, 4096 * between(1, 3) + 64 * (2 * between(0, 4) + 1) + $aside, 512);
		compile($file, $many);
		for my $measurement ('dcache', 'dtlb') {
			my $found = findings($measurement, $file);
			is_deeply(told($found), ["streams: $many->[4]"], "seed $seed: $measurement: $streams streams in step" . ($aside ? ', in turn' : ''));
			my $evidence = $found->[0]{evidence} // '';
			like($evidence, qr/\Ait goes through about $streams streams in step, in .*\b$many->[5]\b.*: .* The DTLB has 64 entries, so that pages /,
				'... how many, and in what');
			my ($lost, $each) = $evidence =~ /: ([\d,]+) DTLB misses, (\d\.\d+) for each line \(/;
			cmp_ok(($lost // 0) =~ tr/,//dr, '>=', 0.95 * $streams * 512, '... and all elements miss the DTLB');
			cmp_ok(abs(($each // 0) - 8), '<', 0.5, '... eight of each line');
		}
	}
	for my $n (2048, 8192) { # apart, and over what others have been through
		compile($file, stepped(between(8, 24), 4096 * between(4, 6) + 64 * (2 * between(0, 4) + 1), $n));
		is_deeply(told(findings($_, $file)), [], "seed $seed: $_: as many streams as the DTLB has room for") for 'dcache', 'dtlb';
	}
	my $columns = stepped(between(700, 900), 64 * (2 * between(4, 10) + 1), 64);
	compile($file, $columns);
	is_deeply(told(findings('dcache', $file)), ["stride: $columns->[4]"], "seed $seed: columns of more rows than L1D has lines");

	my $blocks = (149, 193, 257)[between(0, 2)];
	for my $in (between(5, 9)) {
		my @size = ($in, $in * $blocks, 512 + 64, 64);
		my $walked = blocked(@size);
		compile($file, $walked);
		is_deeply(told(findings('dcache', $file)), ["stride: $walked->[4]"], "seed $seed: columns in blocks of $in rows");
		compile($file, blocked(@size, 1));
		is_deeply([grep { /^stride/ } @{told(findings('dcache', $file))}], [], "seed $seed: all columns of a line, block by block");
	}

	my ($begin, $one, $other) = fields(1);
	my $two = looked_up(64, $begin, 64, $one, $other);
	compile($file, $two);
	my $found = findings('dcache', $file);
	is_deeply(told_else($found), ["split-records: $two->[4]"], "seed $seed: fields $one and $other of records from byte $begin on");
	my ($low, $high) = map { ($begin + $_) % 64 } sort { $a <=> $b } $one, $other;
	like($found->[0]{evidence} // '', qr/ right behind one @{[abs($one - $other)]} bytes (?:further|before), on the line beside: in records of .*\b$two->[5]\b.*, a multiple of 64 bytes apart, .* at byte $low of one line and at byte $high of the next \(/,
		'... where they are, and in what');
	my ($saves) = ($found->[0]{advice} // '') =~ /saves about ([\d,]+) misses/;
	cmp_ok(abs(($saves // 0) =~ tr/,//dr - 60000), '<', 2500, '... and one miss of two is saved');
	ok((grep { /^split-records/ } @{told(findings('dcache', '--line-use', $file))}), '... by the bytes that are used, too');

	for my $case (['one field', looked_up(64, 8, 64, 0)], ['records at any byte', looked_up(64, 0, 8, 0, 56)],
		['a line between fields', looked_up(128, 0, 128, 0, 64)], ['two lines that are used as a whole', looked_up(128, 0, 128, 40, 80, map { 8 * $_ } 0 .. 15)]) {
		my ($what, $loop) = @$case;
		compile($file, $loop);
		is_deeply([grep { /^split/ } @{told(findings('dcache', @$_, $file))}], [], "seed $seed: $what" . (@$_ ? ', by the bytes that are used' : ''))
			for [], ['--line-use'];
	}
	my ($at, $beside, $further) = fields(0);
	my $at_random = looked_up(64, $at, 64, $beside, $further);
	compile($file, $at_random);
	is_deeply(told(findings('dcache', $file)), ["unprefetched: $at_random->[4]"], "seed $seed: fields $beside and $further of records from byte $at on are on one line");
	my $far = looked_up(128, 0, 128, 40, 80);
	compile($file, $far);
	is_deeply([grep { /^split/ } @{told(findings('dcache', '--line-use', $file))}], ["split-records: $far->[4]"], "seed $seed: of two lines, few bytes are used");
}

# Prefetchers that bring the line beside spare the second miss of each record, and no line.
for my $name (qw(zen4 zen5 granite-rapids neoverse-n2)) {
	local $machine = $name;
	my ($file, $two) = (scratch('beside'), looked_up(64, 16, 64, 0, 56));
	compile($file, $two);
	is_deeply([grep { /^split/ } @{told(findings('dcache', $file))}], ["split-records: $two->[4]"], "$name: records on two lines");
}

# ---- lines far apart that are used as a whole ----

{
	write_file(scratch('tile.c'), <<'C');
#include <sys/prctl.h>
long table[6000][40] __attribute__((aligned(64)));
__attribute__((noipa)) static long tile(void)
{
	long sum = 0;
	for (long i = 0; i < 6000; i++)
		for (long k = 0; k < 8; k++) sum += table[i][k];
	return sum;
}
int main(void) { prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); return tile() + tile() == 7; }
C
	system('cc', '-O1', '-g', '-o', scratch('tile'), scratch('tile.c')) == 0 or die;
	is_deeply(told(findings('dcache', '--line-use', scratch('tile'))), [], 'lines far apart, used as a whole: no part of them');
}

# ---- what prefetchers follow is no finding; what they cannot follow is one, with the reason ----

# Each instruction writes an array of its own.
sub streams
{
	my ($n) = @_;
	my ($function, $data) = (name(), name());
	return ["long $data\[$n][40000] __attribute__((aligned(64)));", '', "__attribute__((noipa)) long $function(void)\n{\n" .
		"\tfor (long k = 0; k < 40000; k++) {\n" . join('', map { "\t\t$data\[$_][k] = k;\n" } 0 .. $n - 1) .
		"\t}\n\treturn 0;\n}\n", "sum += $function();", $function];
}

# A ring of lines, 2^16 of them: by the factor 1 in their order, by any that is 1 more than a multiple of 4 here and there.
sub chased
{
	my ($lines, $factor, $step) = (65536, @_, 'p = p->next;');
	my ($function, $data) = (name(), name());
	return ["struct $data { struct $data *next, *other; char rest[48]; } $data\[$lines] __attribute__((aligned(64)));",
		"for (long i = 0; i < $lines; i++) $data\[i].next = &$data\[($factor * i + 1) % $lines], $data\[i].other = $data\[i].next, " .
			"$data\[i].rest[0] = i * 2654435761 >> 20 & 1;",
		"__attribute__((noipa)) long $function(void)\n{\n\tstruct $data *p = $data;\n\tlong sum = 0;\n" .
		"\tfor (long i = 0; i < $lines; i++) {\n\t\t$step\n\t}\n\treturn p == $data + 1 + sum;\n}\n",
		"for (int i = 0; i < 3; i++) sum += $function();", $function];
}

# The same with the copy of the pointer at the beginning of the loop, before it is loaded.
sub rotated
{
	my $loop = chased(@_);
	$loop->[2] =~ s/for \(long i.*?\n\t\}\n/typeof(p) next = p; long n = 65536;\n\t__asm__ volatile("1: mov %1, %0\\n\\tmov (%0), %1\\n\\tdec %2\\n\\tjnz 1b" : "+r"(p), "+r"(next), "+r"(n) : : "memory");\n/s;
	return $loop;
}

# Look-ups of 16384 keys that are spread over the first buckets of so many; pointers are what next() makes of a field.
sub hashed
{
	my ($used, $type, $next, $set) = (@_, 'struct NODE *', 'p->next', 'p->next = head');
	my ($function, $data, $node) = (name(), name(), name());
	s/NODE/$node/g for $type, $next, $set;
	return ["struct $node { unsigned long key; $type next; char rest[40]; } *$data\[32768];",
		"char *at = mmap((void *)0x600000000, 16384 * 64, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);\n\t" .
			"for (unsigned long i = 0; i < 16384; i++) {\n\t\tunsigned long key = spread(i, 14);\n\t\t" .
			"struct $node *p = (void *)(at + 64 * key), *head = $data\[i % $used];\n\t\t" .
			"p->key = i, $set, $data\[i % $used] = p;\n\t}",
		"__attribute__((noipa)) long $function(unsigned long key)\n{\n" .
			"\tfor (struct $node *p = $data\[key % $used]; p; p = $next)\n\t\tif (p->key == key)\n\t\t\treturn p->rest[3];\n\treturn 1;\n}\n",
		"for (unsigned long i = 0; i < 32768; i++) sum += $function(spread(i & 16383, 14));", $function];
}

# A line after the other, of more pages than the TLBs hold: 64 lines cost more than the walk for their page.
sub walked
{
	my ($function, $data) = (name(), name());
	return ["long $data\[3 << 20] __attribute__((aligned(64)));", "for (long i = 0; i < 3 << 20; i += 8) $data\[i] = i;",
		"__attribute__((noipa)) long $function(void)\n{\n\tlong sum = 0;\n\tfor (long i = 0; i < 3 << 20; i += 8)\n\t\tsum += $data\[i];\n\treturn sum;\n}\n",
		"for (int i = 0; i < 5; i++) sum += $function();", $data];
}

{
	my $file = scratch('walked');
	my $loop = walked();
	compile($file, $loop);
	is_deeply([grep { /tlb/ } @{told(findings('dcache', $file))}], [], 'walks that cost little are no finding of dcache');
	is_deeply(told(findings('dtlb', $file)), ["tlb-reach: $loop->[4]"], '... but of dtlb');
}

for my $seed (1 .. $seeds) {
	srand(4000 + $seed);
	my $used = between(600, 1500);
	my $compressed = ['unsigned', '(struct NODE *)((unsigned long)p->next << 3)', 'p->next = (unsigned long)head >> 3'];
	for my $case (['chains of a hash table', hashed($used)], ['... of 32 bits', hashed($used, @$compressed)]) {
		my ($what, $table) = @$case;
		my $found = unfollowed(scratch('hashed'), $table);
		is_deeply(told_else($found), ["hash-chains: $table->[4]"], "seed $seed: $what");
		my ($row) = ($found->[0]{evidence} // '') =~ /, the first of which a table has, .*, (\d+\.\d) in a row on average\z/;
		my $chain = 16384 / $used / 2;
		ok(defined $row && $row >= 0.6 * $chain && $row <= 1.4 * $chain, '... and how long they are') or diag($found->[0]{evidence});
	}
	my $table = hashed(20011);
	is_deeply([grep { /^(?:hash-chains|pointer-chase): / } @{told(unfollowed(scratch('hashed'), $table))}], [], '... not with as many buckets as keys');
	local $machine = bare('sapphire-rapids');
	my $found = unfollowed(scratch('hashed'), hashed($used));
	like(join('', @{told($found)}), qr/\Ahash-chains: /, '... where L2 (of 2 MiB) has them all');
	like($found->[0]{evidence}, qr/, 0 % of them L2, too/, '... of which it says so');
}

# Nodes that are counted as they are gone through, each behind the pointer of the one before.
SKIP: {
	my ($rustc) = grep { -x } map { "$_/rustc" } split(/:/, $ENV{PATH}) or skip('no rustc', 2);
	my $source = write_file(scratch('counted.rs'), <<'RUST');
use std::cell::RefCell;
use std::rc::Rc;
struct Node { value: u64, next: Option<Rc<RefCell<Node>>>, rest: [u64; 6] }
fn main() {
    let n = 30011usize;
    let all: Vec<_> = (0..n).map(|i| Rc::new(RefCell::new(Node { value: i as u64, next: None, rest: [0; 6] }))).collect();
    let (mut order, mut x): (Vec<usize>, usize) = ((0..n).collect(), 12345);
    for i in 1..n { x = x * 1103515245 + 12345 & 0x7fffffff; order.swap(i, 1 + (x >> 8) % i); }
    for i in 0..n - 1 { all[order[i]].borrow_mut().next = Some(all[order[i + 1]].clone()); }
    let mut sum = 0u64;
    for _ in 0..5 {
        let mut at = Some(all[0].clone());
        while let Some(node) = at { let one = node.borrow(); sum += one.value + one.rest[0]; at = one.next.clone(); }
    }
    println!("{}", sum);
    std::process::exit(0);
}
RUST
	is(run(command => [$rustc, '-O', '-g', '-o', scratch('counted'), $source])->{status}, 0, 'counted nodes: built');
	local $machine = 'skylake-sp';
	my @of_walk = grep { ($_->{caller} || $_)->{line} == 13 && $_->{rule} ne 'unprefetched' } @{findings('dcache', scratch('counted'))};
	my %rules = map { $_->{rule} => 1 } @of_walk;
	is_deeply([keys %rules], ['pointer-chase'], '... are a chase, and no updates') or diag(map { "$_->{rule} $_->{evidence}\n" } @of_walk);
}

# Nodes that are linked in the order in which an array has them: their addresses are there, whatever the nodes have.
sub listed_too
{
	my ($function, $data, $node) = (name(), name(), name());
	return ["struct $node { struct $node *next; char rest[56]; } *$data\[20000];",
		"char *at = mmap((void *)0x600000000, 20000 * 64, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);\n\t" .
			"for (unsigned long i = 0; i < 20000; i++)\n\t\t$data\[i] = (void *)(at + i * 12289 % 20000 * 64);\n\t" .
			"for (int i = 0; i < 19999; i++)\n\t\t$data\[i]->next = $data\[i + 1];",
		"__attribute__((noipa)) long $function(void)\n{\n\tlong sum = 0;\n\tfor (int i = 0; i < 20000; i++)\n\t\tsum += $data\[i]->rest[0];\n\treturn sum;\n}\n",
		"for (int i = 0; i < 5; i++) sum += $function();", $function];
}

is_deeply([grep { /^(?:hash-chains|pointer-chase): / } @{told(unfollowed(scratch('listed'), listed_too()))}], [], 'what an array has is no chase');

# A search for the node before finds it gone.
{
	my $run = run(command => [cli(), 'dcache', '-m', 'plain', program('cut_ring')]);
	is(status_text($run->{status}) . " $run->{out}", "exit 3 4 rings\n", 'nodes in memory that goes');
}

sub unfollowed
{
	my ($file, $loop, $what_if) = (@_, '');
	local $ENV{CACHEPEEK_WHAT_IF} = $what_if;
	compile($file, $loop);
	return [grep { $_->{rule} !~ /^(?:streaming-writes|tlb-reach|working-set)$/ } @{findings('dcache', $file)}];
}

SKIP: {
	skip('instructions of x86-64', 1) unless $Config{archname} =~ /x86_64/;
	local $machine = 'skylake-sp';
	my $loop = rotated(13441);
	is_deeply(told(unfollowed(scratch('rotated'), $loop)), ["pointer-chase: $loop->[4]"], 'a pointer that is copied where the loop begins');
}

for my $seed (1 .. $seeds) {
	srand(2000 + $seed);
	for my $of ('skylake-sp', 'zen4') {
		local $machine = $of;
		my $file = scratch('followed');
		for my $case (['stride', strided(4096 + 64 * between(1, 60), between(5000, 8000)), qr/spare it 0 % of [\d,]+ misses in L2: each step leaves its page of 4,096 bytes, where they stop\z/],
			['stride', strided(64 * between(33, 63), between(5000, 8000)), qr/: they follow no step of more than 2,048 bytes\z/],
			['unprefetched', tabled(between(6000, 8000) * 1024, 60000, 'sum += AT'), qr/\Aits [\d,]+ misses in L2 wait .* spare it \d+ % of [\d,]+ misses in L2: no distance between its addresses repeats\z/],
			['cold-updates', tabled(between(6000, 8000) * 1024, 60000, '++AT'), qr/ spare it \d+ % of [\d,]+ misses in L2: no distance repeats\z/],
			['unprefetched', streams(between(40, 60)), qr/\A\d+ instructions each go through memory of their own: .*: they follow 32 pages at once\z/],
			['pointer-chase', chased(4 * between(3000, 4000) + 1, 'typeof(p) next = p->next; __asm__("" : "+r"(next)); sum += p->rest[0]; p = next;'),
				qr/ waits for the one before it(?:, \d+\.\d in a row on average)?; /],
			['pointer-chase', chased(4 * between(3000, 4000) + 1, 'if (p->rest[0]) { sum++; p = p->other; } else p = p->next;'), qr/ waits for the one before it(?:, \d+\.\d in a row on average)?; /],
			['pointer-chase', chased(4 * between(3000, 4000) + 1), qr/ waits for the one before it(?:, \d+\.\d in a row on average)?; prefetchers spare it \d+ % of [\d,]+ misses in L2: they know no such address\z/]) {
			my ($rule, $loop, $why) = @$case;
			my $found = unfollowed($file, $loop);
			is_deeply(told($found), ["$rule: $loop->[4]"], "seed $seed: $of: $rule: what prefetchers do not follow");
			like($found->[0]{evidence} // '', $why, '... and why');
		}
		for my $case (['a stride within pages', strided(256, between(30000, 40000)), 'stride'],
			['a few streams', streams(between(2, 8)), ''],
			['look-ups in what L2 holds', tabled(between(100, 400) * 1024, 60000, 'sum += AT'), ''],
			['nodes side by side', chased(1), '']) {
			my ($what, $loop, $without) = @$case;
			is_deeply(told(unfollowed($file, $loop)), [], "seed $seed: $of: $what: prefetchers follow");
			next if !$without;
			is_deeply(told(unfollowed($file, $loop, 'prefetch=none')), ["$without: $loop->[4]"], '... without which it is a finding');
		}
	}
}

{
	local $machine = 'zen4';
	compile(scratch('stream'), written(2600 * 1024, 0));
	my ($found) = grep { $_->{rule} eq 'streaming-writes' } @{findings('dcache', scratch('stream'))};
	my ($share) = ($found->{evidence} // '') =~ /\((\d+\.\d) % of the run's misses in L2, with those that prefetchers spare it\)\z/;
	ok(defined $share && $share <= 100, 'what is written pushes out as much, whoever brings its lines') or diag(explain($found));
}

# ---- an unrolled loop, of several instructions that go along together ----

{
	write_file(scratch('unrolled.c'), <<'C');
long table[1 << 17];
__attribute__((noipa)) long unrolled(void)
{
	long a = 0, b = 0, c = 0, d = 0;
	for (long i = 0; i < 1 << 17; i += 32) {
		a += table[i];
		b ^= table[i + 8];
		c |= table[i + 16];
		d -= table[i + 24];
	}
	return a + b + c + d;
}
int main(void) { return unrolled() + unrolled() == 7; }
C
	system('cc', '-O1', '-g', '-o', scratch('unrolled'), scratch('unrolled.c'));
	is_deeply(told(findings('dcache', scratch('unrolled'))), [], 'an unrolled loop that touches all lines');
}

# ---- an unrolled loop that prefetchers do not follow: what is said of an instruction is its own ----

{
	local $machine = 'skylake-sp';
	write_file(scratch('apart.c'), <<'C');
#include <sys/prctl.h>
char table[8000][4160];
__attribute__((noipa)) long apart(void)
{
	long a = 0, b = 0, c = 0, d = 0;
	for (long i = 0; i < 8000; i += 4) {
		a += table[i][0];
		b ^= table[i + 1][0];
		c |= table[i + 2][0];
		d -= table[i + 3][0];
	}
	return a + b + c + d;
}
int main(void) { prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); return apart() + apart() == 7; }
C
	system('cc', '-O1', '-g', '-o', scratch('apart'), scratch('apart.c')) == 0 or die;
	my ($found) = grep { $_->{rule} eq 'stride' } @{findings('dcache', scratch('apart'))};
	my ($its, $of) = map { tr/,//dr } ($found->{evidence} // '') =~ / of its ([\d,]+) misses in L1D.*; prefetchers spare it 0 % of ([\d,]+) misses in L2: /;
	ok($its && abs($its - 4000) < 100 && $of <= $its, 'of one of four: its misses, and what they spare it') or diag(explain($found));
}

# ---- three strides on one line: one finding, which says that there are others ----

{
	write_file(scratch('several.c'), <<'C');
#include <sys/prctl.h>
char near[12000 * 128], middle[12000 * 192], far[12000 * 320];
__attribute__((noipa)) long several(long sum)
{
	for (long i = 0; i < 12000; i++) 
		sum += far[320 * (i / 4)] + near[128 * i] + middle[192 * (i / 2)];
	return sum;
}
int main(void) { prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); return several(several(0)) == 7; }
C
	system('cc', '-O1', '-g', '-o', scratch('several'), scratch('several.c')) == 0 or die;
	my $found = findings('dcache', scratch('several'));
	is_deeply(told($found), ['stride: several'], 'three strides on one line: one finding');
	like($found->[0]{evidence}, qr/ are 128 bytes from .* run's misses\); and 2 more at this place\z/,
		'... that with most misses, which says that there are others');
	my ($text, $page) = map { scratch("several.$_") } qw(txt html);
	run(command => [cli(), 'dcache', '-m', $machine, '-o', "$text,$page", scratch('several')]);
	like(read_file($text) =~ s/\s+/ /gr, qr/run's misses\); and 2 more at this place\. Threshold/, '... as text');
	like(read_file($page), qr/run's misses\); and 2 more at this place"/, '... and in the page');
}

# ---- two threads, and two processes, that execute the same loop: one finding ----

{
	write_file(scratch('twice.c'), <<'C');
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
char table[12000 * 320];
__attribute__((noipa)) static void *strides(void *result)
{
	long sum = 0;
	for (long i = 0; i < 12000; i++) sum += table[320 * i];
	*(long *)result = sum;
	return 0;
}
int main(int argc, char **argv)
{
	long sum[2];
	pthread_t thread;
	(void)argv;
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (argc > 1) {
		if (fork() == 0) { strides(sum); _exit(0); }
		wait(0);
		strides(sum);
		return 0;
	}
	pthread_create(&thread, 0, strides, &sum[0]);
	strides(&sum[1]);
	pthread_join(thread, 0);
	return 0;
}
C
	system('cc', '-O1', '-g', '-pthread', '-o', scratch('twice'), scratch('twice.c'));
	for my $case (['two threads'], ['two processes', 'fork']) {
		my ($what, @arguments) = @$case;
		my $found = findings('dcache', scratch('twice'), @arguments);
		is_deeply(told($found), ['stride: strides'], "$what: one finding");
		my ($misses) = ($found->[0]{evidence} // '') =~ /of its ([\d,]+) misses in L1D in 2 threads are 320 bytes/;
		cmp_ok(($misses // 0) =~ s/,//gr, '>=', 23900, "$what: with the misses of both");
	}
}

# ---- many blocks of one call: what is counted is that of all of them ----

{
	write_file(scratch('blocks.c'), <<'C');
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
enum { LARGE = 1536 << 10, HUGE = 2600 * 4096 };
__attribute__((noipa)) static long reads(const volatile char *at, long bytes, long step, int times)
{
	long sum = 0;
	while (times-- > 0)
		for (long i = 0; i < bytes; i += step) sum += at[i];
	return sum;
}
int main(int argc, char **argv)
{
	long sum = 0;
	(void)argc;
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	for (int block = 0; block < 8; block++) {
		char *at = aligned_alloc(4096, argv[1][0] == 't' ? HUGE : LARGE);
		if (strcmp(argv[1], "read") == 0) sum += reads(at, LARGE, 64, 1);
		if (strcmp(argv[1], "reread") == 0) sum += reads(at, LARGE, 64, 6);
		if (strcmp(argv[1], "tlb") == 0) sum += reads(at, HUGE, 4096, 1);
		if (strcmp(argv[1], "part") == 0)
			for (long i = 0; i < LARGE / 2; i += 8) *(volatile long *)&at[i] = i;
	}
	return sum == 7;
}
C
	system('cc', '-O1', '-g', '-o', scratch('blocks'), scratch('blocks.c')) == 0 or die;
	for my $case (['read', 'each block is read once'], ['tlb', 'each page is touched once'],
		['part', 'half of each block is written']) {
		my ($how, $what) = @$case;
		my $found = findings('dcache', scratch('blocks'), $how);
		is_deeply([grep { !/^stride/ } @{told($found)}], [], "eight blocks, $what: nothing to find");
	}
	my $found = findings('dcache', scratch('blocks'), 'reread');
	like(join("\n", @{told($found)}), qr/\Aworking-set: main, 1572864 B\z/, 'eight blocks, each read six times: a finding');
	like($found->[0]{evidence} // '',
		qr/\Ait is 8 blocks of 1\.5 MiB, L2 1 MiB: its 196,608 lines were loaded into L2 [\d,]+ times, [56]\.\d times each/,
		'... which divides by all of them');
}

# ---- code: by what it misses for each thousand instructions ----

{
	my $functions = join('', map { "__attribute__((noipa, aligned(64))) long f$_(long x) { return x * $_ ^ x >> 3; }\n" } 0 .. 1999);
	write_file(scratch('code.c'), "$functions#include <stdlib.h>\nint main(int c, char **v)\n{\n\tlong x = c;\n" .
		"\tfor (int i = 0; i < 20; i++) {\n" . join('', map { "\t\tx = f$_(x);\n" } 0 .. 1999) . "\t}\n" .
		"\tfor (long i = 0; c > 1 && i < 40000000; i++) x = x * 3 ^ i;\n\treturn x == 7;\n}\n");
	system('cc', '-O1', '-o', scratch('code'), scratch('code.c'));
	my $json = scratch('profile.json');
	is_deeply(told(findings('icache', scratch('code'))), ["code-misses: the run's code"], 'code that does not fit into L1I');
	is(decode_json(read_file($json))->{below_limit}, undef, 'which is said');
	my ($lines, $share) = decode_json(read_file($json))->{findings}[0]{evidence} =~
		/; its code is missed at ([\d,]+) lines, \d+ KiB: (\d+\.\d) % in main \([\d,]+ lines, \d+ KiB\)\z/;
	$lines =~ tr/,//d if $lines;
	ok($lines && $lines > 2000 && $lines < 4000 && $share > 10 && $share < 12, '... of how many lines, and of which function') or diag(read_file($json) =~ /("evidence":"[^"]*")/);
	is_deeply(told(findings('icache', scratch('code'), 'long')), [], 'the same in a run of more instructions');
	like(decode_json(read_file($json))->{below_limit},
		qr/^code-misses, for [\d,]+ misses in L1I of [\d,]+ instructions, 0\.\d\d per thousand are few: it is said from 1 misses per thousand/,
		'and why not');
}

# ---- misses that are many of few ----

{
	write_file(scratch('cheap.c'), "static volatile char table[5000][4160];\nint main(int c, char **v)\n{\n\tlong x = c;\n" .
		"\tfor (int i = 0; i < 5000; i++) x += table[i][0];\n" .
		"\tfor (long i = 0; c > 1 && i < 20000000; i++) x = x * 3 ^ i;\n\treturn x == 7;\n}\n");
	system('cc', '-O1', '-o', scratch('cheap'), scratch('cheap.c'));
	is_deeply(told(findings('dcache', scratch('cheap'))), ['stride: main'], 'a column that is walked once');
	is_deeply(told(findings('dcache', scratch('cheap'), 'long')), [], 'the same in a run of more instructions: it costs nothing');
	like(decode_json(read_file(scratch('profile.json')))->{below_limit} // '', qr/^1 finding of misses that cost less than 0\.02 cycles per instruction\z/, 'which is said');
}

# ---- real programs ----

my $text = write_file(scratch('text'), join('', map { read_file(source() . "/tests/sim/$_") } qw(callgrind.t client.c)));
for my $command (['/bin/gzip', '-c', $text], ['/usr/bin/sqlite3', ':memory:', 'create table t(a integer primary key, ' .
	'b text); with recursive c(x) as (select 1 union all select x+1 from c where x<900) insert into t ' .
	'select x, hex(x*2654435761) from c; create index i on t(b); select count(*) from t where b > 5;'],
	['/usr/bin/python3', '-S', '-c', 'print(sum(len(str(x)) for x in range(3000)))']) {
	SKIP: {
		skip "no $command->[0] here", 1 unless -x $command->[0];
		local $machine = 'skylake-sp';
		is_deeply(told(findings('dcache', @$command)), [], "$command->[0]: nothing to find");
	}
}

# ---- the text ----

{
	my $file = scratch('there.txt');
	run(command => [cli(), 'dcache', '-m', $machine, '-o', $file, scratch('there')]);
	my $report = read_file($file);
	like($report, qr/^Findings \(libcachepeek\(7\), ADVICE\)\n/m, 'the text report has them');
	like($report =~ s/\s+/ /gr, qr/ Threshold: over 64 bytes, in 90 % of its misses, and 5 % of the run's\. Let the/,
		'with the limits and the advice');
	is(scalar(grep { length > 80 } ($report =~ /^Findings.*/ms)[0] =~ /^(.*)$/mg), 0, 'in 80 columns');
}

for my $view ([], ['-v']) {
	my $nothing = run(command => [cli(), 'dcache', '-m', $machine, @$view, '-o', '-', '/bin/true'])->{out};
	like($nothing, qr/^Findings(?: .*)?\nno rule finds anything to mend/m, "@$view: where nothing is found, this is said");
}

# ---- what walks and transfers take is what groups let them take ----

my ($header, $group) = map { read_file(source() . "/$_") } 'tools/profile/advice/advice.h', 'output/groups/cache.group';
for my $what (qw(WALK TRANSFER)) {
	my ($rules) = $header =~ /^#define CP_${what}_CYCLES (\d+)/m;
	my ($groups) = $group =~ /^\@let ${what}_CYCLES (\d+)/m;
	is($rules, $groups, "${what}_CYCLES: one number");
}

# ---- each rule is in the manual ----

my $manual = read_file(source() . '/doc/libcachepeek.7') =~ s/\\-/-/gr;
my ($advice) = $manual =~ /^\.SH ADVICE\n(.*?)^\.SH /ms;
my ($known) = read_file(source() . '/doc/cachepeek-profile-1.schema.json') =~ /"rule": \{"enum": \[(.*?)\]/;
my $rules = join('', map { read_file(source() . "/tools/profile/advice/$_.c") } qw(advice advice_chase advice_sharing advice_contended advice_code advice_sets advice_updates advice_remote advice_line_use advice_prefetch advice_steps));
cmp_ok(scalar(() = $rules =~ /rule = "/g), '>=', 10, 'the rules are found');
like($advice // '', qr/^\.B $_$/m, "$_ is in the manual") for $rules =~ /(?:\.|->)rule = "([^"]+)"/g;

is_deeply([sort($known =~ /"([^"]+)"/g)], [sort($rules =~ /(?:\.|->)rule = "([^"]+)"/g)], 'and all of them are in the schema');

done_testing;

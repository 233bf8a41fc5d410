#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Which bytes of the lines that L1D fetches are used, exactly (cachepeek dcache --line-use) and by a
# sample; and the rule of unused bytes, of structures of random sizes whose fields are at random
# places, checked by the same programs with their structures split.  ADVICE_SEEDS=20 (default: 1).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;
use Words;

my $seeds = $ENV{ADVICE_SEEDS} || 1;
our $machine = bare('zen3');

sub compile
{
	my ($file, $source) = @_;
	write_file("$file.c", "#include <pthread.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/wait.h>\n#include <unistd.h>\n$source");
	system('cc', '-O1', '-g', '-pthread', '-fno-builtin', '-o', $file, "$file.c") == 0 or die $source;
	return $file;
}

sub profile
{
	my @words = @_;
	my $json = scratch('profile.json');
	unlink($json);
	my $run = run(command => [cli(), 'dcache', '-m', $machine, '-o', $json, @words]);
	my $profile = eval { decode_json(read_file($json) // '') };
	diag($run->{err}) unless $profile;
	return $profile;
}

sub use_of
{
	my ($profile, $name) = @_;
	my ($data) = grep { $_->{name} =~ /(?:^|::)\Q$name\E$/ } @{$profile->{data}};
	return $data->{line_use};
}

# Misses of both lines of a reference that is in two.
sub misses { my $of = $_[0]; my $sum = 0; $sum += $of->{$_} // 0 for qw(l1d_load_lines l1d_store_lines); return $sum }

# ---- exactly ----

# 600 structures of two lines; L1D of zen3 has 512 lines.
my $exact = compile(scratch('exact'), <<'C');
static struct { long one; char rest[72]; short two; char more[46]; } table[600] __attribute__((aligned(64)));
static void *walk(void *sum)
{
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 600; i++)
			*(long *)sum += table[i].one + table[i].two++;
	return 0;
}
int main(int argc, char **argv)
{
	long sum[2] = {0, 0};
	pthread_t thread;
	memset(table, argc, sizeof(table));
	if (argc > 1 && *argv[1] == 'f') {
		if (fork() == 0)
			_exit(walk(sum) != 0);
		wait(0);
	}
	walk(sum);
	if (argc > 1 && *argv[1] == 't') {
		pthread_create(&thread, 0, walk, sum + 1);
		pthread_join(thread, 0);
	}
	return sum[0] + sum[1] == 7;
}
C

# Filled once, then walked so many times: of one line 8 bytes, of the other 2 at its byte 16.
sub wanted
{
	my ($walks) = @_;
	my @used = map { 1200 } 1 .. 64;
	$used[$_] += 600 * $walks for 0 .. 7, 16, 17;
	return {fetched => 1200 + 1200 * $walks, line => 64, used => \@used,
		used_bytes => (1200 * 64 + 600 * $walks * 10) / (1200 + 1200 * $walks)};
}

{
	my $profile = profile('--line-use', $exact);
	my $use = use_of($profile, 'table');
	my $wanted = wanted(3);
	cmp_ok(abs(delete($use->{used_bytes}) - delete($wanted->{used_bytes})), '<', 0.001, 'bytes of a line, in the mean');
	my ($element, $fields) = (delete($use->{element}), delete($use->{fields}));
	is(delete($use->{type}), '', 'a structure without a name');
	is_deeply($use, $wanted, 'how often each byte of a line was used');
	is($element, 128, 'its elements');
	is_deeply([map { "$_->{name} $_->{offset}+$_->{size}: $_->{used} of $_->{fetched}" } @$fields], ['one 0+8: 2400 of 2400',
		'rest 8+72: 600 of 2400', 'two 80+2: 2400 of 2400', 'more 82+46: 600 of 2400'], 'how often each field was used');
	my $fetched = 0;
	$fetched += $_->{line_use}{fetched} for grep { $_->{line_use} } @{$profile->{data}};
	# It is a cache of its own beside the model's: of 8,000 lines one has been seen to differ.
	cmp_ok(abs($fetched - misses($profile->{counts})), '<=', 8, 'all data together: the misses of L1D');
	my ($table) = grep { $_->{name} =~ /::table$/ } @{$profile->{data}};
	is($table->{line_use}{fetched}, misses($table->{counts}), 'of the table: exactly');
	is(use_of(profile('--line-use', $exact, 'f'), 'table')->{fetched}, wanted(3)->{fetched} + 3600, 'a child that was forked: its own cache');
	is(use_of(profile('--line-use', $exact, 't'), 'table')->{fetched}, wanted(6)->{fetched}, 'a second thread: its own cache');
	is(use_of(profile($exact), 'table'), undef, 'unasked: not known');
}

# ---- the rule ----

sub told { return [map { "$_->{rule}: " . ($_->{data} =~ s/.*:://r) } grep { $_->{rule} eq 'unused-bytes' } @{$_[0]{findings}}] }

# Walks of so many structures of $size bytes, whose field of $width bytes at $at is used.
sub walk_source
{
	my ($name, $n, $size, $at, $width, $heap, $rounds, $split) = @_;
	my $type = {1 => 'char', 2 => 'short', 4 => 'int', 8 => 'long'}->{$width};
	my $field = $split ? "*($type *)(hot + $width * i)" : "*($type *)($name + $size * i + $at)";
	return "static char hot[$width * $n] __attribute__((aligned(64)));\n" .
		($heap ? "static char *$name;\n" : "static char $name\[$size * $n] __attribute__((aligned(64)));\n") .
		"int main(void)\n{\n\tlong sum = 0;\n" . ($heap ? "\t$name = aligned_alloc(64, $size * $n);\n" : '') .
		"\tmemset($name, 1, $size * $n);\n\tmemset(hot, 1, sizeof(hot));\n" .
		"\tfor (int round = 0; round < $rounds; round++)\n\t\tfor (long i = 0; i < $n; i++)\n\t\t\tsum += ++$field;\n\treturn sum == 7;\n}\n";
}

for my $seed (1 .. $seeds) {
	srand($seed);
	my ($name, $n, $rounds) = (name(), between(9000, 14000), between(20, 40));
	my $width = (1, 2, 4, 8)[rand(4)];
	my $size = 64 * between(1, 3);
	my @walk = ($name, $n, $size, $width * int(rand($size / $width)), $width, rand() < 0.5, $rounds);
	my $whole = profile('--line-use', compile(scratch('whole'), walk_source(@walk, 0)));
	my ($found) = grep { $_->{rule} eq 'unused-bytes' } @{$whole->{findings}};
	my $at = $walk[3] % 64;
	my $which = $width == 1 ? $at : "$at to " . ($at + $width - 1);
	ok($found, "seed $seed: $width of $size bytes of $name: found") or next;
	like($found->{evidence}, qr/ of which $width\.00 of 64 bytes were used .*: bytes $which; the other @{[64 - $width]} \(nearly\) never/,
		"seed $seed: and which bytes");
	my $sample = profile(scratch('whole'));
	my ($like) = grep { $_->{rule} eq 'unused-bytes' } @{$sample->{findings}};
	if ($size > 64) {
		$like = $found;
	} else {
		like($like->{evidence} // '', qr/\Aabout .* of which $width\.\d\d of 64 bytes .* \(as of [\d,]+ lines that were looked at; .*: bytes $which;/, "seed $seed: by a sample, too");
		is($like->{data}, $found->{data}, "seed $seed: of the same data");
	}
	my ($times, $estimate) = map { ($_->{evidence} =~ /\A(?:about )?([\d,]+) times/)[0] =~ tr/,//dr } $found, $like;
	cmp_ok(abs($estimate - $times), '<', 0.25 * $times, "seed $seed: and about as many");
	my ($saves) = $found->{advice} =~ /saves ([\d,]+) of/;
	my $saved = misses($whole->{counts}) - misses(profile('--line-use', compile(scratch('split'), walk_source(@walk, 1)))->{counts});
	$saves =~ tr/,//d;
	cmp_ok($saved, '>=', 0.98 * $saves, "seed $seed: split, it saves what was said");
	cmp_ok($saved, '<=', 1.02 * $n * $rounds * ($width * $n > 32768 ? 1 - $width / 64 : 1), "seed $seed: or all of them, if it fits L1D");

	# No splitting helps here: any byte is used at some time, or all are at once.
	my $table = name();
	for my $other (['a table looked up here and there', "static long $table\[100000];\nint main(void)\n{\n\tunsigned x = $seed;\n\tlong sum = 0;\n" .
			"\tfor (int i = 0; i < 60000; i++)\n\t\tsum += ${table}[(x = x * 1664525 + 1013904223) % 100000]++;\n\treturn sum == 7;\n}\n"],
		['structures used as a whole', "static struct { long a, b, c, d; } $table\[30000];\nint main(void)\n{\n\tlong sum = 0;\n\tfor (int round = 0; round < 2; round++)\n" .
			"\t\tfor (int i = 0; i < 30000; i++)\n\t\t\tsum += ${table}[i].a + ${table}[i].b + ${table}[i].c + ++${table}[i].d;\n\treturn sum == 7;\n}\n"],
		['small blocks in a list', "struct node { struct node *next; long value; };\nint main(void)\n{\n\tstruct node *list = 0, *at;\n\tlong sum = 0;\n" .
			"\tfor (int i = 0; i < 20000; i++) {\n\t\tat = malloc(sizeof(*at));\n\t\tat->next = list;\n\t\tat->value = i;\n\t\tlist = at;\n\t}\n" .
			"\tfor (int round = 0; round < 3; round++)\n\t\tfor (at = list; at; at = at->next)\n\t\t\tsum += at->value;\n\treturn sum == 7;\n}\n"]) {
		my $profile = profile('--line-use', compile(scratch('other'), $other->[1]));
		cmp_ok(misses($profile->{counts}), '>', 10000, "seed $seed: $other->[0]: misses");
		is_deeply(told($profile), [], "seed $seed: $other->[0]: not said");
		is_deeply(told(profile(scratch('other'))), [], "seed $seed: $other->[0]: nor by a sample");
	}
}

# The first windows are nearer to each other than the others: each stands for its time.
{
	my $phases = compile(scratch('phases'), <<'C');
static struct { volatile long a, b, c; char rest[40]; } table[12000] __attribute__((aligned(64)));
int main(void)
{
	long sum = 0;
	for (int round = 0; round < 60; round++)
		for (int i = 0; i < 12000; i++)
			sum += table[i].a;
	for (int round = 0; round < 300; round++)
		for (int i = 0; i < 12000; i++)
			sum += table[i].a + table[i].b + table[i].c;
	return sum == 7;
}
C
	my ($found) = grep { $_->{rule} eq 'unused-bytes' } @{profile($phases)->{findings}};
	my ($used) = ($found->{evidence} // '') =~ / of which (\d+\.\d) of 64 bytes were used /;
	cmp_ok(abs(($used // 0) - (60 * 8 + 300 * 24) / 360), '<', 0.8, 'a sample of two phases: each for as long as it was')
		or diag(explain($found));
}

{
	my $profile = profile('--line-use', compile(scratch('byte'), walk_source('row', 9000, 64, 32, 1, 0, 2, 0)));
	my ($found) = grep { $_->{rule} eq 'unused-bytes' } @{$profile->{findings}};
	like($found->{evidence} // '', qr/: bytes 32; the other 63 \(nearly\) never; most in \w+ \(byte\.c:\d+\)$/, 'one byte has one number');
	my $steps = profile(compile(scratch('steps'), walk_source('row', 9000, 192, 32, 8, 0, 30, 0)));
	is_deeply([map { $_->{rule} } grep { $_->{rule} =~ /^(?:stride|unused-bytes)$/ } @{$steps->{findings}}], ['stride'],
		'unasked, what a loop leaves of each line is said once');
}

# ---- prefetchers: lines are fetched as without them, and what they bring from L2 is no finding ----

{
	local $machine = 'zen3';
	my @walk = ('row', 9000, 64, 32, 1, 0, 3, 0);
	my $near = walk_source('row', 4000, 64, 32, 1, 0, 40, 0);
	is_deeply(told(profile('--line-use', compile(scratch('followed'), $near))), [], 'prefetchers spare a walk its misses in L1D');
	my ($far) = grep { $_->{rule} eq 'unused-bytes' } @{profile('--line-use', compile(scratch('streamed'), walk_source(@walk)))->{findings}};
	like($far->{evidence} // '', qr/; prefetchers spare it \d+ % of [\d,]+ misses in L2: the lines come all the same\z/, '... but not the lines from behind L2')
		or diag(explain($far));
	my $here = walk_source(@walk) =~ s/for \(long i = 0; i < 9000; i\+\+\)/for (long n = 0, i = 1; n < 9000; n++, i = (i * 5 + 1) % 8192)/r;
	my ($found) = grep { $_->{rule} eq 'unused-bytes' } @{profile('--line-use', compile(scratch('unfollowed'), $here))->{findings}};
	my ($share) = ($found->{evidence} // '') =~ /\((\d+\.\d) % of the run's misses, with those that prefetchers spare it\): bytes 32; the other 63 \(nearly\) never; most in \w+ \(unfollowed\.c:\d+\); prefetchers spare it \d+ % of [\d,]+ misses in L(?:1D|2)\z/;
	ok(defined $share && $share <= 100, 'here and there they do not, and its share is of all that was fetched') or diag(explain($found));
	like($found->{advice} // '', qr/ saves [\d,]+ of these fetches,/, '... which is what is saved');
}

# ---- fields ----

# Elements that begin anywhere in a line: nested and packed fields, bits, an array of arrays; and one
# that neither debugging information nor the lines tell.
my $typed = compile(scratch('typed'), <<'C');
struct part { short left, right; };
struct node { struct part part; int hot; char name[52]; double weight; unsigned low : 3, high : 13; };
struct prime { long one; char rest[1601]; } __attribute__((packed));
static struct node grid[100][90];
static struct prime primes[200];
static long plain[9000];
int main(int argc, char **argv)
{
	long sum = 0;
	memset(grid, argc, sizeof(grid));
	memset(primes, argc, sizeof(primes));
	memset(plain, argc, sizeof(plain));
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 9000; i++)
			sum += ((volatile struct node *)grid)[i].hot + ((volatile struct node *)grid)[i].part.right;
		for (int i = 0; i < 200; i++)
			sum += ((volatile struct prime *)primes)[i].one;
		for (int i = 0; i < 9000; i += 8)
			sum += ((volatile long *)plain)[i];
	}
	return sum == 7;
}
C

{
	my $profile = profile('--line-use', $typed);
	my $use = use_of($profile, 'grid');
	my %field = map { ($_->{name} => $_) } @{$use->{fields}};
	is("$use->{type} $use->{element}", 'node 80', 'fields: the type of the elements of its arrays');
	is_deeply([map { "$_->{name} $_->{offset}+$_->{size}" } @{$use->{fields}}],
		['part.left 0+2', 'part.right 2+2', 'hot 4+4', 'name 8+52', 'weight 64+8', 'low 72+1', 'high 72+2'], 'fields: where they are');
	is($field{$_}{used}, 45000, "fields: $_: filled, and read four times") for qw(hot part.right);
	is($field{$_}{used}, 9000, "fields: $_: only filled") for qw(part.left name weight low high);
	# An element of 80 bytes begins in each eighth of a line: 16 at 0, 16, 32, 48.
	is($field{hot}{fetched}, 45000, 'fields: hot: fetched with each of these');
	my ($found) = grep { $_->{rule} eq 'unused-bytes' && $_->{data} =~ /::grid$/ } @{$profile->{findings}};
	like($found->{evidence}, qr/: of struct node, part\.right, hot; \(nearly\) never part\.left, name, weight, low, high; most in \w+ \(typed\.c:\d+\)$/, 'fields: the advice names them');
	like($found->{advice}, qr/^Split the structure: part\.right, hot, in an array of its own, saves 32,62[56] of these misses/, 'fields: and what that saves');
	is(use_of($profile, 'primes')->{fields}, undef, 'fields: elements that lines do not tell apart: unknown');
	ok(use_of($profile, 'primes')->{used_bytes}, 'fields: their bytes are');
	is(use_of($profile, 'plain')->{fields}, undef, 'fields: numbers have none');
	my $screen = run(command => [cli(), 'dcache', '-m', $machine, '--line-use', '-o', '-', $typed])->{out};
	like($screen =~ s/\s+/ /gr, qr/::grid, fields used, in % of the lines that had them: part\.left 20, part\.right 100, hot 100, name 20,/, 'fields: on the screen');
	system('strip', '-g', '-o', scratch('stripped'), $typed) == 0 or die 'strip';
	is(use_of(profile('--line-use', scratch('stripped')), 'grid')->{fields}, undef, 'fields: without debugging information: unknown');
}

# ---- records that lines are no multiple of ----

# Used are other bytes of each line; a table of the same size, looked up here and there, has no better order.
for my $way ('in order', 'here and there') {
	my $size = 8 * (9, 11, 13, 15)[rand 4];
	my $next = $way eq 'in order' ? 'k' : '(k * 2654435761u) % 8000';
	my $records = compile(scratch('records'), <<"C");
static struct { char before[@{[$size - 24]}]; double part; char behind[16]; } *records;
static char *heap;
__attribute__((noipa)) static double sum(void)
{
	double all = 0;
	for (unsigned k = 0; k < 8000; k++)
		all += *(double *)(heap + $size * (unsigned long)($next) + $size - 24);
	return all;
}
int main(void)
{
	double all = 0;
	heap = calloc(8000, $size);
	for (int i = 0; i < 6; i++)
		all += sum();
	return all != sizeof(*records) * 0;
}
C
	for my $on (bare('zen3'), 'skylake-sp') {
		local $machine = $on;
		my ($found) = grep { $_->{rule} eq 'unused-bytes' } @{profile('--line-use', $records)->{findings}};
		if ($way eq 'here and there') {
			is($found, undef, "records of $size bytes, $way: nothing to find ($on)");
			next;
		}
		like($found->{data} // '', qr/Heap: main, @{[8000 * $size]} B|::main, @{[8000 * $size]} B/, "records of $size bytes, $way: found ($on)");
		like($found->{evidence} // '', qr/: it is gone through in order, in records of a size that lines are no multiple of; most in sum \(records\.c:\d+\)/,
			'... why, and where');
	}
}

# ---- real programs ----

my $text = write_file(scratch('text'), join('', map { read_file(source() . "/tests/sim/$_") } qw(callgrind.t client.c)));
for my $command (['/bin/gzip', '-c', $text], ['/usr/bin/sqlite3', ':memory:', 'create table t(a integer primary key, ' .
	'b text); with recursive c(x) as (select 1 union all select x+1 from c where x<900) insert into t ' .
	'select x, hex(x*2654435761) from c; create index i on t(b); select count(*) from t where b > 5;'],
	['/usr/bin/python3', '-S', '-c', 'print(sum(len(str(x)) for x in range(3000)))']) {
	SKIP: {
		skip("no $command->[0] here", 1) unless -x $command->[0];
		is_deeply(told(profile('--line-use', @$command)), [], "$command->[0]: nothing to find");
	}
}

# ---- the text, and what is refused ----

my $screen = run(command => [cli(), 'dcache', '-m', $machine, '--line-use', '-o', '-', scratch('whole')])->{out};
like($screen, qr/^Bytes used of fetched lines +lines +used B +unused % +cold B\n\S.* +[\d,]+ +\d+\.\d +\d+\.\d +\d+$/m, 'the screen has a table of it');
unlike(run(command => [cli(), 'dcache', '-m', $machine, '-o', '-', scratch('whole')])->{out}, qr/Bytes used of fetched/, 'unasked: none');
is(profile(scratch('whole'))->{not_looked_at}, undef, 'unasked: a sample is looked at');
for my $other (['icache'], ['dcache', '-E', 'perf']) {
	my $run = run(command => [cli(), @$other, '--line-use', '/bin/true']);
	is(status_text($run->{status}), 'exit 2', "@$other --line-use: refused");
	like($run->{err}, qr/^cachepeek: --line-use: expected with dcache on the simulated PMU, which sees every reference$/, 'and why');
}
done_testing();

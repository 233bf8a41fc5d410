#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek dcache, dtlb, icache: misses by function, statement and instruction.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $LINES = 4096; # of tests/programs/profiled.c

my $source = read_file(source() . '/tests/programs/profiled.c');
sub line_with
{
	my ($text, $comment) = @_;
	my ($before) = $text =~ m{\A(.*?)/\* \Q$comment\E \*/}s;
	return 1 + ($before =~ tr/\n//);
}

# Where the call on this line returns to is on it, too, if it is used there.
sub line_after { return line_with(@_) }

my $runs = 0;
# The JSON profile of a program, decoded.
sub profile
{
	my ($measurement, $options, @command) = @_;
	my $file = scratch('profile' . ++$runs . '.json');
	my $run = run(command => [cli(), $measurement, '-m', bare('skylake-sp'), @$options, '-o', $file,
		@command]);
	$run->{profile} = eval { decode_json(read_file($file) // '') };
	$run->{file} = $file;
	diag($run->{err}) unless $run->{profile};
	return $run;
}

sub function
{
	my ($profile, $name) = @_;
	my ($found) = grep { $_->{function} eq $name } @{$profile->{functions}};
	return $found || {counts => {}, statements => []};
}

sub statement
{
	my ($function, $line) = @_;
	my ($found) = grep { $_->{line} == $line } @{$function->{statements}};
	return $found || {counts => {}, instructions => []};
}

# LINES misses, but for a page's worth: others, or some that somebody has had before.
sub ok_lines
{
	my ($counts, $name, $what) = @_;
	my $n = $counts->{$name} // -1;
	ok($n >= $LINES - 64 && $n <= $LINES + 64, "$what: $n") or diag("not $LINES");
}

# The parts of each part add up to it.
sub ok_parts
{
	my ($profile, $what, @names) = @_;
	my @wrong;
	my $compare = sub {
		my ($place, $whole, $parts) = @_;
		for my $name (@names) {
			my $sum = 0;
			$sum += $_->{counts}{$name} for @$parts;
			push @wrong, "$place: $name $whole->{counts}{$name}, parts $sum"
				if $sum != $whole->{counts}{$name};
		}
	};
	$compare->('functions', $profile, $profile->{functions});
	$compare->('modules', $profile, $profile->{modules});
	$compare->('threads', $profile, $profile->{threads});
	$compare->('sources', $profile, $profile->{sources});
	$compare->($_->{file}, $_, $_->{lines}) for grep { $_->{file} ne '' } @{$profile->{sources}};
	for my $function (@{$profile->{functions}}) {
		$compare->($function->{function}, $function, $function->{statements});
		$compare->("$function->{function}:$_->{line}", $_, $_->{instructions})
			for @{$function->{statements}};
	}
	is_deeply(\@wrong, [], "$what: parts add up");
}

# ---- where misses are ----

my $program = program('profiled');
{
	my $run = profile('dcache', [], $program, qw(load store thread library jit));
	my $p = $run->{profile};
	is(status_text($run->{status}), 'exit 0', 'the status is the program\'s');
	like($run->{out}, qr/^\d+\n$/, 'and its output');
	is($run->{err}, '', 'nothing but the report');
	is($p->{schema}, 'cachepeek-profile/1', 'the schema');
	ok($p->{exact}, 'every miss is in a place');
	is($p->{warnings}[0], undef, 'no warning');
	ok_parts($p, 'dcache', qw(l1d_load_misses l1d_store_misses load_from_l2 load_from_llc
		load_from_memory));

	my $load = function($p, 'load_lines');
	my $at = statement($load, line_with($source, 'the load'));
	ok_lines($at->{counts}, 'l1d_load_misses', 'the load');
	ok_lines($at->{counts}, 'load_from_memory', 'from memory');
	is($load->{counts}{l1d_store_misses}, 0, 'which stores nothing that misses');
	my ($most) = sort { $b->{counts}{l1d_load_misses} <=> $a->{counts}{l1d_load_misses} }
		@{$at->{instructions}};
	like($most->{text}, qr/^movs?[bzx]\w* .*\(/, 'its instruction loads') if `uname -m` =~ /x86_64/;
	ok_lines(statement(function($p, 'store_lines'), line_with($source, 'the store'))->{counts},
		'l1d_store_misses', 'the store');
	ok_lines(statement(function($p, 'in_thread'), line_with($source, 'the inlined load'))->{counts},
		'l1d_load_misses', 'the inlined load of the thread');
	my ($thread) = grep { $_->{counts}{l1d_load_misses} >= $LINES &&
		$_->{counts}{l1d_load_misses} < $LINES + 1000 } @{$p->{threads}};
	ok($thread, 'the other thread has them');
	my $library = read_file(source() . '/tests/programs/libprofiled.c');
	my $sum = function($p, 'sum_lines');
	ok_lines(statement($sum, line_with($library, 'the load of the library'))->{counts},
		'l1d_load_misses', 'a library that was loaded twice');
	like($sum->{module}, qr{/libprofiled\.so$}, 'its path');
	ok_lines(function($p, 'jitted load')->{counts}, 'l1d_load_misses', 'code made at run time')
		if `uname -m` =~ /x86_64/;
	unlink(sprintf('/tmp/perf-%d.map', $run->{out}));
}

# ---- lines of source ----

{
	my ($copy, $exe) = (scratch('inlined.c'), scratch('inlined'));
	write_file($copy, <<'C');
#include <stdlib.h>
static inline __attribute__((always_inline)) long get(const char *at, long i)
{
	return at[64 * i]; /* the load */
}
__attribute__((noinline)) long one(const char *at)
{
	long sum = 0;
	for (long i = 0; i < 4096; i++)
		sum += get(at, i);
	return sum;
}
__attribute__((noinline)) long two(const char *at)
{
	long sum = 1;
	for (long i = 0; i < 4096; i++)
		sum ^= get(at, i);
	return sum;
}
int main(void)
{
	char *at = calloc(4096, 64);
	return !at || (one(at) ^ two(at)) == 7;
}
C
	system('cc', '-g', '-O1', '-o', $exe, $copy);
	my $p = profile('dcache', [], $exe)->{profile};
	my ($file) = grep { $_->{file} eq $copy } @{$p->{sources}};
	ok($file->{found} && !$file->{changed}, 'the source is found, as it was');
	my ($at) = grep { $_->{line} == 4 } @{$file->{lines}};
	is($at->{text}, '        return at[64 * i]; /* the load */', 'its line');
	my $n = $at->{counts}{l1d_load_misses} // 0;
	ok($n >= 2 * $LINES - 64 && $n <= 2 * $LINES + 64, "of both functions: $n");
	is_deeply([map { $_->{line} } @{$file->{lines}}],
		[sort { $a <=> $b } map { $_->{line} } @{$file->{lines}}], 'lines in their order');
	utime(time + 10, time + 10, $copy);
	$p = profile('dcache', [], $exe)->{profile};
	($file) = grep { $_->{file} eq $copy } @{$p->{sources}};
	ok($file->{changed}, 'a source that is newer than the program');
	unlink($copy);
	$p = profile('dcache', [], $exe)->{profile};
	($file) = grep { $_->{file} eq $copy } @{$p->{sources}};
	is($file->{found}, Json::false, 'one that is gone');
	is(scalar(grep { $_->{text} ne '' } @{$file->{lines}}), 0, 'has no text');
	ok_parts($p, 'an inlined function', qw(l1d_load_misses load_from_l2));
}

# The stores of a child, which is another process.
{
	my $run = profile('dcache', [], $program, qw(fork));
	is($run->{profile}{processes}, 2, 'parent and child');
	ok_lines(statement(function($run->{profile}, 'store_lines'), line_with($source, 'the store'))
		->{counts}, 'l1d_store_misses', 'the child\'s stores');
	ok_parts($run->{profile}, 'a child', qw(l1d_load_misses l1d_store_misses));
}

# The counts that a process had when it was killed are there.
{
	my $run = profile('dcache', [], $program, qw(load kill));
	is(status_text($run->{status}), 'signal 9', 'killed');
	ok_lines(statement(function($run->{profile}, 'load_lines'), line_with($source, 'the load'))
		->{counts}, 'l1d_load_misses', 'the load, all the same');
}

# ---- what data is in ----

sub data_at
{
	my ($profile, $name, $line, $size) = @_;
	my ($found) = grep { $_->{name} =~ $name && (!$line || $_->{line} == $line) &&
		(!$size || $_->{size} == $size) } @{$profile->{data}};
	return $found ? $found->{counts} : {};
}

{
	my $p = profile('dcache', [], $program, 'data')->{profile};
	my $misses = 'l1d_store_misses';
	my @wrong;

	for my $name (qw(l1d_load_misses l1d_store_misses l2_load_misses l2_store_misses
		llc_load_misses llc_store_misses hitm)) {
		my $sum = 0;
		$sum += $_->{counts}{$name} for @{$p->{data}};
		push @wrong, "$name: $p->{counts}{$name}, data $sum" if $sum != $p->{counts}{$name};
	}
	is_deeply(\@wrong, [], 'data adds up to the counts');
	ok_lines(data_at($p, qr/^profiled::global_table$/), $misses, 'a static table');
	ok_lines(data_at($p, qr/^profiled::in_function::local_table$/), $misses,
		'a static table in a function');
	my ($static) = grep { $_->{name} =~ /local_table/ } @{$p->{data}};
	like($static->{file}, qr/profiled\.c$/, 'its file');
	is($static->{size}, 64 * $LINES, 'its size');
	ok_lines(data_at($p, qr/^Heap: profiled::heap/, line_after($source, 'the first malloc')),
		$misses, 'a block');
	my $again = data_at($p, qr/^Heap: profiled::heap/, line_after($source, 'the second malloc'))
		->{$misses} // 0;
	ok($again > 0.8 * $LINES && $again <= $LINES + 64, "one in its place: $again");
	cmp_ok(data_at($p, qr/^Heap: /, line_after($source, 'the calloc'))->{$misses} // 0, '>',
		0.8 * $LINES, 'calloc');
	ok_lines(data_at($p, qr/^Heap: /, line_after($source, 'the realloc'), 128 * $LINES), $misses,
		'realloc: its second half');
	cmp_ok(data_at($p, qr/^Heap: /, line_after($source, 'the aligned block'))->{$misses} // 0, '>',
		0.8 * $LINES, 'posix_memalign');
	my ($small) = grep { $_->{name} =~ /small blocks/ &&
		$_->{line} == line_after($source, 'the small blocks') } @{$p->{data}};
	is($small->{blocks}, $LINES, 'small blocks are pooled by their call');
	cmp_ok($small->{counts}{$misses}, '>', 0.2 * $LINES, 'and miss');
	my ($stack) = sort { $b->{counts}{$misses} <=> $a->{counts}{$misses} }
		grep { $_->{data} eq 'stack' } @{$p->{data}};
	cmp_ok($stack->{counts}{$misses}, '>=', $LINES, 'the stack of a thread');
	ok_lines(data_at($p, qr{^Memory mapped file /tmp/profiled-}), $misses, 'a file');
}

# ---- the other measurements ----

{
	my $p = profile('dtlb', [], $program, qw(load))->{profile};
	ok_parts($p, 'dtlb', qw(dtlb_load_misses dtlb_store_misses dtlb_load_walks dtlb_store_walks));
	my $pages = statement(function($p, 'load_lines'), line_with($source, 'the load'))->{counts};
	ok($pages->{dtlb_load_walks} >= $LINES / 64 && $pages->{dtlb_load_walks} <= $LINES / 64 + 4,
		'each page is walked to once') or diag(explain($pages));
	$p = profile('icache', [], $program, qw(load))->{profile};
	ok_parts($p, 'icache', qw(l1i_misses itlb_misses itlb_walks fetch_from_l2 fetch_from_memory));
	cmp_ok($p->{counts}{l1i_misses}, '>', 500, 'instruction misses');
}

# ---- files that are not what they were ----

SKIP: {
	skip 'no strip here', 3 unless which('strip');
	my $copy = scratch('stripped');
	system('cp', $program, $copy);
	system(which('strip'), $copy);
	my $run = profile('dcache', [], $copy, qw(load));
	my ($function) = grep { $_->{module} eq $copy && $_->{function} eq '' }
		@{$run->{profile}{functions}};
	cmp_ok($function->{counts}{l1d_load_misses} // 0, '>=', $LINES, 'stripped: by module');
	my ($most) = sort { $b->{counts}{l1d_load_misses} <=> $a->{counts}{l1d_load_misses} }
		@{$function->{statements}[0]{instructions}};
	ok_lines($most->{counts}, 'l1d_load_misses', 'and by offset');

	my $dir = scratch('kept');
	run(command => [cli(), 'dcache', '-d', $dir, $copy, 'load']);
	system('cp', program('chase'), $copy);
	my $again = profile('dcache', ['-d', $dir]);
	like(join("\n", @{$again->{profile}{warnings}}), qr/\Q$copy\E: .*build ID/,
		'another file in its place gives no names');
}

# ---- the text report ----

SKIP: {
	my $wordplay = which('wordplay') || (-x '/usr/games/wordplay' ? '/usr/games/wordplay' : undef);
	skip 'no wordplay here (tools/deps.sh check installs it)', 6 unless $wordplay;
	my $cwd = scratch('words');
	mkdir $cwd;
	my @command = ($wordplay, 'thequickbrownfox');
	my $plain = run(command => \@command, cwd => $cwd);
	my $run = run(command => [cli(), 'dtlb', '-o', 'reports/dtlbm.txt', @command], cwd => $cwd);
	my $text = read_file("$cwd/reports/dtlbm.txt") // '';
	is($run->{out}, $plain->{out}, 'wordplay: same output');
	is($run->{status}, $plain->{status}, 'same status');
	like($text, qr/^Exact counts \(whole run\)\ndtlb_load_misses +[\d,]+\n/m, 'exact counts');
	like($text, qr/^ *%Tot +Cum% +Misses +Loads +Stores +Walks +L2 fills +HPW fills +Function\n/m,
		'misses by function');
	like($text, qr/^Load Module Summary\n(.*\n)+.*wordplay$/m, 'by module');
	like($text, qr/^Thread Summary\n/m, 'by thread');
}
{
	my $file = scratch('details.txt');
	run(command => [cli(), 'dcache', '-m', bare('skylake-sp'), '-o', $file, '--details', 'all',
		'--context-lines', 1, '--cutoff', '15,100,0', $program, qw(load store thread)]);
	my $text = read_file($file);
	my $line = line_with($source, 'the load');
	like($text, qr{^.*\[profiled::load_lines, 0x[0-9a-f]+, profiled\.c\]\n}m, 'details: a function');
	like($text, qr{ $line > sink \+= at\[i\]; /\* the load \*/$}m, 'its statement');
	my $before = $line - 1;
	like($text, qr{ $before   for \(size_t}m, 'with a line of context');
	like($text, qr/\[inlined inner @\d+\]$/m, 'an inlined call is named');
	like($text, qr/ \+0x[0-9a-f]+ +\S/, 'instructions');
	my ($summary) = $text =~ /^Function Summary\n(.*?)\n\n/ms;
	unlike($summary, qr/_dl_relocate_object/, 'what is cut off is not shown');
	like($summary, qr/\(\d+ more: /, 'but said');
}
{
	my $file = scratch('profile.csv');
	run(command => [cli(), 'dcache', '-o', $file, $program, 'load']);
	my @rows = map { [split /,/, s/"[^"]*"/quoted/gr, -1] } split /\n/, read_file($file);
	is($rows[0][0], 'scope', 'CSV: headings');
	is(scalar(grep { @$_ != @{$rows[0]} } @rows), 0, 'as many cells in each row');
	ok(scalar(grep { $_->[0] eq 'statement' && $_->[4] eq 'load_lines' && $_->[8] >= $LINES } @rows),
		'the load');
}

# ---- the schema ----

{
	my $run = profile('dcache', [], $program, qw(load thread));
	my $check = run(command => ['/usr/bin/python3', '-c', <<'END', source() . '/doc/cachepeek-profile-1.schema.json', $run->{file}]);
import json, sys
import jsonschema
jsonschema.Draft7Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))
print("valid")
END
	is($check->{out}, "valid\n", 'the schema holds') or diag($check->{err});
}

# ---- mistakes ----

for my $case ([['-o', 'x.pdf', '/bin/true'], 2, qr/use -, stderr, or a file that ends in \.txt/],
	[['--sort', 'size', '/bin/true'], 2, qr/expected misses, latency or avg/],
	[['--cutoff', '1', '/bin/true'], 2, qr/expected PERCENT/],
	[['--details', 'x', '/bin/true'], 2, qr/expected src, insn or all/],
	[['/nonesuch'], 127, qr/cannot be run/], [['-d', '/nonesuch'], 1, qr/No such file/]) {
	my ($arguments, $status, $why) = @$case;
	my $run = run(command => [cli(), 'dcache', @$arguments]);

	is(status_text($run->{status}), "exit $status", "dcache @$arguments");
	like($run->{err}, $why, 'says why');
}
{
	my $dir = scratch('plain');
	run(command => [cli(), '-d', $dir, '-E', 'sim', '/bin/true']);
	my $run = run(command => [cli(), 'dcache', '-d', $dir]);
	like($run->{err}, qr/has no profile: `cachepeek dcache PROGRAM`/, 'a run without a profile');
}

done_testing;

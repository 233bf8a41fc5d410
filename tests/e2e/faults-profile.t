#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Page faults through the kernel's rings: each variable, block and stack of a
# program with threads has exactly its pages, as root and as anybody.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

need_perf();
plan skip_all => 'pages are not of 4 KiB here' if `getconf PAGESIZE` != 4096;

# So many that they ask for blocks at the same time, and get one another's places.
my $THREADS = 48;
my $program = program('faulted');
my $source = read_file(source() . '/tests/programs/faulted.c');

sub line_with
{
	my ($comment) = @_;
	my ($before) = $source =~ m{\A(.*?)/\* \Q$comment\E \*/}s;
	return 1 + ($before =~ tr/\n//);
}

my $runs = 0;
sub profile
{
	my ($measurement, $options, @command) = @_;
	my $file = scratch('sampled' . ++$runs . '.json');
	my $run = run(command => [cli(), $measurement, '--engine', 'perf', @$options, '-o', $file,
		@command]);
	$run->{profile} = eval { decode_json(read_file($file) // '') };
	$run->{file} = $file;
	diag($run->{err}) unless $run->{profile};
	return $run;
}

sub data_at
{
	my ($profile, $name, $line) = @_;
	return grep { $_->{name} =~ $name && (!$line || $_->{line} == $line) } @{$profile->{data}};
}

sub sum { my $n = 0; $n += $_->{counts}{page_faults} for @_; return $n }

# Name, line of the allocation, pages.
my @objects = (
	[qr/^faulted::a_global$/, undef, 21, 'a global variable'],
	[qr/^faulted::a_static$/, undef, 22, 'a static one'],
	[qr/^faulted::initialized$/, undef, 23, 'an initialized one'],
	[qr/^faulted::in_function::local_static$/, undef, 25, 'a static one of a function'],
	[qr/^TLS faulted::of_thread$/, undef, $THREADS * 24, 'a thread-local one'],
	[qr/^Heap: faulted::blocks, /, line_with('the first block'), $THREADS * 64, 'malloc'],
	[qr/^Heap: faulted::blocks, /, line_with('the second block'), $THREADS * 65, 'calloc'],
	[qr/^Heap: faulted::blocks, /, line_with('the third block'), $THREADS * 66, 'where one was'],
	[qr/^Heap: faulted::blocks, /, line_with('the aligned block'), $THREADS * 67, 'posix_memalign'],
	[qr/^Heap: faulted::blocks, /, line_with('the larger block'), $THREADS * 30, 'realloc'],
);

sub check
{
	my ($p, $who) = @_;
	my $touched = 0;

	for my $object (@objects) {
		my ($name, $line, $pages, $what) = @$object;
		my @found = data_at($p, $name, $line);
		is(scalar @found, 1, "$who: $what: one row");
		is(sum(@found), $pages, "$who: $what: $pages pages");
		$touched += $pages;
	}
	# Only malloc's own words were touched in blocks that were given back; memory that was mapped
	# there is something else.
	is(sum(data_at($p, qr/^Heap: /, line_with('the freed block'))), $THREADS,
		"$who: a block that was freed");
	cmp_ok(sum(data_at($p, qr/^Memory mapped regions$/)), '>=', $THREADS * 70,
		"$who: a mapping where it was");
	my @stacks = data_at($p, qr/^Thread stack/);
	my @wrong = grep { my $n = $_->{counts}{page_faults}; $n < 40 || $n > 46 }
		grep { $_->{name} !~ /tid $p->{threads}[-1]{tid}\b/ } @stacks;
	is_deeply(\@wrong, [], "$who: 40 pages of each thread's stack, and its own first ones");
	cmp_ok(scalar @stacks, '>=', $THREADS, "$who: the stack of each thread");
	my ($blocks) = data_at($p, qr/^Heap: /, line_with('the first block'));
	is($blocks->{blocks}, $THREADS, "$who: a block of each thread");

	my ($function) = grep { $_->{function} eq 'touch' } @{$p->{functions}};
	my ($at) = sort { $b->{counts}{page_faults} <=> $a->{counts}{page_faults} }
		@{$function->{statements}};
	is($at->{line}, line_with('the fault'), "$who: the statement that faults");
	# A page that malloc or the loader touches first is not this function's.
	is($at->{counts}{page_faults}, $touched + $THREADS * (40 + 70 - 24 - 3),
		"$who: and how often");
	for my $rows (qw(functions modules threads data)) {
		is(sum(@{$p->{$rows}}), $p->{counts}{page_faults}, "$who: $rows add up");
	}
	my $sampling = $p->{sampling}{page_faults};
	is($sampling->{lost} + $sampling->{dropped}, 0, "$who: nothing lost");
	is($sampling->{samples}, $sampling->{total}, "$who: as many samples as faults");
	is($sampling->{scale}, 1, "$who: nothing to scale");
	ok($p->{exact}, "$who: exact");
	is($p->{counts}{places_error}, 0, "$who: no error bar");
}

{
	my $run = profile('dtlb', [], $program, $THREADS);
	is(status_text($run->{status}), 'exit 0', 'the status is the program\'s');
	is($run->{out} . $run->{err}, '', 'nothing but the report');
	is($run->{profile}{source}, 'sampled', 'the source');
	is_deeply($run->{profile}{warnings}, [], 'no warning');
	check($run->{profile}, 'here');
	is(profile('dcache', [], $program, $THREADS)->{profile}{not_looked_at}, undef, 'samples cannot tell of false sharing');
	my $check = run(command => ['/usr/bin/python3', '-c', <<'END', source() . '/doc/cachepeek-profile-1.schema.json', $run->{file}]);
import json, sys
import jsonschema
jsonschema.Draft7Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))
print("valid")
END
	is($check->{out}, "valid\n", 'the schema holds') or diag($check->{err});
}

SKIP: {
	skip(no_other_user(), 1) if no_other_user();
	my @nobody = (as_user(), qw(--inh-caps=-all --bounding-set=-all --no-new-privs));
	my $home = scratch('nobody');
	mkdir($home);
	system('cp', $program, $home);
	chmod(0777, $home);
	my $run = run(command => [@nobody, cli(), 'dtlb', '--engine', 'perf', '-o',
		"$home/out.json", "$home/faulted", $THREADS], env => {XDG_CACHE_HOME => "$home/cache"});
	my $p = eval { decode_json(read_file("$home/out.json") // '') };
	if ($p) {
		check($p, 'nobody');
	} else {
		fail('nobody has a report');
		diag($run->{err});
	}
}

for my $how ([], ['-v']) {
	my $run = run(command => [cli(), 'dtlb', '--engine', 'perf', @$how, $program, 1]);
	like($run->{out} . $run->{err}, qr/page.faults/, "@$how: the text");
	unlike($run->{out} . $run->{err}, qr/^machine *$/m, "@$how: names no machine where nothing is of one");
}

# ---- what is not sampled ----

{
	my $run = profile('dcache', [], $program, 1);
	my $p = $run->{profile};
	is(status_text($run->{status}), 'exit 0', 'dcache: the program runs');
	SKIP: {
		skip 'this machine samples memory', 3 if $p->{sampling}{memory}{event} ne '';
		is($p->{counts}{memory_misses}, undef, 'no misses where none are sampled');
		isnt($p->{sampling}{memory}{reason}, '', 'and why: ' . $p->{sampling}{memory}{reason});
		is_deeply($p->{data}, [], 'no places either');
	}
}

# ---- without what watches malloc; with children; killed ----

{
	my $dir = scratch('plain');
	run(command => [$program, 2], env => {LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'perf',
		CACHEPEEK_PROFILE => 'dtlb', CACHEPEEK_DIR => $dir, CACHEPEEK_OUTPUT => '/dev/null'});
	my $p = profile('dtlb', ['-d', $dir])->{profile};
	is(sum(data_at($p, qr/^faulted::a_global$/)), 21, 'without the command: variables');
	is(scalar(data_at($p, qr/^Heap: faulted/)), 0, 'no blocks');
	like(join(' ', @{$p->{warnings}}), qr/blocks of the heap have no names/, 'which is said')
		or diag(explain($p->{warnings}));
}
{
	my $run = profile('dtlb', [], '/bin/sh', '-c', "$program 2; $program 3");
	is($run->{profile}{processes}, 3, 'a shell and two programs');
	is(sum(data_at($run->{profile}, qr/^faulted::a_global$/)), 42, 'both are in the report');
	is(sum(data_at($run->{profile}, qr/^TLS faulted::of_thread$/)), 5 * 24, 'all of their threads');
}


# C++: new by the call of it, not malloc in its library; exceptions pass through.
SKIP: {
	my $compiler = which('g++');
	skip 'no g++', 3 unless $compiler;
	my ($copy, $exe) = (scratch('new.cc'), scratch('new'));
	write_file($copy, <<'C');
#include <cstdio>
#include <malloc.h>
#include <new>
#include <sys/prctl.h>
__attribute__((noinline)) char *make(size_t n)
{
	return new char[n]; // 7
}
struct alignas(4096) Big { char c[4096 * 40]; };
int main()
{
	int caught = 0;
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	for (int i = 0; i < 3; i++)
		try { *(volatile char *)make((size_t)1 << 60) = 1; } catch (const std::bad_alloc &) { caught++; }
	char *p = make(75 * 4096);
	for (size_t i = 0; i < 75 * 4096; i += 4096)
		((volatile char *)p)[i] = 1;
	Big *b = new Big;
	for (size_t i = 0; i < sizeof(*b); i += 4096)
		((volatile char *)b->c)[i] = 1;
	printf("%d\n", caught);
	delete b;
	delete[] p;
}
C
	system($compiler, '-std=c++17', '-w', '-g', '-O1', '-o', $exe, $copy);
	my $run = profile('dtlb', [], $exe);
	is($run->{out}, "3\n", 'exceptions of new');
	is(sum(data_at($run->{profile}, qr/^Heap: new::make\(unsigned long\), 307200 B$/, 7)), 75, 'new[]');
	is(sum(data_at($run->{profile}, qr/^Heap: new::main, 163840 B$/)), 40, 'aligned new');
}

# The lines of a source, from the JSON as from the records.
{
	my $kept = scratch('annotated');
	my $profiled = profile('dtlb', ['-d', $kept], $program, 2);
	my @run = map { run(command => [cli(), 'annotate', '-p', 'dtlb', @$_, 'faulted.c']) }
		['-i', $profiled->{file}], ['-d', $kept];
	is($run[0]{err}, '', 'annotate has it from JSON');
	is($run[0]{out}, $run[1]{out}, 'which says the same');
	unlike($run[0]{out}, qr/^machine *$/m, 'nor does it name a machine');
	like($run[0]{out}, qr/^ *\d+\.\d\d .*\bat\[/m, 'lines with numbers') or diag($run[0]{out});
	my $old = decode_json(read_file(profile('dtlb', [], $program, 1)->{file}));
	delete $old->{estimates};
	my $file = write_file(scratch('old.json'), encode_json($old));
	like(run(command => [cli(), 'annotate', '-i', $file, 'faulted.c'])->{err},
		qr/^cachepeek: \Q$file\E is of a version that wrote no estimates: .*\n$/, 'an older one: one line');
}

# A program that was built anew since has other functions at the same addresses.
{
	my ($exe, $kept) = (scratch('rebuilt'), scratch('kept'));
	is(system('cp', $program, $exe), 0, 'a copy of the program');
	my @options = ('-d', $kept);
	my $own = sub { grep { $_->{module} eq $exe && $_->{function} ne '' } @{$_[0]{functions}} };
	my $before = profile('dtlb', \@options, $exe, 1)->{profile};
	cmp_ok(scalar $own->($before), '>', 0, 'its functions have names');
	is_deeply($before->{warnings}, [], 'nothing to warn of');
	is(system("rm $exe && cp $program $exe"), 0, 'it is built anew');
	my $file = scratch('rebuilt.json');
	my $run = run(command => [cli(), 'dtlb', '-d', $kept, '-o', $file]);
	my $after = decode_json(read_file($file));
	is_deeply($after->{warnings},
		["$exe: it is not the file that ran: it has changed since: its functions have no names"],
		'one line says so');
	is(scalar $own->($after), 0, 'and no name is made up');
	is_deeply([data_at($after, qr/^rebuilt::a_global/)], [], 'nor one of data');
	is($after->{counts}{page_faults}, $before->{counts}{page_faults}, 'the counts are there');
}

done_testing;

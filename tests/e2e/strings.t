#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# String instructions with a repeat prefix: they do what they do alone, are one instruction
# each, or one for each iteration where the machine says so, and refer to each line once.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use POSIX qw(uname);
use Test::More;

plan(skip_all => 'instructions of x86-64') unless (uname())[4] eq 'x86_64';

my $events = 'instructions,l1d_loads,l1d_stores,l1d_load_misses,l1d_store_misses,l1i_accesses';
my %machine = (
	plain => machine_file('plain'),
	flex => machine_file('flex', l1d => '64K 16 64 plru', l2 => '1M 16 64 inclusive'),
	short => machine_file('short', map({ $_ => '16K 4 32' } qw(l1i l1d)), l2 => '256K 8 32', llc => '2M 16 32'),
	iterations => machine_file('iterations', 'string-instructions' => 'iterations'),
);

# ---- memory, registers and flags; where they fault ----

for my $what (qw(results faults)) {
	my @alone = split(/\n/, plain(command => [program('strings'), $what])->{out});
	cmp_ok(scalar(@alone), '>', 200, "$what: there are many");
	for my $of (qw(plain flex iterations)) {
		my @here = split(/\n/, peek(engine => 'sim', machine => $machine{$of}, events => 'instructions',
			command => [program('strings'), $what])->{out});
		my @differ = grep { ($here[$_] // '') ne $alone[$_] } 0 .. $#alone;
		is(scalar(@here), scalar(@alone), "$of: as many $what");
		is(scalar(@differ), 0, "$of: the same $what as alone")
			|| diag(map { "alone $alone[$_]\nhere  " . ($here[$_] // 'nothing') . "\n" } @differ[0 .. ($#differ < 4 ? $#differ : 4)]);
	}
}

# ---- counts ----

# Kind, log of the size, down, count, and offsets of its operands in their lines: the loads and
# stores, of blocks or of elements, and the lines that are loaded and stored to.
my @cases = (
	['nop,0,0,0,0,0', 0, 0, 0, 0], ['nop,0,1,0,0,0', 0, 0, 0, 0],
	['movs,0,0,0,0,0', 0, 0, 0, 0], ['movs,0,0,1,0,0', 1, 1, 1, 1],
	['movs,0,0,63,0,0', 1, 1, 1, 1], ['movs,0,0,64,0,0', 1, 1, 1, 1], ['movs,0,0,65,0,0', 2, 2, 2, 2],
	['movs,0,0,64,1,0', 2, 1, 2, 1], ['movs,0,0,64,0,63', 1, 2, 1, 2],
	['movs,0,0,4096,0,0', 64, 64, 64, 64], ['movs,0,0,4096,17,0', 65, 64, 65, 64], ['movs,0,0,4096,-5,33', 65, 65, 65, 65],
	['movs,0,0,1048576,0,0', 16384, 16384, 16384, 16384], ['movs,0,0,1048576,8,40', 16385, 16385, 16385, 16385],
	['movs,1,0,2048,0,0', 64, 64, 64, 64], ['movs,2,0,1024,0,0', 64, 64, 64, 64], ['movs,3,0,512,0,0', 64, 64, 64, 64],
	['movs,3,0,512,4,4', 65, 65, 65, 65], ['movs,3,0,131072,0,0', 16384, 16384, 16384, 16384],
	['movs,0,1,4096,63,63', 4096, 4096, 64, 64], ['movs,3,1,512,56,56', 512, 512, 64, 64],
	# Blocks that it stores to before it loads them.
	['movs,0,0,4096,0,64,1', 64, 64, 1, 64], ['movs,0,0,4096,0,63,1', 4096, 4096, 1, 64],
	['movs,0,0,4096,0,1,1', 4096, 4096, 1, 64], ['movs,3,0,512,0,8,1', 512, 512, 1, 64],
	['movs,0,0,4096,64,0,1', 64, 64, 64, 1], ['movs,0,0,4096,0,0,1', 64, 64, 64, 0],
	['stos,0,0,65,0,0', 0, 2, 0, 2], ['stos,0,0,4096,0,1', 0, 65, 0, 65], ['stos,3,0,512,0,0', 0, 64, 0, 64],
	['stos,1,0,1,0,63', 0, 2, 0, 2], ['stos,0,1,64,0,63', 0, 64, 0, 1], ['stos,3,0,131072,0,0', 0, 16384, 0, 16384],
	['lods,0,0,64,0,0', 64, 0, 1, 0], ['lods,2,0,1024,0,0', 1024, 0, 64, 0], ['lods,2,1,1024,60,0', 1024, 0, 64, 0],
	['repe-cmps,0,0,65,0,0', 130, 0, 4, 0], ['repe-cmps,3,0,512,0,0', 1024, 0, 128, 0],
	['repe-cmps,0,1,65,63,63', 130, 0, 4, 0], ['repne-cmps,0,0,4096,0,0', 2, 0, 2, 0],
	['repe-scas,0,0,65,0,0', 65, 0, 2, 0], ['repe-scas,3,0,512,0,0', 512, 0, 64, 0], ['repe-scas,0,1,64,0,63', 64, 0, 1, 0],
	['repne-scas,0,0,4096,0,0', 4096, 0, 64, 0], ['repne-scas,3,0,131072,0,0', 131072, 0, 16384, 0],
);

sub regions_of
{
	my ($of, @more) = @_;
	my $report = peek(engine => 'sim', machine => $machine{$of}, events => $events, @more,
		command => [program('strings'), 'counts', map { $_->[0] } @cases])->{report};

	return map {
		my $region = region($report, $_->[0]);
		ok($region, "$of: $_->[0]");
		[$_->[0], map { value($region, $_) } split(/,/, $events)]
	} @cases;
}

# The instructions of the call beside the one, which are as much for nop.  Lines of the stack and
# of the code may have left the cache.
sub is_count
{
	my ($name, $what, $got, $expected, $more) = @_;
	ok($got >= $expected && $got <= $expected + $more, "$name: $what") || diag("$got $what, not $expected");
}

for my $of (qw(plain flex short)) {
	my @got = regions_of($of);
	my @nop = @got[0, 1];

	for my $i (0 .. $#cases) {
		my (undef, $loads, $stores, $load_lines, $store_lines) = @{$cases[$i]};
		my ($name, @is) = @{$got[$i]};
		my @besides = @{$nop[(split(/,/, $name))[2]]};
		is($is[0], $besides[1], "$of: $name: one instruction");
		is($is[1] - $besides[2], $loads, "$of: $name: loads");
		is($is[2] - $besides[3], $stores, "$of: $name: stores");
		next if $of eq 'short'; # of two lines a block misses once
		is_count("$of: $name", 'lines that loads miss', $is[3], $load_lines, 12);
		is_count("$of: $name", 'lines that stores miss', $is[4], $store_lines, 12);
	}
}

# Each iteration is an instruction, and one more finds rcx to be 0 unless comparing has ended it; as
# to cachegrind, which has each element's references.
{
	my @got = regions_of('iterations');
	my @nop = @got[0, 1];
	my %plain = map { $_->[0] => $_ } regions_of('plain');

	for my $got (@got[2 .. $#got]) {
		my ($name, @is) = @$got;
		my @besides = @{$nop[(split(/,/, $name))[2]]};
		my ($kind, $count) = (split(/,/, $name))[0, 3];
		my $rounds = $kind eq 'repne-cmps' ? 1 : $count;
		is($is[0] - $besides[1], $kind eq 'repne-cmps' ? 0 : $rounds, "iterations: $name: instructions");
		is($is[1] - $besides[2], $rounds * {movs => 1, stos => 0, lods => 1, 'repe-cmps' => 2, 'repne-cmps' => 2}->{$kind} // $rounds,
			"iterations: $name: loads") if $kind !~ /scas/;
		is($is[1] - $besides[2], $rounds, "iterations: $name: loads") if $kind =~ /scas/;
		is($is[2] - $besides[3], $kind =~ /movs|stos/ ? $rounds : 0, "iterations: $name: stores");
		is($is[5], $plain{$name}[6], "iterations: $name: fetches");
	}
}

# ---- the C library's functions, which may be made of these ----

sub near
{
	my ($got, $expected, $what) = @_;
	ok(abs($got - $expected) <= 0.02 * $expected + 6, $what) || diag("$got, not $expected");
}

# Large ones prefetch what they load, and store past the caches.
{
	my $report = peek(engine => 'sim', machine => $machine{plain}, events => "$events,software_prefetch_lines,stream_lines",
		command => [program('strings'), 'libc'])->{report};

	for my $size (map { 4 ** $_ } 5 .. 11) {
		my ($copied, $set) = map { region($report, "$_ $size") } qw(memcpy memset);
		my ($loads, $stores, $others) = map { my $of = $_; sub { value($_[0], $of) } } qw(l1d_load_misses l1d_store_misses stream_lines);
		near(value($copied, 'l1d_load_misses') + value($copied, 'software_prefetch_lines'), $size / 64, "memcpy of $size: lines loaded");
		near(value($_->[1], 'l1d_store_misses') + value($_->[1], 'stream_lines'), $size / 64, "$_->[0] of $size: lines stored to")
			for ['memcpy', $copied], ['memset', $set];
	}
}

# ---- who else looks at references ----

{
	my $name = 'movs,0,0,1048576,8,40';
	my @all = (engine => 'sim', machine => $machine{plain}, command => [program('strings'), 'counts', 'nop,0,0,0,0,0', $name]);
	my $sweep = region(peek(@all, events => 'l1d_misses', env => {CACHEPEEK_SWEEP => 'L1D.ways=7..8'})->{report}, $name);
	is(value($sweep, 'l1d_misses[ways=8]'), value($sweep, 'l1d_misses'), 'a sweep sees the references');

	my $sampled = peek(@all, events => 'instructions', env => {CACHEPEEK_SAMPLE => 'fast'})->{report};
	is(value(region($sampled, $name), 'instructions'), value(region($sampled, 'nop,0,0,0,0,0'), 'instructions'), 'one instruction in a sample');
	my %sampled = (@all, machine => $machine{iterations});
	my $each = peek(%sampled, events => 'instructions,l2_misses', env => {CACHEPEEK_SAMPLE => 'fast'})->{report};
	is(value(region($each, $name), 'instructions') - value(region($each, 'nop,0,0,0,0,0'), 'instructions'), 1048576, 'or iterations');
	is(value(region($each, $name), 'l2_misses', 'status'), 'estimated', 'which is one');
}

# Every byte once, also of blocks that the page of the other operand divides.
{
	my $file = scratch('copy.json');
	run(command => [cli(), 'dcache', '--line-use', '-E', 'sim', '-m', 'zen3', '-o', $file, program('strings'), 'copy']);
	my %use = map { $_->{name} =~ s/.*:://r => $_->{line_use} } @{decode_json(read_file($file))->{data}};

	is_deeply([@{$use{copied_to}}{qw(fetched used_bytes)}], [128, 64], 'all bytes of the lines that are stored to');
	my $bytes = 0;
	$bytes += $_ for @{$use{copied_from}{used}};
	is_deeply([$use{copied_from}{fetched}, $bytes], [129, 8192], 'and of those that are loaded, but at the ends');
}

# ---- a long one does not keep other threads from running: a block is a superblock of its turn ----

cmp_ok(peek(engine => 'sim', machine => $machine{plain}, events => 'instructions', command => [program('strings'), 'turns'])->{out}, '>=', 3,
	'another thread sees it at work');

# ---- time where all is there: a cycle for each block or element in order, and 30 and 1.5 out of order ----

{
	my %rounds = ('nop,0,0,4096,0,0,2' => 0, 'stos,0,0,4096,0,0,2' => 64, 'stos,0,0,4096,0,32,2' => 65, 'movs,0,0,4096,0,0,2' => 64,
		'lods,0,0,4096,0,0,2' => 4096, 'movs,0,0,4096,0,1,3' => 4096, 'repe-scas,0,0,4096,0,0,2' => 4096);
	my @latencies = (l1d => '32K 8 64 latency=4', l2 => '256K 8 64 latency=14', llc => '2M 16 64 latency=50', stlb => '1536 12 latency=7',
		'memory-latency' => 250, 'walk-latency' => 30, 'clock-mhz' => 2000, 'fill-buffers' => 10, 'write-buffers' => 40);
	my @ahead = (timing => 'ooo', width => 4, 'load-ports' => 1, 'store-ports' => 1, window => 256, 'mispredict-latency' => 15);

	for (['in order', 1, 0, 0, timing => 'in-order'], ['out of order', 1.5, 30, 4, @ahead]) {
		my ($how, $each, $begin, $off, @more) = @$_;
		my $report = peek(engine => 'sim', machine => machine_file('timed', @latencies, @more), events => 'time_issue',
			env => {CACHEPEEK_TIMING => 'on'}, command => [program('strings'), 'counts', sort keys %rounds])->{report};
		my %cycles = map { $_ => value(region($report, $_), 'time_issue') } keys %rounds;

		for my $name (sort grep { $rounds{$_} } keys %rounds) {
			my $more = $cycles{$name} - $cycles{'nop,0,0,4096,0,0,2'};
			my $expected = $begin + $each * $rounds{$name};
			ok(abs($more - $expected) <= $off, "$how: cycles of $name") || diag("$more, not $expected");
		}
	}
}

# ---- files ----

for (['half', 'expected whole or iterations: half'], ['', 'expected whole or iterations'],
	['whole iterations', 'expected whole or iterations: whole']) {
	my ($text, $error) = @$_;
	my $machine = write_file(scratch('bad.machine'), "l2 = 256K 8 64\nstring-instructions = $text\n");
	my $run = peek(engine => 'sim', machine => $machine, events => 'instructions', command => ['/bin/true']);
	like("@{$run->{notes}}", qr/bad\.machine:2: \Q$error\E \(the host/, "string-instructions = $text: one line");
}
done_testing();

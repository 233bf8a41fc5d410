#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A profile for other programs: callgrind_annotate and flame graphs add up to what
# the JSON says.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $dir = scratch('records');
my $made = run(command => [cli(), 'dcache', '-m', 'skylake-sp', '-d', $dir,
	'-o', scratch('first.txt'), program('profiled'), qw(load store thread library)]);
is($made->{err}, '', 'a run');

sub written
{
	my ($measurement, $name) = @_;
	my $file = scratch($name);
	my $run = run(command => [cli(), $measurement, '-d', $dir, '-o', $file]);
	is($run->{err}, '', "$measurement: $name");
	return read_file($file) // '';
}

my $annotate = which('callgrind_annotate');
for my $measurement (qw(dcache dtlb icache)) {
	my $profile = decode_json(written($measurement, "$measurement.json"));
	my %total = %{$profile->{counts}};
	my ($misses) = {dcache => [qw(l1d_load_misses l1d_store_misses l1d_bypasses)],
		dtlb => [qw(dtlb_load_misses dtlb_store_misses)], icache => ['l1i_misses']}->{$measurement};

	my ($one) = grep { $_->{module} eq program('profiled') &&
		(grep { $_->{file} =~ m{/profiled\.c$} } @{$_->{statements}}) } @{$profile->{functions}};

	# ---- callgrind's format ----

	my $text = written($measurement, "$measurement.callgrind");
	like($text, qr/\A# callgrind format\nversion: 1\n/, "$measurement: callgrind's format");
	my ($events) = $text =~ /^events: (.*)$/m;
	my @events = split / /, $events;
	my (%sum, $obj, $file, $function, %lines);
	for my $line (split /\n/, $text) {
		$file = $1 if $line =~ /^f[lie]=(.*)$/;
		$function = $1 if $line =~ /^fn=(.*)$/;
		next unless $line =~ /^0x[0-9a-f]+ (\d+) (.*)$/;
		my ($at, @cost) = ($1, split / /, $2);
		$sum{$events[$_]} += $cost[$_] for 0 .. $#events;
		$lines{$at} += $cost[0] if $function eq $one->{function} && $file =~ m{/profiled\.c$};
	}
	is_deeply([map { $sum{$_} // 0 } @events], [map { $total{$_} } @events],
		"$measurement: its lines add up to the counts");
	like($text, qr/^summary: @{[join ' ', map { $total{$_} } @events]}$/m, 'so its summary says');
	is_deeply({map { $_->{line} => $_->{counts}{$events[0]} } grep { $_->{file} =~ m{/profiled\.c$} }
		@{$one->{statements}}},
		\%lines, "$measurement: the lines of a function");
	SKIP: {
		skip 'no callgrind_annotate here', 3 unless $annotate;
		my $run = run(command => [$annotate, '--threshold=100', '--auto=no', scratch("$measurement.callgrind")]);
		is($run->{err}, '', 'callgrind_annotate reads it');
		my ($totals) = $run->{out} =~ /^(.*) PROGRAM TOTALS$/m;
		is_deeply([map { s/,//gr } $totals =~ /([\d,]+)(?: \(\s*[\d.]+%\))?/g],
			[map { $total{$_} } @events], 'with the same totals');
		my ($row) = $run->{out} =~ /^(.*) \S*profiled\.c:\Q$one->{function}\E /m;
		my ($first) = ($row // '') =~ /^ *([\d,]+)/;
		is(($first // '') =~ s/,//gr, $one->{counts}{$events[0]}, 'and the same function');
	}

	# ---- folded stacks ----

	my %folded;
	for my $line (split /\n/, written($measurement, "$measurement.folded")) {
		my ($thread, $module, $name, $n) = $line =~ /^(.*?);(.*?);(.*) (\d+)$/ or
			fail("no folded stack: $line");
		$folded{''} += $n;
		$folded{$name} += $n;
	}
	my $whole = 0;
	$whole += $total{$_} for @$misses;
	is($folded{''}, $whole, "$measurement: folded stacks add up to the misses");
	my $own = 0;
	$own += $one->{counts}{$_} for @$misses;
	is($folded{$one->{function}}, $own, 'and to a function\'s');

	# ---- speedscope ----

	my $scope = decode_json(written($measurement, "$measurement.speedscope.json"));
	my ($only) = @{$scope->{profiles}};
	my @names = map { $_->{name} =~ s/;/:/gr } @{$scope->{shared}{frames}};
	my %scope;
	for my $i (0 .. $#{$only->{samples}}) {
		$scope{''} += $only->{weights}[$i];
		$scope{$names[$only->{samples}[$i][2]]} += $only->{weights}[$i];
	}
	is($scope->{'$schema'}, 'https://www.speedscope.app/file-format-schema.json', "$measurement: speedscope's format");
	is_deeply([map { $_->{name} } @{$scope->{profiles}}], ['misses'], 'with the misses');
	is_deeply(\%scope, \%folded, 'the same as folded stacks');
	is($only->{endValue}, $whole, 'and as the whole');
}

# ---- places whose page was missed, and not their line ----

{
	my $source = write_file(scratch('pages.c'), <<'C');
#if defined(__x86_64__)
#define STEP 1
#else
#define STEP 4
#endif
__asm__(".text\n.balign 4096\n.globl pages\npages:\n.set k, 0\n.rept 300\n.balign 4096\n"
	".skip 64 * (k % 59 + 1)\nnop\nnop\nnop\nnop\nret\n.set k, k + 1\n.endr\n");
extern const char pages[];
int main(void)
{
	for (long round = 0; round < 4; round++)
		for (long k = 0; k < 300; k++)
			((void (*)(void))(pages + 4096 * k + 64 * (k % 59 + 1) + (round ? 2 * STEP : 0)))();
	return 0;
}
C
	my $json = scratch('pages.json');
	is(system('cc', '-O1', '-o', scratch('pages'), $source), 0, 'code in many pages');
	run(command => [cli(), 'icache', '-m', 'skylake-sp', '-o', $json, scratch('pages')]);
	my $profile = decode_json(read_file($json));
	my %sum;
	for my $function (@{$profile->{functions}}) {
		$sum{$_} += $function->{counts}{$_} for qw(l1i_misses itlb_misses);
	}
	is($sum{$_}, $profile->{counts}{$_}, "$_ add up") for sort keys %sum;
	my $only = grep { $_->{counts}{itlb_misses} && !$_->{counts}{l1i_misses} }
		map { @{$_->{instructions}} } map { @{$_->{statements}} } @{$profile->{functions}};
	cmp_ok($only, '>=', 250, "$only instructions have pages only");
}

# ---- functions that begin with another one's code ----

{
	write_file(scratch('first.h'), <<'C');
static inline __attribute__((always_inline)) long first(const volatile long *at)
{
	return *at;
}
C
	my $source = write_file(scratch('walk.c'), <<'C');
#include "first.h"
static long data[1 << 16];
__attribute__((noipa)) static long walk(const volatile long *at)
{
	long sum = first(at);
	for (int i = 8; i < 1 << 16; i += 8)
		sum += first(at + i);
	for (int i = 4; i < 1 << 16; i += 64)
		sum += at[i];
	return sum;
}
int main(void)
{
	long sum = 0;
	for (int i = 0; i < 9; i++)
		sum += walk(data);
	return sum != 0;
}
C
	my $program = scratch('walk');
	is(system('cc', '-g', '-O2', '-fno-tree-vectorize', '-o', $program, $source), 0, 'a function with inlined code');
	my $place = sub { my ($f) = @_; return ($f->{file} // '') =~ s{.*/}{}r . ':' . ($f->{line} // '') };
	my ($json, $scope, $pprof) = map { scratch("walk.$_") } qw(json speedscope.json pb.gz);
	run(command => [cli(), 'dcache', '-m', 'cachegrind', '--call-paths', '-d', scratch('walked'), '-o', $json, '-o', $scope, $program]);
	my ($function) = grep { $_->{name} eq 'walk' } @{decode_json(read_file($scope))->{shared}{frames}};
	is($place->($function), 'walk.c:3', 'call paths: the function is where it is declared');

	# Without call paths pprof has the lines that its statements are of.
	run(command => [cli(), 'dcache', '-m', 'cachegrind', '-o', $json, '-o', $pprof, $program]);
	my ($walk) = grep { $_->{function} eq 'walk' } @{decode_json(read_file($json))->{functions}};
	my %missed = map { $place->($_) => $_->{counts}{l1d_load_misses} }
		grep { $_->{counts}{l1d_load_misses} } @{$walk->{statements}};
	cmp_ok($missed{'first.h:3'} // 0, '>=', 9 * 8192 * 0.9, 'the inlined line has its misses');
	SKIP: {
		my $go = which('go') or skip('no go', 1);
		my $run = run(command => [$go, qw(tool pprof -lines -top -nodecount=1000 -nodefraction=0), $pprof], env => {HOME => scratch()});
		my %shown = map { m{^ *(\d+) .* walk \S*?([^/ ]+:\d+)$} ? ($2 => $1) : () } split(/\n/, $run->{out});
		is_deeply(\%shown, \%missed, 'and pprof each line its own');
	}
}

# KCachegrind's own names for files.
{
	my $run = run(command => [cli(), 'dcache', '-d', $dir, '-o', scratch('callgrind.out.1')]);
	like(read_file(scratch('callgrind.out.1')), qr/\A# callgrind format/, 'a file named as callgrind does');
}

done_testing;

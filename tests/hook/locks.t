#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Every lock and every thread of ours is on a list that fork, exec and the end go
# through: the lists, which the linker makes, against what the debugging information
# says is in the library's memory; and a fork while all locks are held.
use strict;
use warnings;
use File::Find;
use FindBin;
use lib "$FindBin::Bin/../e2e", $FindBin::Bin;
use Objects;
use Peek;
use Test::More;

my $objects = Objects->new(lib());

sub names { my ($all, @at) = @_; return [sort map { $all->{$_} // sprintf('%x', $_) } @at] }

# Does each object of the kind stand once on the list of its kind?
sub ok_listed {
	my ($kind, $section, $least) = @_;
	my ($there, $listed) = ($objects->all($kind), Objects::listed(lib(), $section));
	cmp_ok(scalar(keys %$there), '>=', $least, "the debugging information has the objects of struct $kind");
	is_deeply(names($there, keys %$listed), names($there, keys %$there), "each struct $kind is on the list $section");
	is_deeply([grep { $listed->{$_} != 1 } keys %$listed], [], "$section: once each");
}
ok_listed('cp_lock', 'cp_locks', 20);
ok_listed('cp_helper', 'cp_helpers', 2);

# One in memory that is taken and given back lists itself, for which it needs its
# place in a list: struct cp_made_lock.
my %made = map { $_ => 1 } 'cp_made_lock', $objects->structs_with('cp_made_lock');
is_deeply([grep { !$made{$_} && !%{$objects->all($_)} } $objects->structs_with('cp_lock')], [],
	'structs that have no place of their own have listed locks inside');

# ---- in the sources ----

my %source;
find({no_chdir => 1, wanted => sub { $source{s{^\Q@{[source()]}\E/}{}r} = read_file($_) if /\.[ch]$/ }},
	map { source() . "/$_" } qw(base preload regions));

# A word that is exchanged is a lock, a latch, or stands here with what fork does to it.
my %exchanged = (
	'base/lock.h' => 'struct cp_lock', 'base/once.h' => 'struct cp_once',
	'base/lock.c' => 'the list itself, and its entries: added to only',
	'base/fd.c' => 'bounds, and slots that are left if they are not what was seen: nothing waits',
	'preload/threads/threads.c' => 'busy: of a thread, which the child begins again',
	'preload/markers/markers.c' => 'busy, as well',
	'base/counters/clock.c' => 'calibrating: nothing waits for a child that finds it set',
	'preload/calibrate.c' => 'cp_calibrated: cp_calibrate_after_fork',
	'preload/patch/calls.c' => 'free places are a list; and whoever finds that somebody looks for more does without',
	'preload/process.c' => 'the state: only a process that is on goes on in the child',
	'regions/series.h' => 'held, of its struct cp_lock, for the simulated PMU',
);
my @exchange = grep { $source{$_} =~ /__atomic_(?:exchange|compare_exchange|test_and_set)/ } sort keys %source;
is_deeply([grep { !$exchanged{$_} } @exchange], [], 'no lock and no latch is a plain number');
is_deeply([grep { my $file = $_; !grep { $_ eq $file } @exchange } sort keys %exchanged], [], 'and those are all there');

# A handler of the program that calls a hook must not wait for what it interrupted:
# hooks use cp_marker_lock(), whose holder no marker interrupts.
my @bare = grep { m{/hooks_[^/]*$} && $source{$_} =~ /\bcp_lock\(/ && $source{$_} !~ /cp_enter_slowly/ } sort keys %source;
is_deeply(\@bare, [], 'no hook takes a lock without entering');

# dl_iterate_phdr holds a lock of the dynamic linker that a fork child does not find free.
is_deeply([grep { $source{$_} =~ /\bdl_iterate_phdr\((?!3\))/ } sort keys %source], ['preload/walk.c'], 'fork waits for each walk of ours');

# ---- at run time ----

my $held = $objects->all('cp_lock');
my ($list) = map { /^\s*\d+:\s+([0-9a-f]+)\s.*\smade_locks$/ ? $1 : () } `readelf -sW '@{[lib()]}'`;
my @addresses = ($list, map { sprintf('%x', $_) } sort { $a <=> $b } keys %$held);

sub ok_free {
	my ($what, $more, %options) = @_;
	my $run = peek(command => [program('held_locks'), @addresses], timeout => 120, %options);
	my ($locks, $still) = $run->{out} =~ /^(\d+) locks, (\d+) held in a child$/;
	is($still, 0, "$what: a child finds all locks free") or diag($run->{err});
	cmp_ok($locks // 0, '>=', $more + keys %$held, "$what: all were held");
}
my @engines = ((can_count('software') ? 'perf' : ()), 'sim');
for my $engine (@engines) {
	ok_free($engine, 0, engine => $engine);
	ok_free("$engine, children are not counted", 0, engine => $engine, env => {CACHEPEEK_CHILDREN => 'ignore'});
	ok_free("$engine, a thread of ours", 0, engine => $engine, env => {CACHEPEEK_INTERVAL => 5});
}
SKIP: {
	skip('perf_event counts nothing here', 4) unless can_count('software');
	ok_free('samples', 1, engine => 'perf', env => {CACHEPEEK_PROFILE => 'dtlb'});
	ok_free('samples, with blocks of the heap', 1, engine => 'perf', env => {CACHEPEEK_PROFILE => 'dtlb'},
		preload => lib() . ':' . build() . '/libcachepeek/heap.so');
}
done_testing();

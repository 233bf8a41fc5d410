#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Inside the program there are two calls for memory: cp_store_take(), which may fail and
# whose callers look, and cp_arena_alloc(), which must not and has a way out where there
# is none.  What takes pages by itself stands here, with the reason.
use strict;
use warnings;
use File::Find;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Test::More;

my %source;
find({no_chdir => 1, wanted => sub {
	return unless /\.[ch]$/;
	my $text = read_file($_);
	$text =~ s{/\*.*?\*/}{}gs;
	$text =~ s{"(?:[^"\\\n]|\\.)*"}{""}g;
	$source{s{^\Q@{[source()]}\E/}{}r} = $text;
}}, map { source() . "/$_" } qw(base preload regions output));
delete($source{$_}) for grep { m{^preload/(?:heap|libc|patch|perfstubs)} } keys %source; # hooks of malloc and mmap, other objects

sub callers_of { my ($call) = @_; return [grep { $source{$_} =~ /(?<![\w.>])$call\(/ } sort keys %source] }

is_deeply(callers_of($_), [], "nobody calls $_")
	for qw(malloc calloc realloc reallocarray free strdup strndup asprintf vasprintf alloca sbrk posix_memalign aligned_alloc);

my %maps = (
	'base/map.c' => 'cp_map() itself',
	'preload/markers/symbols.c' => 'a file, to be read',
	'base/counters/simtool.c' => 'asks whether memory may be code, too, and gives it back',
);
is_deeply(callers_of('mmap'), [sort keys %maps], 'mmap is called for cp_map(), to read files, and to ask');

my %pages = (
	'base/arena.c' => 'blocks of the stores', 'base/out.c' => 'text that is given back at once',
	'base/map.c' => 'its definition', 'base/map.h' => 'its declaration',
	'regions/record_write.c' => 'the record',
	'preload/threads/signal_stack.c' => 'stacks', 'preload/helper.c' => 'stacks',
	'preload/follow.c' => 'a page that a fork child finds empty',
	'preload/given.c' => 'what stays for as long as the process, in one piece',
	'preload/program/layout.c' => 'the same', 'regions/tree_exec.c' => 'what is as large as a record\'s part',
	'preload/program/pinned.c' => 'variables, for as long as the process, at one place in each run',
	'preload/sampling/blocks.c' => 'a table that grows, whose old place is given back',
	'preload/sampling/objects.c' => 'text that is given back at once',
);
is_deeply(callers_of('cp_map'), [sort keys %pages], 'whoever takes pages has a reason');

# Whoever has an arena has said what happens when memory runs out.
my @arenas = grep { $source{$_} =~ /^\s*(?:static )?struct cp_arena \w+\b[^;(*]*;/m } grep { /\.c$/ } sort keys %source;
cmp_ok(scalar(@arenas), '>=', 3, 'the arenas are found');
is_deeply([grep { $source{$_} !~ /\.(?:out_of_memory|give_up)\s*=/ } @arenas], [], 'each arena has a way out');
done_testing();

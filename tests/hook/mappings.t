#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Space of files is taken in one place, base/space.h, and writable mappings of files
# are made in two that call it: a store into another one may be a SIGBUS.
use strict;
use warnings;
use File::Find;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Test::More;

my %takes = map { $_ => 1 } ('base/space.h',
	'base/files/new_file.c',      # gives it back
	'preload/libc/libc.c',       # what libpfm4 may call
	'preload/program/seccomp.c', 'tools/sim/system/hidden_args.c');   # lists of numbers
my %maps = map { $_ => 1 } ('base/map.c', 'base/map.h', 'regions/record_write.c', 'tools/sim/profile/profile_file.c',
	'base/engine/kernel.c', 'base/engine/ring.c',   # perf's pages
	'tools/runs/launch.c');                                      # without a file
my (%seen, %mapped);
find({no_chdir => 1, wanted => sub {
	return unless /\.[ch]$/;
	my $file = $_ =~ s{^\Q@{[source()]}\E/}{}r;
	my $text = read_file($_) =~ s{/\*.*?\*/}{}gsr;
	$seen{$file} = 1 if $text =~ /\b(?:SYS_)?(?:ftruncate|fallocate|posix_fallocate)\b/;
	$mapped{$file} = 1 if $text =~ /MAP_SHARED\b|\bcp_map\([^;]*?,\s*(?!-1)[^,;]*fd\b/s;
}}, map { source() . "/$_" } qw(base preload regions output tools));

is_deeply([sort keys %seen], [sort keys %takes], 'who takes space of files');
is_deeply([sort keys %mapped], [sort keys %maps], 'who maps memory that is shared');
for my $file ('regions/record_write.c', 'tools/sim/profile/profile_file.c') {
	my $text = read_file(source() . "/$file");
	my ($reserve, $map) = (index($text, 'cp_space_reserve('), index($text, $file =~ /sim/ ?
		'SYS_mmap' : 'cp_map(size'));
	ok($reserve >= 0 && $map > $reserve, "$file takes the space before it maps it");
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The library, compiled by clang without a warning: the markers of a program reach it.
# (All of it is compiled so by make check-suites.)
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $clang = which('clang') or plan(skip_all => 'no clang');
my $to = scratch('clang');
my $made = run(command => ['make', '-s', '-j2', '-C', source(), "B=$to", "CC=$clang", 'CFLAGS=-O0', 'CI=1', "$to/libcachepeek.so"]);
is(status_text($made->{status}), 'exit 0', 'make CC=clang') or diag($made->{out}, $made->{err});
unlike($made->{err}, qr/warning|error/, 'and nothing is said');
system('cp', '-r', build() . '/libcachepeek', "$to/") == 0 or die "no libcachepeek\n";

SKIP: {
	skip('the kernel counts no software events here', 2) unless can_count('software');
	my $run = peek(engine => 'perf', preload => "$to/libcachepeek.so", command => [program('region_pages'), 10, 0]);
	is(notes($run), 0, 'nothing to say') or diag(@{$run->{notes}});
	ok(scalar(grep { @{$_->{path}} } @{$run->{report}{regions} || []}), 'a program finds the table of the markers');
}
done_testing();

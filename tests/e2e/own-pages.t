#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The library's code and names are mapped when the program begins: none of its pages is a fault
# of whichever region needs it first.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use POSIX ();
use Test::More;

need_perf();
my ($major, $minor) = (POSIX::uname())[2] =~ /^(\d+)\.(\d+)/;
plan(skip_all => "Linux $major.$minor maps no pages ahead (5.14 does)") if $major < 5 || ($major == 5 && $minor < 14);

my $run = peek(engine => 'perf', events => 'perf::PAGE-FAULTS', command => ['cat', '/proc/self/smaps']);
my (%size, $at);
for (split(/\n/, $run->{out})) {
	$at = m{^[\da-f]+-[\da-f]+ r-[x-]p ([\da-f]+) .*/libcachepeek\.so$} ? $1 : undef if /^[\da-f]+-/;
	$size{$at}{$1} = $2 if defined $at && /^(Size|Rss): +(\d+) kB$/;
}
cmp_ok(scalar(keys %size), '>=', 3, 'code, names and constants');
is($size{$_}{Rss}, $size{$_}{Size}, "at $_: all is there") for sort keys %size;
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The walks of doc/internals.md: each file is there, once in a walk, and is called as the
# walk says by the file that the walk says.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Test::More;

use constant MOST => 25; # files from an event's name to its number, on perf

my %code;
sub code {
	my ($file) = @_;
	return $code{$file} //= -f source() . "/$file" ? read_file(source() . "/$file") =~ s{/\*.*?\*/}{}gsr : '';
}

# Has the file a function of that name, a member of a table, or the request?
sub has {
	my ($file, $name) = @_;
	return code($file) =~ /^(?!\s)[^;{}]*\b\Q$name\E\([^;{}]*\)\n\{|^\s+\.\Q$name\E = \w|\bcase \Q$name\E:/m;
}

# Does the file call it, itself or as a member of a table, or hand it over?
sub calls {
	my ($file, $name) = @_;
	return code($file) =~ /^\s.*\b\Q$name\E\(|^\s.*\(\Q$name\E[,)]/m
		|| $file eq 'output/sink.c' && code('output/formats.h') =~ /^\tX\("\.\w+", \Q$name\E\)/m;
}

my ($text) = read_file(source() . '/doc/internals.md') =~ /^## The way of a count\n(.*?)^No step knows/ms;
my @walks = map { [map { [map { s/^ +| +$|`//gr } (split(/\|/, $_))[1 .. 3]] } grep { /^\| `/ } split(/\n/, $_)] }
	grep { /^\| `/m } split(/^\| file .*\n/m, $text);
is(scalar(@walks), 5, 'five walks');
cmp_ok(scalar(map { @$_ } @walks[0, 1]), '<=', MOST, 'perf: a name comes to its number in ' . MOST . ' files');
for my $walk (@walks) {
	my (%seen, $above);
	for my $step (@$walk) {
		my ($file, $name, $by) = @$step;
		ok(code($file) ne '', "$file: is there");
		ok(!$seen{$file}++, "$file: once");
		if ($above) {
			$by ||= $above;
			ok($seen{$by}, "$file: is called by what came before");
			ok(has($file, $name), "$file: has $name");
			ok(calls($by, $name), "... which $by calls");
		}
		$above = $file;
	}
}

done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# doc/integrations.md names for each integration its page, the file to paste and its test: each
# is there and speaks of it, and each example and page of an integration is named.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Test::More;

my $source = source();
sub text { return read_file("$source/$_[0]") // '' }
sub speaks { my ($file, $word) = @_; return text($file) =~ /\b\Q$word\E/i }

my @rows = map { [map { s/^\s+|\s+$//gr } (split(/\|/, $_, -1))[1 .. 4]] } grep { /^\| / } split(/\n/, text('doc/integrations.md'));
is("@{shift(@rows)}", 'integration page paste tested by', 'a table of four columns');
cmp_ok(scalar(@rows), '>=', 30, 'of many integrations');
for my $row (@rows) {
	my ($name, $page, $paste, $test) = @$row;
	ok(speaks("doc/$page", $name), "$name: doc/$page tells of it");
	like(text('README.md'), qr/\Q(doc\/$page)\E/, "and the README names that page");
	if ($paste) {
		my ($called) = $paste =~ m{([^/]+?)(?:\.in)?$};
		ok(-s "$source/$paste", "$name: $paste is there");
		ok(speaks("doc/$page", $called), "and doc/$page names it");
	}
	if ($test =~ /^not tested: \w/) {
		like(text("doc/$page"), qr/\Q$name\E[^|]*?(?:not\s+at\s+all|in\s+no\s+package)|\Q$name\E\W+not at all/, "$name: the page says that nothing tests it");
	} else {
		ok(speaks($test, $name =~ s/\.rs$//r), "$name: $test has it");
	}
}
my %pasted = map { $_->[2] => 1 } @rows;
is_deeply([grep { !$pasted{$_} && !/(?:\.c|\.cc|README\.md)$/ } map { s{^\Q$source\E/}{}r } sort glob("$source/examples/*")], [],
	'each example that is no program is one of them');
my %made = map { $_ => 1 } grep { /\.in$/ } keys %pasted;
my @recipes = split(/\n/, run(command => ['find', "$source/packaging", '-name', '*.in'])->{out});
is_deeply([grep { !$made{$_} && !/dockerignore|build\.sh/ } map { s{^\Q$source\E/}{}r } sort @recipes], [], 'and each recipe');
done_testing();

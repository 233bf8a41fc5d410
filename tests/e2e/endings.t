#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The ending of an output picks its format, in each command: what none of its formats ends
# in is refused before anything runs, in one line that names those that can be written.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $document = '.txt, .json, .csv or .html';
my @commands = (
	[[qw(report run)], 'the ending picks the format: use .txt, .trace.json, .json, .csv, .html or .prom'],
	[[qw(run --)], 'the ending picks the format: use .txt, .trace.json, .json, .csv, .html or .prom'],
	[[qw(run --repeat 2)], "use -, stderr, or a file that ends in $document"],
	[[qw(run --confirm -m zen4)], "use -, stderr, or a file that ends in $document"],
	[['compare', '--machines', 'zen4,skylake-sp'], "use -, stderr, or a file that ends in $document"],
	[[qw(diff a b)], "use -, stderr, or a file that ends in $document"],
	[[qw(diff --call-paths a b)], 'use -, stderr, or a file that ends in .txt, .json, .html or .folded'],
	[[qw(gate a b)], 'use -, stderr, or a file that ends in .txt, .html, .md, .xml or .sarif'],
	(map { [[$_], 'use -, stderr, or a file that ends in .txt, .speedscope.json, .json, .csv, .html, .callgrind, .folded, .pprof or .pb.gz'] }
		qw(dcache dtlb icache)),
	[['sharing'], 'use -, stderr, or a file that ends in .txt, .json or .html'],
	[[qw(annotate a.c)], 'use -, stderr, or a file that ends in .txt or .html'],
);
for (@commands) {
	my ($command, $expected) = @$_;
	my ($name, @arguments) = @$command;
	@arguments = grep { $_ ne '--' } @arguments;
	my $touched = scratch('touched');
	my @program = $name =~ /^(report|diff|gate)$/ ? () : ('touch', $touched);
	my $run = run(command => [cli(), $name, '-o', 'x.pdf', @arguments, @program]);
	is($run->{status} >> 8, 2, "@$command: refused");
	like($run->{err}, qr/^cachepeek: (?:[^\n]*: )?output x\.pdf: \Q$expected\E\n\z/, '... in one line with what can be written');
	ok(!-e $touched, '... and nothing has run');
}
done_testing();

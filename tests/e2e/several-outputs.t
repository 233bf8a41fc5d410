#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Several -o, or names with commas between: each is written, by every command.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $kept = scratch('kept');

sub written
{
	my ($what, $outputs, @command) = @_;
	unlink(@$outputs);
	my $run = run(command => [cli(), @command], env => {CACHEPEEK_ENGINE => 'sim'});
	is_deeply([grep { !-s $_ } @$outputs], [], "$what: all are written") || diag($run->{err});
	for my $output (grep { /\.json$/ && -s $_ } @$outputs) {
		ok(eval { decode_json(read_file($output)) }, "$what: the JSON is JSON");
	}
	for my $output (grep { /\.txt$/ && -s $_ } @$outputs) {
		unlike(read_file($output), qr/^[\[{]/, "$what: the text is text");
	}
}

my @program = (program('matmul'));
my ($json, $text, $csv, $html, $more) = map { scratch("a.$_") } qw(json txt csv html more.txt);
written('dcache', [$json, $text], 'dcache', '-d', $kept, '-o', $json, '-o', $text, @program);
written('dcache of a run', [$json, $text, $csv, $html], 'dcache', '-d', $kept, '-o', "$json,$text", '-o', "$csv,$html");
written('annotate', [$text, $html], 'annotate', '-d', $kept, '-o', $text, '-o', $html, 'matmul.c');
written('compare', [$json, $text, $csv], 'compare', '-m', 'zen3', '-o', $json, '-o', "$text,$csv", @program);
written('sharing', [$json, $text], 'sharing', '-o', $json, '-o', $text, @program);
written('run', [$json, $text], '-o', $json, '-o', $text, @program);

for my $command ('dcache', 'sharing', 'compare -m zen3', 'annotate -p dcache') {
	my $ran = scratch("ran");
	unlink($ran);
	my $run = run(command => [cli(), split(' ', $command), '-o', $more, '-o', scratch('nonesuch/no.doc'),
		($command =~ /annotate/ ? 'matmul.c' : ()), which('touch'), $ran]);
	next if $command =~ /compare/; # any ending is text there
	is(status_text($run->{status}), 'exit 2', "$command: an ending that none of them has");
	ok(!-e $ran, "$command: before anything runs");
}
done_testing();

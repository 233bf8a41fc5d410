#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A daemon's children live on after the program has ended and reported.  They are counted where
# the run's directory stays; where somebody removes it, one line says what happened, however
# many come.
use strict;
use warnings;
use File::Path qw(remove_tree);
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my ($go, $children) = (scratch('go'), 5);

# Returns what the program and its daemon say; between, when the program has ended and the
# daemon has begun, is called.
sub serve
{
	my ($engine, $directory, $between) = @_;
	my $said = scratch('said');
	my %env = (LD_PRELOAD => lib(), CACHEPEEK_ENGINE => $engine, CACHEPEEK_DIR => $directory, CACHEPEEK_OUTPUT => scratch('d.json'),
		CACHEPEEK_EVENTS => $engine eq 'perf' ? 'perf::PAGE-FAULTS' : 'instructions');
	mkdir($directory, 0700);
	my $run = run(command => ['sh', '-c', 'exec "$0" "$@" 2>"$SAID"', program('daemon_children'), $go, $children], env => {%env, SAID => $said});
	is($run->{status}, 0, "$engine: the program ends");
	ok(wait_until(sub { -e "$go.begun" }), "$engine: the daemon has begun");
	$between->();
	open(my $file, '>', $go) or die;
	close($file);
	ok(wait_until(sub { !-e $go }), "$engine: the daemon has had its children");
	return read_file($said);
}

for my $engine (qw(perf sim)) {
SKIP: {
	skip('perf: the kernel counts no software events here', 1)
		if $engine eq 'perf' && !can_count('software');
	my $directory = scratch("run-$engine");
	is(serve($engine, $directory, sub {}), '', "$engine: nothing to say");
	my @records = glob("$directory/*.rec");
	ok(@records >= 2, "$engine: the daemon has a record after the program's end") or diag("@records");
	remove_tree($directory);
	my $said = serve($engine, $directory, sub { remove_tree($directory) });
	like($said, qr/\Acachepeek: \Q$directory\E was removed while processes of the run go on: process \d+ is not counted, nor are those that come after it\n\z/,
		"$engine: a directory that was removed is said to be, once");
	mkdir($directory, 0700);
	my $run = run(command => ['rm', '-r', $directory], env => {LD_PRELOAD => lib(), CACHEPEEK_ENGINE => $engine, CACHEPEEK_DIR => $directory,
		CACHEPEEK_OUTPUT => scratch('d.json'), CACHEPEEK_EVENTS => $engine eq 'perf' ? 'perf::PAGE-FAULTS' : 'instructions'});
	is($run->{err}, "cachepeek: no report: $directory was removed before the program ended\n", "$engine: a program that removes it itself has one line");
}
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Each kind of page, light and dark, wide and narrow, before axe-core, which tries the rules of
# WCAG that a program can try.  It comes from npm, once, into the build directory.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Browser;
use Npm;
use Peek;
use Test::More;

plan(skip_all => no_browser()) if no_browser();
my ($package, $why_not) = npm_package('axe-core', '4.14.1');
plan(skip_all => $why_not) unless $package;
my $axe = "$package/axe.min.js";

my @pages;
sub page
{
	my ($name, %run) = @_;
	my $file = scratch("$name.html");
	my $run = run(%run, command => [cli(), map { s/^PAGE$/$file/r } @{$run{command}}]);
	ok(-s $file, "$name: a page") or diag($run->{err});
	push(@pages, $file);
}

my @program = (program('profiled'), qw(load store thread data));
page('run', command => ['-E', 'sim', '-g', 'cache,tlb', '--sweep', 'L2.size=64K..8M', '-o', 'PAGE', program('region_threads')],
	env => {CACHEPEEK_INTERVAL => '20ms', CACHEPEEK_WORKING_SET => 100000});
page('compare', command => ['compare', '-m', 'zen3,core2duo', '-o', 'PAGE', program('region_nested')]);
page('profile', command => ['dcache', '-m', 'zen3', '--sharing', '--call-paths', '-o', 'PAGE', @program]);
run(command => [cli(), 'dcache', '-m', 'zen3', '--call-paths', '-o', scratch('before.json'), program('profiled'), 'load']);
run(command => [cli(), 'dcache', '-m', 'zen3', '--call-paths', '-o', scratch('after.json'), @program]);
page('paths', command => ['diff', '--call-paths', '-o', 'PAGE', scratch('before.json'), scratch('after.json')]);
page('annotate', command => ['annotate', '-m', 'zen3', '-o', 'PAGE', 'profiled.c', @program]);
page('sharing', command => ['sharing', '-m', 'zen3', '--quantum', 100, '-o', 'PAGE', program('sharing'), 'false', 3000]);
for my $side (['one', 'region_threads'], ['other', 'region_nested']) {
	run(command => [cli(), '-E', 'sim', '-g', 'cache', '-o', scratch("$side->[0].json"), program($side->[1])]);
}
page('repeat', command => ['--repeat', 2, '-E', 'sim', '-g', 'cache', '-o', 'PAGE', program('region_threads')]);
page('confirm', command => ['--confirm', '-m', 'skylake-sp', '-o', 'PAGE', program('region_threads')]);
page('diff', command => ['diff', '--fail-if', 'l1d_mpki<1000', '-o', 'PAGE', scratch('one.json'), scratch('other.json')]);

ok_browser(13 * @pages, 'check_axe.py', $axe, @pages);
done_testing();

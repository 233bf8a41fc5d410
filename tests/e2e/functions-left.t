#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Functions that exit() leaves open: nobody forgot an END there, and nobody is told so.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $source = write_file(scratch('leaves.c'), <<'C');
#include <stdlib.h>
#include "cachepeek.h"
__attribute__((noinline, noclone)) void finish(int marked)
{
	if (marked)
		CACHEPEEK_BEGIN("marked");
	exit(0);
}
int main(int argc, char **argv) { (void)argv; finish(argc > 1); return 1; }
C
my $exe = scratch('leaves');
sub compiled { return run(command => ['gcc', @_, '-I' . source() . '/regions', '-o', $exe, $source]) }

for my $case (['-finstrument-functions', ['-O0', '-finstrument-functions'], engine => 'perf', events => 'perf::PAGE-FAULTS'],
	['func:', ['-O1'], engine => 'sim', events => 'instructions', env => {CACHEPEEK_REGIONS => 'func:main,func:finish'}]) {
	my ($what, $flags, @how) = @$case;
	is(status_text(compiled(@$flags)->{status}), 'exit 0', "$what: compiles");
	my $quiet = peek(@how, command => [$exe]);
	my @paths = sort map { join('/', @{$_->{path}}) } @{$quiet->{report}{regions}};
	is_deeply(\@paths, ['', 'main', 'main/finish'], "$what: functions are regions") or diag("@paths");
	is_deeply($quiet->{report}{warnings}, [], "$what: exit() inside them is no mistake");
	my $marked = peek(@how, command => [$exe, 1]);
	is_deeply([map { s/ was open.*//r } @{$marked->{report}{warnings}}], ['region marked'],
		"$what: a marker without its END is one") or diag(explain($marked->{report}{warnings}));
}
done_testing();

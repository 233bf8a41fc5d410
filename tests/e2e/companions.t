#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Objects that the constructor loads come before libc is initialised: libc knows the program's
# name and environment all the same, in every image of a process.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

need_perf();
my $source = write_file(scratch('names.c'), <<'C');
#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
	const char *value = getenv("WORD");
	printf("%s %d %s\n", program_invocation_short_name, environ != NULL, value ? value : "-");
	fflush(stdout);
	if (argc > 1)
		execve(argv[0], (char *[]){argv[0], NULL}, environ);
	error(3, 0, "the end");
}
C
my $names = scratch('names');
is(system('gcc', '-D_GNU_SOURCE', '-o', $names, $source), 0, 'a program that says what libc knows');
my $plain = run(command => [$names, 'again'], env => {WORD => 'kept'});
is($plain->{out}, "names 1 kept\n" x 2, 'alone');
for (['encoder.so', 'skx::NO_SUCH_EVENT,page-faults', ''], ['patcher.so', 'perf::PAGE-FAULTS', 'func:main'],
	['both', 'page-faults', 'func:main']) {
	my ($what, $events, $regions) = @$_;
	my $run = peek(engine => 'perf', events => $events, command => [$names, 'again'],
		env => {WORD => 'kept', CACHEPEEK_REGIONS => $regions});
	is_deeply([@$run{qw(out status)}, $run->{err} =~ s/^\S+names: //r], [@$plain{qw(out status)}, $plain->{err} =~ s/^\S+names: //r],
		"$what: the same");
	ok($run->{report}, "$what: and there is a report");
}
done_testing();

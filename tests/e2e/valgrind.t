#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Programs that the user runs under a tool of Valgrind: it works as without us.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $valgrind = which('valgrind') or plan(skip_all => 'no valgrind');

my $source = write_file(scratch('defect.c'), <<'C');
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	char *block = malloc(10);
	(void)argv;
	puts("ran");
	return argc > 1 && block[10] == 77 ? 1 : 3;
}
C
my $defect = scratch('defect');
run(command => ['gcc', '-g', '-O0', '-w', '-o', $defect, $source])->{status} == 0
	or plan(skip_all => 'no compiler');

# Without what differs from run to run.
sub findings
{
	my ($run) = @_;
	my @lines = $run->{err} =~ /^==\d+== ((?:Invalid|Conditional|HEAP|definitely).*)/mg;
	return join(' ', status_text($run->{status}), $run->{out} =~ s/\n/ /gr, @lines);
}

my @memcheck = ($valgrind, '-q', '--error-exitcode=9');
my $alone = plain(command => [@memcheck, $defect, 'x']);
like(findings($alone), qr/^exit 9 ran .*Invalid read/, 'memcheck alone: finds the defect');

for my $command ([@memcheck, $defect], [@memcheck, $defect, 'x'],
	[$valgrind, '-q', '--tool=none', '--trace-children=yes', 'sh', '-c', "$defect; exec $defect"]) {
	my $what = join(' ', map { s{.*/}{}r } @$command);
	my $plain = plain(command => $command);
	for my $engine ((can_count('software') ? 'perf' : ()), 'sim') {
		my $run = peek(engine => $engine, command => $command);
		is(findings($run), findings($plain), "$engine: $what: as alone") or diag($run->{err});
		if ($engine eq 'perf') {
			is(notes($run), 0, "$engine: $what: nothing to say");
			like("@{$run->{report}{warnings}}", qr/runs under Valgrind: perf counts the work of both/,
				"$engine: $what: the report says what was counted");
			next;
		}
		ok(notes($run), "$engine: $what: it says");
		like($_, qr/is not counted: it runs under Valgrind, in which/, "$engine: $what: why nothing is counted")
			for @{$run->{notes}};
		is(notes($run), 1, "$engine: $what: one line") unless $what =~ /trace-children/;
	}
}

# By the command, as well.
my $run = plain(command => [cli(), '--engine', 'sim', @memcheck, $defect, 'x']);
is(findings($run), findings($alone), 'the command: as alone');
like($run->{err}, qr/is not counted: it runs under Valgrind, in which/, 'the command: it says why');

done_testing();

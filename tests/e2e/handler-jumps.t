#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Signal handlers that interrupt the beginning or end of a region, and leave by siglongjmp: what
# is not counted from there on is said, and the program's fatal signals do not wait for ever.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @command = (program('handler_jumps'), 200);
my $plain = plain(command => \@command);
is(status_text($plain->{status}), 'signal 15', 'alone: the program');

for my $engine (grep { !why_not($_) } qw(perf sim)) {
	my $run = peek(engine => $engine, command => \@command, env => {CACHEPEEK_DIR => scratch($engine)});
	my $report = $run->{report} || kept_report(scratch($engine));
	is($run->{out}, $plain->{out}, "$engine: same output");
	is(status_text($run->{status}), 'signal 15', "$engine: SIGTERM ends it");
	my $after = region($report, 'after');
	my $said = grep { /regions of a thread are counted up to where a signal handler left .* by longjmp/ } @{$report->{warnings}};
	ok($said || $after && $after->{calls} == 1000, "$engine: what is not counted is said")
		or diag(explain($after), join("\n", @{$report->{warnings}}));
}
done_testing();

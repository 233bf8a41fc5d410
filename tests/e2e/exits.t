#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# However a process ends: its status is its own, and the report says which.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

# Ends that a library can hardly catch: the records are there, and a later process
# makes the report.
my %unseen = map { $_ => 1 } qw(kill exit_group abort segv term);

for my $engine (qw(perf sim)) {
	SKIP: {
		skip("$engine: " . why_not($engine), 1) if why_not($engine);
		for my $how (qw(return exit _exit _Exit quick_exit thread pthread_exit atexit
			exit_group abort segv term handled kill exec fork vfork)) {
			my %run = (engine => $engine, command => [program('exits'), $how]);
			my $plain = plain(%run);
			my $directory = scratch("dir-$engine-$how");
			mkdir($directory, 0700) or die;
			my $with = peek(%run, env => {CACHEPEEK_DIR => $directory});

			is(status_text($with->{status}), status_text($plain->{status}),
				"$engine, $how: same status");
			is($with->{out}, $plain->{out}, "$engine, $how: same output");
			my $report = $with->{report};
			$report = kept_report($directory) if !$report && $unseen{$how};
			ok($report, "$engine, $how: a report") or next;
			my $process = root_process($report);
			if ($how eq 'kill') {
				is($process->{exit}{how}, 'unknown', "$engine, $how: not what ended it");
				ok(!defined $process->{exit}{code}, "$engine, $how: no code is made up");
			} else {
				ok_exit($process, $plain->{status}, "$engine, $how");
			}
			ok(scalar(@{$process->{threads}}), "$engine, $how: its thread is there");
		}
	}
}

done_testing();

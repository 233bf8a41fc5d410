#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A program may do what it likes with its memory: what the library was shown there at
# the start it does not look for later.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

# So that whole pages hold nothing but strings.
my %padding = (PADDING => 'p' x 100_000);
my %pages = (parent => 100, child => 300, thread => 200, leaf => 2 * 400);

sub counts
{
	my ($report, $name) = @_;
	return join(' ', map { "$_=" . (value(region($report, $_), $name) // 'none') } sort keys %pages);
}

sub how_it_ended
{
	my ($report) = @_;
	return join(' ', sort map { "$_->{exit}{how}=" . ($_->{exit}{code} // '') } leaves($report));
}

for my $engine ((can_count('software') ? 'perf' : ()), 'sim') {
	my $event = $engine eq 'perf' ? 'perf::PAGE-FAULTS' : 'l1d_stores';
	my %expected;
	for my $what (qw(nothing shortened pointers strings unmapped variable library)) {
		my @command = (program('scribble'), $what, '--third');
		my $plain = plain(command => \@command, env => {%padding});
		my $run = peek(engine => $engine, events => $event, command => \@command, env => {%padding});
		my $report = $run->{report};
		my $first = $what eq 'library' ? "calls of its own tool: some\n" x 3 : '';
		is($run->{out}, "${first}fork 700\nexec 500\nspawn 500\n", "$engine, $what: what became of its children");
		is($run->{out}, $plain->{out}, "$engine, $what: as without the library");
		is($run->{err}, '', "$engine, $what: nothing on stderr");
		is(status_text($run->{status}), status_text($plain->{status}), "$engine, $what: same status");
		is(notes($run), 0, "$engine, $what: nothing to say") or diag(@{$run->{notes}});
		is_deeply($report->{command}, \@command, "$engine, $what: its command line as it was given");
		is(how_it_ended($report), 'exit=3 exit=5 exit=5 exit=7', "$engine, $what: how each process ended");
		if ($what eq 'library') {
			my $region = region($report, 'of a tool', 'of a library');
			is($region->{calls}, 3, "$engine, $what: the library's region");
			my $count = value($region, $event);
			# Stores of the marker itself are among those of sim.
			ok($count >= 150 && $count < ($engine eq 'perf' ? 151 : 180), "$engine, $what: its pages") or diag($count);
		}
		my $counts = counts($report, $event);
		if ($engine eq 'perf') {
			is($counts, join(' ', map { "$_=$pages{$_}" } sort keys %pages), "perf, $what: exact counts");
		} else {
			$expected{$engine} //= $counts;
			is($counts, $expected{$engine}, "$engine, $what: the same counts");
		}
	}
}

done_testing();

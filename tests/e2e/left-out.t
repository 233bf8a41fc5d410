#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_REGIONS leaves regions out: what is counted in the others is what it is without the
# filter, in whatever way regions are nested, also where ends have no names.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

need_perf();

# {path => [calls, pages]} of regions, as the steps say: pages between begin and end.
sub expected
{
	my ($steps, $left) = @_;
	my (@open, %regions);
	for my $step (split(//, $steps)) {
		if ($step eq '.') {
			pop(@open);
		} else {
			push(@open, $step);
			my @counted = grep { !$left->{$_} } @open;
			$regions{join('/', @counted)}[0]++ unless $left->{$step};
		}
		my @counted = grep { !$left->{$_} } @open;
		$regions{join('/', @counted[0 .. $_])}[1]++ for 0 .. $#counted;
	}
	return \%regions;
}

sub counted
{
	my ($steps, $filter) = @_;
	my $run = peek(engine => 'perf', events => 'page_faults', command => [program('marks_left_out'), $steps],
		env => {CACHEPEEK_REGIONS => $filter});
	diag("@{$run->{notes}}") if @{$run->{notes}};
	return {map { join('/', @{$_->{path}}) => [$_->{calls}, $_->{counts}{page_faults}{value}] }
		grep { @{$_->{path}} } @{$run->{report}{regions}}};
}

for my $steps ('as..', 'as.x..', 'sa..', 'sasa....', 'ssa.a..a.', 'asta.s....', 'a' . 's.' x 5 . '.', 's' x 100 . 'a.' . '.' x 100 . 'a.', 'a' . 's' x 100 . '.' x 100 . '.a.') {
	for my $filter ('!s,!t', 'a', '!x,!s') {
		my %left = map { $_ => 1 } $filter eq 'a' ? qw(s t x) : $filter =~ /(\w)/g;
		is_deeply(counted($steps, $filter), expected($steps, \%left), length($steps) < 20 ? "$steps, $filter" : 'a hundred, ' . $filter);
	}
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Each interface for markers, in a program whose other thread marks while it forks, and
# whose signal handler marks while it marks: nothing hangs, here and in 20 children.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

# The interface, and what its first region is called.
my %first = (own => 'n0', itt => 'n0', nvtx => 'n0', kokkos => 'n0', caliper => 'n0', perfstubs => 'n0', tau => 'n0',
	scorep => 'n0', likwid => 'n0', papi => 'n0', extrae => '1000=1', functions => 'main');

sub ok_hammered {
	my ($interface, $how, $engine, %env) = @_;
	my $what = "$interface, $how, $engine" . join('', map { ", $_=$env{$_}" } sort keys %env);
	my $run = peek(command => [program('hammer'), $interface, $how], engine => $engine,
		events => $engine eq 'sim' ? 'instructions' : undef, env => \%env);
	is($run->{out}, $how eq 'fork' ? "0 children of 20 bad\n" : "0 of 1 bad\n", "$what: nothing hangs") or diag($run->{err});
	is(status_text($run->{status}), 'exit 0', "$what: it ends");
	my $first = region($run->{report}, $first{$interface});
	cmp_ok(($first || {calls => 0})->{calls}, '>=', 1, "$what: it is counted")
		or diag($run->{err});
}

SKIP: {
	skip('perf_event counts nothing here', 1) unless can_count('software');
	for my $interface (sort keys %first) {
		ok_hammered($interface, $_, 'perf') for qw(fork signal);
	}
	is(peek(command => [program('fork_in_walk')], engine => 'perf')->{out}, "the child walked\n",
		'a fork while a marker walks through the loaded objects: the child does so, too');
	ok_hammered('itt', 'fork', 'perf', CACHEPEEK_CHILDREN => 'ignore');
	ok_hammered('nvtx', 'fork', 'perf', CACHEPEEK_INTERVAL => 1);
}
ok_hammered('itt', 'signal', 'sim');
done_testing();

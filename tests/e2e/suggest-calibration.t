#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Latencies that are assumed of this host can be measured: a report that ranks by them says so, once.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $empty = scratch('config');
mkdir($empty);
my $wants = qr/`cachepeek\s+doctor\s+--calibrate`\s+measures\s+them/;

# How often it is said, where latencies are assumed, and whether they are.
sub said
{
	my ($machine, $groups) = @_;
	my $run = run(command => [cli(), '-E', 'sim', '-m', $machine, '-g', $groups, program('region_pages')],
		env => {XDG_CONFIG_HOME => $empty});
	my $times = () = $run->{err} =~ /$wants/g;

	return ($times, $run->{err} =~ /L2_CYCLES\s+\d+\s+\(assumed\)/ ? 1 : 0);
}

SKIP: {
	my ($times, $assumed) = said('host', 'cache');

	skip('this host is known', 2) unless $assumed;
	is($times, 1, 'a cost by assumed latencies');
	is((said('host', 'cache,time'))[0], 1, 'the reason that there is no time says it already');
}
is((said('zen4', 'cache'))[0], 0, 'another machine');
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The levels that served the references, and their costs, add up on every machine: with and
# without L2 and L3, inclusive and exclusive, in each region.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @machines = map { s{.*/}{}r =~ s/\.machine$//r } sort glob(source() . '/base/machines/*.machine');
cmp_ok(scalar(@machines), '>', 20, 'machines');

sub metrics { my ($region) = @_; return {map { $_ => $region->{metrics}{$_}{value} } keys %{$region->{metrics}}} }

for my $machine (@machines) {
	my $run = peek(engine => 'sim', machine => $machine, groups => 'cache', command => [program('phases_of_threads'), 3, 2]);
	my $regions = $run->{report}{regions};
	my (@served, @costs);
	for my $region (@$regions) {
		my $m = metrics($region);
		my @shares = grep { defined } @$m{qw(served_l1 served_l2 served_l3 served_memory)};
		my @parts = grep { defined } @$m{qw(cost_l2 cost_l3 cost_memory cost_code cost_walks cost_sharing)};
		my ($served, $cost) = (0, 0);
		$served += $_ for @shares;
		$cost += $_ for @parts;
		push(@served, "@{$region->{path}}: $served") if @shares < 2 || abs($served - 1) > 1e-6;
		push(@costs, "@{$region->{path}}: $cost, $m->{miss_cost}") if !defined $m->{miss_cost} || abs($cost - $m->{miss_cost}) > 1e-3;
	}
	cmp_ok(scalar(@$regions), '>', 3, "$machine: regions");
	is("@served", '', "$machine: every reference is served once");
	is("@costs", '', "$machine: the cost is that of its parts");
}
done_testing();

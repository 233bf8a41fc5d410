#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The laws of Laws.pm on each machine that is shipped, with every count that they speak
# of: a program that sorts, on MACHINE_LAWS=all with ten million references and more.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $all = ($ENV{MACHINE_LAWS} // '') eq 'all';
my $lines = $all ? 60_000 : 600;
my $text = write_file(scratch('text'), join('', map { ($_ * 2654435761 % 1000003) . " line\n" } 1 .. $lines));
my @machines = map { s{.*/}{}r =~ s/\.machine$//r } sort glob(source() . '/base/machines/*.machine');
my @names = Laws::names();

cmp_ok(scalar(@machines), '>=', 20, 'machines');
for my $machine (@machines) {
	my $run = peek(engine => 'sim', machine => $machine, events => join(',', @names), command => ['/usr/bin/sort', $text], env => {LC_ALL => 'C'});
	is(status_text($run->{status}), 'exit 0', "$machine: sorted") or diag($run->{err});
	is_deeply([Laws::broken($run->{report})], [], "$machine: the laws");
	my $counts = $run->{report}{regions}[0]{counts};
	my @known = grep { defined $counts->{$_} && defined $counts->{$_}{value} } @names;
	cmp_ok(scalar(@known), '>=', 20, "$machine: of many counts");
	cmp_ok($counts->{l1d_accesses}{value}, '>=', $all ? 1e7 : 1e5, "$machine: of many references");
}
done_testing();

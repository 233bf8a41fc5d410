#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Features that CPUID tells can be executed, also under the simulator, whose CPU is not the host's.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use POSIX qw(uname);
use Test::More;

plan(skip_all => 'instructions of x86-64') unless (uname())[4] eq 'x86_64';

my @command = (program('cpuid_claims'));
for my $run (plain(command => \@command), peek(engine => 'sim', events => 'instructions', command => \@command)) {
	my $how = $run->{report} ? 'sim' : 'alone';
	is(status_text($run->{status}), 'exit 0', "$how: its status");
	like($run->{out}, qr/^sse2 works$/m, "$how: features are tried");
	is(join('', grep { !/ works$/ } split(/^/, $run->{out})), '', "$how: all that CPUID says is there");
}
done_testing();

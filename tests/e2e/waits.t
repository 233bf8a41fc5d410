#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A call that waits lets the other threads run, who may be those that end its waiting.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $alone = run(command => [program('waits')]);
is(status_text($alone->{status}), 'exit 0', 'alone');
# A call that does not wait alone is not there, or may not be used here.
my %absent = map { $_ => 1 } $alone->{out} =~ /^(\S+): did not wait$/gm;
for my $way ($alone->{out} =~ /^(\w+)/gm) {
	SKIP: {
		skip "no $way here", 1 if $absent{$way};
		my $run = peek(engine => 'sim', events => 'instructions', command => [program('waits'), $way]);
		is("$run->{out}$run->{status}", "$way\n0", "sim: $way");
	}
}
done_testing();

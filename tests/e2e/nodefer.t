#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Handlers with SA_NODEFER: what they block while they run, and what is blocked after
# them, is what it is alone.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $alone = run(command => [program('nodefer')]);
is($alone->{out}, <<'END', 'alone');
handler: 1 12 14
handler: 1 12 14
after the second: 1 12 14
handler: 1 12 14 15
after: 1 14
handler: 1 14 15
handler: 1 3 14
handler: 1 14 15
end: 1 14
END
for my $engine (qw(perf sim)) {
	my $run = peek(engine => $engine, command => [program('nodefer')]);
	is($run->{out}, $alone->{out}, "$engine: the same masks");
	is(status_text($run->{status}), 'exit 0', "$engine: and its status");
}
done_testing();

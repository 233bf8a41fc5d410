#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# System calls that count the elements of an array answer as alone, also beyond what the kernel takes
# and beyond the program's own limit of files; where Valgrind's core stops at what it does not expect,
# one line says so.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @command = (program('counted_calls'));
my $alone = plain(command => \@command);
like($alone->{out}, qr/ppoll.*, 16: 0\n.*ppoll.*, 17: EINVAL$/m, 'alone: as many as its limit of files');
for my $engine ((can_count('software') ? 'perf' : ()), 'sim') {
	my $run = peek(engine => $engine, command => \@command);
	is($run->{out}, $alone->{out}, "$engine: the same answers");
	is(status_text($run->{status}), 'exit 0', "$engine: status");
	is("@{$run->{notes}}", '', "$engine: nothing to say");
}

# ---- the core stops ----

my ($tool) = glob(build() . '/libcachepeek/cachepeek-*-linux');
my ($panic) = `nm $tool` =~ /^(\S+) T __wrap_vgPlain_core_panic$/m;
my @endless = ('perl', '-e', '$| = 1; alarm(60); print "$$\n"; 1 while 1');
my $run = run(command => [program('stopped_core'), $panic, cli(), '-E', 'sim', '-o', scratch('stopped.json'), @endless]);
SKIP: {
	skip('ptrace is not allowed here', 2) if $run->{err} =~ /stopped_core: Operation not permitted/;
	is(status_text($run->{status}), 'exit 1', 'the core stops: the status it has');
	like($run->{err}, qr/^cachepeek: the simulator cannot go on \(by test\): the program ends here, with status 1; count it with CACHEPEEK_ENGINE=perf$/m,
		'the core stops: one line');
}
done_testing();

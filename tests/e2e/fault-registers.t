#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A program's handler of a fault finds the registers as they are at that instruction, and the
# code goes on with them: in the simulator, too, which leaves out writes of registers that
# nobody looks at.  It is told of the signal what the kernel tells.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @samples = (undef, 'fast');

for my $sample (@samples) {
	local $ENV{CACHEPEEK_SAMPLE} = $sample if $sample;
	for my $how (qw(first late raw)) {
		my $run = peek(engine => 'sim', command => [program('fault_registers'), $how]);
		my $name = ($sample // 'in full') . ", $how";

		is($run->{out}, "111 1111\n222 1222\n333 1333\n", "$name: the handler's registers");
		is($run->{status}, 0, "$name: the status");
	}
}

# ---- what it is told ----

for my $how ([], ['late']) {
	my @command = (program('raised'), @$how);
	my $alone = run(command => \@command);

	is(peek(engine => 'sim', command => \@command)->{out}, $alone->{out}, join(' ', 'signals of instructions are told as alone', @$how));
}

SKIP: {
	skip('the simulator was built without its table of encodings (libzydis-dev)', 2) if !-e '/usr/include/Zydis/Zydis.h';
	skip('x86-64 has these', 2) if run(command => ['uname', '-m'])->{out} !~ /x86_64/;
	my @command = (program('raised'), 'hosted');
	my ($alone, $with) = map { $_->{out} } run(command => \@command), peek(engine => 'sim', command => \@command);

	# The kernel may have no such page.
	s/^between.*\n//m for $alone =~ /^between.*code 128/m ? () : ($alone, $with);
	cmp_ok(scalar(() = $alone =~ /\n/g), '>', 10, 'instructions of the processor');
	is($with, $alone, 'as the processor has them');
}

# cachepeek-differences(7)
SKIP: {
	skip('x86-64 has segments', 3) if run(command => ['uname', '-m'])->{out} !~ /x86_64/;
	my $run = peek(engine => 'sim', command => [program('raised'), 'lacking']);

	like($run->{out}, qr/^jump to a bad address: signal 11, code 128, trap 13, address 0\n/m, 'a jump to no address has no place in the page');
	is_deeply([grep { !/: signal 4, code 2, |^jump/ } split(/\n/, $run->{out})], [], 'no instructions about segments');
	is(scalar(grep { /no instructions about segments/ } @{$run->{notes}}), 1, 'one line says so');
}
SKIP: {
	skip('instructions of x86', 4) unless `uname -m` =~ /x86_64/;
	my $rare = program('rare_instructions');
	like(run(command => [cli(), '-E', 'sim', $rare, $_])->{err}, qr/^cachepeek: the simulated PMU has no CLZERO, RDPRU, XSAVEC and MOVDIR64B: /m, "$_: a line")
		for qw(clzero rdpru xsavec movdir64b);
}
SKIP: {
	skip('frames of x86', 4) unless `uname -m` =~ /x86_64/;
	for my $where (qw(nothing end zeros)) {
		my $run = peek(engine => 'sim', command => [program('own_frames'), $where]);
		is($run->{out}, "11\n", "a return from a signal that was none: $where");
		next if $where ne 'zeros';
		is(scalar(grep { /returns \(rt_sigreturn\) from frames only that it made/ } @{$run->{notes}}), 1, 'a line');
	}
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# System calls that Valgrind does not know: the kernel's answers, for those that wait, too.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $plain = plain(command => [program('newer_calls')]);
is(status_text($plain->{status}), 'exit 3', 'alone: its status');
for my $engine ((can_count('software') ? 'perf' : ()), 'sim') {
	my $run = peek(engine => $engine, command => [program('newer_calls')]);
	is($run->{out}, $plain->{out}, "$engine: what the kernel says");
	is($run->{err}, $plain->{err}, "$engine: same errors");
	is(status_text($run->{status}), 'exit 3', "$engine: same status");
	is(notes($run), 0, "$engine: nothing to say") or diag(@{$run->{notes}});
	ok($run->{report}, "$engine: a report");
}

# Calls that the simulator lacks.
SKIP: {
	skip('other numbers elsewhere', 4) unless `uname -m` =~ /x86_64/;
	my %missing = (userfaultfd => 323, remap_file_pages => 216, modify_ldt => 154, map_shadow_stack => 453, uretprobe => 335, uprobe => 336);
	my $run = run(command => [cli(), '-E', 'sim', 'perl', '-e', 'for (1, 2) { syscall($_, 1, 0, 0, 0, 0) for @ARGV }', values %missing]);
	my @told = $run->{err} =~ /^cachepeek: the simulated PMU has no (\w+): it fails \(ENOSYS\)/mg;
	is_deeply([sort @told], [sort keys %missing], 'one line about each that is missing');
	my %asked = ('into a control group' => '0x200000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 3', 'with a chosen ID' => '0, 0, 0, 0, 17, 0, 0, 0, 1, 1, 0',
		'of a plain child' => '0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0');
	for my $what (sort keys(%asked)) {
		my $err = run(command => [cli(), '-E', 'sim', 'perl', '-e', "my \$given = pack('Q11', $asked{$what}); syscall(435, \$given, 88) for 1, 2"])->{err};
		is(scalar(() = $err =~ /^cachepeek: the simulated PMU has no clone3 into a control group or with a chosen ID: /mg), $what =~ /plain/ ? 0 : 1, "clone3 $what");
	}
}
done_testing();

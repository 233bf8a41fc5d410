#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# clone(2) with every flag that may be given alone or with memory: the same child as alone, or
# an error of the call and one line that says why.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

# linux/sched.h, without those that need rights, make threads or have a result in another process.
my %flag = (VM => 0x100, FS => 0x200, FILES => 0x400, VFORK => 0x4000, SYSVSEM => 0x40000, PARENT_SETTID => 0x100000,
	CHILD_CLEARTID => 0x200000, DETACHED => 0x400000, UNTRACED => 0x800000, CHILD_SETTID => 0x1000000, IO => 0x80000000);
my $SIGCHLD = 17;
my $line = 'cachepeek: the program\'s call of clone fails (EINVAL): the simulated PMU has no child that shares memory, ' .
	"files or directories and is no thread: count it with CACHEPEEK_ENGINE=perf\n";

my @sets = ([], map({ [$_] } sort keys(%flag)), map({ ['VM', $_] } grep { $_ ne 'VM' } sort keys(%flag)),
	['FILES', 'FS'], ['VM', 'FILES', 'FS'], ['PARENT_SETTID', 'CHILD_CLEARTID', 'CHILD_SETTID']);
for my $signal ($SIGCHLD, 0) {
	for my $set ($signal ? @sets : $sets[0]) {
		my $flags = $signal;
		$flags |= $flag{$_} for @$set;
		my $name = join('|', @$set, $signal ? 'SIGCHLD' : ());
		my $alone = run(command => [program('clones'), $flags]);
		next if $alone->{status} || $alone->{out} =~ /not permitted/;
		my $run = run(command => [program('clones'), $flags],
			env => {LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'sim', CACHEPEEK_OUTPUT => '/dev/null'});
		my %has = map { $_ => 1 } @$set;
		my $shares = grep { $has{$_} } qw(VM FS FILES);
		my $cannot = $shares && !($has{VM} && ($has{VFORK} || ($has{FS} && $has{FILES})) && $shares != 2);
		my $expected = $alone->{out};
		$expected = "Invalid argument\n" x ($has{VM} ? 1 : 2) if $cannot && $alone->{out} =~ /status/;
		is("$run->{status} $run->{out}", "0 $expected", $name || 'none');
		is($run->{err}, $cannot && $alone->{out} =~ /status/ ? $line : '', 'and what is said') if $expected ne $alone->{out} || $run->{err};
	}
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Programs that forbid themselves system calls, also such as a simulator needs, or files: each is
# answered as the kernel answers it, in threads, children and the next program, too.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $forbid = plain(command => [program('forbid')]);
plan(skip_all => 'this kernel takes no filters') if $forbid->{out} =~ /^no filter/m;
is(status_text($forbid->{status}), 'exit 6', 'alone: the program');
like($forbid->{out}, qr/^the program: 77 0 78 0, not there, mode 2$/m, 'alone: its filter holds');
like($forbid->{out}, qr/^ended 1f$/m, 'alone: it kills');

for my $engine (grep { !why_not($_) } qw(perf sim)) {
	my $run = peek(engine => $engine, command => [program('forbid')]);
	is($run->{out}, $forbid->{out}, "$engine: actions of filters: same output");
	is($run->{err}, $forbid->{err}, "$engine: actions of filters: same errors");
	is(status_text($run->{status}), status_text($forbid->{status}), "$engine: actions of filters: same status");
	my $asked = peek(engine => $engine, command => [program('own_signals'), 'forbidden']);
	is($asked->{out}, "101 signals\n", "$engine: who asks about signals is killed: we do not ask");
	is(status_text($asked->{status}), 'exit 0', "$engine: and it ends by itself");
	for my $threads ('together', 'apart', 'far', 'last') {
		my @command = (program('filters'), $threads);
		my ($plain, $with) = (plain(command => \@command), peek(engine => $engine, command => \@command));
		is($with->{out}, $plain->{out}, "$engine, $threads: what seccomp(2) says, and what its filters do");
		unlike(run(command => [cli(), '-E', $engine, '-o', '/dev/null', @command])->{err}, qr/strict mode/,
			"$engine, $threads: nothing is said of modes that it does not enter");
		is(status_text($with->{status}), 'exit 5', "$engine, $threads: its status");
	}
	for my $how (qw(strict filter syscall fault grow take allow maze refused landlock)) {
		my @command = (program('confine'), $how);
		my $plain = plain(command => \@command);
		my $with = peek(engine => $engine, command => \@command, env => {CACHEPEEK_DIR => scratch("$engine-$how")});
		is($with->{out}, $plain->{out}, "$engine, $how: same output");
		is($with->{err}, $plain->{err}, "$engine, $how: same errors");
		is(status_text($with->{status}), status_text($plain->{status}), "$engine, $how: same status");
		my $report = $with->{report} || kept_report(scratch("$engine-$how"));
		my ($process) = grep { $_->{exit}{how} ne 'exec' } @{$report->{processes}};
		cmp_ok($process->{unattributed}{cpu_s} // 0, '<', 1000, "$engine, $how: no time that nobody had");
		my $before = region($report, 'before');
		is($before ? $before->{calls} : 0, $how eq 'strict' || $plain->{status} == 1 << 8 ? 1 : 2,
			"$engine, $how: what was counted until then");
	}
}
done_testing();

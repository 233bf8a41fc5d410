#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Programs of ours, made to be hard to follow, run as without the library.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

for my $engine (qw(perf sim)) {
SKIP: {
	skip('perf: the kernel counts no software events here', 1)
		if $engine eq 'perf' && !can_count('software');
	my @with = (engine => $engine);
	my $run;

	for my $count (50, 600) {
		ok_same("$count threads", @with, exes => ['threads'], threads => $count + 1,
			command => [program('threads'), $count]);
	}
	$run = ok_same('threads that begin and end in unusual ways', @with,
		exes => ['kinds_of_threads'], threads => 8,
		command => [program('kinds_of_threads')]);
	for my $name (qw(plain c11 exits with_data leaves remains)) {
		is(scalar(threads_named($run->{report}, $name)), 1, "$engine: thread $name");
	}
	ok_same('thread_local objects of C++', @with, exes => ['thread_local'], threads => 7,
		command => [program('thread_local')]);
	$run = ok_same('a library whose constructor has side effects', @with,
		exes => ['ctor'], threads => 1, command => [program('ctor')]);
	is($run->{out}, "constructor\nlibrary\ndestructor\n", "$engine: it ran once");
	$run = ok_same('a program that executes /proc/self/exe', @with,
		exes => ['selfexec'], command => [program('selfexec')]);
	is(scalar(grep { $_->{exit}{how} eq 'exec' } @{$run->{report}{processes}}), 2,
		"$engine: both images that became another are reported");
	ok_same('a program that closes all descriptors', @with,
		exes => ['descriptors'], threads => 1, command => [program('descriptors')]);
}
}
done_testing();

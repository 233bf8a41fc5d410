#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The program's environment and arguments are what they are without the library,
# but for two variables by which children find the run.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

sub without_ours
{
	return join("\n", grep { !/^(CACHEPEEK_\w+|LD_PRELOAD)=/ } split(/\n/, $_[0]));
}

sub ours { return join(' ', sort map { /^(CACHEPEEK__\w+)=/ ? $1 : () } split(/\n/, $_[0])) }

for my $engine (qw(perf sim)) {
SKIP: {
	skip('perf: the kernel counts no software events here', 3)
		if $engine eq 'perf' && !can_count('software');
	# env has a copy of environ of its own, perl asks for main's third argument,
	# sh for both; printf in sh shows what a child of a child gets.
	for my $run (['env', [which('env')]], ['a child', ['sh', '-c', 'env; true']],
		['perl', [which('perl'), '-e', 'print map { "$_=$ENV{$_}\n" } sort keys %ENV']]) {
		my ($name, $command) = @$run;
		my %env = (MINE => 'a value'); # one: the order is compared, too
		my $plain = run(env => \%env, command => $command);
		my $with = peek(engine => $engine, env => \%env, command => $command);

		like($plain->{out}, qr/^MINE=a value$/m, "$engine: $name: it prints the environment");
		is(without_ours($with->{out}), without_ours($plain->{out}), "$engine: $name: the same");
		is(ours($with->{out}), 'CACHEPEEK__RUN CACHEPEEK__WHY', "$engine: $name: and the run");
	}
}
}
done_testing();

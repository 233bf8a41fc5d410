#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Text has colours on a terminal, and elsewhere if somebody asks for them: --color, or
# the variables that users set for all programs.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $script = terminal_script();
my %none = map { $_ => undef } qw(NO_COLOR CLICOLOR CLICOLOR_FORCE);
my ($dir, $to) = (scratch('records'), scratch('typescript'));
run(command => [cli(), '-E', 'sim', '-g', 'cache', '-d', $dir, '-o', '/dev/null', program('region_nested')]);

# The text in a pipe, and on a terminal (undef: there is none to be had).
sub in_pipe { my ($env, @words) = @_; return run(command => [cli(), @words], env => {%none, TERM => 'xterm', %$env})->{out} }
sub on_terminal
{
	my ($env, @words) = @_;
	return undef unless $script;
	unlink($to);
	run(command => [$script, '-qec', join(' ', cli(), @words), $to], env => {%none, TERM => 'xterm', %$env});
	return read_file($to);
}
my $colour = qr/\e\[[\d;]*m/;

# [options, environment, on a terminal, in a pipe]
for my $case (['', {}, 1, 0], ['--color auto', {}, 1, 0], ['--color always', {}, 1, 1], ['--color=never', {}, 0, 0],
	['', {NO_COLOR => '1'}, 0, 0], ['', {NO_COLOR => ''}, 1, 0], ['--color always', {NO_COLOR => '1'}, 1, 1],
	['--color auto', {NO_COLOR => '1'}, 1, 0], ['', {CLICOLOR_FORCE => '1'}, 1, 1], ['', {CLICOLOR_FORCE => '0'}, 1, 0],
	['', {CLICOLOR_FORCE => ''}, 1, 0], ['', {CLICOLOR => '0'}, 0, 0], ['', {CLICOLOR => '1'}, 1, 0],
	['', {NO_COLOR => '1', CLICOLOR_FORCE => '1'}, 0, 0], ['', {TERM => 'dumb'}, 0, 0],
	['', {TERM => 'dumb', CLICOLOR_FORCE => '1'}, 1, 1]) {
	my ($options, $env, $terminal, $pipe) = @$case;
	my $what = join(' ', 'report', $options || (), map { "$_=$env->{$_}" } sort keys %$env);
	my @words = ('report', split(/ /, $options), $dir);
	my $seen = on_terminal($env, @words);
	is($seen =~ $colour ? 1 : 0, $terminal, "$what: on a terminal") if defined $seen;
	is(in_pipe($env, @words) =~ $colour ? 1 : 0, $pipe, "$what: in a pipe");
}

# ---- which text ----

my $plain = in_pipe({}, 'report', $dir);
my $coloured = in_pipe({}, qw(report --color always), $dir);
is($coloured =~ s/$colour//gr, $plain, 'colours are all that differs');
my @rows = grep { /^ *(?:whole run|outer|inner|\w+) +[\d~]/ } split(/\n/, $coloured);
is_deeply([grep { /$colour/ && !/<==/ } @rows], [], 'rows have none but that with the mark');
like($coloured, qr/^\e\[1mregion .*\e\[0m$/m, 'headings have');
like($coloured, qr/^\e\[1mserved by *\e\[0m/m, 'and the words before the answer') if $plain =~ /^served by/m;
in_pipe({}, qw(report --color always -o), scratch('report.txt'), $dir);
like(read_file(scratch('report.txt')), qr/\A[^\e]*<==[^\e]*\z/, 'a file has none');
unlike(in_pipe({}, qw(report --color always --json), $dir), qr/\e/, 'nor has JSON');
my $run = run(command => [cli(), qw(--color always -E sim -g cache), program('region_nested')], env => \%none);
like($run->{err}, $colour, 'run: of the report at its end');
$run = peek(engine => 'sim', groups => 'cache', output => 'stderr', env => {%none, CLICOLOR_FORCE => 1},
	command => [program('region_nested')]);
like(join("\n", $run->{err}, @{$run->{notes}}), $colour, 'the library, by a variable');
# The row of a change, between four runs and four.
my %runs = (before => 10, after => 1000);
for my $side (sort keys %runs) {
	run(command => [cli(), qw(-E sim -e l1d_misses -o), scratch("$side.json"), program('region_pages'), $runs{$side}, 1]);
}
my @diff = ((scratch('before.json')) x 4, '--', (scratch('after.json')) x 4);
unlike(in_pipe({}, 'diff', @diff), qr/\e/, 'diff: none in a pipe');
like(in_pipe({}, 'diff', '-o', '-,' . scratch('diff.txt'), qw(--color always), @diff), qr/^before.*: 4 runs.*$colour/ms,
	'diff: with --color, which is no run');
like(read_file(scratch('diff.txt')), qr/\A[^\e]+more misses: [^\e]+\z/, 'and none in its file');
done_testing();

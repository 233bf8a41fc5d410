#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Every command says what it takes: usage, options, examples and exit statuses, with
# --help anywhere among its options as with `cachepeek help`.  tests/e2e/manuals.t
# holds the options against the tables, the manual and the completions.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

sub command { return run(command => [cli(), @_]) }

sub ok_fits
{
	my ($text, $what) = @_;
	is_deeply([grep { length > 80 } split(/\n/, $text)], [], "$what: in 80 columns");
}

# ---- the whole ----

my $all = command('--help');
my @lines = split(/\n/, $all->{out});
cmp_ok(scalar(@lines), '<=', 23, 'cachepeek --help: a screen of 24 rows, with the prompt');
ok_fits($all->{out}, 'cachepeek --help');
is(status_text($all->{status}) . $all->{err}, 'exit 0', 'its status');
is(command($_)->{out}, $all->{out}, "cachepeek $_: the same") for qw(-h help);

# ---- each command ----

my @commands = $all->{out} =~ /^  ([a-z]+)  /mg;
cmp_ok(scalar(@commands), '>=', 13, 'the commands are read');
my %options;
for my $command (@commands) {
	my $help = command($command, '--help');
	my $text = $help->{out};
	is(status_text($help->{status}) . $help->{err}, 'exit 0', "$command --help: its status");
	is(command(@$_)->{out}, $text, "cachepeek @$_: the same") for ['help', $command], [$command, '-h'];
	like($text, qr/\Ausage: cachepeek \[?$command\b/, "$command: the usage comes first");
	ok_fits($text, $command);
	unlike($text, qr/^[#@]/m, "$command: the parts are in their places");
	my %section = $text =~ /^([A-Z][a-z ]+):\n(.*?)(?=^\n|\z)/msg;
	is_deeply([sort keys %section], [sort('Examples', 'Exit status', $command eq 'help' ? () : 'Options')],
		"$command: the sections");
	my @examples = split(/\n/, $section{Examples} // '');
	is(scalar(@examples), 3, "$command: three examples");
	is_deeply([grep { !/^  cachepeek $command\b/ } @examples], [], "$command: of this command")
		unless $command eq 'run';
	$options{$command} = {map { $_ => 1 } ($section{Options} // '') =~ /(?:^  |, )(--?[a-zA-Z][a-z-]*)/mg};
	my @used = map { s/'[^']*'//gr =~ /(?<=\s)(--?[a-zA-Z][a-z-]*)/g } @examples;
	is_deeply([grep { !$options{$command}{$_} } @used], [], "$command: with options that it has");
	like($section{'Exit status'} // '', qr/\b2: (?:misused|there is no)/, "$command: 2 is told");
}

# ---- wherever --help stands ----

my $marker = scratch('ran');
for my $case ([qw(-v --help touch)], [qw(run -e instructions -h touch)]) {
	my $run = command(@$case, $marker);
	is($run->{out}, command(qw(help run))->{out}, "cachepeek @$case: of run");
	ok(!-e $marker, 'and nothing is run');
}
is(command(@$_)->{out}, command('help', $_->[0])->{out}, "cachepeek @$_: of that command")
	for [qw(list events --help)], [qw(doctor --verify --help)], [qw(dtlb --sort misses --help)],
	[qw(diff one other --help)], [qw(merge somewhere -h)];
like(command(qw(report --json --version))->{out}, qr/^cachepeek [\d.]+$/, '--version, too');
is(command(qw(sh -c), 'echo "$0"', '--help')->{out}, "--help\n", 'what stands after the program is its own');

# ---- what there is none of ----

for my $case (['help dache', 'there is no command "dache": did you mean "dcache"?'],
	['help variable', 'there is no command "variable": did you mean "variables"?'],
	['help qqqqqqqq', 'there is no command "qqqqqqqq": `cachepeek help` has them'],
	['doctor --verfy', 'there is no option "--verfy": did you mean "--verify"?'],
	['doctor now', 'doctor takes only options, not now'],
	['list presets qqqqqqqqqqqq', 'there is no preset "qqqqqqqqqqqq": `cachepeek list presets` has them']) {
	my ($line, $message) = @$case;
	my $run = command(split(/ /, $line));
	is($run->{err}, "cachepeek: $message\n", "cachepeek $line: one line says what is wrong");
	is(status_text($run->{status}) . $run->{out}, 'exit 2', 'and it ends with 2');
}
done_testing();

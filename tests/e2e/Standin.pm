# SPDX-License-Identifier: MIT
# Shared by the tests of stand-ins: a tool of the user's that writes down each call,
# and the same program alone and with the library.
package Standin;
use strict;
use warnings;
use Exporter qw(import);
use Peek;
use Test::More;

our @EXPORT = qw(told ok_same_calls compiled @PERF @SIM);

our @PERF = (engine => 'perf', events => 'perf::PAGE-FAULTS');
our @SIM = (engine => 'sim', events => 'instructions');

# Returns what the tool wrote, and what the program did.
sub told
{
	my ($what, $run) = @_;
	my $log = scratch('tool.log');
	unlink($log);
	my $result = $run->(TOOL_LOG => $log);
	is(status_text($result->{status}), 'exit 0', "$what: its end") or diag($result->{err});
	return ($result, read_file($log) // '');
}

# Both are the same; where not, the first line that differs is shown.
sub is_text
{
	my ($got, $want, $what) = @_;
	return if ok($got eq $want, $what);
	my @want = split(/\n/, $want);
	my @got = split(/\n/, $got);
	my ($line) = grep { ($got[$_] // '') ne ($want[$_] // '') } 0 .. @want + @got;
	diag(sprintf("line %d of %d: '%s', alone '%s'", ($line // 0) + 1, scalar(@want), $got[$line // 0] // '(none)',
		$want[$line // 0] // '(none)'));
}

# The command alone and with the library: the tool's log and the output are the same,
# and nothing of ours is among the output.  {notes}: lines that we may say; {preload}:
# [alone, with the library]; {seen}: what is compared of the output; {log}: of the log.
sub ok_same_calls
{
	my ($what, $command, $env, @engines) = @_;
	my %how = ref $engines[0] eq 'HASH' ? %{shift @engines} : ();
	my $seen = $how{seen} || sub { $_[0] };
	my $logged = $how{log} || sub { $_[0] };
	my ($before, $with_us) = @{$how{preload} || [undef, undef]};
	my ($alone, $log) = told("$what, alone",
		sub { run(command => $command, env => {LD_PRELOAD => $before, %$env, @_}) });
	my @with;
	for my $engine (@engines) {
		my %engine = @$engine;
		my $name = "$what, $engine{engine}";
		my ($with, $same) = told($name,
			sub { peek(@$engine, command => $command, preload => $with_us, env => {%$env, @_}) });
		is_text($logged->($same), $logged->($log), "$name: the tool gets every call");
		is_text($seen->($with->{out}), $seen->($alone->{out}), "$name: and what it gives back arrives");
		is_text($with->{err}, $alone->{err}, "$name: nothing else is said");
		# A region that these programs end once too often is their fault.
		is(scalar(grep { !/END of (?:a region|region ".*") of \S+ in thread/ && (!$how{notes} || !/$how{notes}/) } @{$with->{notes}}), 0,
			"$name: nor by us")
			or diag(@{$with->{notes}});
		push(@with, $with);
	}
	return ($log, @with);
}

# compiled(NAME, TEXT, COMMAND...): the text is where SOURCE is in the command.
sub compiled
{
	my ($name, $text, @command) = @_;
	my $source = write_file(scratch("$name.c"), $text);
	my $to = scratch($name);
	my $build = run(command => [map({ $_ eq 'SOURCE' ? $source : $_ } @command), '-o', $to]);
	is(status_text($build->{status}), 'exit 0', "$name: compiles") or diag($build->{err});
	return $to;
}

1;

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# While a program runs: progress of simulated runs at a terminal and nowhere else,
# and OpenMetrics files that grow.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;
use Time::HiRes ();

my $script = terminal_script() or plan(skip_all => 'no script(1) (util-linux), or no terminals for it');

# The text that a terminal gets from the command.
sub terminal
{
	my ($command) = @_;
	my $to = scratch('typescript');
	unlink($to);
	my $run = run(command => [$script, '-qec', $command, $to]);
	my $seen = read_file($to);
	$seen =~ s/\AScript started.*\n//;
	$seen =~ s/\n?Script done.*\n\z//;
	return ($seen, $run);
}
my $phases = program('phases');
my $line = qr/cachepeek: \d+ s, [\d.e+]+ million instructions simulated(?:, about \d+ times slower)?/;

my ($seen, $run) = terminal(cli() . " -E sim -e instructions -o /dev/null $phases 115");
is(status_text($run->{status}), 'exit 0', 'a terminal');
like($seen, qr/^$line\r$/m, 'a line of progress');
unlike($seen, qr/\x1b/, 'that takes nothing back');
like($seen, qr/^single 1, USR1 blocked 0\r$/m, 'the program has its own line');

my $out = scratch('out');
($seen) = terminal(cli() . " -E sim -e instructions -o /dev/null $phases 165 > $out");
like($seen, qr/\A(?:\r\x1b\[K$line){2,}\r\x1b\[K\z/, 'output elsewhere: progress in one line, and it is gone in the end');
is(read_file($out), "single 1, USR1 blocked 0\n", 'the output is the program\'s');

# A run of less than the two seconds after which progress is shown, whatever else the machine does.
my $took;
for (1 .. 10) {
	my $began = Time::HiRes::time();
	($seen) = terminal(cli() . " -E sim -e instructions -o /dev/null $phases 20");
	$took = Time::HiRes::time() - $began;
	last if $took < 2;
}
SKIP: {
	skip("a short run takes $took s here", 1) if $took >= 2;
	is($seen, "single 1, USR1 blocked 0\r\n", 'short runs: none');
}
($seen) = terminal("stty -icanon; " . cli() . " -E sim -e instructions -o /dev/null $phases 115; stty icanon");
unlike($seen, qr/million/, 'a terminal that is not read by lines: none');
($seen) = terminal(cli() . ' run --repeat 2 -E sim -e instructions -o ' . scratch('r.json') . " $phases 115");
like($seen, qr/^cachepeek: run 2 of 2: \d+ s, /m, 'several runs: which one');
($seen) = terminal(cli() . ' compare -m zen3,ixp45x -e instructions -o ' . scratch('compared.txt') . " $phases 115");
like($seen, qr/cachepeek: run 1 of 2: \d+ s, .*cachepeek: run 2 of 2: \d+ s, /s, 'machines with other lines: which run');

$run = run(command => [cli(), '-E', 'sim', '-e', 'instructions', '-o', '/dev/null', $phases, 150]);
is($run->{err}, '', 'no terminal: none');

SKIP: {
	skip('the kernel counts nothing', 1) unless can_count('software');
	# The last command of the same run finds what the first one has counted.
	my ($file, $copy) = (scratch('live.prom'), scratch('then.prom'));
	$run = run(command => [cli(), '-e', 'perf::PAGE-FAULTS', '-o', $file, which('sh'), '-c',
		"$phases 20; for i in \$(seq 300); do grep -q 'region=\"touch\".* 20\$' $file && break; sleep 0.1; done; cat $file > $copy"], env => {CACHEPEEK_INTERVAL => '50ms'});
	is(status_text($run->{status}), 'exit 0', 'OpenMetrics');
	is($run->{err}, '', 'in silence');
	my $then = read_file($copy) // '';
	like($then, qr/# EOF\n\z/, 'it is there while the program runs, whole');
	my ($calls) = $then =~ /^cachepeek_region_calls(?:_total)?\{[^}]*region="touch"[^}]*\} (\d+)/m;
	is($calls, 20, 'with what has been counted');
	is_deeply([glob("$file.*")], [], 'nothing is left beside it');
	unlink($file);
	$run = run(command => [cli(), '-e', 'perf::PAGE-FAULTS', '-o', $file, which('sh'), '-c',
		"$phases 20; test -e $file && echo there; true"]);
	unlike($run->{out}, qr/there/, 'without an interval it comes in the end');
	ok(-e $file, 'it does');
}
done_testing();

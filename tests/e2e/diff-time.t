#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek diff --time: both programs are run again, in turn and uncounted, and their CPU time
# confirms what the reports predict, or not.  What they do is read from a file, so that what is
# counted is short, and what is timed is not.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $work = scratch('timed');
mkdir($work);
my $cc = (split(' ', $ENV{CC} || 'gcc'))[0];
write_file("$work/burn.c", <<'C');
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
/* burn FILE: as many rounds, or milliseconds of CPU time ("200 ms"), as FILE says, and the
 * status that it says; notes its name in the file "log". */
int main(int argc, char **argv)
{
	FILE *file = fopen(argv[argc - 1], "r"), *log = fopen("log", "a");
	long amount = 0, status = 0;
	char unit[8] = "";
	volatile long sum = 0;
	fscanf(file, "%ld %7s %ld", &amount, unit, &status);
	fseek(log, 0, SEEK_END);
	if (strcmp(unit, "vary") == 0) /* of each side half of the runs take three times as long */
		amount *= ftell(log) / (2 * sizeof("slow uncounted 1")) % 2 ? 3 : 1;
	if (strcmp(unit, "rounds") != 0)
		while (clock() < amount * (CLOCKS_PER_SEC / 1000))
			sum++;
	else
		for (long i = 0; i < amount; i++)
			sum += i;
	fprintf(log, "%s %s %d\n", strrchr(argv[0], '/') + 1, getenv("CACHEPEEK_DISABLE") ? "uncounted" : "counted", getchar() == EOF);
	printf("%ld\n", sum);
	return status;
}
C
for my $name (qw(slow fast)) {
	my $run = run(command => [$cc, '-O1', '-w', '-o', $name, 'burn.c'], cwd => $work);
	is(status_text($run->{status}), 'exit 0', "$name: built") or diag($run->{err});
}

sub amounts
{
	my %amounts = @_;
	write_file("$work/$_.n", "$amounts{$_}\n") for keys %amounts;
	unlink("$work/log");
}

sub diff
{
	my (@arguments) = @_;
	return run(command => [cli(), 'diff', @arguments], cwd => $work);
}

amounts(slow => '400000 rounds 0', fast => '100000 rounds 0');
for my $name (qw(slow fast)) {
	my $run = run(command => [cli(), '-E', 'sim', '-m', 'skylake-sp', '-g', 'time', '-o', "$name.json", "./$name", "$name.n"], cwd => $work);
	is(status_text($run->{status}), 'exit 0', "$name: counted") or diag($run->{err});
}

# ---- confirmed, and not ----

amounts(slow => '200 ms 0', fast => '50 ms 0');
{
	my $run = diff('--time', 4, '-o', '-,t.json,t.html', 'slow.json', 'fast.json');
	is(status_text($run->{status}) . $run->{err}, 'exit 0', 'timed');
	my $text = $run->{out} =~ s/\n  / /gr;
	like($text, qr/\A.*\n.*\nconfirmed: measured CPU time \d+ ms to [\d.]+ ms \(-\d+\.\d %, least of 4 runs each; 95 %: -\d+\.\d % to -\d+\.\d %, p 0\.029\); predicted: -\d+\.\d %\nless predicted time: /,
		'confirmed, in the first line');
	unlike($text, qr/^\d+$/m, 'the programs write nowhere');
	is(read_file("$work/log"), join('', map { "$_ uncounted 1\n" } qw(slow fast fast slow slow fast fast slow)),
		'in turn, as often as asked for, with nothing to read');
	my $time = decode_json(read_file("$work/t.json"))->{time};
	is_deeply([@{$time}{qw(runs verdict status reason)}], [4, 'confirmed', 'measured', undef], 'the JSON says that it was measured');
	is(scalar @{$time->{before}} . scalar @{$time->{after}}, '44', 'each run');
	is_deeply([@{$time}{qw(least_before least_after)}], [map { (sort { $a <=> $b } @$_)[0] } @{$time}{qw(before after)}], 'and the least');
	cmp_ok($time->{ratio}, '<', 0.5, 'whose ratio is that of the work');
	cmp_ok($time->{low}, '<=', $time->{high}, 'in an interval');
	is(run(command => ['/usr/bin/python3', source() . '/tests/validate.py', source() . '/doc/cachepeek-diff-1.schema.json', "$work/t.json"])->{out},
		"1 reports, 0 faults\n", 'as the schema says');
	like(read_file("$work/t.html"), qr/"verdict":"confirmed"/, 'the page has it');
	is(decode_json(diff('--json', 'slow.json', 'fast.json')->{out})->{time}, undef, 'without the option there is none');
}
amounts(slow => '50 ms 0', fast => '200 ms 0');
like(diff('--time', 5, 'slow.json', 'fast.json')->{out} =~ s/\n  / /gr,
	qr/^not confirmed: measured CPU time .* \(\+\d+\.\d %, least of 5 runs each; .*, p 0\.008\); predicted: -\d+\.\d %$/m, 'not confirmed');

# ---- what cannot tell ----

amounts(slow => '1 rounds 0', fast => '1 rounds 0');
like(diff('--time', 4, 'slow.json', 'fast.json')->{out} =~ s/\n  / /gr,
	qr/^too short to tell: measured CPU time .*; runs of less than [\d.]+ ms say more of their start$/m, 'too short');
amounts(slow => '60 ms 0', fast => '20 ms 0');
like(diff('--time', 3, 'slow.json', 'fast.json')->{out} =~ s/\n  / /gr,
	qr/^too few runs to tell: .*least of 3 runs each\); it takes 4 runs$/m, 'too few runs');
is(read_file("$work/log"), join('', map { "$_ uncounted 1\n" } qw(slow fast fast slow slow fast)), 'which there were');

# No change is found, but one is not excluded either.
amounts(slow => '20 vary 0', fast => '20 vary 0');
like(diff('--time', 4, 'slow.json', 'fast.json')->{out} =~ s/\n  / /gr, qr/^too noisy to tell: .*; predicted: -\d+\.\d %$/m, 'an interval that has the prediction');
{
	my $same = decode_json(read_file("$work/slow.json"));
	$same->{command} = ['./fast', 'fast.n'];
	write_file("$work/same.json", encode_json($same));
	unlink("$work/log");
	like(diff('--time', 4, 'slow.json', 'same.json')->{out} =~ s/\n  / /gr, qr/^too noisy to tell: .*; predicted: no change$/m, 'or is too wide for none');
	amounts(slow => '200 ms 0', fast => '50 ms 0');
	like(diff('--time', 4, 'slow.json', 'same.json')->{out} =~ s/\n  / /gr, qr/^not confirmed: .*; predicted: no change$/m, 'a change that nobody predicted');
}

# ---- what cannot be run ----

sub refused
{
	my ($what, $says, @sides) = @_;
	my $run = diff('--time', 4, @sides);
	like($run->{out} =~ s/\n  / /gr, qr/^not timed: $says$/m, $what) or diag($run->{err});
	is(status_text($run->{status}), 'exit 1', 'which is the status');
	like($run->{out}, qr/^(?:less|more|no change)/m, 'the comparison is there');
}
refused('one file on both sides', qr/both sides ran \.\/slow slow\.n, which is one program now: keep both builds, each in a file of its own/, 'slow.json', 'slow.json');
amounts(slow => '1 rounds 3', fast => '1 rounds 0');
refused('another end', qr/\.\/slow slow\.n ended with exit 3, and before with exit 0: compare where the programs were run/, 'slow.json', 'fast.json');
rename("$work/fast", "$work/gone");
amounts(slow => '1 rounds 0');
refused('no such program', qr/\.\/fast: No such file or directory: compare where the programs were run, and keep both/, 'slow.json', 'fast.json');
rename("$work/gone", "$work/fast");
for my $name (qw(slow fast)) {
	run(command => [cli(), 'dcache', '-m', 'skylake-sp', '-o', "$name.dc.json", "./$name", "$name.n"], cwd => $work);
}
like(diff('--time', 1, 'slow.dc.json', 'fast.dc.json')->{out}, qr/^too (?:short|few runs) to tell: /m, 'profiles record their commands, too');
my $old = decode_json(read_file("$work/slow.dc.json"));
delete $old->{arguments};
write_file("$work/old.json", encode_json($old));
refused('a command that is not recorded', qr/old\.json does not record the words of its command: write it again/, 'old.json', 'fast.dc.json');

# A program is found where it was, if its file is not here.
{
	mkdir("$work/elsewhere");
	write_file("$work/elsewhere/$_.n", "1 rounds 0\n") for qw(slow fast);
	my $run = run(command => [cli(), 'diff', '--time', 1, '../slow.json', '../fast.json'], cwd => "$work/elsewhere");
	like($run->{out}, qr/^too (?:short|few runs) to tell: /m, 'from elsewhere');
}

for my $case ([[qw(--time 0)], '--time 0: expected a number from 1 to 25'], [[qw(--time 26)], '--time 26: expected a number from 1 to 25'],
	[[qw(--time x)], '--time x: expected a number from 1 to 25'], [[qw(--call-paths --time 2)], 'diff: --call-paths compares two runs, without --time']) {
	my $run = diff(@{$case->[0]}, 'slow.json', 'fast.json');
	is($run->{err} . status_text($run->{status}), "cachepeek: $case->[1]\nexit 2", "@{$case->[0]}");
}
done_testing();

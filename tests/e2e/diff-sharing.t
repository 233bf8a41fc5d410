#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek diff of what threads share, and of comparisons of machines; and each kind of JSON
# with each other kind, or with what is none.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $work = scratch('kinds');
mkdir($work);
my $cc = (split(' ', $ENV{CC} || 'gcc'))[0];
my $source = write_file("$work/share.c", <<'C');
#include <pthread.h>
static struct { _Alignas(APART) volatile long n; } counters[2] __attribute__((aligned(64)));
static volatile long both __attribute__((aligned(64)));
static void *work(void *of)
{
	for (int i = 0; i < 4000; i++)
		counters[(long)of].n++;
	for (int i = 0; i < 1000; i++)
		both++;
	return 0;
}
int main(void)
{
	pthread_t thread[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&thread[i], 0, work, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], 0);
	return 0;
}
C
for my $build (['share', 8], ['share-apart', 64]) {
	my $run = run(command => [$cc, '-g', '-O1', '-pthread', "-DAPART=$build->[1]", '-o', $build->[0], 'share.c'], cwd => $work);
	is(status_text($run->{status}), 'exit 0', "$build->[0]: built") or diag($run->{err});
}

sub made
{
	my ($name, @command) = @_;
	my $run = run(command => [cli(), @command], cwd => $work);
	is(status_text($run->{status}), 'exit 0', $name) or diag($run->{err});
	return decode_json(read_file("$work/$name"));
}

sub diff
{
	my (@arguments) = @_;
	return run(command => [cli(), 'diff', @arguments], cwd => $work);
}

sub value_of
{
	my ($diff, $path, $name) = @_;
	return (grep { "@{$_->{path}}" eq $path && $_->{name} eq $name } @{$diff->{values}})[0];
}

# ---- sharing ----

my %shared = map { $_ => made("$_.json", 'sharing', '-m', 'zen3', '--least', 500, '-o', "$_.json", "./$_") } qw(share share-apart);
{
	my $diff = decode_json(diff('--json', 'share.json', 'share-apart.json')->{out});
	my ($line) = grep { $_->{data} =~ /counters/ } @{$shared{share}{lines}};
	my $of = value_of($diff, 'counters', 'transfers_at_most');
	is_deeply([$of->{before}{mean}, $of->{what}, $of->{verdict}, $line->{sharing}], [$line->{transfers_at_most}, 'data', 'one-sided', 'false'],
		'data that is shared no more');
	is(value_of($diff, 'both', 'transfers_at_most')->{verdict}, 'same', 'data that still is, though the program has another name');
	for my $side (['share', 'before'], ['share-apart', 'after']) {
		my $sum = 0;
		$sum += $_->{transfers_at_most} for @{$shared{$side->[0]}{lines}};
		is(value_of($diff, '', 'transfers_at_most')->{$side->[1]}{mean}, $sum, "all of them, $side->[1]");
	}
	my $text = diff('share.json', 'share-apart.json')->{out};
	like($text, qr/^less transfers: transfers_at_most \S+ k to 2\.00 k \(-\d+\.\d %, exact\)\ncauses: for nothing \(false sharing\) -/m, 'the verdict and its cause');
	like($text, qr/^data: transfers_at_most .*\ncounters +\S+(?: k)? +\S+ +gone .*\n\n/m, 'where');
	like(diff('share.json', 'share.json')->{out}, qr/^no change: the same transfers_at_most, /m, 'a run and itself');
	is(value_of($diff, '', 'hitm')->{before}{reason} // '', '', 'what nobody could see is no value') if value_of($diff, '', 'hitm');
}

# ---- compare ----

my $compared = made('machines.json', 'compare', '-m', 'skylake-sp,zen3', '-g', 'cache', '-o', 'machines.json', './share');
{
	my $other = decode_json(encode_json($compared));
	$_->{metrics}{miss_cost}{value} *= 0.5 for grep { $_->{name} eq 'zen3' } @{$other->{machines}};
	write_file("$work/cheaper.json", encode_json($other));
	my $text = diff('machines.json', 'cheaper.json')->{out} =~ s/\n  / /gr;
	like($text, qr/^less cost: zen3 miss_cost ~\S+ [kM] to ~\S+ [kM] \(-50\.0 %, estimated\)$/m, 'the machine that differs');
	like($text, qr/^machine: miss_cost +before +after +change +p +mostly\nzen3 +~/m, 'and its row');
	unlike($text, qr/^skylake-sp /m, 'not the other');
	like(diff('--all', 'machines.json', 'cheaper.json')->{out}, qr/^skylake-sp +instructions +/m, 'all: each value of each machine');
	like(diff('machines.json', 'machines.json')->{out}, qr/^no change: miss_cost of each machine$/m, 'no change');
	my $diff = decode_json(diff('--json', 'machines.json', 'cheaper.json')->{out});
	is_deeply([map { $_->{path}[0] . $_->{what} } @{$diff->{cost}{places}}], ['zen3machine', 'skylake-spmachine'], 'the JSON has both');
}

# ---- of two kinds ----

made('report.json', '-E', 'sim', '-m', 'zen3', '-o', 'report.json', './share');
made('profile.json', 'dcache', '-m', 'zen3', '-o', 'profile.json', './share');
made('sweep.json', '-E', 'sim', '-m', 'cachegrind', '--sweep', 'L1D.ways=1..2', '-o', 'sweep.json', './share');
made('what-if.json', '-E', 'sim', '-m', 'zen3', '--what-if', 'L2.size=1M', '-o', 'what-if.json', './share');
made('repeat.json', '--repeat', 2, '-E', 'sim', '-m', 'zen3', '-o', 'repeat.json', './share');
is(status_text(diff('--json', 'report.json', $_)->{status}), 'exit 0', "a report and $_") for qw(report.json sweep.json what-if.json repeat.json);
my %kinds = (
	'report.json' => 'the report of a run',
	'profile.json' => 'a profile (cachepeek dcache)',
	'share.json' => 'what threads share (cachepeek sharing)',
	'machines.json' => 'a comparison of machines (cachepeek compare)',
);
for my $one (sort keys %kinds) {
	is(status_text(diff($one, $one)->{status}), 'exit 0', "$one twice");
	for my $other (grep { $_ ne $one } sort keys %kinds) {
		my $run = diff($one, $other);
		is($run->{err}, "cachepeek: diff: $one is $kinds{$one}, and $other is $kinds{$other}: compare two files of one kind\n", "$one, $other");
		is(status_text($run->{status}) . $run->{out}, 'exit 2', 'the status');
	}
}

# ---- what is none ----

write_file("$work/truncated.json", substr(read_file("$work/report.json"), 0, 2000));
write_file("$work/foreign.json", '{"schema": "other/1"}');
write_file("$work/list.json", '[1]');
write_file("$work/text.json", "cachepeek\n");
for my $case (['truncated.json', qr/ is neither a run record nor JSON \(line \d+: [^\n]*\): write it again with -o FILE\.json$/],
	['text.json', qr/ is neither a run record nor JSON .*: write it again with -o FILE\.json$/],
	['foreign.json', qr/ is no JSON report, profile, sharing or comparison of machines \(schema: other\/1\): write one with -o FILE\.json$/],
	['list.json', qr/ \(schema: none\): write one with -o FILE\.json$/],
	['missing.json', qr/: No such file or directory: name a run's directory, record or JSON report$/]) {
	my ($file, $says) = @$case;
	for my $sides (['report.json', $file], [$file, 'profile.json']) {
		my $run = diff(@$sides);
		like($run->{err}, qr/^cachepeek: diff: \Q$file\E/, "$file: which");
		like($run->{err}, $says, 'why, and what to do');
		is(($run->{err} =~ tr/\n//) . status_text($run->{status}), '1exit 2', 'in one line, status 2');
	}
}

# ---- gate takes reports and profiles, as before ----

my $gate = run(command => [cli(), 'gate', '--update', 'base.json', 'share.json'], cwd => $work);
isnt(status_text($gate->{status}), 'exit 0', 'gate: no baseline of another kind');
like($gate->{err}, qr/^cachepeek: .*a baseline is of reports or profiles$/m, 'gate says of what');
done_testing();

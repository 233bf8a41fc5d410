#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_ENGINE=shadow, an experiment: what forks of the program count holds what is known
# of it, and nothing of the program differs.
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use File::Copy;
use JSON::PP;
use Peek;
use Test::More;

plan(skip_all => why_not('shadow')) if why_not('shadow');

sub shadowed
{
	my ($command, %more) = @_;
	return peek(command => $command, engine => 'shadow', %more);
}

# What the report says of shadows.
sub said
{
	my ($run) = @_;
	return join("\n", map { ref($_) ? $_->{text} // '' : $_ } @{$run->{report}{warnings}});
}

# Of the whole run.
sub of_run
{
	my ($run, $name) = @_;
	return region($run->{report})->{counts}{$name};
}

# How often in 1,000 instructions.
sub rate
{
	my ($run, $name) = @_;
	return 1000 * (of_run($run, $name)->{value} // 0) / (of_run($run, 'instructions')->{value} || 1);
}

sub ok_estimated
{
	my ($run, $name) = @_;
	my $count = of_run($run, $name);
	ok($count->{status} eq 'estimated' && defined $count->{value} && $count->{error} >= 0, "$name: a value with its interval") or diag(explain($count));
	return $count;
}

sub windows { said($_[0]) =~ /(\d+) windows are counted, of (\d+) instructions on average; (\d+) are lost/ }

# The shadows of this session that are alive, or zombies; they have 10 s to die where the
# machine has much else to do.
sub left
{
	my ($session) = read_file('/proc/self/stat') =~ /^\d+ \(.*\) \S \d+ \d+ (\d+)/;
	my @left;
	for (1 .. 100) {
		@left = ();
		for my $file (glob('/proc/[0-9]*/stat')) {
			my ($pid, $name, $of) = (read_file($file) // '') =~ /^(\d+) \((.*)\) \S \d+ \d+ (\d+)/ or next;
			my $program = readlink("/proc/$pid/exe") // 'shadow_chase'; # a zombie has none
			push(@left, "$pid $name") if $name eq 'cachepeek-shado' && $of == $session && $program =~ /shadow_chase/;
		}
		last if !@left;
		select(undef, undef, undef, 0.1);
	}
	return \@left;
}

# ---- what is known of a program ----

my $run;
for my $ms (3000, 6000, 18000) {
	$run = shadowed([program('shadow_chase'), $ms], machine => 'raspberry-pi-5');
	last if ((windows($run))[0] // 0) >= 12;
}
my ($steps, $children, $signals) = split(' ', $run->{out});
is($run->{status} >> 8, 3, 'the status is the program\'s');
is("$children $signals", '0 0', 'the program sees no child, and no SIGCHLD');
like($run->{report}{engine}{why} // $run->{json}, qr/shadow, experimental/, 'the engine is said to be experimental');

my ($counted, $mean, $lost) = windows($run);
cmp_ok($counted, '>=', 10, 'there are windows') or diag(said($run));
cmp_ok($lost, '<=', 0.1 * $counted + 1, 'and nearly all are counted') or diag(said($run));
my $loads = ok_estimated($run, 'l1d_accesses');
my $misses = ok_estimated($run, 'l1d_misses');
ok_estimated($run, 'l2_misses');
cmp_ok(abs(rate($run, 'l1d_accesses') - 1000 / 3), '<', 0.5, 'one instruction in three loads');
cmp_ok(abs($misses->{value} - $loads->{value}), '<=', 2 * $misses->{error}, 'and each load misses L1D');
cmp_ok($misses->{value}, '<=', $loads->{value}, 'once: there are no more than references');
unlike(said($run), qr/windows came by the place twice/, 'each place is found once');
my $last = of_run($run, 'llc_misses');
ok($last->{status} eq 'estimated' || $last->{reason} =~ /^between \d+ and \d+: what caches held when windows began is not known$/,
	'the last level is known, or between bounds') or diag(explain($last));
is(of_run($run, 'l1d_writebacks')->{reason}, 'shadows do not estimate it (CACHEPEEK_ENGINE=sim counts more)', 'what is not estimated has a reason');

# Time is what the whole run is estimated by, and that of a step depends on what else the
# machine does.  The interval knows of that; three of it are left in one run of a million.
my @formats = map { scratch("adds.$_") } qw(json txt csv html);
for my $ms (3000, 9000, 27000) {
	$run = run(command => [cli(), '-E', 'shadow', (map { ('-o', $_) } @formats), program('shadow_chase'), $ms, 'adds'],
		env => {CACHEPEEK_BUDGET => 20, CACHEPEEK_EVENTS => 'instructions,l1d_misses,dtlb_misses,page_faults', CACHEPEEK_CHILDREN => undef});
	$run->{report} = decode_json(read_file($formats[0]));
	last if defined of_run($run, 'instructions')->{value};
}
my ($json, $screen, $csv, $page) = map { read_file($_) } @formats;
is(of_run($run, 'dtlb_misses')->{reason}, 'estimates of shadows for the DTLB were found off by more than their intervals (CACHEPEEK_ENGINE=sim counts all)',
	'what is not known to hold has none');
($steps) = split(' ', $run->{out});
my $all = ok_estimated($run, 'instructions');
cmp_ok(abs($all->{value} - 3 * $steps), '<=', 3 * $all->{error} + 0.05 * 3 * $steps, 'the steps are found again in the whole run')
	or diag(3 * $steps, explain($all), said($run));
is(of_run($run, 'page_faults')->{status}, 'exact', 'what the kernel counts is exact');
my ($process) = @{$run->{report}{processes}};
is($process->{whole_process}{counts}{instructions}{value}, $all->{value}, 'the process has it, too');
is($process->{threads}[0]{regions}[0]{counts}{instructions}{reason}, 'shadows estimate it for the whole process', 'and no thread');
like($screen, qr/^shadows +estimates for the machine below.*intervals:\s+instructions\s/ms, 'text: says so, with the interval');
like($screen, qr/^whole run .* ~\d/m, 'and the value is marked');
like($csv, qr/^[^\n]*instructions,$all->{value},events,estimated,/m, 'CSV: the value and its status');
ok($page =~ /"instructions": \{"value": $all->{value}, "exclusive": \d+, "status": "estimated", "coverage": [\d.]+, "error": [\d.]+/, 'a page has both');
my $diff = run(command => [cli(), 'diff', '--all', '-o', '-', $formats[0], $formats[0]]);
like($diff->{out}, qr/instructions/, 'diff compares it') or diag($diff->{out}, $diff->{err});

is_deeply(left(), [], 'no shadow is left');

$run = shadowed([program('shadow_chase'), 1000, 'looks']);
like($run->{out}, qr/^\d+ 0 0$/, 'nor while it looks for children');
like(said($run), qr/windows met a system call that would have had an effect \(the last: 61,/,
	'which a shadow must not: its window is lost');

# Fork children have shadows of their own, and the run has the sum.
my @counts;
for my $ms (3000, 9000, 27000) {
	$run = shadowed([program('shadow_chase'), $ms, 'forks'], env => {CACHEPEEK_BUDGET => 20, CACHEPEEK_EVENTS => 'instructions,l1d_accesses'});
	@counts = map { $_->{whole_process}{counts}{l1d_accesses} } @{$run->{report}{processes}};
	last if !grep { $_->{status} ne 'estimated' } @counts;
}
is(scalar(@counts), 2, 'a parent and its fork child');
is($_->{status}, 'estimated', 'each is estimated') or diag(explain($_), said($run)) for @counts;
$all = of_run($run, 'l1d_accesses');
cmp_ok(abs($all->{value} - $counts[0]{value} - $counts[1]{value}), '<=', 2, 'the run has the sum');
is_near(sprintf('%.6g', $all->{error}), sprintf('%.6g', sqrt($counts[0]{error}**2 + $counts[1]{error}**2)), 'and the root of the sum of squares');
cmp_ok(abs(rate($run, 'l1d_accesses') - 1000 / 3), '<', 2, 'of what both did');
is_deeply(left(), [], 'no shadow of either is left');

# Who starts programs by posix_spawn(3) leaves the signal of ticks ignored in them.
SKIP: {
	skip('no python3', 1) if !which('python3');
	my $spawn = 'import os, sys; os.waitpid(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ), 0)';
	run(command => ['python3', '-c', $spawn, cli(), '-o', scratch('spawned.json'), program('shadow_chase'), 1000],
		env => {CACHEPEEK_ENGINE => 'shadow'});
	like(read_file(scratch('spawned.json')), qr/windows are counted/, 'a program that posix_spawn(3) started has shadows');
}

# The machine is the one that was asked for, or it is said that it is another.
$run = shadowed([program('shadow_chase'), 100], machine => 'skylake-sp');
like($run->{report}{machine}{description}, qr/^skylake-sp: /, 'the machine is named');
$run = shadowed([program('shadow_chase'), 100], env => {CACHEPEEK_MACHINE => 'nosuch'});
like(said($run), qr/^unknown machine nosuch \(shadows have the host's caches instead\)$/m, 'one that is unknown: a line');
like($run->{report}{machine}{description}, qr/^host: /, 'and the host is named');

# glibc takes the signal of ticks for itself where a thread is cancelled.
my $cancel = write_file(scratch('cancel.c'), <<'C');
#include <pthread.h>
#include <time.h>
static void *wait_long(void *nothing) { for (;;) nanosleep(&(struct timespec){1, 0}, NULL); return nothing; }
int main(int argc, char **argv)
{
	pthread_t thread;
	pthread_create(&thread, NULL, wait_long, NULL);
	if (argc > 1)
		pthread_cancel(thread);
	while (clock() < 200000)
		;
	return argv == NULL;
}
C
is(system('gcc', '-O1', '-o', scratch('cancel'), $cancel, '-pthread'), 0, 'a program that cancels a thread');
for my $argument ([], ['cancels']) {
	my $run = shadowed([scratch('cancel'), @$argument]);
	my $said = said($run);
	like(of_run($run, 'instructions')->{reason}, @$argument ? qr/^windows ended before the process did/ : qr/^fewer than/,
		"@$argument: and what came later is not guessed");
	is(scalar($said =~ /the program cancelled a thread/), @$argument ? 1 : '', "@$argument: it is said where windows ended");
}

# ---- what cannot be said ----

$run = shadowed([program('shadow_chase'), 100]);
my $few = of_run($run, 'instructions');
is($few->{value}, undef, 'a short run has no estimates, and none is made up');
like($few->{reason}, qr/^fewer than 10 windows of shadows are counted/, 'for a reason');

$run = shadowed([program('shadow_chase'), 100], under => ['taskset', '-c', '0']);
like($run->{json} . "@{$run->{notes}}", qr/there is no spare core for shadows/, 'one CPU: a line says so');

# ---- programs are as they are without ----

my $text = write_file(scratch('text'), join("\n", map { $_ * 7919 % 100003 } 1 .. 400000));
for my $command (['gzip', '-9c', $text], ['sort', '-n', $text], ['bzip2', '-c', $text],
	['python3', '-c', 'print(sum(i * i % 7 for i in range(3000000)))'],
	['perl', '-e', 'my %h; $h{$_ % 5003} += $_ for 1 .. 3000000; print $h{17}, "\n"; exit 9'],
	['sh', '-c', 'for i in 1 2 3; do gzip -c "$0" | wc -c; done; kill -TERM $$', $text]) {
	if (!which($command->[0])) {
		diag("there is no $command->[0]");
		next;
	}
	my $plain = plain(command => $command);
	my $shadowed = shadowed($command);
	is($shadowed->{out}, $plain->{out}, "$command->[0]: the same output");
	is($shadowed->{status}, $plain->{status}, "$command->[0]: the same status");
}

# ---- its end, wherever its shadow is ----

shadowed([program('shadow_chase'), 60 + $_]) for 1 .. 12;
is_deeply(left(), [], 'programs that end while a shadow is at work leave none');
for my $ms (map { 100 + 7 * $_ } 1 .. 8) {
	shadowed(['timeout', '-s', 'KILL', $ms / 1000, program('shadow_chase'), 5000]);
}
is_deeply(left(), [], 'neither do those that are killed');
done_testing();

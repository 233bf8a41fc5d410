#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The pages of sharing, diff, run --repeat and dcache --line-use: tests/browser/check_runs.py reads their numbers
# back in a real browser.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Browser;
use Peek;
use Test::More;

my $place = scratch('pages');
mkdir($place);
my @cc = ((split(' ', $ENV{CC} || 'gcc'))[0], '-g', '-O1', '-pthread', '-I', source() . '/regions');

# Two orders of the same loops; of the first a region that the second has not.
write_file("$place/walk.c", <<'C');
#include "cachepeek.h"
static volatile int m[256][256];
int main(void)
{
	long sum = 0;
	CACHEPEEK_BEGIN("walk");
	for (int i = 0; i < 256; i++)
		for (int j = 0; j < 256; j++)
			sum += COLUMNS ? m[j][i]++ : m[i][j]++;
	CACHEPEEK_END("walk");
	if (COLUMNS) {
		CACHEPEEK_BEGIN("</script><b>&amp;\033\342\200\256");
		CACHEPEEK_END("</script><b>&amp;\033\342\200\256");
	}
	return sum == 42;
}
C
# Counters of four threads in two lines, and one that all of them write.
write_file("$place/share.c", <<'C');
#include <pthread.h>
static _Alignas(64) volatile long counters[16];
static _Alignas(64) volatile int turn;
static void *work(void *of)
{
	for (int i = 0; i < 4000; i++)
		counters[(long)of]++;
	for (int i = 0; i < 1000; i++)
		turn = turn + 1;
	return 0;
}
int main(void)
{
	pthread_t thread[4];
	for (long i = 0; i < 4; i++)
		pthread_create(&thread[i], 0, work, (void *)(5 * i));
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], 0);
	return 0;
}
C
# Each run does more than the one before.
write_file("$place/more.pl", <<'P');
my ($file) = @ARGV;
my $n = -s $file;
open(my $to, '>>', $file) or die;
print $to 'x';
my %all = map { $_ => "value $_" } 1 .. 200 * ($n // 0);
P
for my $make (['columns', '-DCOLUMNS=1', 'walk.c'], ['rows', '-DCOLUMNS=0', 'walk.c'], ['share', '-DX', 'share.c']) {
	my ($name, $define, $file) = @$make;
	is(run(command => [@cc, $define, '-o', "$place/$name", "$place/$file"])->{status}, 0, "$name: compiled");
}

# Writes the page NAME.html and NAME.json by one command.
sub page
{
	my ($name, $status, @command) = @_;
	my $run = run(command => [cli(), map { s/^OUTPUT$/$place\/$name.html,$place\/$name.json/r } @command]);
	is(status_text($run->{status}), "exit $status", "$name: ran") or diag($run->{err});
	my $page = read_file("$place/$name.html") // '';
	like($page, qr{\A<!DOCTYPE html>.*</html>\n\z}s, "$name: a whole page");
	is(scalar(() = $page =~ m{</script}gi), 4, "$name: nothing ends its scripts");
	unlike($page, qr/<(?:script|link|img)[^>]*(?:src|href)="(?!data:)/i, "$name: no other file is named");
	is(run(command => ['/usr/bin/python3', source() . '/tests/validate.py',
		source() . "/doc/cachepeek-" . (($name =~ /(diff|repeat)/)[0] // ($name eq 'same' ? 'diff' : 'sharing')) . '-1.schema.json',
		"$place/$name.json"])->{out}, "1 reports, 0 faults\n", "$name: JSON as the schema says");
}

my @sim = ('-E', 'sim', '-m', 'zen3', '-g', 'cache');
for my $name (qw(columns rows)) {
	run(command => [cli(), @sim, '-o', "$place/$name.json", "$place/$name"]);
}
page('diff', 3, 'diff', '--fail-if', 'l1d_mpki<1000', '--fail-if', 'instructions>+50%', '-o', 'OUTPUT', "$place/columns.json", "$place/rows.json");
page('same', 0, 'diff', '-o', 'OUTPUT', "$place/rows.json", "$place/rows.json");
page('timed-diff', 0, 'diff', '--time', 1, '-o', 'OUTPUT', "$place/columns.json", "$place/rows.json");
page('repeat', 0, '--repeat', 3, @sim, '-o', 'OUTPUT', which('perl'), "$place/more.pl", "$place/grows");
page('shared', 0, 'sharing', '-m', 'zen3', '--quantum', 50, '-o', 'OUTPUT', "$place/share");
page('order', 0, 'sharing', '-m', 'zen3', '-o', 'OUTPUT', program('sharing'), 'padded', 2000);

# Structures fill a line, and 8 bytes are used.
write_file("$place/field.c", <<'C');
static struct { long used; char rest[56]; } table[3000] __attribute__((aligned(64)));
int main(void)
{
	long sum = 0;
	for (int i = 0; i < 6000; i++)
		sum += ++*(volatile long *)&table[i % 3000].used;
	return sum == 7;
}
C
is(run(command => [@cc, '-o', "$place/field", "$place/field.c"])->{status}, 0, 'field: compiled');
my $lines = run(command => [cli(), 'dcache', '-m', bare('zen3'), '--line-use', '-o', "$place/lines.html,$place/lines.json", "$place/field"]);
is(status_text($lines->{status}), 'exit 0', 'lines: ran') or diag($lines->{err});

# The ranks of a job, from their records.
for my $rank (0 .. 2) {
	is(run(command => [program('many_regions'), 10 + 40 * $rank], env => {LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'sim', CACHEPEEK_GROUPS => 'cache',
		CACHEPEEK_DIR => "$place/records", CACHEPEEK_OUTPUT => 'none', PMI_RANK => $rank, PMI_SIZE => 3})->{status}, 0, "job: rank $rank");
}
is(run(command => [cli(), 'merge', '-o', "$place/job.html,$place/job.json", "$place/records"])->{status}, 0, 'job: merged');

my $evil = '</script><b>&amp;' . "\e\x07\xe2\x80\xae" . '<img src=x>';
page('evil-diff', 0, 'diff', '-o', 'OUTPUT', "$place/columns.json", "$place/columns.json");
page('evil-repeat', 0, '--repeat', 2, '-E', 'sim', '-o', 'OUTPUT', "$place/rows", $evil);
page('evil-shared', 0, 'sharing', '-m', 'zen3', '-o', 'OUTPUT', "$place/share", $evil);

SKIP: {
	skip(no_browser(), 1) if no_browser();
	ok_browser(64, 'check_runs.py', $place);
}
done_testing();

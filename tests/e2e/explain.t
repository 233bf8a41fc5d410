#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek explain: the findings of a run, or of a report's JSON, with what they cost and
# the commands that confirm a mend, which are run here as they stand.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $work = scratch('work');
mkdir($work);
my $cc = (split(' ', $ENV{CC} || 'gcc'))[0];
my $path = build() . ":$ENV{PATH}";

sub cachepeek
{
	my (@arguments) = @_;
	return run(command => [cli(), @arguments], cwd => $work, env => {XDG_CACHE_HOME => "$work/cache"});
}

sub built
{
	my ($name, $source, @options) = @_;
	write_file("$work/source.c", $source);
	my $run = run(command => [$cc, '-g', '-O1', '-pthread', @options, '-o', $name, 'source.c'], cwd => $work);
	is(status_text($run->{status}), 'exit 0', "$name: built") or diag($run->{err});
}

sub explained
{
	my ($what, @arguments) = @_;
	my $run = cachepeek('explain', '--json', @arguments);
	is(status_text($run->{status}) . $run->{err}, 'exit 0', "$what: explained");
	my $file = write_file(scratch('explained.json'), $run->{out});
	is(run(command => ['/usr/bin/python3', source() . '/tests/validate.py', source() . '/doc/cachepeek-explain-1.schema.json', $file])->{out},
		"1 reports, 0 faults\n", "$what: as the schema says");
	return decode_json($run->{out});
}

# Each row of a matrix is 64 lines: by columns each reference is another line.
my $walk = <<'C';
static volatile float m[1500][1024];
static float sum;
int main(void)
{
	for (int j = 0; j < 64; j++)
		for (int i = 0; i < 1500; i++)
			sum += m[i][j]; // the line
	return sum > 0;
}
C
built('walk it', $walk);

# ---- of the last run ----

is(status_text(cachepeek('dcache', '-m', 'skylake-sp', '-o', 'report.json', './walk it', q(it's))->{status}), 'exit 0', 'dcache');
my $of_run = explained('the last run');
my $first = $of_run->{findings}[0];
my ($line) = grep { (split(/\n/, $walk))[$_ - 1] =~ /the line/ } 1 .. 9;
like($first->{rule}, qr/^(?:stride|set-conflicts)$/, 'the rule');
is("$first->{function} " . ($first->{file} =~ s{.*/}{}r) . " $first->{line}", "main source.c $line", 'the place');
like($first->{data}, qr/::m$/, 'the data');
is($first->{cost}{of}, 'l1d_misses', 'what is counted');
cmp_ok($first->{cost}{count}, '>=', 0.9 * 64 * 1500, 'how often');
# L2 or what is behind it serves each.
cmp_ok($first->{cost}{cycles}, '>=', 10 * $first->{cost}{count}, 'what it takes: ten cycles each and more');
cmp_ok($first->{cost}{share}, '>', 0.9, 'which is most of what the run\'s misses take');
like($first->{expected}, qr/^at most [\d,]+ cycles less, [\d.]+ per instruction, if nothing hides them \([\d,]+ misses in L1D\)$/, 'and may go');
isnt($first->{cause}, '', 'the cause');
is($of_run->{ended}, undef, 'the run ended by itself');
is_deeply($of_run->{arguments}, ['./walk it', q(it's)], 'the command');

my $text = cachepeek('explain')->{out};
like($text, qr/\Acachepeek \S+ explain: \.\/walk it it's\n\n1\. $first->{rule}: /, 'text: the run, and its first finding');
like($text, qr/^  $_ +\S/m, "text: $_") for qw(where data counted mend expected now mended compare);
like($text, qr/^  compare  \Qcachepeek diff before.json after.json\E$/m, 'text: a command that can be copied');

# ---- its commands confirm ----

is(scalar(@{$first->{confirm}}), 3, 'three commands');
like($first->{confirm}[1], qr{^cachepeek dcache -m skylake-sp -o after\.json './walk it' 'it'\\''s'$}, 'of the same machine, quoted');
my $mended = $walk =~ s/m\[i\]\[j\]/m[0][j]/r;
my $said;
for my $step (0 .. 2) {
	built('walk it', $mended) if $step == 1;
	$said = run(command => ['sh', '-c', $first->{confirm}[$step]], cwd => $work,
		env => {PATH => $path, XDG_CACHE_HOME => "$work/cache"});
	is(status_text($said->{status}), 'exit 0', "$first->{confirm}[$step]") or diag($said->{err});
}
like($said->{out}, qr/^less cost: /m, 'the comparison says that it costs less') or diag($said->{out});

# ---- of a report ----

my $of_file = explained('a report', 'report.json');
is_deeply([map { my %f = %$_; delete $f{confirm}; \%f } @{$of_file->{findings}}],
	[map { my %f = %$_; delete $f{confirm}; \%f } grep { $_->{rule} ne 'code-misses' } @{$of_run->{findings}}], 'a report: the same findings');
is_deeply($of_file->{findings}[0]{confirm}, [$first->{confirm}[1], 'cachepeek diff report.json after.json'], 'a report: which is there');
is($of_file->{from}, 'report.json', 'a report: its name');
my $old = decode_json(read_file("$work/report.json"));
delete @$_{qw(cause cost expected)} for @{$old->{findings}};
write_file("$work/old.json", encode_json($old));
is(explained('an older report', 'old.json')->{findings}[0]{cost}, undef, 'an older report: its costs are not known');

# ---- code, and threads ----

built('shared', <<'C');
#include <pthread.h>
static struct { volatile long n; } counters[2] __attribute__((aligned(64)));
static void *work(void *of)
{
	for (int i = 0; i < 8000; i++)
		counters[(long)of].n++;
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
is(status_text(cachepeek('sharing', '-m', 'skylake-sp', '-d', 'records', '-o', 'sharing.json', './shared')->{status}), 'exit 0', 'sharing');
for my $of ('records', 'sharing.json') {
	my ($false) = grep { $_->{rule} eq 'false-sharing' } @{explained("sharing, $of", $of)->{findings}};
	is("$false->{data} $false->{cost}{of} $false->{cost}{cycles}", 'shared::counters transfers ' . 100 * $false->{cost}{count},
		"sharing, $of: 100 cycles for each transfer");
	like($false->{confirm}[-2], qr/^cachepeek sharing -m skylake-sp -o after\.json \.\/shared$/, "sharing, $of: the command that shows it");
}

# ---- what it does not take ----

write_file("$work/text", "text\n");
write_file("$work/cut.json", substr(read_file("$work/report.json"), 0, 1000));
cachepeek('-o', 'counts.json', 'true');
for my $case ([['nosuch.json'], 1, 'nosuch.json: no such file'], [['text'], 1, 'text:1: not JSON'], [['cut.json'], 1, 'not JSON'],
	[['counts.json'], 1, 'counts.json has no findings: make a file that has some with cachepeek dcache'],
	[[], 1, 'has no profile: `cachepeek dcache PROGRAM`'], [['cache'], 1, 'cachepeek'],
	[['report.json', 'old.json'], 2, 'explain old.json: one run, or one report'], [['-o', 'x.html', 'report.json'], 2, '.txt or .json']) {
	my ($arguments, $status, $has) = @$case;
	my $run = cachepeek('explain', @$arguments);
	is(status_text($run->{status}) . $run->{out}, "exit $status", "explain @$arguments: status $status");
	like($run->{err}, qr/\Acachepeek: [^\n]*\Q$has\E[^\n]*\n\z/, "explain @$arguments: one line says why");
}

# ---- each rule ----

my ($known) = read_file(source() . '/doc/cachepeek-explain-1.schema.json') =~ /"rule": \{"enum": \[(.*?)\]/;
my $causes = read_file(source() . '/tools/profile/advice/causes.c');
is_deeply([sort($causes =~ /^\t\{"([a-z-]+)",/mg)], [sort($known =~ /"([^"]+)"/g)], 'each rule has a cause');
done_testing();

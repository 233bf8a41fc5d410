#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_SAMPLE: estimates of the simulated PMU hold what it counts in full inside their
# intervals; instructions and calls are exact; what cannot be sampled says so.
# SAMPLE_SEEDS=100 tries more seeds.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $seeds = $ENV{SAMPLE_SEEDS} || 8;
my $plan = 'warm=20000,burst=20000,period=300000';
my @events = qw(instructions l1d_accesses l1d_misses l1i_accesses l2_accesses l2_misses
	l2_writebacks llc_misses dtlb_misses);
my $machine = machine_file('plain');

# The environment is of one length, else the stack is elsewhere and so are its lines.
sub variable
{
	my ($seed) = @_;
	my $value = sprintf('sets=8,%s,seed=%04d', $plan, $seed);
	return $seed ? (CACHEPEEK_SAMPLE => $value) : (NOT_LOOKED_AT_XX => $value);
}

sub counted
{
	my ($seed, @arguments) = @_;
	return peek(command => [program('sampled_mix'), @arguments], engine => 'sim',
		machine => $machine, env => {variable($seed)},
		events => join(',', @events, 'hitm', 'l2_load_misses', 'cycles'));
}

my $full = counted(0);
is($full->{status}, 0, 'in full: it runs') or BAIL_OUT($full->{err});
my @sampled = map { counted($_) } 1 .. $seeds;

# ---- what is exact ----

my @paths = ([], ['tables'], ['stream'], ['often'], ['once']);
for my $path (@paths) {
	my $where = join('/', @$path) || 'whole run';
	my $truth = region($full->{report}, @$path);
	my @regions = map { region($_->{report}, @$path) } @sampled;

	is(scalar(grep { value($_, 'instructions') == value($truth, 'instructions') } @regions),
		$seeds, "$where: instructions are exact");
	is(scalar(grep { $_->{counts}{instructions}{status} eq 'simulated' } @regions), $seeds,
		"$where: and said to be");
	is(scalar(grep { $_->{calls} == $truth->{calls} } @regions), $seeds, "$where: calls are exact");
}

# ---- what is estimated ----

# So many of the intervals hold at least.
sub fewest { my ($n) = @_; return $n >= 100 ? 93 * $n / 100 : $n - 3 }

for my $path (@paths[0 .. 3]) {
	my $where = join('/', @$path) || 'whole run';
	my $truth = region($full->{report}, @$path);

	for my $event (grep { $_ ne 'instructions' } @events) {
		my $true = value($truth, $event);
		next unless defined $true;
		my @counts = map { region($_->{report}, @$path)->{counts}{$event} } @sampled;
		my @there = grep { $_->{status} eq 'estimated' } @counts;
		is(scalar(@there), $seeds, "$where: $event is estimated") or diag($counts[0]{reason});
		my @holds = grep { abs($_->{value} - $true) <= $_->{error} + 0.5 } @there;
		cmp_ok(scalar(@holds), '>=', fewest($seeds), "$where: $event: intervals hold")
			or diag("true $true: ", join(', ', map { "$_->{value} +- $_->{error}" } @there));
		next if 1000 * $true < value($truth, 'instructions');
		my @wide = grep { $_->{error} > 0.25 * $true } @there;
		cmp_ok(scalar(@wide), '<=', $seeds / 4, "$where: $event: and tell something");
	}
}

# ---- what a burst's warming does not fill ----

# The stream's pages fit into the second-level TLB, and a burst sees few of them.
{
	my @walks = map { my $value = $_;
		region(peek(command => [program('sampled_mix')], engine => 'sim', machine => $machine, events => 'instructions,dtlb_walks,l1d_misses',
			env => {$value ? (CACHEPEEK_SAMPLE => $value) : variable(0)})->{report})->{counts} }
		'', (map { (variable($_))[1] } 1 .. 3), map { "sets=8,warm=400000,burst=20000,period=1000000,seed=$_" } 1 .. 3;
	my $true = (shift @walks)->{dtlb_walks}{value};
	cmp_ok($true, '>', 1000, 'walks: each page has one');
	for my $short (@walks[0 .. 2]) {
		is($short->{dtlb_walks}{value}, undef, 'walks: too short a warming: no value');
		like($short->{dtlb_walks}{reason}, qr/^sampled: many misses may be none, .*: raise warm=/, 'walks: and why');
		is($short->{l1d_misses}{status}, 'estimated', 'walks: but L1D is warm');
	}
	for my $long (@walks[3 .. 5]) {
		my $got = $long->{dtlb_walks};
		is($got->{status}, 'estimated', 'walks: long enough');
		cmp_ok(abs($got->{value} - $true), '<=', $got->{error} // -1, 'walks: the interval holds');
	}
}

my %values = map { value(region($_->{report}), 'l1d_misses') => 1 } @sampled;
cmp_ok(scalar(keys %values), '>', $seeds / 2, 'another seed is another sample');

# ---- metrics: of several counts of one sample ----

{
	my ($true, @runs) = map { peek(command => [program('sampled_mix')], engine => 'sim', machine => $machine, groups => 'cache',
		env => {variable($_)}) } 0 .. $seeds;
	my @wanted = qw(l1d_request_rate l1d_miss_ratio l1d_mpki l2_miss_ratio l2_mpki llc_mpki mem_volume miss_cycles served_l1);
	for my $path (@paths[0 .. 3]) {
		my $where = join('/', @$path) || 'whole run';
		for my $name (@wanted) {
			my $truth = region($true->{report}, @$path)->{metrics}{$name}{value};
			my @metrics = map { region($_->{report}, @$path)->{metrics}{$name} } @runs;
			is(scalar(grep { $_->{status} eq 'estimated' && $_->{error} > 0 } @metrics), $seeds, "$where: $name has an interval");
			my @holds = grep { abs($_->{value} - $truth) <= $_->{error} } @metrics;
			cmp_ok(scalar(@holds), '>=', fewest($seeds), "$where: $name: which holds")
				or diag("true $truth: ", join(', ', map { "$_->{value} +- $_->{error}" } @metrics));
		}
	}
	# A sample with too many of one count has too many of the other.
	my ($ratio, @parts) = map { my $r = region($runs[0]{report}); $r->{metrics}{$_} // $r->{counts}{$_} } qw(l1d_miss_ratio l1d_misses l1d_accesses);
	cmp_ok($ratio->{error} / $ratio->{value}, '<', sqrt(($parts[0]{error} / $parts[0]{value})**2 + ($parts[1]{error} / $parts[1]{value})**2) + 0.05,
		'a ratio is known about as well as its parts');
	my @all = map { my $m = region($_->{report}, 'stream')->{metrics}; map { $m->{$_} } qw(l1d_miss_ratio l2_miss_ratio llc_miss_ratio) } @runs;
	is_deeply([grep { $_->{value} > 1 } @all], [], 'no more than all references of a region miss');
	# One that is above 1 whatever the sample, and a group that says it cannot be.
	my $group = write_file(scratch('parts.group'), <<'G');
@group parts
@title A part that is larger than the whole
@need l1d_accesses l1d_misses
part [ratio] = l1d_accesses / l1d_misses
other [ratio] = 2 * l1d_accesses / l1d_misses
@check l1d_accesses <= l1d_misses "it cannot be"
@columns part "part"
@mark part
@long
x
@end
G
	my $limited = region(peek(command => [program('sampled_mix')], engine => 'sim', machine => $machine, groups => $group, env => {variable(1)})->{report})->{metrics};
	is($limited->{part}{value}, 1, 'a part is no more than all');
	like($limited->{part}{reason}, qr/^sampled: estimates of two counts made it more than all/, 'which is said');
	cmp_ok($limited->{part}{error}, '>', 0, 'with an interval');
	cmp_ok($limited->{other}{value}, '>', 2, 'other ratios are what they are');
	is(region($runs[0]{report}, 'tables')->{metrics}{llc_miss_ratio}{value}, undef, 'a ratio of what may be nothing has no value');
	like(region($runs[0]{report}, 'tables')->{metrics}{llc_miss_ratio}{reason}, qr/^sampled: what it is divided by may be 0/, 'and why');
	my ($csv, $text) = map { my $file = scratch("metrics.$_");
		peek(command => [program('sampled_mix')], engine => 'sim', machine => $machine, groups => 'cache', output => $file, env => {variable(1)});
		read_file($file) } qw(csv txt);
	like($csv, qr/^run,.*,metric,l1d_miss_ratio,0\.\d+,ratio,estimated,,0\.\d+,,$/m, 'CSV: their errors');
	like($text, qr/^whole run: .*l1d_request_rate ~[\d.]+\/I \xc2\xb1[\d.]+ %/m, 'text: their intervals');
	like($text =~ s/\s+/ /gr, qr/95 % intervals: .*, l1d_miss_ratio \xc2\xb1[\d.]+ %/, 'text: those of columns');
	my $schema = source() . '/doc/cachepeek-report-1.schema.json';
	is(run(command => ['/usr/bin/python3', source() . '/tests/validate.py', $schema, write_file(scratch('metrics.json'), $runs[0]{json})])->{out},
		"1 reports, 0 faults\n", 'the JSON is what its schema says');
}

# ---- what is not ----

my $once = region($sampled[0]{report}, 'once');
is($once->{counts}{l1d_misses}{status}, 'unavailable', 'too few bursts: no value');
like($once->{counts}{l1d_misses}{reason}, qr/fewer than about 30 bursts/, 'and why');
my $whole = region($sampled[0]{report});
for my $event (qw(hitm l2_load_misses cycles)) {
	is($whole->{counts}{$event}{status}, 'unavailable', "$event: no value");
	like($whole->{counts}{$event}{reason}, qr/cannot be sampled/, "$event: and why");
}

# ---- threads ----

my %threads = (full => counted(0, 2), sampled => counted(1, 2));
my @both = map { region($threads{$_}{report}) } qw(full sampled);
is(value(region($threads{sampled}{report}, $_), 'instructions'),
	value(region($threads{full}{report}, $_), 'instructions'), "three threads: $_ is exact")
	for qw(tables stream often);
for my $event (qw(l1d_misses l2_misses)) {
	my ($true, $count) = map { $_->{counts}{$event} } @both;
	is($count->{status}, 'estimated', "three threads: $event is estimated");
	cmp_ok(abs($count->{value} - $true->{value}), '<=', 2 * $count->{error},
		"three threads: $event is what it should be");
}

# ---- pooled: too few bursts in each, enough in all ----

my $parts = write_file(scratch('parts.c'), <<'C');
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define WORDS (1 << 18)
static int table[WORDS];
static void work(unsigned x)
{
	for (int i = 0; i < 600000; i++) {
		x = x * 1664525u + 1013904223u;
		table[x >> 8 & (WORDS - 1)]++;
	}
}
int main(int argc, char **argv)
{
	if (argc > 1) {
		for (unsigned i = 0; i < 4; i++)
			if (fork() == 0) {
				work(i);
				_exit(0);
			}
		while (wait(NULL) > 0)
			;
		return 0;
	}
#pragma omp parallel for num_threads(4) schedule(static, 1)
	for (unsigned i = 0; i < 4; i++)
		work(i);
	return 0;
}
C
my $pooled = scratch('pooled');
is(run(command => ['gcc', '-O2', '-fopenmp', '-o', $pooled, $parts])->{status}, 0, 'a program of parts');
for my $case (['threads of OpenMP'], ['children', 'fork']) {
	my ($what, @arguments) = @$case;
	my ($true, @runs) = map { peek(command => [$pooled, @arguments], engine => 'sim', machine => $machine,
		env => {OMP_WAIT_POLICY => 'passive', variable($_)}, events => 'instructions,l1d_misses,l2_misses,l2_writebacks')->{report} } 0, 2 .. 4;
	# Lines that threads take from each other are not written back, and hang on their turns.
	for my $event (qw(l1d_misses l2_misses), @arguments ? 'l2_writebacks' : ()) {
		my @counts = map { region($_)->{counts}{$event} } @runs;
		is_deeply([map { $_->{status} } @counts], [('estimated') x 3], "$what: $event is estimated");
		unlike($counts[0]{reason}, qr/without/, "$what: $event: of all of them");
		my $count = value(region($true), $event);
		is(scalar(grep { abs($_->{value} - $count) > 2 * $_->{error} } @counts), 0, "$what: $event is what it should be");
		is(scalar(grep { $_->{error} > 0.2 * $count } @counts), 0, "$what: $event: and told well");
	}
	my @alone = map { region($_)->{counts}{l1d_misses}{status} } map { @{$_->{threads}} } @{$runs[0]{processes}};
	cmp_ok(scalar(grep { $_ eq 'unavailable' } @alone), '>=', 3, "$what: not in each of them alone");
}

# ---- the text ----

my $text = peek(command => [program('sampled_mix')], engine => 'sim', machine => $machine,
	output => 'stderr', env => {CACHEPEEK_SAMPLE => "$plan,seed=1"});
like($text->{err}, qr/^sampled +estimates for the machine below/m, 'text: it is a sample');
like($text->{err} =~ s/\s+/ /gr, qr/95 % intervals: l1d_misses ±[\d.]+ %/, 'text: with its intervals');
unlike($text->{err}, qr/exact for the machine/, 'text: and not exact');

# ---- bad input ----

my %bad = (
	'quick' => qr/quick is none of fast, balanced, sets=N/,
	'balanced,sets=0' => qr/sets is a number from 2 to 16/,
	'fast,burst=0' => qr/burst is a number of instructions above 0/,
	'fast,period=1' => qr/period is at least twice as long/,
);
for my $value (sort keys %bad) {
	my $run = peek(command => [program('empty')], engine => 'sim', machine => $machine,
		events => 'l1d_misses', env => {CACHEPEEK_SAMPLE => $value});
	like("@{$run->{notes}}", $bad{$value}, "$value: one line");
	is(notes($run), 1, "$value: and no more");
	is(region($run->{report})->{counts}{l1d_misses}{status}, 'simulated', "$value: in full");
}
my %not_with = (CACHEPEEK_WORKING_SET => 100000,
	CACHEPEEK_PROFILE => 'sharing', CACHEPEEK_CALL_PATHS => 1, CACHEPEEK_LINE_USE => 1,
	CACHEPEEK_WHAT_IF => 'L1D.policy=plru');
for my $other (sort keys %not_with) {
	my $run = peek(command => [program('empty')], engine => 'sim', machine => $machine,
		events => 'l1d_misses', env => {CACHEPEEK_SAMPLE => 'fast', $other => $not_with{$other}});
	like("@{$run->{notes}}", qr/CACHEPEEK_SAMPLE: .* \(everything is simulated/, "$other: one line");
	is(region($run->{report})->{counts}{l1d_misses}{status}, 'simulated', "$other: in full");
}

done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_SAMPLE with cachepeek dcache, dtlb and icache: misses by function, line and data
# are estimates with 95 % intervals that hold what full simulation counts, or there are
# none for a reason; they add up to the estimate of the run.
# SAMPLE_SEEDS=100 tries more seeds.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use List::Util qw(sum);
use Peek;
use Test::More;

my $seeds = $ENV{SAMPLE_SEEDS} || 4;
my $machine = machine_file('plain');
my $few_pages = machine_file('few-pages', stlb => '128 4'); # fewer than the array has

our $source = write_file(scratch('places.c'), <<'C');
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
enum { TABLE = 1 << 15, ARRAY = 1 << 20, LINE = 64 };
static uint64_t state = 1;
static __attribute__((noinline)) uint32_t look_up(uint32_t *table)
{
	uint32_t sum = 0;
	for (unsigned i = 0; i < 10000; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		sum += table[(state >> 33) % TABLE]++;
	}
	return sum;
}
static __attribute__((noinline)) uint32_t walk(const char *array)
{
	uint32_t sum = 0;
	for (unsigned i = 0; i < ARRAY; i += LINE)
		sum += (uint32_t)array[i];
	return sum;
}
static __attribute__((noinline)) uint32_t seldom(const char *array)
{
	uint32_t sum = 0;
	for (unsigned i = 0; i < 64 * LINE; i += LINE)
		sum += (uint32_t)array[i];
	return sum;
}
int main(int argc, char **argv)
{
	uint32_t *table, sum = 0;
	char *array, *other;
	int children = argc > 1 ? 3 : 0, parent = 1;
	while (children-- > 0 && parent)
		parent = fork() != 0;
	table = calloc(TABLE, sizeof(*table));
	array = calloc(ARRAY, 1);
	other = calloc(ARRAY, 1);
	for (int i = 0; i < (argc > 1 ? 25 : 100); i++) {
		sum += look_up(table) + walk(array);
		if (i == 20)
			sum += seldom(other);
	}
	while (wait(NULL) > 0)
		;
	return sum == 1;
}
C
my $program = scratch('places');
is(run(command => ['gcc', '-g', '-O1', '-o', $program, $source])->{status}, 0, 'a program') or BAIL_OUT('');

# The environment is of one length, else the stack is elsewhere and so are its lines.
sub profile
{
	my ($kind, $plan, $seed, %more) = @_;
	my $file = scratch(sprintf('%s%04d.json', $kind, $seed));
	my $run = run(command => [cli(), $kind, '-m', $kind eq 'dtlb' ? $few_pages : $machine, '-o', $more{output} || $file, $program, @{$more{arguments} || []}],
		env => {$more{variable} || 'CACHEPEEK_SAMPLE' => sprintf('sets=8,%s,seed=%04d', $plan, $seed)});
	is($run->{status}, 0, "$kind, $seed: it runs") or diag($run->{err});
	return $more{output} ? $run->{out} : decode_json(read_file($file));
}

sub full { my ($kind, $plan, %more) = @_; return profile($kind, $plan, 0, variable => 'NOT_LOOKED_AT_XX', %more) }

sub row { my ($profile, $function) = @_; return (grep { $_->{function} eq $function } @{$profile->{functions}})[0] }
sub line { my ($profile, $function) = @_; return row($profile, $function)->{statements}[0] } # with the most
sub data { my ($profile, $size) = @_; return (grep { $_->{size} == $size && $_->{data} eq 'heap' } @{$profile->{data}})[0] }
sub misses_of { my ($counts) = @_; return $counts->{l1d_load_misses} + $counts->{l1d_store_misses} }

my %places = (
	'look_up' => sub { row($_[0], 'look_up') },
	'walk' => sub { row($_[0], 'walk') },
	"look_up's line" => sub { line($_[0], 'look_up') },
	"walk's line" => sub { line($_[0], 'walk') },
	'table' => sub { data($_[0], 4 << 15) },
	'array' => sub { data($_[0], 1 << 20) },
);

# ---- bursts ----

my $plan = 'warm=010000,burst=0010000,period=000100000';
my $truth = full('dcache', $plan);
my @sampled = map { profile('dcache', $plan, $_) } 1 .. $seeds;
my $all = misses_of($truth->{counts});

is(scalar(grep { $_->{exact} } @sampled), $seeds, 'places add up to what was sampled');
is(scalar(grep { @{$_->{findings}} } @sampled), 0, 'rules do not go by samples');
like(run(command => [cli(), 'explain', scratch(sprintf('dcache%04d.json', $seeds))])->{out},
	qr/^not looked for: the rules go by counts that a sample does not have of places$/m, 'which is said: it is no all-clear');
for my $name (sort keys %places) {
	my $true = misses_of($places{$name}($truth)->{counts});
	my @rows = map { $places{$name}($_) } @sampled;

	is(scalar(grep { defined $_->{counts}{misses} && defined $_->{share} } @rows), $seeds, "$name: there is an estimate");
	my @hold = grep { abs($_->{counts}{misses} - $true) <= $_->{errors}{misses} } @rows;
	cmp_ok(scalar(@hold), '>=', 0.93 * $seeds - 1, "$name: intervals hold the truth")
		or diag("true $true: ", join(', ', map { "$_->{counts}{misses} +- $_->{errors}{misses}" } @rows));
	@hold = grep { abs($_->{share} - $true / $all) <= $_->{share_error} } @rows;
	cmp_ok(scalar(@hold), '>=', 0.93 * $seeds - 1, "$name: those of shares, too")
		or diag('true ', $true / $all, ': ', join(', ', map { "$_->{share} +- $_->{share_error}" } @rows));
	is(scalar(grep { $_->{errors}{misses} > 0.35 * $true } @rows), 0, "$name: and tell something");
	is(scalar(grep { $_->{share_error} > 0.2 } @rows), 0, "$name: shares, too");
}

# A line's misses in one of the data are known as well as its misses in all.
for my $case (['table', 'look_up'], ['array', 'walk']) {
	my ($name, $function) = @$case;
	my ($true, @those) = map { (grep { $_->{function} eq $function } @{$places{$name}($_)->{places}})[0] } $truth, @sampled;

	is($true->{misses_error}, undef, "$name, in $function: in full there is no interval");
	my @hold = grep { abs($_->{misses} - $true->{misses}) <= ($_->{misses_error} // -1) } @those;
	cmp_ok(scalar(@hold), '>=', 0.93 * $seeds - 1, "$name, in $function: intervals hold the truth")
		or diag("true $true->{misses}: ", join(', ', map { "$_->{misses} +- $_->{misses_error}" } @those));
	is(scalar(grep { $_->{misses_error} > 0.35 * $true->{misses} } @those), 0, "$name, in $function: and tell something");
}

# ---- what adds up ----

for my $profile ($sampled[0]) {
	my ($thread) = @{$profile->{threads}};
	is_near($thread->{counts}{misses}, $profile->{counts}{misses}, 'the only thread has all misses');
	is_near($thread->{share}, 1, 'which is all of it');
	is_near($profile->{errors}{misses} / $profile->{counts}{misses}, $thread->{errors}{misses} / $thread->{counts}{misses}, 'known as well');
	is($profile->{statuses}{l1d_load_misses}, 'estimated', 'estimated');
	is($profile->{sample}{sets}, 8, 'JSON says how');
	my $l2 = $truth->{counts}{l2_load_lines};
	cmp_ok(abs($profile->{counts}{l2_load_lines} - $l2), '<=', $profile->{errors}{l2_load_lines}, 'L2: of the whole run');
	ok(!exists row($profile, 'walk')->{counts}{l2_load_lines}, 'L2: not by place');
	is($profile->{counts}{hitm}, undef, 'what cannot be sampled is not there');
	is($profile->{statuses}{l1d_bypasses}, 'simulated', 'what such a machine has none of is exact');
}

# ---- what is made of several counts ----

sub walk_share { my ($c) = @_; return ($c->{dtlb_load_walks} + $c->{dtlb_store_walks}) / ($c->{dtlb_load_pages} + $c->{dtlb_store_pages}) }
sub served { my ($c, $level) = @_; return $c->{"load_from_$level"} / $c->{l1d_load_lines} }
sub ok_made
{
	my ($name, $true, $most, @reports) = @_;
	my @known = grep { defined $_->{counts}{$name} && defined $_->{errors}{$name} } @reports;
	is(scalar(@known), $seeds, "$name: it has an interval");
	cmp_ok(scalar(grep { abs($_->{counts}{$name} - $true) <= $_->{errors}{$name} } @known), '>=', 0.93 * $seeds - 1, "$name: which holds the truth")
		or diag("true $true: ", join(', ', map { "$_->{counts}{$name} +- $_->{errors}{$name}" } @known));
	is(scalar(grep { $_->{errors}{$name} > $most * $true } @known), 0, "$name: and tells something");
}
ok_made('load_from_l2', $truth->{counts}{load_from_l2}, 0.6, @sampled);
ok_made('load_latency', $truth->{counts}{load_latency}, 0.1, @sampled);
ok_made('average', $truth->{counts}{load_latency} / $truth->{counts}{l1d_load_lines}, 0.2, @sampled);
ok_made('memory_share', served($truth->{counts}, 'memory'), 0.2, @sampled);
my $pages = 'warm=040000,burst=0020000,period=000120000'; # warm for that
ok_made('walk_share', walk_share(full('dtlb', $pages)->{counts}), 1, map { profile('dtlb', $pages, $_) } 1 .. $seeds);

# ---- too few ----

my $few = row($sampled[0], 'seldom');
if ($few) {
	is($few->{counts}{misses}, undef, 'seen in too few bursts: no value');
	is($few->{share}, undef, 'nor a share');
	like($few->{reason}, qr/fewer than about 30 bursts|as wide as the value/, 'and why');
}
my $short = profile('dcache', 'warm=010000,burst=0010000,period=010000000', 1);
is(row($short, 'walk')->{counts}{misses}, undef, 'too few bursts in all: no value');
like(row($short, 'walk')->{reason}, qr/fewer than about 30 bursts/, 'and why');
is($short->{counts}{l1d_load_misses}, undef, 'of the whole run neither');
is_deeply([map { $_->{function} } grep { defined $_->{counts}{misses} || defined $_->{share} } @{$short->{functions}}], [],
	'nor of what most was seen of while all was counted');
is_deeply([grep { defined $_->{misses} || !exists $_->{misses} || !exists $_->{misses_error} } map { @{$_->{places}} } @{$short->{data}}], [],
	'nor of where data was missed');
for my $case (['dcache', qw(load_from_l2 load_from_llc load_from_memory load_latency)], ['dtlb', 'dtlb_from_second_level'],
	['icache', qw(fetch_from_l2 fetch_from_llc fetch_from_memory fetch_latency)]) {
	my ($kind, @made) = @$case;
	my $of = profile($kind, 'warm=010000,burst=0010000,period=010000000', 1);
	is_deeply([grep { defined $of->{counts}{$_} } @made], [], "$kind: what is made of that has no value");
	is_deeply([grep { !exists $of->{counts}{$_} } @made], [], "$kind: and is named");
	my $file = scratch('short.txt');
	profile($kind, 'warm=010000,burst=0010000,period=010000000', 1, output => $file);
	like(read_file($file), qr/^\Q$_\E +\S+ +\(sampled: it cannot be, or there were too few bursts\)/m, "$kind: $_: and why") for @made;
}

# ---- all of it in full: what is counted is what full simulation counts ----

my $whole = 'warm=000001,burst=0000001,period=900000000';
my %in_full = (); # by kind: the two
for my $case (['dcache', 'look_up', 'l1d_load_misses'], ['dcache', 'walk', 'l1d_load_misses'], ['dtlb', 'walk', 'dtlb_load_misses'],
	['icache', 'main', 'l1i_misses']) {
	my ($kind, $function, $event) = @$case;
	$in_full{$kind} //= [full($kind, $plan), profile($kind, $whole, 1)];
	my ($true, $one) = map { row($_, $function) } @{$in_full{$kind}};
	my ($wanted, $got) = map { $_ ? $_->{counts}{$event} // -1 : -1 } $true, $one;
	cmp_ok($wanted, '>', 0, "$kind: $function: $event");
	cmp_ok(abs($wanted - $got), '<=', 20, "$kind, in full: $function: $event") or diag("$wanted $got");
}

# ---- several processes ----

my $forked = profile('dcache', $plan, 3, arguments => ['fork']);
is($forked->{processes}, 4, 'children have their parts');
my $both = misses_of(row(full('dcache', $plan, arguments => ['fork']), 'walk')->{counts});
my $walk = row($forked, 'walk');
cmp_ok(abs($walk->{counts}{misses} - $both), '<=', 2 * $walk->{errors}{misses}, 'which are one sample');
cmp_ok($walk->{errors}{misses}, '<=', 0.3 * $both, 'that tells something');

# ---- for people ----

my $text = profile('dcache', $plan, 1, output => '-');
like($text =~ s/\s+/ /gr, qr/estimates from a sample \(CACHEPEEK_SAMPLE\)/, 'text: a sample');
like($text, qr/^walk +\(places.c\) +[\d.]+ ±[\d.]+ +[\d.]+ [kM] ±[\d.]+%/m, 'text: share and misses with their intervals');
unlike($text, qr/exact for the machine/, 'text: not exact');
# In a sum of shares one that is not known is none.
my $whole_text = scratch('sums.txt');
profile('dcache', $plan, 1, output => $whole_text);
my ($summary) = read_file($whole_text) =~ /^Function Summary\n[^\n]*\n(.*?)\n\n/ms;
my ($unknown, @wrong) = (0);
for (split(/\n/, $summary)) {
	my ($share, $sum) = /^ *(\S+) +(\S+) / or next;
	next if /^ *\(/;
	$unknown ||= $share eq "\xe2\x80\x94";
	push(@wrong, $_) if ($sum eq "\xe2\x80\x94") != !!$unknown;
}
ok($unknown, 'text: some places have no share');
is_deeply(\@wrong, [], 'text: nor has their sum, from there on');
like($summary, qr/^ *\(\d+ more\)$/m, 'text: those that are left out, too');

my ($as_json, $as_csv) = map { scratch("both.$_") } qw(json csv); # of one run: another may load once more
profile('dcache', $plan, 1, output => "$as_json,$as_csv");
my ($head, @csv) = split(/\n/, read_file($as_csv));
my $both = decode_json(read_file($as_json));
my @names = split(/,/, $head);
my %run = do { my @cells = split(/,/, $csv[0], -1); map { $names[$_] => $cells[$_] } 0 .. $#names };
is_near($run{l1d_load_misses}, $both->{counts}{l1d_load_misses}, 'CSV: an estimate');
is_near($run{l1d_load_misses_error}, $both->{errors}{l1d_load_misses}, 'CSV: with its interval');
is($run{hitm_error}, q{}, 'CSV: and none where there is no value');
is(scalar(grep { split(/,/, $_, -1) != @names && !/"/ } @csv), 0, 'CSV: each row has all columns');

# ---- the page, as a browser shows it ----

sub unescaped { return $_[0] =~ s/&lt;/</gr =~ s/&gt;/>/gr =~ s/&quot;/"/gr =~ s/&nbsp;/ /gr =~ s/&amp;/&/gr }

# The text of an element that has none of its kind inside.
sub element
{
	my ($dom, $tag, $id) = @_;
	my ($inside) = $dom =~ m{<$tag\b[^>]*\bid="$id"[^>]*>(.*?)</$tag>}s;
	return $inside // '';
}

# Cells: {class, title, value, text}.
sub cells
{
	my ($tag, $inside) = @_;
	my @cells;
	while ($inside =~ m{<$tag\b([^>]*)>(.*?)</$tag>}gs) {
		my ($attributes, $text) = ($1, $2);
		my %cell = $attributes =~ /([\w-]+)="([^"]*)"/g;
		push(@cells, {class => $cell{class}, title => unescaped($cell{title} // ''), value => $cell{'data-value'},
			text => unescaped($text =~ s/<[^>]*>//gr)});
	}
	return @cells;
}

# The rows of a table by the title of their first cell: cells by the names of columns.
sub rows
{
	my ($dom, $id) = @_;
	my ($head, $body) = element($dom, 'table', $id) =~ m{<thead>(.*?)</thead><tbody>(.*?)</tbody>}s or return;
	my @names = $head =~ /<th\b[^>]*data-id="([^"]*)"/g;
	my %rows;
	for ($body =~ m{<tr\b[^>]*>(.*?)</tr>}gs) {
		my ($first) = cells('th', $_) or next; # a gap
		my @cells = cells('td', $_);
		$rows{$first->{title} || $first->{text}} = {map { ($names[$_ + 1] // $_) => $cells[$_] } 0 .. $#cells};
	}
	return %rows;
}

sub shown
{
	my ($kind) = @_;
	my ($page, $json) = (scratch("$kind-page.html"), scratch("$kind-page.json"));
	profile($kind, $kind eq 'dtlb' ? $pages : $plan, 1, output => "$page,$json");
	my $run = run(command => ['chromium', '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
		'--user-data-dir=' . scratch('browser'), '--virtual-time-budget=20000', '--dump-dom', "file://$page"]);
	is($run->{status}, 0, "page of $kind: a browser shows it") or diag($run->{err});
	return ($run->{out}, decode_json(read_file($json)));
}

# Whatever is estimated has its interval where it stands.
sub without_interval { return grep { ($_->{class} // '') eq 'estimated' && $_->{title} !~ /estimated: \xc2\xb1 \d/ } @_ }

SKIP: {
	skip('no chromium', 1) unless which('chromium');
	for my $kind (qw(dcache dtlb icache)) {
		my ($dom, $report) = shown($kind);
		like($dom, qr{<h2 id="total-title">Estimates for the whole run</h2>}, "page of $kind: what its counts are");
		my $totals = element($dom, 'dl', 'totals');
		my @names = map { $_->{text} } cells('dt', $totals);
		my @values = cells('dd', $totals);
		is_deeply([sort @names], [sort keys %{$report->{counts}}], "page of $kind: each count and metric once");
		my %shown = map { $names[$_] => $values[$_] } 0 .. $#names;
		is_deeply([grep { defined($report->{counts}{$_}) != defined($shown{$_}{value}) } @names], [], "page of $kind: those that are known");
		is_deeply([grep { defined($shown{$_}{value}) && abs($shown{$_}{value} - $report->{counts}{$_}) > 1e-9 * $report->{counts}{$_} } @names], [],
			"page of $kind: as the report has them");
		my @estimated = grep { $shown{$_}{class} eq 'estimated' } @names;
		cmp_ok(scalar(@estimated), '>=', 5, "page of $kind: with estimates");
		is_deeply([grep { !defined $report->{errors}{$_} } @estimated], [], "page of $kind: of which each has an interval");
		is_deeply([grep { $shown{$_}{value} && $shown{$_}{text} !~ /\xc2\xb1[\d.]+ %$/ } @estimated], [], "page of $kind: and shows it");
		my %lines = rows($dom, 'source');
		my @cells = map { values(%$_) } map { my %rows = rows($dom, $_); values(%rows) } qw(functions data threads modules);
		push(@cells, map { values(%$_) } values(%lines));
		cmp_ok(scalar(grep { ($_->{class} // '') eq 'estimated' } @cells), '>=', $kind eq 'icache' ? 0 : 10, "page of $kind: places have estimates");
		is_deeply([map { $_->{title} } without_interval(@cells)], [], "page of $kind: with intervals");
		unlike(element($dom, 'dl', 'answer'), qr/\d[kMG]?(?:,|<)/, "page of $kind: those of the answer, too") if $kind eq 'dtlb';
		my ($source) = grep { $_->{file} eq $main::source } @{$report->{sources}};
		my %true = map { $_->{line} => $_->{counts}{misses} } @{$source->{lines}};
		my %of = map { $_ => $lines{$_}{0}{value} } grep { exists $true{$_} } keys %lines;
		is_deeply([grep { defined($of{$_}) != defined($true{$_}) || defined($of{$_}) && abs($of{$_} - $true{$_}) > 1e-9 * $true{$_} } keys %of], [],
			"page of $kind: lines as the report has them");
		cmp_ok(scalar(grep { defined } values(%of)), '>=', 1, "page of $kind: some have a value") unless $kind eq 'icache';
		unlike(element($dom, 'select', 'source-file'), qr/\(0\)/, "page of $kind: a file whose misses are not known has no number");
		my %functions = rows($dom, 'functions');
		my ($walk) = grep { /^walk \(/ } keys %functions;
		next if $kind eq 'icache';
		is_near($functions{$walk}{misses}{value}, row($report, 'walk')->{counts}{misses}, "page of $kind: a function");
		is_near($functions{$walk}{share}{value}, row($report, 'walk')->{share}, "page of $kind: its share");
		ok(!exists $functions{$walk}{walk_share}, 'page of dtlb: no share of walks by place') if $kind eq 'dtlb';
	}
}

done_testing();

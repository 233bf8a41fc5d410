#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_SAMPLE with CACHEPEEK_INTERVAL: each interval has estimates of its own, with
# error bars, or none for a reason; they add up to the run's.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use List::Util qw(sum);
use Peek;
use Test::More;

my @events = qw(instructions l1d_misses l2_misses dtlb_misses);
my $machine = machine_file('plain', l1d => '4K 4 64', l1i => '8K 8 64', itlb => '4 4', dtlb => '4 4'); # soon warm

sub counted
{
	my ($plan, %more) = @_;
	my $run = peek(command => [program('sampled_mix')], engine => 'sim', machine => $machine,
		events => join(',', @events), output => $more{output},
		env => {CACHEPEEK_INTERVAL => '100ms', $more{variable} || 'CACHEPEEK_SAMPLE' => "sets=8,$plan"});
	is($run->{status}, 0, "$plan: it runs") or BAIL_OUT($run->{err});
	return $run;
}

sub line
{
	my ($run, @path) = @_;
	my $series = $run->{report}{processes}[0]{series};
	my ($line) = grep { "@{$_->{path}}" eq "@path" } @{$series->{lines}};
	return $line;
}

sub whole { my ($run, $event) = @_; return $run->{report}{processes}[0]{whole_process}{counts}{$event} }

# ---- enough bursts in each interval ----

# The environment is of one length, so that the stack and its lines are where they were.
my $plan = 'warm=2000,burst=0500,period=0005000,seed=0007';
my $truth = counted($plan, variable => 'NOT_LOOKED_AT_XX');
my $often = counted($plan);
my $course = line($often);
my $n = @{$often->{report}{processes}[0]{series}{ends_s}};
cmp_ok($n, '>=', 2, 'several intervals');
is(sum(@{$course->{counts}{instructions}{values}}), whole($often, 'instructions')->{value}, 'instructions add up');
is($course->{counts}{instructions}{status}, 'simulated', 'and are exact');
ok(!exists $course->{counts}{instructions}{errors}, 'without error bars');
for my $event (@events[1 .. 3]) {
	my ($counts, $run) = ($course->{counts}{$event}, whole($truth, $event));
	is($counts->{status}, 'estimated', "$event: estimated");
	is(scalar(@{$counts->{values}}), $n, "$event: intervals");
	is(scalar(@{$counts->{errors} || []}), $n, "$event: with an error bar each");
	# On a busy machine some are short, and the last one always may be.
	my @known = grep { defined $counts->{values}[$_] } 0 .. $n - 1;
	my @none = grep { !defined $counts->{values}[$_] } 0 .. $n - 1;
	my $instructions = $course->{counts}{instructions}{values};
	is(scalar(grep { $instructions->[$_] > 150 * 5000 } @none), 0, "$event: 150 bursts are enough");
	my $unknown = sum(0, map { $instructions->[$_] } @none);
	cmp_ok($unknown, '<=', 0.3 * sum(@$instructions), "$event: most of the run is known");
	is(scalar(grep { $instructions->[$_] > 0 && $counts->{errors}[$_] <= 0 } @known), 0,
		"$event: and some width, but where the processor was another's");
	is(exists $counts->{reason}, @known < $n, "$event: a reason if one has none");
	my ($sum, $error) = map { my $of = $_; sum(map { $counts->{$of}[$_] } @known) } qw(values errors);
	cmp_ok(abs($sum - $run->{value}), '<=', $error + $unknown, "$event: what there was is within the error bars' sum")
		or diag("$sum +- $error, $run->{value}");
	cmp_ok($error, '<=', 0.5 * $run->{value}, "$event: which tell something");
}

# ---- in full: the beginning of a thread is, and here it is all of it ----

my $all = counted('warm=001,burst=001,period=999999999,seed=0007');
for my $event (qw(l1d_misses dtlb_misses)) {
	my ($sum, $true) = (sum(@{line($all)->{counts}{$event}{values}}), whole($truth, $event)->{value});
	cmp_ok(abs($sum - $true), '<=', 20, "$event: simulated in full: what full simulation counts") or diag("$sum $true");
}

# ---- too few ----

my $rarely = 'warm=1000,burst=1000,period=40000000,seed=3';
my $few = counted($rarely);
my $of = line($few)->{counts}{l1d_misses};
cmp_ok(scalar(grep { !defined } @{$of->{values}}), '>=', 1, 'too few bursts: no value');
like($of->{reason}, qr/fewer than about 30 bursts/, 'and why');
is_deeply([map { defined } @{$of->{errors}}], [map { defined } @{$of->{values}}], 'nor an error bar');
is(scalar(grep { !defined } @{line($few)->{counts}{l2_misses}{values}}), 0, 'sets need no bursts');

# ---- regions ----

my ($region) = grep { @{$_->{path}} } @{$often->{report}{processes}[0]{series}{lines}};
ok($region, 'there are regions');
for my $line (grep { @{$_->{path}} } @{$often->{report}{processes}[0]{series}{lines}}) {
	my $counts = $line->{counts}{l1d_misses};
	my @none = grep { !defined } @{$counts->{values}};
	is(!!@none, exists $counts->{reason}, "@{$line->{path}}: a reason where there is no value");
}

# ---- for tables, and for people ----

my $csv = scratch('few.csv');
counted($rarely, output => $csv);
my $rows = read_file($csv);
like($rows, qr/^interval,.*,l1d_misses,,events,unavailable,,,"sampled: it was seen in fewer than about 30 bursts.*,[\d.]+$/m, 'CSV: none, and why');
like($rows, qr/^interval,.*,l2_misses,[\d.]+,events,estimated,,[\d.]+,,[\d.]+$/m, 'CSV: a value and its error bar');

my $text = counted($plan, output => 'stderr');
like($text->{err}, qr/^  ~l1d_misses .* to /m, 'text: an estimate');
like($text->{err} =~ s/\s+/ /gr, qr/l1d_misses: 95 % intervals are ±[\d.]+ % in the mean/, 'text: its intervals');

done_testing();

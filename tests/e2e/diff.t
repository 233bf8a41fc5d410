#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Runs against runs: a worse build is found, a program against itself is not, and
# what a build may fail for.
#	DIFF_COMPARISONS=20 tests/e2e/diff.t	# as many real ones of a program with itself
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $cc = (split(' ', $ENV{CC} || 'gcc'))[0];
my $work = scratch('diff');
mkdir($work);
for my $build (['good', 1], ['bad', 64]) {
	my ($name, $stride) = @$build;
	my $run = run(command => [$cc, '-O1', '-I' . source() . '/regions', "-DSTRIDE=$stride",
		'-o', "$work/$name", source() . '/tests/programs/stride.c']);
	is(status_text($run->{status}), 'exit 0', "$name: built") or diag($run->{err});
}

sub diff
{
	my (@arguments) = @_;
	my $run = run(command => [cli(), 'diff', @arguments], cwd => $work);
	return $run;
}

sub diff_json
{
	my (@arguments) = @_;
	my $run = diff('--json', @arguments);
	is($run->{err}, '', 'nothing to complain about');
	return decode_json($run->{out});
}

sub found
{
	my ($diff, $path, $name) = @_;
	my ($value) = grep { join('/', @{$_->{path}}) eq $path && $_->{name} eq $name } @{$diff->{values}};
	return $value;
}

sub flagged { return grep { $_->{verdict} =~ /^(exact|significant)$/ } @{$_[0]{values}} }

# The JSON report of a run with this seed, and its records.
sub record
{
	my ($name, $seed, @more) = @_;
	my $to = "$work/$name$seed";
	my $run = run(command => [cli(), '-E', 'sim', '-g', 'cache', '-d', $to, '-o', "$to.json", @more,
		"./$name", 256, $seed], cwd => $work);
	is(status_text($run->{status}), 'exit 0', "$name, seed $seed");
	return $to;
}

# ---- two builds ----

my @good = map { record('good', $_) } 1 .. 5;
my @bad = map { record('bad', $_) } 6 .. 10;
{
	my $diff = diff_json(@good, '--', @bad);
	my $misses = found($diff, 'sum', 'l1d_misses');
	my ($before, $after) = map { my $side = $_; my $sum = 0;
		$sum += value(region(decode_json(read_file("$_.json")), 'sum'), 'l1d_misses') for @$side;
		$sum / 5 } \@good, \@bad;
	is($misses->{verdict}, 'significant', 'a worse stride: misses differ significantly');
	cmp_ok($misses->{p_adjusted}, '<', 0.001, 'by far');
	is($misses->{before}{mean}, $before, 'mean before');
	is($misses->{after}{mean}, $after, 'mean after');
	cmp_ok(abs($misses->{ratio} - $after / $before), '<', 1e-9, 'their ratio');
	cmp_ok($misses->{ratio}, '>', 5, 'which is large');
	is("@{$diff->{values}[0]{path}}|$diff->{values}[0]{name}|$diff->{values}[0]{role}", '|miss_cost|cost', 'the cost of the whole run comes first');
	is(join('/', @{$diff->{cost}{places}[0]{path}}), 'sum', 'and of places the one that changed most');
	is($diff->{cost}{places}[0]{mostly}, 'L2', 'because of lines from L2');
	is(found($diff, 'wander', 'l1d_misses')->{verdict}, 'noise', 'what is alike in both is no difference');
	is($diff->{before}{runs} . $diff->{after}{runs}, '55', 'five runs each');

	# the same from JSON reports, and from both mixed
	my $again = diff_json(join(',', map { "$_.json" } @good), join(',', @bad[0 .. 2], map { "$_.json" } @bad[3, 4]));
	is_deeply([map { @{$_}{qw(path name verdict p)} } @{$again->{values}}],
		[map { @{$_}{qw(path name verdict p)} } @{$diff->{values}}], 'records and reports say the same');

	my $text = diff(@good, '--', @bad)->{out};
	like($text, qr/\Abefore .*\n(?:  .*\n)*after .*\n(?:  .*\n)*more cost: miss_cost ~[\d.]+ [kM] to ~[\d.]+ [kM] \(\+[^)]*, p <0\.001\); instructions /, 'the verdict comes first');
	like($text, qr/^causes: L2 \+[\d.]+ [kM] /m, 'then the part of the cost that changed');
	like($text, qr/^region: miss_cost +before +after +change +p +mostly\nsum +~[\d.]+ [kM] +~[\d.]+ [kM] +\S+(?: %)? +<0\.001 +L2\n\n/m, 'where, with the largest part');
	like($text, qr/^region +what else changed .*\n(?:\(whole run\) +(?:l1d|l2|llc)_\w+ .*\n){1,4}\n/m, 'and a few others');
	unlike($text, qr/<==|Look first|_mpki|_ratio|served_|_variance/, 'no side effect leads, and nothing is said twice');
	like($text, qr/Welch's t/, 'names the test');
	is_deeply([grep { length(s/\xc3\x97|\xe2\x80\x94/x/gr) > 80 } split(/\n/, $text)], [], 'fits in 80 columns');
	cmp_ok(($text =~ tr/\n//), '<=', 23, 'is a screen');
	cmp_ok((diff('--all', @good, '--', @bad)->{out} =~ tr/\n//), '>', 50, 'all of it is not');
}

# ---- one run a side ----

{
	my $diff = diff_json($good[0], $good[1]);
	is(scalar(grep { $_->{verdict} eq 'significant' } @{$diff->{values}}), 0, 'one run: nothing is significant');
	is(found($diff, 'wander', 'instructions')->{verdict}, 'exact', 'simulated values differ exactly');
	my $exact = diff($good[0], $good[1])->{out};
	unlike($exact, qr/takes 4 runs/, 'what no row needs is not explained');
	like($exact =~ s/\n  / /r, qr/^no change: cost within [01]\.\d %: miss_cost ~\S+ [kM] to ~\S+ [kM] \(\S+ %, estimated\); instructions \S+ [kM] to \S+ [kM] \(\S+ %, exact\)/m, 'costs are estimated');
	is(diff('-v', $good[0], $good[1])->{out}, diff('--all', $good[0], $good[1])->{out}, '-v is --all');
	like(diff('--all', $good[0], $bad[0])->{out}, qr/^\S.* mem_volume +[\d.]+ [kM]?B +[\d.]+ [kM]?B /m, 'volumes in the unit that they need');
	like(diff($good[0], $good[0])->{out} =~ s/\n  / /r, qr/^no change: the same miss_cost, ~\S+ [kM]; the same instructions, /m, 'what is the same');
	$diff = diff_json("$good[0].json", "$good[0].json");
	is_deeply([grep { $_->{verdict} ne 'same' } @{$diff->{values}}], [], 'a run does not differ from itself');

	# The same numbers, had a PMU counted them.
	write_file("$work/counted$_.json", read_file("$good[$_].json") =~ s/"simulated"/"exact"/gr) for 0, 1;
	$diff = diff_json("$work/counted0.json", "$work/counted1.json");
	is(found($diff, 'wander', 'instructions')->{verdict}, 'untested', 'counted ones are not tested');
	is(scalar(flagged($diff)), scalar(grep { $_->{kind} eq 'calls' && $_->{verdict} eq 'exact' } @{$diff->{values}}),
		'and not flagged');
	like(diff("$work/counted0.json", "$work/counted1.json")->{out}, qr/takes 4 runs\s+on\s+each\s+side/, 'it says what to do');
}

# ---- a program against itself ----

sub shuffled
{
	my ($state, @list) = @_;
	for my $i (reverse 1 .. $#list) {
		$$state = ($$state * 1103515245 + 12345) % 2147483648;
		my $j = ($$state >> 8) % ($i + 1);
		@list[$i, $j] = @list[$j, $i];
	}
	return @list;
}

{
	# Fifteen real runs, dealt out twenty times.
	my @runs = map { "$_.json" } @good, map { record('good', $_) } 11 .. 20;
	my ($state, $false) = (42, 0);
	for my $comparison (1 .. 20) {
		my @dealt = shuffled(\$state, @runs);
		my $run = diff('--json', @dealt[0 .. 4], '--', @dealt[5 .. 9]);
		$false++ if flagged(decode_json($run->{out}));
	}
	cmp_ok($false, '<=', 3, 'twenty comparisons of a program with itself: at most three are flagged');
	note("$false flagged");
}
if (my $comparisons = $ENV{DIFF_COMPARISONS}) {
	my $false = 0;
	for my $comparison (1 .. $comparisons) {
		for my $side (qw(a b)) {
			run(command => [cli(), 'run', '--repeat', 5, '-o', "real-$side.json", '-e',
				'perf::PAGE-FAULTS,perf::CONTEXT-SWITCHES,perf::TASK-CLOCK', which('python3'), '-c', 'pass'], cwd => $work);
		}
		my $diff = diff_json('real-a.json', 'real-b.json');
		my @flagged = flagged($diff);
		diag(map { "$_->{name}: $_->{before}{mean} $_->{after}{mean} $_->{p_adjusted}\n" } @flagged) if @flagged;
		$false++ if @flagged;
	}
	cmp_ok($false, '<=', 3, "$comparisons real comparisons of a program with itself: $false flagged");
}

# ---- --fail-if ----

sub gate
{
	my ($expression, $status, $says, @sides) = @_;
	my $run = diff('--fail-if', $expression, @sides ? @sides : (@good, '--', @bad));
	is(status_text($run->{status}), "exit $status", "--fail-if '$expression'");
	like($status == 2 ? $run->{err} : $run->{out} =~ s/\s+/ /gr, $says, 'what it says') if $says;
	is(($run->{err} =~ tr/\n//), $status == 2 ? 1 : 0, 'in one line') if $status == 2;
}
gate('l1d_misses>+5%', 3, qr/fails: 'l1d_misses>\+5%': l1d_misses of \(whole run\) went from [\d,]+ to [\d,]+ \(/);
gate('l1d_misses in sum > +200%', 3, qr/l1d_misses of sum went/);
gate('l1d_misses in wander>+0%', 0);
gate('l1d_misses in * > +5%', 3);
gate('l1d_misses>+1000%', 0);
gate('l1d_misses<-5%', 0);
gate('l1d_misses>+10', 3);
# How many other references there are is the compiler's choice.
my $ratio = 0;
$ratio += region(decode_json(read_file("$_.json")), 'sum')->{metrics}{l1d_miss_ratio}{value} / @bad for @bad;
my ($below, $above) = (sprintf('%.0f%%', 60 * $ratio), sprintf('%.2f', (1 + $ratio) / 2));
gate("l1d_miss_ratio in sum > $below", 3, qr/is \Q@{[sprintf('%.1f', 100 * $ratio)]}\E %/);
gate("l1d_miss_ratio in sum > $above", 0);
gate('l1d_misses in sum < 5000', 3, undef, @bad, '--', @good);
gate('l1d_misses in sum < -50%', 3, undef, @bad, '--', @good);
gate('l1d_misses in wander > +0%', 0, undef, @good, '--', map { "$work/good$_.json" } 11 .. 15);
gate('time_s>+5%', 4, qr/cannot judge 'time_s>\+5%': no value after, of \(whole run\): /);
gate('l1d_mises>+5%', 2, qr/no value "l1d_mises": did you mean "l1d_misses"\?/);
gate('l1d_misses in som>+5%', 2, qr/region "som": did you mean "sum"\?/);
gate($_, 2, qr/^cachepeek: --fail-if '.*': .*: write NAME/) for 'l1d_misses', 'l1d_misses>', 'l1d_misses>+x', '>+5%',
	'l1d_misses in >5', 'l1d_misses>+5%%', 'l1d_misses>nan';
{
	my $run = diff('--json', '--fail-if', 'l1d_misses>+5%', '--fail-if', 'time_s>1', '--fail-if', 'l1d_misses<-5%', @good, '--', @bad);
	is(status_text($run->{status}), 'exit 3', 'several: what is met counts more than what is unknown');
	is(join(' ', map { $_->{verdict} } @{decode_json($run->{out})->{fail_if}}), 'met unknown not met', 'all are in the JSON');
}

# ---- misuse ----

for my $case ([[], 2, qr/name two sides/], [[$good[0]], 2, qr/name two sides/], [[@good[0 .. 2]], 2, qr/name two sides/],
	[['--', @good], 2, qr/name two sides/], [['nonesuch', $good[0]], 2, qr/^cachepeek: diff: nonesuch: No such file/],
	[[$work, "$work/good"], 2, qr/neither a run record nor JSON/], [["$work/good1.json", scratch()], 2, qr/holds no run records/],
	[['-o', 'x.pdf', @good[0, 1]], 2, qr/output x\.pdf: use -, stderr/], [['--al', 'x', 'y'], 2, undef], [['--nope', @good[0, 1]], 2, qr/nope/]) {
	my ($arguments, $status, $says) = @$case;
	my $run = diff(@$arguments);
	is(status_text($run->{status}), "exit $status", "diff @{[map { s{.*/}{}r } @$arguments]}");
	like($run->{err}, $says, 'what it says') if $says;
	is(($run->{err} =~ tr/\n//), 1, 'in one line');
}

# ---- run --repeat ----

{
	my $run = run(command => [cli(), 'run', '--repeat', 5, '-E', 'sim', '-g', 'cache', '-o', 'kept/,r.json,r.csv,-', './good', 64, 3], cwd => $work);
	is(status_text($run->{status}), 'exit 0', '--repeat');
	like($run->{out}, qr/\A(?:done\n){5}cachepeek \S+: 5 runs of \.\/good 64 3, sim\n/, 'output of the runs, and the report');
	like($run->{out}, qr/^sum +l1d_mpki +([\d.]+) +\1 +\1 +same$/m, 'simulated, they are the same');
	is_deeply([sort map { s{.*/}{}r } glob("$work/kept/*")], [map { "run-$_" } 1 .. 5], 'the records are kept');
	my $report = decode_json(read_file("$work/r.json"));
	my ($misses) = grep { "@{$_->{path}} $_->{name}" eq 'sum l1d_misses' } @{$report->{values}};
	is(scalar(@{$misses->{values}}), 5, 'five values');
	is($misses->{mean}, $misses->{values}[0], 'their mean');
	my $diff = diff_json('kept', 'r.json');
	is_deeply([grep { $_->{verdict} ne 'same' } @{$diff->{values}}], [], 'the records and the report are the same side');
	is($diff->{before}{runs} . $diff->{after}{runs}, '55', 'of five runs');
	$run = run(command => [cli(), 'run', '--repeat', 5, '-E', 'sim', '-o', 'kept/', './good'], cwd => $work);
	is(status_text($run->{status}), 'exit 2', 'runs are not mixed with older ones');
	like($run->{err}, qr{^cachepeek: --repeat: kept//?run-1 is there already}, 'it says so');

	my $csv = 'import csv,sys; rows=list(csv.DictReader(open(sys.argv[1], newline=""))); '
		. 'print(len(rows), [float(r["mean"]) for r in rows if r["region"]=="sum" and r["name"]=="l1d_misses"][0])';
	$run = run(command => ['/usr/bin/python3', '-c', $csv, "$work/r.csv"]);
	is($run->{out}, scalar(@{$report->{values}}) . sprintf(" %.1f\n", $misses->{mean}), 'the CSV has the same values');
}
{
	my $input = write_file("$work/input", "one\n");
	my $run = run(command => [cli(), 'run', '--repeat', 3, '-E', 'sim', '-e', 'instructions', '-o', '/dev/null', '--',
		which('sh'), '-c', 'cat; echo here >> runs; exit 5'], cwd => $work, stdin => $input);
	is($run->{out}, "one\n" x 3, 'each run reads the same');
	is(read_file("$work/runs"), "here\n" x 3, 'three runs');
	is(status_text($run->{status}), 'exit 5', 'the status is the first run\'s');
	is($run->{err}, '', 'all of them ended so');
	$run = run(command => [cli(), 'run', '--repeat', 2, '-E', 'sim', '-e', 'instructions', '-o', '/dev/null',
		which('sh'), '-c', 'test -e second && exit 1; touch second'], cwd => $work);
	like($run->{err}, qr/^cachepeek: run 2 of 2 ended unlike the first/, 'a run that ends otherwise is named');
	for my $case (['0', qr/expected a number from 1 to 1000/], ['x', qr/expected a number from 1 to 1000/]) {
		$run = run(command => [cli(), 'run', '--repeat', $case->[0], 'true'], cwd => $work);
		like($run->{err}, $case->[1], "--repeat $case->[0]");
		is(status_text($run->{status}), 'exit 2', 'is refused');
	}
	$run = run(command => [cli(), 'run', '--repeat', 2, '--passes', 'true'], cwd => $work);
	is(status_text($run->{status}), 'exit 2', 'either passes or repeated');
}

# ---- for programs ----

{
	my $run = diff('-o', 'd.json,d.csv', '--fail-if', 'time_s>1', @good, '--', @bad);
	is($run->{out}, '', 'nothing on standard output');
	my $diff = decode_json(read_file("$work/d.json"));
	for my $kind (['repeat', 'r.json'], ['diff', 'd.json']) {
		my ($name, $file) = @$kind;
		$run = run(command => ['/usr/bin/python3', source() . '/tests/validate.py',
			source() . "/doc/cachepeek-$name-1.schema.json", "$work/$file"]);
		is($run->{out}, "1 reports, 0 faults\n", "$name: as the schema says");
	}
	my $csv = 'import csv,sys; rows=list(csv.DictReader(open(sys.argv[1], newline=""))); '
		. '[float(r[k]) for r in rows for k in ("difference","before_mean","after_stddev")]; print(len(rows), rows[0]["verdict"])';
	$run = run(command => ['/usr/bin/python3', '-c', $csv, "$work/d.csv"]);
	is($run->{out}, scalar(@{$diff->{values}}) . " significant\n", 'the CSV has all values') or diag($run->{err});
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A planted regression of 1 % fails by its name, and a run without a change does not; the
# files for GitHub, GitLab and Git are run as far as they can be here.
#	GATE_RUNS=100 tests/e2e/gate.t	# as many runs without a change; 4 without this
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Copy qw(copy);
use Json;
use Peek;
use Test::More;

my $work = scratch('gate');
mkdir($work);
my $cc = (split(' ', $ENV{CC} || 'gcc'))[0];
write_file("$work/bench.c", <<'END');
#include <cachepeek.h>
#ifndef LINES
#define LINES 20000
#endif
static volatile char memory[64 * 40000], more[64 * 5000];
int main(void)
{
	CACHEPEEK_BEGIN("sum");
	for (long i = 0; i < LINES; i++)
		(void)memory[64 * i];
	CACHEPEEK_END("sum");
	CACHEPEEK_BEGIN("other");
	for (long i = 0; i < 5000; i++)
		more[64 * i] = 1;
	CACHEPEEK_END("other");
	return 0;
}
END

sub compile
{
	my ($lines) = @_;
	my $run = run(command => [$cc, '-O1', '-I' . source() . '/regions', "-DLINES=$lines", '-o', "$work/bench",
		"$work/bench.c"]);
	is(status_text($run->{status}), 'exit 0', "built with $lines lines") or diag($run->{err});
}

sub count
{
	my ($name, @more) = @_;
	my $run = run(command => [cli(), '--reproducible', '-m', 'skylake-sp', '-g', 'cache', @more, '-o',
		"$work/$name.json", "$work/bench"]);
	return "$work/$name.json";
}
sub gate { return run(command => [cli(), 'gate', @_], cwd => $work) }

# ---- a baseline ----
compile(20000);
my $before = count('before');
my $run = gate('base.json', $before);
is(status_text($run->{status}), 'exit 1', 'no baseline yet');
like($run->{err}, qr/--update makes it/, 'it says how to get one');
$run = gate('--update', '--metrics', 'l1d_misses,l2_misses', 'base.json', $before);
is(status_text($run->{status}), 'exit 0', '--update makes one') or diag($run->{err});
my $text = read_file("$work/base.json");
my $base = decode_json($text);
is($base->{schema}, 'cachepeek-gate/1', 'its schema');
is(scalar(@{$base->{values}}), 6, 'two values of the run and two regions');
is(scalar(grep { /"path"/ } split(/\n/, $text)), 6, 'a line for each');
my ($sum) = grep { "@{$_->{path}}" eq 'sum' && $_->{name} eq 'l1d_misses' } @{$base->{values}};
is($sum->{value}, value(region(decode_json(read_file($before)), 'sum'), 'l1d_misses'), 'the value of the report');

# ---- no change ----
my $failed = 0;
for my $i (1 .. $ENV{GATE_RUNS} || 4) {
	my $again = run(command => [cli(), 'gate', 'base.json', count('same' . 'x' x (7 * $i % 200))], cwd => $work);
	$failed++ if $again->{status};
	diag($again->{out}) if $again->{status};
}
is($failed, 0, 'runs without a change pass');

# ---- 1 % more in one region ----
compile(20200);
my $worse = count('worse');
my $now = value(region(decode_json(read_file($worse)), 'sum'), 'l1d_misses');
cmp_ok($now, '>', 1.005 * $sum->{value}, 'there are more misses');
$run = gate('base.json', $worse);
is(status_text($run->{status}), 'exit 3', 'a regression fails');
my ($line) = grep { (split(/\n/, $text))[$_ - 1] =~ /"sum".*l1d_misses/ } 1 .. split(/\n/, $text);
sub grouped { my $n = reverse shift; $n =~ s/(\d{3})(?=\d)/$1,/g; return scalar reverse $n }
my ($was, $is) = map { grouped($_) } $sum->{value}, $now;
like($run->{out}, qr/^FAILS +base\.json:$line: l1d_misses of sum: $was -> $is \(\+[\d.]+ %\), 0\.5% is allowed$/m,
	'by region, metric, before and after, at the line of the baseline');
unlike($run->{out}, qr/ of other:/, 'and nothing of the other region');
$run = gate('-o', 'junit.xml', '-o', 'summary.md', '-o', 'gate.html', '-o', '-', '--annotate', 'base.json', $worse);
my $page = read_file("$work/gate.html");
like($page, qr/<h1>Cache gate: failed<\/h1>\n<p class="note">\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \S+ cachepeek \S+ \S+ \S*bench against base\.json<\/p>/,
	'a page: the answer, when, which version, of what');
like($page, qr/<tbody>\n<tr class="fails">\n<td>FAILS<\/td>\n(?:.*\n)*?<td>sum<\/td>\n<td>l1d_misses<\/td>\n<td>base\.json:$line<\/td>\n<td>\Q$was\E<\/td>\n<td>\Q$is\E<\/td>/,
	'a page: what failed is first, with its place');
unlike($page, qr/<script/, 'a page: without a script');
like($run->{out}, qr/^::error file=base\.json,line=$line,title=cachepeek gate::l1d_misses of sum%3A/m, 'GitHub: an annotation');
like(read_file("$work/summary.md"), qr/^\| FAILS \| `sum` \| `l1d_misses` \| \Q$was\E \| \Q$is\E \| \+/m, 'Markdown: a row');
my $junit = read_file("$work/junit.xml");
like($junit, qr/<testsuite name="cachepeek gate" tests="6" failures="[1-9]" errors="0">/, 'JUnit: its sums');
like($junit, qr/classname="sum" name="l1d_misses" file="base.json" line="$line">\s+<failure message="l1d_misses of sum: /, 'and the failure');
SKIP: {
	skip('no xmllint', 1) unless which('xmllint');
	is(status_text(run(command => ['xmllint', '--noout', "$work/junit.xml"])->{status}), 'exit 0', 'well-formed');
}

# ---- variables, which counts may depend on ----
unlike($run->{out}, qr/Variables/, 'the same variables: nothing is said of them');
{
	# Variables that are not kept are not told.
	local @ENV{qw(PYTHONX LANG LC_PAPER EDITOR)} = ('secret', 'C.UTF-8', 'C', 'ed');
	compile(20000);
	my $other = count('other');
	gate('--update', '--metrics', 'l1d_misses', 'other-base.json', $other);
	compile(20200);
}
$text = read_file("$work/other-base.json");
like($text, qr/^"environment": "[^"\n]*LANG:[0-9a-f]{8} .*PYTHONX:[0-9a-f]{8}[^"]*"$/m, 'a baseline has digests of variables');
unlike($text, qr/secret|EDITOR/, 'and not what they are, nor others');
{
	local @ENV{qw(LANG LC_TIME)} = ('C', 'C');
	my $unlike = count('unlike');
	my $said = qr/^Variables are not those .*: (.+)$/m;
	my ($names) = gate('other-base.json', $unlike)->{out} =~ $said;
	is(join(' ', grep { /LANG|LC_PAPER|LC_TIME|PYTHONX/ } sort split(/, /, $names // '')), 'LANG LC_PAPER LC_TIME PYTHONX',
		'a value fails: those that are other, away or new are named, each once');
	gate('-o', 'other.md', 'other-base.json', $unlike);
	like(read_file("$work/other.md"), $said, 'Markdown, too');
	is(status_text(gate('--update', 'other-base.json', $unlike)->{status}), 'exit 0', 'renewed');
	unlike(gate('other-base.json', $unlike)->{out}, $said, 'they are those of the last run then');
	compile(20000);
	$text = read_file("$work/other-base.json");
	run(command => [cli(), '-E', 'sim', '-m', 'skylake-sp', '-g', 'cache', '-o', "$work/plain.json", "$work/bench"]);
	gate('--update', 'other-base.json', "$work/plain.json");
	unlike(read_file("$work/other-base.json"), qr/"environment"/, 'without --reproducible nothing is known of them');
}
$text = read_file("$work/base.json");

# ---- tolerances, what cannot be judged, mistakes ----
sub changed
{
	my ($change) = @_;
	my $copy = decode_json($text);
	$change->($copy, grep { "@{$_->{path}}" eq 'sum' } @{$copy->{values}});
	return write_file("$work/changed.json", Cpanel::JSON::XS->new->pretty->encode($copy));
}
changed(sub { my ($all) = @_; $all->{tolerance} = '2%' });
is(status_text(gate('changed.json', $worse)->{status}), 'exit 0', 'the tolerance of the file');
changed(sub { my ($all, @sum) = @_; $_->{tolerance} = 1000 for @{$all->{values}} });
is(status_text(gate('changed.json', $worse)->{status}), 'exit 0', 'of a value, as a difference');
changed(sub { my ($all, @sum) = @_; $_->{worse} = 'lower' for @{$all->{values}} });
$run = gate('changed.json', $worse);
is(status_text($run->{status}), 'exit 0', 'what is worse where it is lower');
like($run->{out}, qr/^better +changed\.json:\d+: l1d_misses of sum/m, 'is better where it is higher');
changed(sub { my ($all, @sum) = @_; $sum[0]{name} = 'nothing' });
$run = gate('changed.json', $before);
is(status_text($run->{status}), 'exit 4', 'a value that the run has not');
like($run->{out}, qr/^unknown .*nothing of sum: the run has no such value/m, 'by its name');
$run = gate('base.json', count('elsewhere', '-m', 'neoverse-n1'));
is(status_text($run->{status}), 'exit 4', 'another machine is not judged');
like($run->{out}, qr/^cannot judge: the baseline is of another machine/m, 'and it says so');
changed(sub { my ($all, @sum) = @_; $sum[1]{tolerance} = 'much' });
$run = gate('changed.json', $before);
is(status_text($run->{status}), 'exit 1', 'no tolerance');
like($run->{err}, qr/changed\.json:\d+: a tolerance is a number/, 'at its line');
is(status_text(gate('base.json')->{status}), 'exit 2', 'no run');
is(status_text(gate('-o', 'x.pdf', 'base.json', $before)->{status}), 'exit 2', 'no such format');
is(status_text(gate('--tolerance', 'x', 'base.json', $before)->{status}), 'exit 2', 'no such tolerance');

# ---- --update keeps what was written by hand ----
changed(sub { my ($all, @sum) = @_; $sum[0]{tolerance} = '7%'; @{$all->{values}} = @sum });
gate('--update', 'changed.json', $worse);
my $updated = decode_json(read_file("$work/changed.json"));
is(join(' ', map { "$_->{value}" } grep { $_->{name} eq 'l1d_misses' } @{$updated->{values}}), $now, '--update: the new value');
is(join(' ', map { $_->{tolerance} || '-' } @{$updated->{values}}), '7% -', 'with the tolerances that were there');

# ---- what is to be pasted ----

# The commands of the recipes, all of them, in a clean folder.  What is elsewhere stands in
# for itself: packages are there, the source of cachepeek is this one (as it is built), and
# the comment is kept in a file.
my $beside = "$work/beside";
mkdir($beside);
sub stands_in { my ($name, $script) = @_; write_file("$beside/$name", "#!/bin/sh\n$script\n"); chmod(0755, "$beside/$name") }
my $git = which('git') // '';
stands_in('apt-get', ':');
stands_in('git', "case \"\$1\" in\nclone) eval \"ln -sfn '@{[source()]}' \\\"\\\${\$#}\\\"\" ;;\n*) exec $git \"\$@\" ;;\nesac");
stands_in($_, qq(printf '%s\\n' "\$@" > "\$COMMENT")) for qw(gh curl);
my %at_work = (PATH => build() . ":$ENV{PATH}", HOME => $work, GIT_AUTHOR_NAME => 'a', GIT_AUTHOR_EMAIL => 'a@b',
	GIT_COMMITTER_NAME => 'a', GIT_COMMITTER_EMAIL => 'a@b', GIT_CONFIG_NOSYSTEM => 1);
my $project = "$work/project";
sub at { return run(command => [@_], cwd => $project, env => \%at_work) }

sub recipe
{
	my ($file) = @_;
	my $run = run(command => ['/usr/bin/python3', '-c', 'import json, sys, yaml; print(json.dumps(yaml.load(open(sys.argv[1]), yaml.BaseLoader)))',
		source() . "/examples/$file"]);
	return decode_json($run->{out});
}

# {steps that are always done, steps behind a failure, variables}
sub job_of
{
	my ($file) = @_;
	my $recipe = recipe($file);
	if (my $job = $recipe->{'cache gate'}) {
		return ([@{$job->{before_script}}, @{$job->{script}}], $job->{after_script}, $job->{variables});
	}
	my @steps = grep { $_->{run} } @{$recipe->{jobs}{gate}{steps}};
	return ([map { $_->{run} } grep { !$_->{if} } @steps], [map { $_->{run} } grep { $_->{if} } @steps], $recipe->{env});
}

my %services = (
	'github.yml' => {GITHUB_STEP_SUMMARY => "$work/summary", GITHUB_BASE_REF => 'main', GITHUB_REPOSITORY => 'owner/name', NUMBER => 7},
	'gitlab.yml' => {CI_JOB_STATUS => 'failed', CI_MERGE_REQUEST_IID => 7, CI_MERGE_REQUEST_TARGET_BRANCH_NAME => 'main',
		CI_API_V4_URL => 'https://gitlab.example.org/api/v4', CI_PROJECT_ID => 5, CACHEPEEK_TOKEN => 'secret'},
);
# Each step of GitHub is a shell of its own, whose PATH has what steps before it have added.
sub done
{
	my ($file, $steps, $variables) = @_;
	my %env = (HOME => "$work/home", PATH => "$beside:/usr/local/bin:/usr/bin:/bin", COMMENT => "$work/comment", GITHUB_PATH => "$work/path",
		GIT_CONFIG_NOSYSTEM => 1, %$variables, %{$services{$file}});
	my ($run, $out) = (undef, '');
	for my $step ($file eq 'github.yml' ? @$steps : join("\n", @$steps)) {
		$env{PATH} = join(':', (split /\n/, read_file("$work/path") // ''), "$beside:/usr/local/bin:/usr/bin:/bin");
		$run = run(command => ['bash', '-e', '-o', 'pipefail', '-c', $step], cwd => "$work/checkout", env => \%env);
		$out .= $run->{out};
		last if $run->{status};
	}
	return {%$run, out => $out};
}
# As a runner has it: the branch, and nothing that was built.
sub checked_out
{
	system('rm', '-rf', "$work/checkout", "$work/home", "$work/path", "$work/comment");
	mkdir("$work/home");
	run(command => [$git, 'clone', '-q', '-b', $_[0], $project, "$work/checkout"], env => \%at_work);
}

SKIP: {
	skip('no git, or no python3-yaml', 30) if !$git || run(command => ['/usr/bin/python3', '-c', 'import yaml'])->{status};
	mkdir($project);
	copy("$work/bench.c", $project);
	write_file("$project/Makefile", "bench: bench.c Makefile\n\t$cc -g -O1 -I@{[source()]}/regions -DLINES=20000 -o bench bench.c\n");
	at('make');
	at('sh', '-c', 'cachepeek --reproducible -m skylake-sp -o run.json ./bench && cachepeek gate --update cache-baseline.json run.json');
	ok(-s "$project/cache-baseline.json", 'a project with a baseline');
	is(status_text(at('sh', '-c', 'git init -q -b main . && printf "bench\n*.json\n!cache-baseline.json\n" > .gitignore && git add -A')->{status}),
		'exit 0', 'Git: a project');
	copy(source() . '/examples/pre-commit', "$project/.git/hooks/pre-commit");
	chmod(0755, "$project/.git/hooks/pre-commit");
	is(status_text(at('git', 'commit', '-qm', 'one')->{status}), 'exit 0', 'a commit without a change');
	at('git', 'checkout', '-q', '-b', 'worse');
	write_file("$project/Makefile", read_file("$project/Makefile") =~ s/LINES=20000/LINES=40000/r);
	my $commit = at('git', 'commit', '-qam', 'two');
	isnt($commit->{status}, 0, 'one with a regression does not come about');
	like("$commit->{out}$commit->{err}", qr/FAILS .*l1d_misses of sum/, 'and says why');
	at('git', 'commit', '-qam', 'two', '--no-verify');
	for my $file (sort keys %services) {
		my ($always, $behind, $variables) = job_of($file);
		cmp_ok(scalar(@$always), '>=', 5, "$file: its commands are found");
		checked_out('main');
		my $job = done($file, $always, $variables);
		is(status_text($job->{status}), 'exit 0', "$file: passes") or diag($job->{out} . $job->{err});
		checked_out('worse');
		$job = done($file, $always, $variables);
		is(status_text($job->{status}), 'exit 3', "$file: fails a regression") or diag($job->{err});
		like($job->{out}, qr/FAILS .*l1d_misses of sum/, 'by its name');
		$job = done($file, $behind, $variables);
		is(status_text($job->{status}), 'exit 0', "$file: says why") or diag($job->{err});
		ok(-s "$work/comment", "$file: a comment is sent");
		my $comment = read_file("$work/checkout/comment.md") // '';
		like($comment, qr/\A### Cache gate: failed\n/, 'which says that it failed');
		like($comment, qr/^more cost: .*^function: [^\n]*\nmain .*^bench\.c:\d+ in main /ms, 'and the cause: the function and the line that cost more');
		like($comment, qr/^cachepeek \S+ explain: \.\/bench$/m, 'with the findings');
	}
	like(read_file("$work/summary"), qr/^### Cache gate: failed/m, 'GitHub: the summary of the job');
	like(read_file("$work/checkout/junit.xml"), qr/<failure /, 'GitLab: the report of tests');
}
done_testing();

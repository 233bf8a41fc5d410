#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Runs that were cut short (Ctrl-C, SIGTERM, what timeout(1) does, SIGKILL) say so first, in
# every report and profile: a part must not look like the whole.
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
write_file("$work/cut.c", <<'C');
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static volatile long lines[1 << 16], both[8];
static void *work(void *of)
{
	for (int i = 0; i < 3000; i++)
		both[(long)of]++;
	for (int i = 0; i < 1 << 16; i += 8)
		lines[i]++;
	return 0;
}
int main(int n, char **v)
{
	pthread_t other;
	int signal = n > 1 ? atoi(v[1]) : 0;
	pthread_create(&other, 0, work, (void *)1);
	work(0);
	pthread_join(other, 0);
	if (signal)
		kill(v[2][0] == 's' ? getpid() : v[2][0] == 'p' ? getppid() : 0, signal);
	while (signal)
		pause();
	return 0;
}
C
my $run = run(command => [$cc, qw(-g -O1 -pthread -o cut cut.c)], cwd => $work);
is(status_text($run->{status}), 'exit 0', 'built') or diag($run->{err});

sub in_session
{
	return run(command => ['setsid', '-w', cli(), @_], cwd => $work, env => {XDG_CACHE_HOME => "$work/cache"});
}
sub cachepeek { return run(command => [cli(), @_], cwd => $work, env => {XDG_CACHE_HOME => "$work/cache"}) }
sub content { return read_file("$work/$_[0]") // '' }

my $label = qr/(?:ended|ran) +/;
sub says_first
{
	my ($text, $what, $name) = @_;
	like($text, qr/\A[^\n]*\n$label(?:\d+ process[^\n]*; )?\Q$what\E:?(?:\n +| )cut short/, "$name: says first that it was cut short");
}

# A page shows what its JSON has: tests/e2e/html.t sees that it is shown.
sub data_of { my ($page) = @_; my ($json) = $page =~ m{<script id="report" type="application/json">\n(.*?)\s*</script>}s; return decode_as_is($json // 'null') }

my @outputs = (run => [qw(txt json csv html prom trace.json)], dcache => [qw(txt json csv html callgrind speedscope.json pb.gz)],
	dtlb => [qw(txt json csv html)], icache => [qw(txt json csv html)], sharing => [qw(txt json html)]);
my %outputs = @outputs;

sub check_outputs
{
	my ($command, $what, $name) = @_;
	my $cut = "$what: cut short, what it did until then is counted";
	for my $format (@{$outputs{$command}}) {
		my $text = content("$command.$format");
		my $of = "$name, $command.$format";
		$text = run(command => ['gzip', '-dc', "$work/$command.$format"])->{out} if $format eq 'pb.gz';
		if ($format eq 'txt') {
			says_first($text, $what, $of);
		} elsif ($format eq 'json') {
			is((decode_json($text))->{ended}, $cut, "$of: a member");
		} elsif ($format eq 'html') {
			is(data_of($text)->{ended}, $cut, "$of: the page's data");
		} elsif ($format eq 'csv') {
			like($text, qr/\A[^\n]*\n(?:run,+ended,|)ended,[^\n]*\Q$cut\E/, "$of: the first row");
		} else {
			like($text, qr/\Q$cut\E/, "$of: in the file");
		}
	}
}

# ---- runs that end by themselves say nothing ----

sub made
{
	my ($command, @how) = @_;
	my @options = $command eq 'run' ? ('-E', 'sim') : ();
	return in_session($command, @options, '-m', 'cachegrind', '-d', "$command.d", (map { ('-o', "$command.$_") } @{$outputs{$command}}), '-o', '-', './cut', @how);
}
for my $command (qw(run dcache sharing)) {
	system('rm', '-rf', "$work/$command.d");
	is(status_text(made($command)->{status}), 'exit 0', "$command: to its end");
	is(decode_json(content("$command.json"))->{ended}, undef, "$command: nothing to say");
	unlike(content("$command.$_"), qr/cut short, what/, "$command.$_: nothing to say") for @{$outputs{$command}};
	rename("$work/$command.json", "$work/$command-whole.json");
}

# ---- each end ----

my @ends = (['Ctrl-C', 2, 'group', 'SIGINT'], ['SIGTERM', 15, 'self', 'SIGTERM'], ['timeout', 15, 'parent', 'SIGTERM'],
	['SIGKILL', 9, 'self', 'killed by SIGKILL']);
for my $end (@ends) {
	my ($name, $signal, $whom, $what) = @$end;
	for my $command (qw(run dcache sharing)) {
		system('rm', '-rf', "$work/$command.d");
		my $run = made($command, $signal, $whom);
		isnt(status_text($run->{status}), 'exit 0', "$name, $command: has the program's end");
		says_first($run->{out}, $what, "$name, $command on one screen");
		check_outputs($command, $what, $name);
	}
	for my $command (qw(dtlb icache)) {
		cachepeek($command, '-d', 'dcache.d', map { ('-o', "$command.$_") } @{$outputs{$command}});
		check_outputs($command, $what, $name);
	}
	for my $case (['report', 'run.d'], ['report', '-v', 'run.d'], ['explain', 'dcache.d'], ['explain', 'dcache.json'],
		['annotate', '-o', '-', '-d', 'dcache.d', 'cut.c'], ['sharing', '-v', '-o', '-', '-d', 'sharing.d'], ['dcache', '-v', '-o', '-', '-d', 'dcache.d']) {
		says_first(cachepeek(@$case)->{out}, $what, "$name, @$case");
	}
	cachepeek('annotate', '-d', 'dcache.d', '-o', 'annotate.html', 'cut.c');
	like(content('annotate.html'), qr/annotate: [^\n]*\n$label\Q$what: cut short/, "$name, annotate.html: says so first");
	for my $kind (qw(run dcache sharing)) {
		my ($before, $after) = ("$kind-whole.json", "$kind.json");
		my $diff = cachepeek('diff', '-o', 'diff.html,diff.json,-', $before, $after)->{out};
		like($diff, qr/\Abefore [^\n]*\nafter [^\n]*\n +\Q$what: cut short/, "$name, diff of $kind: says so first");
		like($diff, qr/^Warning: \Q$after\E is a part/m, "$name, diff of $kind: and warns");
		is(decode_json(content('diff.json'))->{after}{ended}, "$what: cut short, what it did until then is counted", "$name, diff.json of $kind: a member");
		is(data_of(content('diff.html'))->{after}{ended}, "$what: cut short, what it did until then is counted", "$name, diff.html of $kind");
		next if $kind eq 'sharing';
		unlink("$work/base.json");
		my $update = cachepeek('gate', '--update', 'base.json', $after);
		is(status_text($update->{status}), 'exit 1', "$name, gate of $kind: no baseline");
		like($update->{err}, qr/\A[^\n]*a part of one \(\Q$what\E: cut short[^\n]*\n\z/, "$name, gate of $kind: and why");
		cachepeek('gate', '--update', 'base.json', $before);
		my $gate = cachepeek('gate', 'base.json', $after);
		is(status_text($gate->{status}), 'exit 4', "$name, gate of $kind: is not judged");
		like($gate->{out}, qr/\Acannot judge: the run is a part: \Q$what\E/, "$name, gate of $kind: says so first");
	}
}

# ---- run --repeat and --confirm ----

for my $case ([repeat => '-E', 'sim', '--repeat', 2], [confirm => '--confirm', '-m', timed_machine('confirmed.machine')]) {
	my ($name, @options) = @$case;
	my $cut = 'SIGTERM: cut short, what it did until then is counted';
	my @to = map { ('-o', "$name.$_") } qw(txt json csv html);
	in_session('run', @options, @to, './cut', 15, 'self');
	like(content("$name.txt"), qr/\A[^\n]*\n(?:  [^\n]*\n)?ended: \Q$cut\E\n/, "$name.txt: says so first");
	is(decode_json(content("$name.json"))->{ended}, $cut, "$name.json: a member");
	is(data_of(content("$name.html"))->{ended}, $cut, "$name.html: the page's data");
	like(content("$name.csv"), qr/\A[^\n]*\n(?:,ended,ended,+|ended,+)"?\Q$cut\E"?,*\n/, "$name.csv: the first row");
	in_session('run', @options, @to, './cut');
	my $whole = decode_json(content("$name.json"));
	is($whole->{ended}, undef, "$name to its end: nothing to say");
	unlike(content("$name.$_"), qr/cut short, what/, "$name.$_ to its end: nothing to say") for qw(txt csv html);
	like("$whole->{began} $whole->{host}", qr/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ \S+$/, "$name: when and where");
}

# ---- cachepeek compare, whose runs are the program's, too ----

for my $end (['self', 15, 'SIGTERM'], ['self', 9, 'killed by SIGKILL']) {
	my ($whom, $signal, $what) = @$end;
	my $cut = "$what: cut short, what it did until then is counted";
	my $run = in_session('compare', '-m', 'cachegrind,neoverse-n1', '-o', 'compare.txt', '-o', 'compare.json', '-o', 'compare.csv', '-o', 'compare.html', '-o', '-',
		'./cut', $signal, $whom);
	says_first($run->{out}, $what, "$what, compare on one screen");
	like(content('compare.txt'), qr/\A[^\n]*\nended: \Q$what: cut short/, "$what, compare.txt: says so first");
	my $made = decode_json(content('compare.json'));
	is($made->{ended}, $cut, "$what, compare.json: a member");
	like("$made->{began} $made->{host}", qr/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ \S+$/, "$what, compare.json: when and where");
	is(data_of(content('compare.html'))->{ended}, $cut, "$what, compare.html: the page's data");
	like(content('compare.csv'), qr/\A[^\n]*\n,,ended,ended,,,,"?\Q$cut\E"?,\n/, "$what, compare.csv: the first row");
}
done_testing();

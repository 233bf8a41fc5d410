#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek run --confirm: a native and a simulated run of one program, side by side.  What
# the times are nobody knows; what is said of them follows from them.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my @calls = (program('region_calls'), 40, 0);
my $schema = source() . '/doc/cachepeek-confirm-1.schema.json';

sub confirm { run(command => [cli(), 'run', '--confirm', @_]) }

sub confirmed
{
	my @words = @_;
	my $file = scratch('confirm.json');
	my $run = confirm('-o', $file, @words);
	return ($run, decode_json(read_file($file) || '{}'));
}

# By the rules of the manual.
sub verdict
{
	my ($region) = @_;
	my ($native, $predicted, $calls) = ($region->{native}{value}, $region->{predicted}{value}, $region->{calls} || 0);
	return 'not told' unless defined $native && defined $predicted;
	return 'too short' if $native < 1e-3 || $native < 20e-6 * $calls;
	return $predicted > 1.5 * $native || $native > 1.5 * $predicted ? 'badly' : 'well';
}

sub ok_judged
{
	my ($made, $what) = @_;
	my @wrong = grep { $_->{explained} ne verdict($_) } @{$made->{regions}};
	is(scalar(@wrong), 0, "$what: judged as the manual says") or diag(explain(\@wrong));
	for my $region (grep { $_->{native}{value} } @{$made->{regions}}) {
		is_near($region->{ratio}, $region->{predicted}{value} / $region->{native}{value}, "$what: a ratio");
	}
}

# ---- the two runs ----

{
	my ($run, $made) = confirmed('-m', 'skylake-sp', @calls);
	is(status_text($run->{status}), 'exit 0', 'both runs');
	is($run->{err}, '', 'without a word');
	my $alone = run(command => [@calls]);
	is($run->{out}, $alone->{out} x 2, 'what the program says is there twice');
	is(run(command => ['/usr/bin/python3', source() . '/tests/validate.py', $schema, scratch('confirm.json')])->{status}, 0,
		'as the schema says');
	my %region = map { join('/', @{$_->{path}}) => $_ } @{$made->{regions}};
	is_deeply([sort keys %region], ['', 'outer', 'outer/inner', 'outer/inner/inner'], 'the regions');
	is($region{outer}{calls}, 40, 'their calls');
	is($region{''}{calls}, undef, 'the whole run is not called');
	is($made->{factor}, 1.5, 'the factor');
	like($made->{model}, qr/timing model of machine skylake-sp$/, 'the model');
	for my $name (sort keys %region) {
		my $one = $region{$name};
		is($one->{native}{status}, 'exact', "'$name': native");
		is($one->{predicted}{status}, 'estimated', "'$name': predicted");
		cmp_ok($one->{predicted}{value}, '>', 0, "'$name': some time");
	}
	cmp_ok($region{outer}{predicted}{value}, '<', $region{''}{predicted}{value}, 'a part of the whole');
	ok_judged($made, 'calls');
}

# A clock of 1 MHz explains nothing.
{
	my $slow = write_file(scratch('slow.machine'), read_file(source() . '/base/machines/skylake-sp.machine') =~ s/^clock-mhz = \d+/clock-mhz = 1/mr);
	my ($run, $made) = confirmed('-m', $slow, program('matmul'));
	is(status_text($run->{status}), 'exit 0', 'a slow machine');
	is($made->{regions}[0]{explained}, 'badly', 'which explains the run badly');
	ok_judged($made, 'slow');
	like($made->{answers}[0]{lines}[1]{text}, qr/: predicted .* s, natively .*s: do not trust what the model says of it$/, 'and that is said first');
	my $shown = confirm('-m', $slow, program('matmul'));
	like($shown->{err}, qr/^\(whole run\) .* badly <==$/m, 'it is marked');
	like($shown->{err}, qr/^badly explained: /m, 'and named above the table');
}

# A machine that says how far each of its figures may be off.
{
	my @words = qw(l1d l2 llc stlb memory-latency walk-latency clock-mhz fill-buffers write-buffers width window mispredict-latency load-ports
		store-ports walkers l2-fill-buffers l2-cycles-per-line llc-cycles-per-line memory-cycles-per-line prefetch-latency
		cache-to-cache-latency);
	my $measured = write_file(scratch('measured.machine'),
		read_file(source() . '/base/machines/skylake-sp.machine') . join('', map { "spread = $_ 10\n" } @words));
	my ($run, $made) = confirmed('-m', $measured, @calls);
	is($run->{err}, '', 'without a word');
	for my $one (@{$made->{regions}}) {
		my $share = $one->{predicted}{error} / $one->{predicted}{value};
		ok($share > 0.1 && $share < 0.15, "'@{$one->{path}}': the prediction's interval") or diag($share);
	}
	is(run(command => ['/usr/bin/python3', source() . '/tests/validate.py', $schema, scratch('confirm.json')])->{status}, 0, 'as the schema says');
	my $shown = confirm('-m', $measured, '-o', 'stderr,' . scratch('x.csv'), program('matmul'));
	like($shown->{err}, qr/^\(whole run\) .* ~\S+ \S+ \xc2\xb11[0-4][.\d]* % /m, 'text: beside the prediction') or diag($shown->{err});
	like($shown->{err}, qr/^explained: (not )?the whole run, which has no regions; within a factor of 1\.5$/m, 'text: nothing is counted where there is one');
	like(read_file(scratch('x.csv')), qr/,[\d.e-]+\n\z/, 'CSV: behind the others');
	unlike(confirm('-m', 'skylake-sp', program('matmul'))->{err}, qr/\xc2\xb1/, 'a machine from documents: none');
}

# ---- programs that are not the same twice ----

{
	my $turn = write_file(scratch('turn.sh'), "#!/bin/sh\nn=\$(wc -c <\$1)\nprintf x >>\$1\nshift\nexec \"\$@\" \$((n + 5)) 0\n");
	chmod(0755, $turn);
	write_file(scratch('turns'), '');
	my ($run, $made) = confirmed('-m', 'skylake-sp', $turn, scratch('turns'), program('region_calls'));
	my ($outer) = grep { "@{$_->{path}}" eq 'outer' } @{$made->{regions}};
	is($outer->{explained}, 'other work', 'a region that was called more often the second time');
	is($outer->{calls}, 5, 'its calls natively');
	like(encode_json($made->{answers}), qr/did not call some regions equally often/, 'which is said first');
}
{
	my $end = write_file(scratch('end.sh'), "#!/bin/sh\nn=\$(wc -c <\$1)\nprintf x >>\$1\nexit \$((n + 5))\n");
	chmod(0755, $end);
	write_file(scratch('ends'), '');
	my $run = confirm('-m', 'skylake-sp', $end, scratch('ends'));
	is(status_text($run->{status}), 'exit 5', 'the status is the native one');
	like($run->{err}, qr/ended unlike the native one \(status 0x600, not 0x500\)/, 'another is named');
}

# ---- what they read, and what they write ----

{
	my $input = write_file(scratch('input'), "one\ntwo\n");
	my $run = run(command => ['sh', '-c', 'cat "$1" | "$2" run --confirm -m skylake-sp cat', '-', $input, cli()]);
	is($run->{out}, "one\ntwo\n" x 2, 'both read the same');
	my $csv = confirm('-m', 'skylake-sp', '-o', scratch('x.csv'), @calls);
	my @lines = split(/\n/, read_file(scratch('x.csv')));
	is($lines[0], 'region,calls,native_s,predicted_s,ratio,explained,predicted_error', 'CSV');
	is(scalar(@lines), 5, 'a line each');
	confirm('-m', 'skylake-sp', '-o', scratch('x.html'), @calls);
	like(read_file(scratch('x.html')), qr/cachepeek-confirm\/1/, 'a page with the JSON in it');
}

# Settings of other questions are those of neither run.
{
	my $run = run(command => [cli(), 'run', '--confirm', '-m', 'skylake-sp', '-o', scratch('y.json'), @calls],
		env => {CACHEPEEK_GROUPS => 'cache', CACHEPEEK_OUTPUT => scratch('never'), CACHEPEEK_SAMPLE => 'fast', CACHEPEEK_ENGINE => 'perf',
			CACHEPEEK_DIR => scratch('records')});
	is(status_text($run->{status}), 'exit 0', 'with variables of other questions');
	is($run->{err}, '', 'which change nothing');
	ok(!-e scratch('never'), 'nor make a report');
	ok(!-e scratch('records'), 'nor keep records');
}

# ---- where it cannot ----

for my $case (
	[['-m', 'neoverse-n1', @calls], 2, qr/machine neoverse-n1 predicts no time: its file names no clock-mhz\n$/, 'a machine without a clock'],
	[['-m', 'milan-2s', @calls], 2, qr/machine milan-2s predicts no time: its file names no latency of one-hop-latency\n$/, 'a machine without latencies'],
	[['-m', 'skylake-sp', '-g', 'cache', @calls], 2, qr/^cachepeek: --confirm: -g asks for something else than time: leave it out\n$/, 'groups'],
	[['-m', 'skylake-sp', '--repeat', 2, @calls], 2, qr/^cachepeek: --confirm: .*leave --repeat and --passes out\n$/, 'repeated'],
	[['-m', 'skylake-sp', '-o', '/dev/null/x.json', @calls], 2, qr{/dev/null/x\.json}, 'a place that is not there'],
	[['-m', 'skylake-sp', scratch('no-program')], 127, qr/cannot be run: No such file/, 'no program'],
) {
	my ($words, $status, $text, $what) = @$case;
	my $run = confirm(@$words);
	is(status_text($run->{status}), "exit $status", $what);
	like($run->{err}, $text, "$what: one line");
	is($run->{out}, '', "$what: nothing runs");
}

# A host that nobody measured predicts time only if a machine file is of its processor.
{
	my $run = confirm(@calls);
	my $known = $run->{err} =~ /latencies,\s+time\b/;

	is(status_text($run->{status}), $known ? 'exit 0' : 'exit 2', 'a host that nobody measured');
	like($run->{err}, $known ? qr/^explained: /m
		: qr/^cachepeek: --confirm: machine host predicts no time: .*; `cachepeek doctor --calibrate` measures this host\n$/,
		'a host that nobody measured: one line, if none is of its processor');
}

done_testing;

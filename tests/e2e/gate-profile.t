#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Gates for profiles: functions are judged, and what fails has its line of the source, in the
# text, in annotations and in SARIF, which its schema is held against.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Npm;
use Peek;
use Test::More;

my $work = scratch('gate profile');
mkdir($work);
my $cc = (split(' ', $ENV{CC} || 'gcc'))[0];
write_file("$work/a bench.c", <<'END');
static volatile char memory[64 * 40000], more[64 * 5000];
__attribute__((noipa)) void sum(long lines)
{
	for (long i = 0; i < lines; i++)
		(void)memory[64 * i];
}
__attribute__((noipa)) void other(void)
{
	for (long i = 0; i < 5000; i++)
		(void)more[64 * i];
}
int main(void)
{
	sum(LINES);
	other();
	return 0;
}
END

sub profile
{
	my ($name, $lines, @more) = @_;
	my $run = run(command => [$cc, '-g', '-O1', "-DLINES=$lines", '-o', 'bench', 'a bench.c'], cwd => $work);
	is(status_text($run->{status}), 'exit 0', "built with $lines lines") or diag($run->{err});
	run(command => [cli(), 'dcache', '-m', 'skylake-sp', '--reproducible', @more, '-o', "$name.json", './bench'], cwd => $work);
	return "$name.json";
}
sub gate { return run(command => [cli(), 'gate', @_], cwd => $work) }
sub sarif { return decode_json(read_file("$work/$_[0].sarif")) }

my $before = profile('before', 20000);
my $run = gate('--update', 'base.json', $before);
is(status_text($run->{status}), 'exit 0', 'a baseline of a profile') or diag($run->{err});
my @values = @{decode_json(read_file("$work/base.json"))->{values}};
my ($sum) = grep { "@{$_->{path}} $_->{name}" eq 'bench sum l1d_load_misses' } @values;
my ($of_sum) = grep { $_->{function} eq 'sum' } @{decode_json(read_file("$work/$before"))->{functions}};
is($sum->{value}, $of_sum->{counts}{l1d_load_misses}, 'has what the profile has');
ok(scalar(grep { "@{$_->{path}}" eq 'bench other' } @values), 'functions that miss');
my %whole = map { $_->{name} => $_->{value} } grep { !@{$_->{path}} } @values;
ok(!scalar(grep { @{$_->{path}} && $_->{value} <= 0.01 * $whole{$_->{name}} } @values), 'and none that hardly does');
ok(!scalar(grep { $_->{name} !~ /_misses$/ } @values), 'of all that are misses');
$run = gate('-o', 'same.sarif', '-o', '-', 'base.json', profile('same', 20000));
is(status_text($run->{status}), 'exit 0', 'no change: nothing fails') or diag($run->{out});
is_deeply(sarif('same')->{runs}[0]{results}, [], 'SARIF: nothing either');

my $worse = profile('worse', 20200);
$run = gate('--annotate', '-o', '-', '-o', 'worse.sarif', 'base.json', $worse);
is(status_text($run->{status}), 'exit 3', '1 % more in a function fails');
my ($now) = map { $_->{counts}{l1d_load_misses} } grep { $_->{function} eq 'sum' } @{decode_json(read_file("$work/$worse"))->{functions}};
sub grouped { my $n = reverse shift; $n =~ s/(\d{3})(?=\d)/$1,/g; return scalar reverse $n }
my ($was, $is) = map { grouped($_) } $sum->{value}, $now;
my $sentence = qr{l1d_load_misses of bench/sum: $was -> $is \(\+[\d.]+ %\), 0\.5% is allowed};
like($run->{out}, qr/^FAILS +base\.json:\d+: $sentence, most at a bench\.c:5$/m, 'by function, value, before and after, and the line');
like($run->{out}, qr/^::error file=a bench\.c,line=5,title=cachepeek gate::l1d_load_misses of bench/m, 'an annotation there');
unlike($run->{out}, qr{bench/other}, 'nothing of the other function');
my ($result) = grep { $_->{message}{text} =~ /$sentence/ } @{sarif('worse')->{runs}[0]{results}};
is_deeply($result->{locations}[0]{physicalLocation}, {artifactLocation => {uri => 'a%20bench.c', uriBaseId => '%SRCROOT%'},
	region => {startLine => 5}}, 'SARIF: the file as a URI, and the line');
is("$result->{ruleId} $result->{level}", 'cache-regression error', 'a rule');
is($result->{partialFingerprints}{'cachepeekValue/v1'}, 'l1d_load_misses of bench/sum', 'and what it is called in other commits');

$run = gate('-o', 'unlike.sarif', 'base.json', profile('unlike', 20000, '-m', 'neoverse-n1'));
is(status_text($run->{status}), 'exit 4', 'another machine is not judged');
is(sarif('unlike')->{runs}[0]{results}[0]{ruleId}, 'cache-not-judged', 'SARIF: by a rule of its own');
ok(!sarif('unlike')->{runs}[0]{invocations}[0]{executionSuccessful}, 'and as what did not work');
$run = gate('base.json', 'nothing.json');
is(status_text($run->{status}), 'exit 1', 'no run');

SKIP: {
	my ($package, $why_not) = npm_package('@microsoft/jest-sarif', '1.0.0-beta.0');
	skip($why_not, 3) unless $package;
	my $python = which('python3');
	skip('no python3-jsonschema', 3) if !$python || run(command => [$python, '-c', 'import jsonschema'])->{status};
	for my $name (qw(same worse unlike)) {
		my $check = run(command => [$python, '-c', 'import json, sys, jsonschema
jsonschema.Draft7Validator(json.load(open(sys.argv[1])), format_checker=jsonschema.FormatChecker()).validate(json.load(open(sys.argv[2])))',
			"$package/lib/schemas/sarif-2.1.0-rtm.5.json", "$work/$name.sarif"]);
		is(status_text($check->{status}), 'exit 0', "$name.sarif: as the schema of SARIF 2.1.0 wants it") or diag($check->{err});
	}
}
done_testing();

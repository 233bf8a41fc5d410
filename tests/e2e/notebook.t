#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# examples/report.ipynb: its cells run, one after the other, and where Jupyter is, in a kernel.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $python = which('python3') or plan(skip_all => 'no python3');
sub has { return !run(command => [$python, '-c', "import $_[0]"])->{status} }
plan(skip_all => 'no pandas') unless has('pandas');

my $work = scratch('notebook');
mkdir($work);
run(command => [cli(), '-E', 'sim', '-m', 'skylake-sp', '-g', 'cache', '-o', "$work/run.json", program('region_nested')]);
my $report = decode_json(read_file("$work/run.json"));
my $file = source() . '/examples/report.ipynb';
my $notebook = decode_json(read_file($file));
is("$notebook->{nbformat}.$notebook->{nbformat_minor}", '4.5', 'its format');
my %at = (cwd => $work, env => {PYTHONPATH => source() . '/regions:' . source() . '/output', HOME => $work, PYTHONDONTWRITEBYTECODE => 1});

my @cells = map { join('', @{$_->{source}}) } grep { $_->{cell_type} eq 'code' } @{$notebook->{cells}};
cmp_ok(scalar(@cells), '>', 3, 'it has cells');
my $run = run(command => [$python, '-c', join("\n\n", @cells, 'print("worst", worst.iloc[0].region, int(worst.iloc[0].exclusive))',
	'print("table", int(table.loc["", "l1d_misses"]))')], %at);
is(status_text($run->{status}), 'exit 0', 'its cells run') or diag($run->{err});
my @own = sort { value($b, 'l1d_misses', 'exclusive') <=> value($a, 'l1d_misses', 'exclusive') } @{$report->{regions}};
my ($name, $most, $all) = (join('/', @{$own[0]{path}}), value($own[0], 'l1d_misses', 'exclusive'), value(region($report), 'l1d_misses'));
like($run->{out}, qr/^worst \Q$name\E $most$/m, 'the region that misses most');
like($run->{out}, qr/^table $all$/m, 'and the whole run');
is(scalar(() = $run->{out} =~ /^(?:  )*\S.* \d+$/mg) - 2, scalar(@{$report->{regions}}), 'a tree of all regions');

SKIP: {
	skip('no nbformat', 1) unless has('nbformat');
	my $check = run(command => [$python, '-c', 'import sys, nbformat; nbformat.validate(nbformat.read(sys.argv[1], as_version=4))', $file], %at);
	is(status_text($check->{status}), 'exit 0', 'valid for Jupyter') or diag($check->{err});
}
SKIP: {
	skip('no nbconvert and ipykernel', 2) unless has('nbconvert') && has('ipykernel');
	write_file("$work/report.ipynb", read_file($file)); # a kernel runs where its notebook is
	my $made = run(command => [$python, '-m', 'nbconvert', '--to', 'notebook', '--execute', '--output', 'executed', 'report.ipynb'], %at);
	is(status_text($made->{status}), 'exit 0', 'Jupyter executes it') or diag($made->{err});
	my $outputs = grep { $_->{cell_type} eq 'code' && @{$_->{outputs}} } @{decode_json(read_file("$work/executed.ipynb") || '{"cells":[]}')->{cells}};
	is($outputs, scalar(@cells), 'and each cell shows something');
}
done_testing();

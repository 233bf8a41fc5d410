#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The dashboard asks for what a run's OpenMetrics file has, and in PromQL; and it is of the
# types that Grafana itself publishes for dashboards.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Npm;
use Peek;
use Test::More;

my $dashboard = decode_json(read_file(source() . '/examples/grafana.json'));
my @asked = map { $_->{expr} } map { @{$_->{targets}} } @{$dashboard->{panels}};
cmp_ok(scalar(@asked), '>=', 6, 'panels that ask');
my $prom = scratch('run.prom');
run(command => [cli(), '-E', 'sim', '-m', 'skylake-sp', '-g', 'cache', '-o', $prom, program('stride'), 64, 1]);
my $text = read_file($prom) // '';
for my $expression (@asked) {
	my ($family, $labels) = $expression =~ /\b(cachepeek_\w+)\{(.*?)\}/;
	my $is = $family // 'none';
	like($text, qr/^$is\{/m, "$expression: the family");
	my ($metrics) = ($labels // '') =~ /metric=~?"([^"]*)"/ or next;
	like($text, qr/^$is\{.*metric="$_"/m, "the metric $_") for split(/\|/, $metrics);
}
my %ids = map { $_->{id} => 1 } @{$dashboard->{panels}};
is(scalar(keys %ids), scalar(@{$dashboard->{panels}}), 'each panel has a number of its own');

# Rules are what promtool reads expressions of.
SKIP: {
	my $promtool = which('promtool') or skip('no promtool (prometheus)', 1);
	my $rules = join('', map { my $e = $asked[$_] =~ s/\$exe/.*/r; "  - record: r$_\n    expr: '$e'\n" } 0 .. $#asked);
	my $file = write_file(scratch('rules.yml'), "groups:\n- name: dashboard\n  rules:\n$rules");
	my $run = run(command => [$promtool, 'check', 'rules', $file]);
	is(status_text($run->{status}), 'exit 0', 'promtool reads all expressions') or diag($run->{out}, $run->{err});
}

# Grafana's schema is a package of types, and the compiler is who reads those.
SKIP: {
	my ($grafana, $why) = npm_package('@grafana/schema', '13.2.3');
	(my $typescript, $why) = npm_package('typescript', '5.9.3') if $grafana;
	skip($why, 2) unless $typescript && which('node');
	my $place = scratch('types');
	mkdir($place);
	write_file("$place/tsconfig.json", encode_json({files => ['dashboard.ts'], compilerOptions => {strict => Json::true,
		noEmit => Json::true, skipLibCheck => Json::true, module => 'esnext', moduleResolution => 'bundler',
		target => 'es2020', types => [], baseUrl => $grafana =~ s{/\@grafana/schema$}{}r}}));
	my $complaints = sub {
		write_file("$place/dashboard.ts", 'import type { Dashboard } from "@grafana/schema"; export const dashboard: Dashboard = '
			. encode_json($_[0]) . ';');
		return run(command => ['node', "$typescript/bin/tsc", '-p', "$place/tsconfig.json"])->{out};
	};
	is($complaints->($dashboard), '', "Grafana's schema holds");
	$dashboard->{panels}[0]{gridPos}{width} = delete $dashboard->{panels}[0]{gridPos}{w};
	like($complaints->($dashboard), qr/error TS\d+: .*"width"/, 'and would not with a key of another name');
}
done_testing();

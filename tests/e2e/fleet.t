#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A fleet's reports as one table: each value of each report is a row, and the region that
# became worse on one host is found, there and nowhere else.
#	FLEET=10000 prove -v tests/e2e/fleet.t		# as many reports; 300 without this
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Npm;
use Peek;
use Test::More;

my $python = which('python3') or plan(skip_all => 'no python3');
my $fleet = scratch('fleet');
mkdir($_) for $fleet, "$fleet/v1", "$fleet/v2";

# A real report, which hosts then differ in.
my $report = peek(engine => 'sim', machine => 'skylake-sp', groups => 'cache', command => [program('region_nested')])->{report};
my $values = 0;
$values += keys(%{$_->{counts}}) + keys(%{$_->{metrics}}) for @{$report->{regions}};
my ($worse) = grep { @{$_->{path}} && ($_->{counts}{instructions}{value} // 0) > 0 } @{$report->{regions}};
my $region = join('/', @{$worse->{path}});
my $before = $worse->{counts}{instructions}{value};

my $reports = $ENV{FLEET} || 300;
my $hosts = 10;
my $coder = Cpanel::JSON::XS->new->utf8;
for my $label (qw(v1 v2)) {
	for my $host (0 .. $hosts - 1) {
		$report->{machine}{host} = "host$host";
		$worse->{counts}{instructions}{value} = $before * ($label eq 'v2' && $host == 7 ? 1.5 : 1);
		my $text = $coder->encode($report);
		write_file("$fleet/$label/$host-$_.json", $text) for 1 .. $reports / 2 / $hosts;
	}
}
my @files = glob("$fleet/*/*.json");
is(scalar(@files), $reports, "$reports reports");

my $script = source() . '/examples/fleet.py';
sub fleet { return run(command => [$python, $script, @_], cwd => $fleet) }
my $start = time;
my $run = fleet('collect', 'fleet.sqlite', @files);
is($run->{out}, $values * $reports . " rows of $reports reports\n", 'a row for each value of each report') or diag($run->{err});
diag(sprintf('%d s for %d reports, %d bytes', time - $start, $reports, -s "$fleet/fleet.sqlite")) if $ENV{FLEET};

$run = fleet('worse', 'fleet.sqlite', 'v1', 'v2', '--metric', 'instructions', '--json');
is(status_text($run->{status}), 'exit 3', 'something is worse');
my @found = @{decode_json($run->{out} || '[]')};
is(join(' ', map { "$_->{region}\@$_->{host}" } @found), "$region\@host7", 'the region that is, on its host');
is($found[0]{percent}, 50, 'by so much');
is($found[0]{runs}, $reports / $hosts, 'in so many runs');
$run = fleet('worse', 'fleet.sqlite', 'v1', 'v2', '--metric', 'l1d_mpki');
is(status_text($run->{status}), 'exit 0', 'nothing else is');

# A value that there is not is a row without a value, not a 0.
my ($absent) = grep { !defined $_->{value} } map { values %{$_->{metrics}} } @{$report->{regions}};
ok(!$absent || $absent->{reason}, 'what is unavailable says why');
$run = run(command => [$python, '-c', 'import sqlite3; print(*sqlite3.connect("fleet.sqlite").execute('
	. '"SELECT count(*) FROM fleet WHERE (value IS NULL) != (status = \'unavailable\')").fetchone())'], cwd => $fleet);
is($run->{out}, "0\n", 'a row has a value, or is unavailable');

write_file("$fleet/v1/torn.json", substr($coder->encode($report), 0, 500));
$run = fleet('collect', 'torn.sqlite', $files[0], "$fleet/v1/torn.json");
is($run->{out}, "$values rows of 2 reports\n", 'a torn report is left out');
like($run->{err}, qr/^fleet\.py: \S+torn\.json: left out: .*\nfleet\.py: 1 of 2 reports are left out\n\z/, 'and named');
$run = fleet('worse', 'none.sqlite', 'v1', 'v2');
like($run->{err}, qr/^fleet\.py: none\.sqlite: there is no such file/, 'a table that is not there');
ok(!-e "$fleet/none.sqlite", 'is not made by asking');

# Parquet: without anybody who writes it, one line says so.
SKIP: {
	skip('duckdb or pyarrow is here', 1) unless run(command => [$python, '-c', 'import duckdb'])->{status} &&
		run(command => [$python, '-c', 'import pyarrow'])->{status};
	$run = fleet('collect', 'fleet.parquet', @files[0, 1]);
	like($run->{err}, qr/^fleet\.py: fleet\.parquet: Parquet takes duckdb, or pandas and pyarrow: .*\.sqlite\n\z/, 'without them one line says so');
}

# Debian 12 has no DuckDB for Python but there is one for node, so a module of its name hands
# each statement on to that.
my $connection = <<'PY';
import json, os, subprocess


class connect:
    def __init__(self):
        self.node = subprocess.Popen(["node", os.environ["BRIDGE"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def execute(self, statement, values=()):
        self.node.stdin.write(json.dumps([statement, list(values)]) + "\n")
        self.node.stdin.flush()
        self.answer = json.loads(self.node.stdout.readline())
        if isinstance(self.answer, str):
            raise RuntimeError(self.answer)
        return self

    def fetchall(self):
        return [tuple(row) for row in self.answer]
PY
my $bridge = <<'JS';
const { DuckDBInstance } = require(PACKAGE);
(async () => {
	const connection = await (await DuckDBInstance.create(":memory:")).connect();
	for await (const line of require("readline").createInterface({ input: process.stdin })) {
		let answer;
		try {
			const result = await connection.runAndReadAll(...JSON.parse(line));
			answer = result.getRows();
		} catch (error) {
			answer = String(error);
		}
		console.log(JSON.stringify(answer, (key, value) => typeof value === "bigint" ? Number(value) : value));
	}
})();
JS
SKIP: {
	my ($package, $why) = which('node') ? npm_package('@duckdb/node-api', '1.5.6-r.1') : (undef, 'no node');
	skip($why, 6) unless $package;
	write_file("$fleet/duckdb.py", $connection);
	local $ENV{BRIDGE} = write_file("$fleet/bridge.js", $bridge =~ s/PACKAGE/Cpanel::JSON::XS->new->allow_nonref->encode($package)/er);
	local $ENV{PYTHONPATH} = $fleet;
	$run = fleet('collect', "fleet's.parquet", @files);
	is($run->{out}, $values * $reports . " rows of $reports reports\n", 'Parquet: the same rows') or diag($run->{err});
	is(substr(read_file("$fleet/fleet's.parquet") // '', 0, 4), 'PAR1', 'in such a file');
	$run = fleet('worse', "fleet's.parquet", 'v1', 'v2', '--metric', 'instructions', '--json');
	is(status_text($run->{status}), 'exit 3', 'DuckDB asks it') or diag($run->{err});
	is_deeply(decode_json($run->{out} || '[]'), \@found, 'and finds the same');
	is(status_text(fleet('worse', "fleet's.parquet", 'v1', 'v2', '--metric', 'l1d_mpki')->{status}), 'exit 0', 'and nothing else');
	$run = run(command => [$python, '-c', 'import duckdb; print(duckdb.connect().execute("SELECT count(*) FILTER ((value IS NULL) != '
		. '(status = \'unavailable\')), count(DISTINCT host) FROM \'fleet\'\'s.parquet\'").fetchall())'], cwd => $fleet);
	my ($wrong, $seen) = $run->{out} =~ /(\d+), (\d+)/ or diag($run->{err});
	is("$wrong $seen", "0 $hosts", 'a row has a value, or is unavailable; each host is there');
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CSV and OpenMetrics say what the JSON report says, whatever regions are called;
# the reports are what the schema says.
use strict;
use warnings;
use File::Copy qw(copy);
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $schema = source() . '/doc';  # the one that the report names

# The same run in each format: {json, csv, prom} and the decoded report.
sub formats
{
	my ($name, %run) = @_;
	my $base = scratch($name);
	my $run = peek(output => join(',', map { "$base.$_" } qw(json csv prom)), %run);
	is(status_text($run->{status}), 'exit 0', "$name: ran");
	return {report => decode_json(read_file("$base.json")),
		map { $_ => "$base.$_" } qw(json csv prom)};
}

# The rows of a CSV file, as Python's reader and SQLite's see them: two readers
# that know nothing of each other.
sub rows_of_python
{
	my ($file) = @_;
	my $program = 'import csv,json,sys; print(json.dumps(list(csv.DictReader(open(sys.argv[1], encoding="utf-8", newline="")))))';
	my $run = run(command => ['/usr/bin/python3', '-c', $program, $file]);
	is($run->{err}, '', 'python reads the CSV');
	return decode_json($run->{out});
}

sub rows_of_sqlite
{
	my ($file) = @_;
	my $run = run(command => [which('sqlite3'), ':memory:', '-cmd', ".import --csv $file t", '-json', 'select * from t']);
	is($run->{err}, '', 'sqlite3 reads the CSV');
	return decode_json($run->{out});
}

# Region names as both formats write them: bytes that the JSON report cannot tell
# from characters are why the last argument is there.
sub escaped
{
	my ($name) = @_;
	$name =~ s{([\\/])}{\\$1}g;
	return $name;
}

sub number { my ($value) = @_; return defined $value ? 0 + $value : '' }

# The report's values for a list of regions, in the order of the CSV report.
sub wanted_regions
{
	my ($report, $regions, @place) = @_;
	my @wanted;
	for my $region (@$regions) {
		my @left = (@place, join('/', map { escaped($_) } @{$region->{path}}));
		push(@wanted, [@left, 'calls', 'calls', $region->{calls}, 'exact', '']);
		my $time = $region->{time_s};
		push(@wanted, [@left, 'time', 'time_s', number($time->{value}), $time->{status}, $time->{reason} // '']);
		push(@wanted, wanted_counts($report, $region->{counts}, @left));
		for my $name (map { $_->[0] } metrics($report)) {
			my $metric = $region->{metrics}{$name};
			push(@wanted, [@left, 'metric', $name, number($metric->{value}), $metric->{status}, $metric->{reason} // '']);
		}
	}
	return @wanted;
}

sub wanted_counts
{
	my ($report, $counts, @left) = @_;
	my @wanted;
	for my $name (@{$report->{events}}) {
		my $count = $counts->{$name};
		push(@wanted, map { [@left, $_->[0], $name, number($count->{$_->[1]}), $count->{status},
			$count->{reason} // ''] } (['count', 'value'], ['exclusive', 'exclusive']));
	}
	return @wanted;
}

# Metrics in the order of their text, which a decoded object does not have.
my $json_text;
sub place { return $json_text =~ /"\Q$_[0]\E": ?\{/ ? $-[0] : -1 }

sub metrics
{
	my ($report) = @_;
	my %of = %{$report->{regions}[0]{metrics}};
	return map { [$_, $of{$_}] } sort { place($a) <=> place($b) } keys %of;
}

sub wanted
{
	my ($report) = @_;
	my @wanted = wanted_regions($report, $report->{regions}, 'run', '', '');
	for my $process (@{$report->{processes}}) {
		push(@wanted, wanted_counts($report, $process->{whole_process}{counts}, 'process', $process->{pid}, '', ''));
		push(@wanted, wanted_regions($report, $_->{regions}, 'thread', $process->{pid}, $_->{tid} // ''))
			for @{$process->{threads}};
	}
	return map { join("\t", @$_) } @wanted;
}

sub found
{
	my ($rows) = @_;
	return map { my $row = $_;
		join("\t", map { my $cell = $row->{$_}; $_ eq 'value' && length $cell ? 0 + $cell : $cell }
			qw(scope pid tid region kind name value status reason)) } @$rows;
}

for my $case (
	['nested', engine => 'sim', groups => 'cache,tlb', command => [program('region_nested')]],
	['threads', engine => 'sim', groups => 'cache', command => [program('region_threads')]],
	['software', engine => 'perf', events => $SOFTWARE . ',perf::CPU-CLOCK', command => [program('region_nested')]]) {
	my ($name, %run) = @$case;
	SKIP: {
		skip('the kernel counts nothing', 7) if $run{engine} eq 'perf' && !can_count('software');
		my $files = formats($name, %run);
		$json_text = read_file($files->{json});
		my @wanted = wanted($files->{report});
		is_deeply([found(rows_of_python($files->{csv}))], \@wanted, "$name: the CSV has every value of the JSON report");
		is_deeply([found(rows_of_sqlite($files->{csv}))], \@wanted, "$name: read by SQLite too");
		openmetrics($name, $files);
	}
}

# ---- OpenMetrics ----

# Lines as {metric, labels, value}.
sub samples
{
	my ($text) = @_;
	my @samples;
	for my $line (grep { !/^#/ } split(/\n/, $text)) {
		my ($metric, $labels, $value) = $line =~ /^(\w+)\{(.*)\} (\S+)$/ or next;
		my %labels;
		while ($labels =~ /\G,?(\w+)="((?:[^"\\]|\\.)*)"/g) {
			my ($label, $string) = ($1, $2);
			$string =~ s/\\(.)/$1 eq 'n' ? "\n" : $1/ge;
			utf8::decode($string);
			$labels{$label} = $string;
		}
		push(@samples, {metric => $metric, labels => \%labels, value => $value});
	}
	return @samples;
}

sub promtool
{
	my ($name, $files) = @_;
	SKIP: {
		my $promtool = which('promtool') or skip('no promtool (prometheus)', 2);
		my $check = run(command => [$promtool, 'check', 'metrics'], stdin => $files->{prom});
		is("$check->{out}$check->{err}", '', "$name: promtool has nothing to say");
		is(status_text($check->{status}), 'exit 0', "$name: promtool takes the metrics");
	}
}

sub openmetrics
{
	my ($name, $files) = @_;
	my $text = read_file($files->{prom});
	promtool($name, $files);
	like($text, qr/\n# EOF\n\z/, "$name: OpenMetrics' end");

	my (@found, @wanted);
	for my $sample (samples($text)) {
		my %labels = %{$sample->{labels}};
		push(@found, join("\t", $labels{region}, $labels{event}, 0 + $sample->{value}, $labels{status}))
			if $sample->{metric} eq 'cachepeek_events';
		push(@found, join("\t", $labels{region}, $labels{metric}, 0 + $sample->{value}, $labels{status}, $labels{unit}))
			if $sample->{metric} eq 'cachepeek_metric';
		push(@found, join("\t", $labels{region}, $labels{name}, 'unavailable', $labels{reason}))
			if $sample->{metric} eq 'cachepeek_unavailable';
		push(@found, join("\t", $labels{region}, 'calls', $sample->{value}))
			if $sample->{metric} eq 'cachepeek_region_calls';
	}
	for my $region (@{$files->{report}{regions}}) {
		my $path = join('/', map { escaped($_) } @{$region->{path}});
		push(@wanted, join("\t", $path, 'calls', $region->{calls}));
		push(@wanted, join("\t", $path, 'time_s', 'unavailable', $region->{time_s}{reason}))
			unless defined $region->{time_s}{value};
		for my $kind (qw(counts metrics)) {
			for my $item (sort keys %{$region->{$kind}}) {
				my $value = $region->{$kind}{$item};
				push(@wanted, join("\t", $path, $item, defined $value->{value}
					? (0 + $value->{value}, $value->{status}, $kind eq 'metrics' ? $value->{unit} : ())
					: ('unavailable', $value->{reason})));
			}
		}
	}
	is_deeply([sort @found], [sort @wanted], "$name: every value of the regions, and no other");
	is(sprintf('%04o', (stat($files->{prom}))[2] & 07777), '0644', "$name: the collector may read it");
	is_deeply([glob("$files->{prom}.*")], [], "$name: and nothing is left beside it");
}

# ---- names ----

{
	my $files = formats('hostile', engine => 'sim', groups => 'cache', command => [program('hostile')]);
	promtool('hostile names', $files);
	my $rows = rows_of_python($files->{csv});
	my $text = read_file($files->{csv});
	is(scalar(@$rows), ($text =~ tr/\n//) - 1, 'hostile names: a row is a line');
	unlike($text =~ s/\n//gr, qr/[\x00-\x1f\x7f]/, 'hostile names: no control characters');
	is_deeply([grep { /^[=+\-@\t\r]/ } map { @{$_}{qw(region thread name reason host unit)} } @$rows], [],
		'hostile names: no formula');
	ok((grep { $_->{thread} eq q('=1+\x1b[2J\nhost) } @$rows) > 0, 'hostile names: a thread that is called like a formula');
	my %regions = map { $_->{region} => 1 } @$rows;
	ok($regions{$_}, "hostile names: $_") for "'=1+1", '\x1b]0;title\x07\x1b[31mred', 'line\nbreak\r\ttab',
		'"quote\\\\ <\/script><b>&amp;', 'invalid \xff\xfe\xc3( \xed\xa0\x80 \xf5\x80\x80\x80 end';
	is(scalar(keys %{{map { $_->{labels}{region} => 1 } grep { $_->{metric} eq 'cachepeek_region_calls' }
		samples(read_file($files->{prom}))}}), scalar(@{$files->{report}{regions}}),
		'hostile names: a label for each region');
}
{
	my $program = scratch("two\nlines");
	copy(program('empty'), $program) or die("$program: $!");
	chmod(0755, $program);
	my $files = formats('newline', engine => 'perf', command => [$program]);
	promtool('a program with a newline in its name', $files);
	like(read_file($files->{prom}), qr/^cachepeek_info\{exe="two\\nlines",/m, 'a newline in a label is escaped');
}

# A file that a collector reads is whole or the old one.
{
	my $old = write_file(scratch('old.prom'), "old\n");
	mkdir(scratch('closed'));
	my $run = run(command => [cli(), '-E', 'sim', '-e', 'instructions', '-o', scratch('closed') . '/absent.prom/x.prom', 'true']);
	ok(-e scratch('closed') . '/absent.prom/x.prom', 'directories are made');
	chmod(0600, $old);
	run(command => [cli(), '-E', 'sim', '-e', 'instructions', '-o', $old, 'true']);
	like(read_file($old), qr/\A# TYPE .*# EOF\n\z/s, 'the old file is replaced');
	my $inode = (stat($old))[1];
	run(command => [cli(), '-E', 'sim', '-e', 'instructions', '-o', $old, 'true']);
	isnt((stat($old))[1], $inode, 'by another, not rewritten');
}

# ---- reports of many regions ----

sub validate { return run(command => ['/usr/bin/python3', source() . '/tests/validate.py', $schema, @_]) }

sub keys_of { return join("\n", map { my $value = $_[0]{$_}; join(' ', $_, sort keys %$value) } sort keys %{$_[0]}) }

sub keys_of_regions { return [map { [join(' ', sort keys %$_), map { keys_of($_) } @$_{qw(counts metrics)}] } @_] }

# The same program with as many regions as are complete, and with one more.
{
	my $limit = 1000;
	my %run = (engine => 'sim', machine => 'skylake-sp', groups => 'dtlb');
	my $few = formats('few', %run, command => [program('many_regions'), $limit - 1]);
	my $many = formats('many', %run, command => [program('many_regions'), $limit]);
	my ($complete, $brief) = map { decode_as_is(read_file($_->{json})) } $few, $many;
	is($complete->{schema}, 'cachepeek-report/1', "$limit regions: version 1");
	is(scalar(@{$complete->{regions}}), $limit, 'the whole run is one of them');
	ok(!exists $complete->{usual}, 'nothing is usual');
	is(validate($few->{json})->{out}, "1 reports, 0 faults\n", 'and each value is complete');
	is(scalar(@{$complete->{processes}[0]{threads}[0]{regions}}), $limit, 'in the thread, too');

	is($brief->{schema}, 'cachepeek-report/2', 'more: version 2');
	is(validate($many->{json})->{out}, "1 reports, 0 faults\n", 'which its schema has');
	is_deeply($brief->{regions}[0]{$_}, $many->{report}{regions}[0]{$_}, "the whole run leaves nothing out, $_")
		for qw(time_s counts metrics);
	ok(!exists $brief->{processes}[0]{threads}[0]{regions}, 'the only thread does, which has the same');
	is(() = read_file($many->{json}) =~ /^  \{"path":\[.*\}\},?$/mg, $limit + 1, 'a region is a line');

	# Filled in it has what version 1 would have: the values of the CSV, and all keys.
	($json_text) = read_file($many->{json}) =~ /("usual": \{.*?\n \})/s;
	is(join("\n", found(rows_of_python($many->{csv}))), join("\n", wanted($many->{report})), 'filled in it has every value of the CSV');
	my @filled = @{$many->{report}{regions}};
	is_deeply(keys_of_regions(@filled[0 .. $limit - 1]), keys_of_regions(@{$complete->{regions}}), 'and every key of version 1');
	is_deeply(keys_of_regions(@{$many->{report}{processes}[0]{threads}[0]{regions}}[0 .. $limit - 1]),
		keys_of_regions(@{$complete->{processes}[0]{threads}[0]{regions}}), 'and of the thread');
	many_in_python($few, $many);
	many_in_diff($few, $many);
}
{
	my $count = 1200;
	my $run = peek(engine => 'sim', machine => 'skylake-sp', command => [program('many_regions'), $count]);
	my $whole = $run->{report}{regions}[0];
	is(scalar(@{$run->{report}{regions}}), $count + 1, "$count regions of what is counted without options");
	cmp_ok(scalar(keys %{$whole->{counts}}) + keys %{$whole->{metrics}}, '>=', 80, 'which is many values');
	cmp_ok(length($run->{json}), '<', 4000 * $count, 'each takes less than 4,000 bytes: 5,000 are not 20 MB');
}

# The module fills in what our own reader does, and leaves alone what is complete.
sub many_in_python
{
	my ($few, $many) = @_;
	my $script = 'import json, sys; import cachepeek_report as r
few, many = [json.load(open(name)) for name in sys.argv[1:]]
assert r.filled_in(json.loads(json.dumps(few))) == few
print(json.dumps(r.filled_in(many)))';
	my $run = run(command => ['/usr/bin/python3', '-c', $script, $few->{json}, $many->{json}], env => {PYTHONPATH => source() . '/output'});
	my $made = eval { decode_json($run->{out}) } || {};
	is_deeply($made, {%{$many->{report}}, schema => 'cachepeek-report/1'}, 'Python fills in the same') || diag($run->{err});
	is(validate(write_file(scratch('filled.json'), $run->{out}))->{out}, "1 reports, 0 faults\n", 'which is version 1');
}

sub many_in_diff
{
	my ($few, $many) = @_;
	my $filled = scratch('filled.json');
	for my $pair ([$filled, $many->{json}], [$many->{json}, $filled], [$few->{json}, $many->{json}]) {
		my $diff = run(command => [cli(), 'diff', '--json', @$pair]);
		my $found = eval { decode_json($diff->{out}) } || {};
		my $what = join(' and ', map { m{([^/]*)$} } @$pair);
		is(status_text($diff->{status}), 'exit 0', "$what are compared") || diag($diff->{err});
		is_deeply([grep { ($_->{before}{status} // '') ne ($_->{after}{status} // '') } @{$found->{values}}], [], 'as certain on either side')
			if $pair->[0] ne $few->{json};
	}
}

# ---- the schema ----

{
	my @reports = map { scratch("$_.json") } grep { -e scratch("$_.json") } qw(nested threads software hostile);
	my $run = validate(@reports);
	is($run->{out}, @reports . " reports, 0 faults\n", 'the reports are what the schema says') || diag($run->{err});

	# And the schema is not one that takes anything.
	my ($report, $many) = map { read_file(scratch("$_.json")) } qw(threads many);
	for my $change (['"schema": "cachepeek-report/1"', '"schema": "cachepeek-report/2"'],
		['"status": "simulated"', '"status": "guessed"'],
		['"pid": ', '"PID": '],
		['"calls":', '"calls":-'],
		['"warnings": ', '"new": 1, "warnings": '],
		['"exclusive":', '"exclusive":0.5,"was":'],
		['"min_at":', '"min_where":'],
		['"how": "exit", "code": 0', '"how": "exit", "code": null'],
		['"value":null,"unit"', '"value":0,"unit"'],
		['"coverage":1,"error":null,"reason":null,"per_call"', '"coverage":1,"per_call"'],
		['"usual": ', '"unusual": ', 'many'],
		['"schema": "cachepeek-report/2"', '"schema": "cachepeek-report/1"', 'many'],
		['"schema": "cachepeek-report/2"', '"schema": "cachepeek-report/3"', 'many'],
		['"coverage":1,"error":null,"reason":null,"per_call"', '"coverage":1,"per_call"', 'many']) {
		my ($from, $to, $of) = @$change;
		(my $wrong = $of ? $many : $report) =~ s/\Q$from\E/$to/ or fail("no $from");
		my $found = validate(write_file(scratch('wrong.json'), $wrong));
		is(status_text($found->{status}), 'exit 1', "a report with $to is refused") || diag($found->{out});
	}
}
done_testing();

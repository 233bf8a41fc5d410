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

my $schema = source() . '/doc/cachepeek-report-1.schema.json';

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

# What the report has for a list of regions, in the order of the CSV report.
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
sub metrics
{
	my ($report) = @_;
	my %of = %{$report->{regions}[0]{metrics}};
	return map { [$_, $of{$_}] } sort { index($json_text, "\"$a\": {") <=> index($json_text, "\"$b\": {") } keys %of;
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

# ---- the schema ----

sub validate { return run(command => ['/usr/bin/python3', source() . '/tests/validate.py', $schema, @_]) }

{
	my @reports = map { scratch("$_.json") } grep { -e scratch("$_.json") } qw(nested threads software hostile);
	my $run = validate(@reports);
	is($run->{out}, @reports . " reports, 0 faults\n", 'the reports are what the schema says') || diag($run->{err});

	# And the schema is not one that takes anything.
	my $report = read_file(scratch('threads.json'));
	for my $change (['"schema": "cachepeek-report/1"', '"schema": "cachepeek-report/2"'],
		['"status": "simulated"', '"status": "guessed"'],
		['"pid": ', '"PID": '],
		['"calls": ', '"calls": -'],
		['"warnings": ', '"new": 1, "warnings": '],
		['"exclusive": ', '"exclusive": 0.5, "was": '],
		['"min_at": ', '"min_where": '],
		['"how": "exit", "code": 0', '"how": "exit", "code": null'],
		['"value": null, "unit"', '"value": 0, "unit"']) {
		my ($from, $to) = @$change;
		(my $wrong = $report) =~ s/\Q$from\E/$to/ or fail("no $from");
		my $found = validate(write_file(scratch('wrong.json'), $wrong));
		is(status_text($found->{status}), 'exit 1', "a report with $to is refused") || diag($found->{out});
	}
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Each example is built and run as its first lines say, with what is installed,
# and shows what it claims.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Stage;
use Test::More;

my $stage = stage();
my $examples = "$stage/usr/local/share/doc/cachepeek/examples";

# The commands in the first comment, which are indented.
sub commands
{
	my ($text) = @_;
	my ($comment) = $text =~ m{\A(.*?)^#include}ms;
	return $comment =~ m{^(?: \*|//)     (\S.*)$}mg;
}

# Runs an example's commands; its last one's output and report.
sub example
{
	my ($name) = @_;
	my $directory = scratch($name);
	my $json = "$directory/report.json";
	mkdir($directory);
	write_file("$directory/$name", read_file("$examples/$name"));
	my @commands = commands(read_file("$examples/$name"));
	is(scalar(@commands), 2, "$name: how it is built, and how it is run");
	my $last;
	for my $command (@commands) {
		$last = run(command => ['sh', '-c', $command], cwd => $directory,
			env => {stage_env(), CACHEPEEK_OUTPUT => $json, CACHEPEEK_ENGINE => 'sim',
				CACHEPEEK_MACHINE => 'cachegrind'});
		is($last->{err}, '', "$name: $command: nothing to say");
		is(status_text($last->{status}), 'exit 0', "$name: $command");
	}
	my $alone = run(command => ["./" . $name =~ s/\..*//r], cwd => $directory);
	is(status_text($alone->{status}), 'exit 0', "$name: runs without the library");
	return ($last->{out}, decode_json(read_file($json) || '{}'), $alone->{out});
}

my %shows = (
	'regions.c' => sub {
		my ($out, $report, $alone) = @_;
		# 32,768 lines of 8 elements; in columns, each element is another line
		# of one set.
		my %misses = map { $_ => value(region($report, $_), 'l1d_misses') } qw(rows columns);
		cmp_ok(abs($misses{rows} - 32768), '<', 50, 'rows: a miss per line');
		cmp_ok(abs($misses{columns} - 262144), '<', 50, 'columns: a miss per element');
		is($out, $alone, 'same output');
	},
	'blur.c' => sub {
		my ($out, $report, $alone) = @_;
		# Three references a pixel (one less in the first rows); along the rows
		# two of the arrays have new lines, of 16 pixels, in columns each is one.
		my %misses = map { $_ => value(region($report, 'main', $_), 'l1d_misses') } qw(along_rows along_columns);
		my $pixels = 1024 * 1024;
		cmp_ok(abs($misses{along_rows} - 2 * $pixels / 16), '<', 500, 'along rows: a miss per line');
		cmp_ok(abs($misses{along_columns} - (3 * $pixels - 17 * 1024)), '<', 500, 'along columns: a miss per reference');
		is($out, $alone, 'same output');
	},
	'read.c' => sub {
		my ($out, $report, $alone) = @_;
		my ($misses) = $out =~ /^l1d_misses: (\d+)$/;
		cmp_ok($misses || 0, '>=', 1000, 'a miss per line');
		cmp_ok($misses || 0, '<', 1100, 'and hardly more');
		is($alone, "l1d_misses: the library is not preloaded\n", 'and it knows why not');
	},
	'threads.cc' => sub {
		my ($out, $report, $alone) = @_;
		my $work = region($report, 'work');
		is($work->{calls}, 4, 'four threads did the work');
		is($work->{threads}, 4, 'each of them once');
		is($out, $alone, 'same output');
	},
);
opendir(my $directory, $examples) or BAIL_OUT("$examples: $!");
my @names = sort grep { /\.(c|cc)$/ } readdir($directory);
is_deeply(\@names, [sort keys %shows], 'every example is tried');
$shows{$_}->(example($_)) for @names;
done_testing();

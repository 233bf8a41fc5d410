#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The one-way flow of the counts, seen in what each room includes:
#   hooks -> threads -> engine -> regions -> record -> report -> writers
# A folder is a room of its own: preload/engine/ is not preload/.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Find;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Test::More;

# Room -> the rooms and headers that it may include besides itself.
my @report = qw(output/group.h output/other_names.h output/preset.h output/weights.h output/job_pack.h output/jobs.h output/report.h output/sink.h);
my @simulator = qw(tools/sim/request.h);
my %may = (
	'base' => [],
	'regions' => [qw(base)],
	'output' => [qw(base regions/jobdir.h regions/record.h regions/record_read.h)],
	'preload/engine/arch' => [],
	'preload/engine' => [qw(base preload/engine/arch), @simulator],
	'preload/encoder' => [qw(base)],
	'preload/counters' => [qw(base preload/encoder preload/engine preload/engine/arch regions), @report, @simulator],
	'preload' => [qw(base preload/counters preload/engine regions), @report, @simulator],
	'preload/markers' => [qw(base preload preload/counters preload/engine preload/sampling regions), @simulator],
	'preload/parallel' => [qw(base preload preload/counters preload/markers regions), @report, @simulator],
	'preload/heap' => [qw(base)],
	'preload/perfstubs' => [],
	'preload/sampling' => [qw(base preload preload/counters preload/engine preload/heap regions)],
);

# Who starts, asks and ends the other rooms, and what they include for that.
my %starts = map { $_ => 1 } map { "preload/$_" } qw(calibrate.c choose.c life.c report.c run.c runtime.c runtime.h
	seccomp.c simulated.c threads.c);
# And who asks where the library is.
my %asks = ('preload/counters/encode.c' => 'preload/reexec.h');
my @parts = qw(preload/markers preload/parallel preload/sampling);

my @files;
find({no_chdir => 1, wanted => sub {
	push(@files, $_ =~ s{^\Q@{[source()]}\E/}{}r) if /\.[ch]$/;
}}, map { source() . "/$_" } qw(base preload regions output));

my %seen;
for my $file (sort @files) {
	my $room = dirname($file);
	my %allowed = map { $_ => 1 } @{$may{$room} || []}, $starts{$file} ? @parts : ();
	my @bad;
	for my $include (read_file(source() . "/$file") =~ /^\s*#\s*include\s+"([^"]+\/[^"]+)"/mg) {
		my $of = dirname($include);
		push(@bad, $include) unless $of eq $room || $allowed{$of} || $allowed{$include} || $include eq ($asks{$file} // '');
	}
	is_deeply(\@bad, [], "$file includes only what comes before it");
	$seen{$room}++;
}
is_deeply([sort keys %seen], [sort keys %may], 'every room was looked at');

# Who names a file means one that is there.
my @readers;
find({no_chdir => 1, wanted => sub {
	push(@readers, $_ =~ s{^\Q@{[source()]}\E/}{}r) if /\.(?:[ch]|t|pm|mk|md|sh)$/;
}}, map { source() . "/$_" } qw(base preload regions output tools tests doc));
my @gone;
for my $file ('Makefile', 'CONTRIBUTING.md', sort @readers) {
	my %named = map { $_ => 1 } read_file(source() . "/$file") =~ /\b((?:base|preload|regions|output|tools)\/[\w\/]+\.[ch])\b/g;
	push(@gone, map { "$file: $_" } grep { !-e source() . "/$_" } sort keys %named);
}
is_deeply(\@gone, [], 'each file that is named is there');
cmp_ok($seen{$_}, '<=', $_ =~ /^output|^base|^preload$/ ? 90 : 40, "$_: a room that one can look over") for sort keys %seen;
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The one-way flow of the counts, seen in what the parts include:
#   hooks -> threads -> engine -> regions -> record -> report -> writers
use strict;
use warnings;
use File::Find;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Test::More;

# Part -> what it may include besides itself.
my %may = (
	'base/' => [],
	'preload/engine/' => [qw(base/ tools/sim/request.h)],
	'preload/' => [qw(base/ preload/engine/ regions/ output/group.h output/preset.h
		output/weights.h output/job_pack.h output/jobs.h output/report.h output/sink.h tools/sim/request.h)],
	'regions/' => [qw(base/)],
	'output/' => [qw(base/ regions/jobdir.h regions/record.h regions/record_read.h)],
);

my @files;
find({no_chdir => 1, wanted => sub {
	push(@files, $_ =~ s{^\Q@{[source()]}\E/}{}r) if /\.[ch]$/;
}}, map { source() . "/$_" } qw(base preload regions output));

my %seen;
for my $file (sort @files) {
	my ($part) = grep { index($file, $_) == 0 } sort { length($b) <=> length($a) } keys %may;
	my @bad;
	for my $include (read_file(source() . "/$file") =~ /^\s*#\s*include\s+"([^"]+)"/mg) {
		# The most specific part decides: preload/engine/ is not preload/.
		my ($of) = grep { index($include, $_) == 0 } sort { length($b) <=> length($a) } keys %may;
		next if defined $of && $of eq $part;
		push(@bad, $include) unless grep { index($include, $_) == 0 && (/\.h$/ || $of eq $_) } @{$may{$part}};
	}
	is_deeply(\@bad, [], "$file includes only what comes before it");
	$seen{$part}++;
}
is_deeply([sort keys %seen], [sort keys %may], 'every part was looked at');
done_testing();

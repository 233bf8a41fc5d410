#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# `cachepeek merge` of records in pairs: what the ranks of a job count need not be the same, and one of
# them may be damaged.  Each pair has a report in each format, or one line.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $seeds = source() . '/tests/fuzz/seeds/record';
opendir(my $directory, $seeds) or die "$seeds: $!";
my @names = sort grep { !/^\./ } readdir($directory);
closedir($directory);
for my $name (@names) {
	write_file(scratch("$name.rec"), read_file("$seeds/$name"));
}
for my $first (@names) {
	for my $second (@names) {
		my @records = map { scratch("$_.rec") } $first, $second;
		my $json = run(command => [cli(), 'merge', '--json', @records]);
		like(status_text($json->{status}), qr/^exit [01]$/, "$first and $second: JSON");
		ok(eval { decode_json($json->{out}); 1 }, "$first and $second: which can be read")
			if status_text($json->{status}) eq 'exit 0';
		my $text = run(command => [cli(), 'merge', @records]);
		is(status_text($text->{status}), status_text($json->{status}), "$first and $second: text");
	}
}
done_testing();

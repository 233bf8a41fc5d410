#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Variables of a program whose symbols are in a file apart, found by its debug link, with a build
# ID and without: then the link's checksum says whether the file is the program's.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

need_perf();

my $source = write_file(scratch('walk.c'), <<'C');
static volatile char table[4096 * 64] __attribute__((aligned(4096)));
int main(void)
{
	for (int i = 0; i < 4096 * 64; i += 64)
		table[i] = 1;
	return 0;
}
C

# The program and its debug file, which is in PLACE, beside the program.
sub built
{
	my ($name, $place, @flags) = @_;
	my ($directory, $exe) = (scratch($name), scratch("$name/walk"));
	mkdir($directory);
	mkdir("$directory/$place");
	is(system('gcc', '-O1', '-g', @flags, '-o', $exe, $source) + system('objcopy', '--only-keep-debug', $exe, "$directory/$place/walk.debug") +
		system('strip', $exe) + system('objcopy', "--add-gnu-debuglink=$directory/$place/walk.debug", $exe), 0, "$name: built");
	return $exe;
}

sub misses
{
	my ($exe, $measurement, $engine, $count) = @_;
	my $json = scratch('report.json');
	run(command => [cli(), $measurement, '--engine', $engine, '-o', $json, $exe]);
	my ($table) = grep { $_->{name} =~ /^walk::table\b/ } @{decode_json(read_file($json) // '{}')->{data} || []};
	unlink($json);
	return $table ? $table->{counts}{$count} : 'none';
}

for my $place ('.', '.debug') {
	for (['build ID'], ['no build ID', '-Wl,--build-id=none']) {
		my ($what, @flags) = @$_;
		my $exe = built("$what $place" =~ s/\W/-/gr, $place, @flags);
		is(misses($exe, 'dcache', 'sim', 'l1d_store_misses'), 4096, "$what, in $place: simulated");
		is(misses($exe, 'dtlb', 'perf', 'page_faults_sampled'), 64, "$what, in $place: sampled");
	}
}
my $exe = built('damaged', '.', '-Wl,--build-id=none');
open(my $file, '>>', scratch('damaged/walk.debug')) or die;
print $file 'x';
close($file);
is(misses($exe, 'dcache', 'sim', 'l1d_store_misses'), 'none', 'a file with another checksum is not the program\'s');
done_testing();

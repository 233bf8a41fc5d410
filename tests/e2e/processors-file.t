#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The files of processors lie beside the library, as one (preload/data.c): where that is
# missing or cut short, one line says so, the program runs, and what needs none of them is
# counted.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $line = qr/^cachepeek: events and machines of processors are unknown: the file libcachepeek\/data is not installed beside the library: `make install`$/m;
my $whole = read_file(build() . '/libcachepeek/data');
my %cut = (missing => undef, empty => '', 'cut short' => substr($whole, 0, 5000), 'one NUL' => "a\0",
	'a name alone' => "zen4.machine\0\0", 'whole' => $whole);
my $home = scratch('installed');
mkdir($home) or die;
mkdir("$home/libcachepeek") or die;
symlink(build() . "/$_", "$home/$_") or die for map { "libcachepeek/$_" } grep { $_ ne 'data' }
	map { s{.*/}{}r } glob(build() . '/libcachepeek/*');
link(lib(), "$home/libcachepeek.so") or system('cp', lib(), "$home/libcachepeek.so") == 0 or die;

sub counted
{
	my ($how, %settings) = @_;
	unlink("$home/libcachepeek/data");
	write_file("$home/libcachepeek/data", $cut{$how}) if defined $cut{$how};
	return peek(preload => "$home/libcachepeek.so", command => ["/bin/true"], %settings);
}

is(scalar(() = $whole =~ /\0/g) % 2, 1, 'the file: names and texts, and an empty name');
for my $how (sort keys %cut) {
	SKIP: {
		skip(why_not('perf'), 3) if why_not('perf');
		my $run = counted($how, engine => 'perf', events => 'page-faults');
		is(status_text($run->{status}), 'exit 0', "perf, $how: the program's own status");
		my $said = grep { /$line/ } @{$run->{notes}};
		is($said, 0, "perf, $how: nothing to say of what needs no such file");
		cmp_ok(value(region($run->{report}), 'page-faults') // 0, '>', 0, "perf, $how: what needs no such file is counted");
	}
	SKIP: {
		skip(why_not('sim'), 3) if why_not('sim');
		my $run = counted($how, engine => 'sim', machine => 'zen4', events => 'instructions');
		is(status_text($run->{status}), 'exit 0', "sim, $how: the program's own status");
		my $said = grep { /$line/ } @{$run->{notes}};
		is($said, $how eq 'whole' ? 0 : 1, "sim, $how: it is said once, or never");
		is(scalar(grep { /unknown machine zen4/ } @{$run->{notes}}), $how eq 'whole' ? 0 : 1, "sim, $how: that machine is unknown");
	}
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Every part of the library that has state stands in the table of preload/parts.c, with
# what a fork child does with it: the table against what the debugging information says
# is in the library's memory.  The steps of the table are called through it alone.
use strict;
use warnings;
use File::Find;
use FindBin;
use lib "$FindBin::Bin/../e2e", $FindBin::Bin;
use Objects;
use Peek;
use Test::More;

# ---- the table ----

my $table = read_file(source() . '/preload/parts.c');
my ($rows) = $table =~ /cp_life cp_parts\[\] = \{\n(.*?)\n\};/s;
$rows =~ s{/\*.*?\*/}{}gs;
my (%row_of, @rows, %step);
for my $row ($rows =~ /\{(\s*\.name.*?)\}/gs) {
	my %row = (functions => []);
	($row{name}) = $row =~ /\.name = "([^"]+)"/;
	($row{files}) = map { s/"\s*"//gr } $row =~ /\.files = "((?:[^"]|"\s*")+)"/;
	($row{kept}) = $row =~ /\.kept = "/ ? 1 : 0;
	while ($row =~ /\.(\w+) = ([a-z]\w+)/g) {
		push(@{$row{functions}}, $2);
		$step{$1}++;
		$row{$1} = $2;
	}
	push(@rows, \%row);
	push(@{$row_of{$_}}, \%row) for split(' ', $row{files} // '');
}
cmp_ok(scalar(@rows), '>=', 20, 'the table can be read');
my ($struct) = read_file(source() . '/preload/life.h') =~ /struct cp_life \{(.*?)\n\};/s;
is_deeply([sort keys %step], [sort $struct =~ /\(\*(\w+)\)\(void\);/g], 'each step is taken by a part');
is_deeply([map { $_->{name} } grep { !$_->{files} && !@{$_->{functions}} } @rows], [], 'each row is there for something');
is_deeply([map { $_->{name} } grep { $_->{files} && !$_->{kept} && !$_->{after_fork} } @rows], [],
	'each row with state says what becomes of it in a fork child');

# ---- what has state ----

# Types that are on a list of their own, and those that are found once.
my %listed = map { $_ => 1 } qw(cp_lock cp_once cp_helper cp_pool cp_forward);

my $objects = Objects->new(lib());
my $state = $objects->state(sections(qw(.data .bss)), sub { !$listed{$_[0]} });
my @units = sort keys %$state;
cmp_ok(scalar(@units), '>=', 40, 'the debugging information has the library\'s variables');
sub variables { my ($unit) = @_; return "$unit: @{$state->{$unit}}" }
is_deeply([map { variables($_) } grep { !$row_of{$_} } @units], [], 'each file with variables stands in the table');
is_deeply([map { variables($_) } grep { @{$row_of{$_} || []} > 1 } @units], [], '... once');
my %units = map { $_ => 1 } @units;
is_deeply([grep { !$units{$_} } sort keys %row_of], [], 'and the files of the table have variables');

sub sections {
	my %wanted = map { $_ => 1 } @_;
	return [map { /\]\s+(\S+)\s+(?:PROGBITS|NOBITS)\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)/ && $wanted{$1} ? [hex($2), hex($2) + hex($3)] : () }
		`readelf -SW '@{[lib()]}'`];
}

# ---- nobody else calls the steps ----

my %source;
find({no_chdir => 1, wanted => sub { $source{s{^\Q@{[source()]}\E/}{}r} = read_file($_) if /\.c$/ }},
	map { source() . "/$_" } qw(base preload regions));

# Also where something else asks for the same.
my %also = (
	'preload/program/seccomp.c' => 'cp_fatal_start', # the filter was not taken
	'preload/calibrate.c' => 'cp_calibrate_describe', # it is known from here on
);
my %steps = map { $_ => 1 } map { grep { /^cp_/ } @{$_->{functions}} } @rows;
$steps{$_} = 1 for $table =~ /^\t(?:return )?(cp_\w+)\(\);$/mg;
delete($steps{$_}) for qw(cp_threads_adopt cp_threads_flush); # markers flush
my @called;
for my $file (sort keys %source) {
	next if $file eq 'preload/parts.c';
	for my $call ($source{$file} =~ /^\t+(?:\w[^\n;]*\W)?(cp_\w+)\(/mg) {
		push(@called, "$file: $call") if $steps{$call} && ($also{$file} // '') ne $call;
	}
}
is_deeply(\@called, [], 'the steps are called through the table');
done_testing();

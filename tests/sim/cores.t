#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Threads on a machine's finite cores: what 64 of them cost on a large machine,
# and that the cores' caches outlive them.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Sim;
use Test::More;

# sapphire-rapids
my @machine = ('--l1i=64,8,64', '--l1d=64,12,64', '--l2=2048,16,64', '--llc=114688,15,64,exclusive',
	'--itlb=32,8', '--dtlb=16,6', '--stlb=128,16', '--cores=56');

sub threads {
	my ($n, @options) = @_;
	my @serial = grep { $_ eq 'serial' } @options;
	my ($status, $out, $log) = sim_run('--report=yes', grep({ $_ ne 'serial' } @options),
		"$BUILD/sim/threads", $n, @serial);
	my %count = $log =~ /process \d+ (\w+) (\d+)/g;
	my ($state) = $log =~ /simulated state: (\d+) bytes/;

	is($status, 0, "$n threads");
	return ($state, \%count);
}

my ($one) = threads(1, @machine);
my ($many, $count) = threads(64, @machine);

cmp_ok($many, '<', 64 << 20, '64 threads on 56 cores: less than 64 MB');
cmp_ok($many, '>', 8 * $one / 4, 'and more than one thread takes');
cmp_ok((threads(100, @machine))[0], '==', $many, 'more threads need no more cores');

# The main thread has one of the 56.
my ($full, $one_free) = map { (threads($_, @machine))[0] } 55, 54;
is($full, $many, '56 threads use all cores');
cmp_ok($one_free, '<', $full, 'one less leaves one free');
is((threads(20, @machine, 'serial'))[0], $one, 'one after the other, all use the same core');

# All on one core: no line is anybody else's.  On four, they are.
my (undef, $alone) = threads(8, '--cores=1');
my (undef, $four) = threads(8, '--cores=4');

is($alone->{hitm} + $alone->{invalidations}, 0, 'one core: nothing is taken from another');
cmp_ok($four->{hitm}, '>', 0, 'four cores: lines go from one to another');
cmp_ok($four->{invalidations}, '>', 0, 'and are lost to a store elsewhere');
cmp_ok($alone->{l1d_load_misses}, '<', $four->{l1d_load_misses},
	'on one core the caches are warm for the next thread');

# Two complexes of two cores, each with a last level of its own.
my (undef, $complex) = threads(8, '--cores=4', '--llc=8192,16,64,shared:2');
my (undef, $one_llc) = threads(8, '--cores=4', '--llc=8192,16,64,shared:4');

is($one_llc->{llc_load_misses}, $four->{llc_load_misses}, 'shared by all of four cores is one last level');
cmp_ok($complex->{llc_ifetch_misses}, '>', $four->{llc_ifetch_misses}, 'each of two fetches the code');
cmp_ok($complex->{llc_fills}, '>', $four->{llc_fills}, 'and both are filled');

# ---- several machines in one run count as each does alone ----

# The counts of each machine of one run, in their order.
sub counts_of_all
{
	my @machines = @_;
	my @options = map { ('--next-machine', @$_) } @machines;
	my ($status, $out, $log) = sim_run('--report=yes', @options[1 .. $#options],
		"$BUILD/sim/threads", 4);

	is($status, 0, 'four threads on ' . @machines . ' machines');
	return map { my $who = $_ ? "machine $_" : 'process \d+'; +{$log =~ /$who (\w+) (\d+)/g} }
		0 .. $#machines;
}

# Trees of two ways are LRU, on machines of the general model.
for my $case ([1, 1], [3, 3], [1, 2], [2, 1], [3, 4]) {
	my ($cores, $others_cores) = @$case;
	my @private = ('--l1d=64,2,64', '--l2=64,4,64');
	my @first = (@private, "--cores=$cores", '--dtlb=1,24', '--itlb=1,24', '--llc=1024,8,64', '--stlb=32,4');
	my @other = (@private, "--cores=$others_cores", '--dtlb=1,32', '--itlb=1,32', '--llc=64,2,64', '--stlb=16,2');
	my @count = counts_of_all(\@first, \@other, map { [@$_, '--l1d=64,2,64,plru'] } \@first, \@other);

	is_deeply($count[0], $count[2], "$cores and $others_cores cores: the first counts as one with trees");
	is_deeply($count[1], $count[3], "$cores and $others_cores cores: so does the second");
	cmp_ok($count[0]{$_}, '!=', $count[1]{$_}, "$cores and $others_cores cores: they differ in $_")
		for qw(llc_fills dtlb_load_misses);
}

done_testing;

#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# The simulated PMU on a host without AVX-512: an emulator of one (qemu-user), whatever this
# machine has.  Programs end and compute as on that host alone.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Sim;
use Test::More;

my ($qemu) = grep { -x } map { "$_/qemu-x86_64" } split(/:/, $ENV{PATH});
plan(skip_all => 'x86-64 only, and with libzydis-dev') if !-x "$BUILD/sim/native_state";
plan(skip_all => 'no qemu-x86_64 (qemu-user)') if !$qemu;

my @cpu = ($qemu, '-cpu', 'Haswell');

sub on_host
{
	my @command = @_;
	my $pid = open(my $pipe, '-|') // die;
	if ($pid == 0) {
		open(STDERR, '>', '/dev/null');
		exec(@command);
		exit(127);
	}
	local $/;
	my $out = <$pipe> // '';
	close($pipe);
	return ($? & 127 ? 128 + ($? & 127) : $? >> 8, $out);
}

sub simulated
{
	local $ENV{VALGRIND_LIB} = "$BUILD/libcachepeek";
	local $ENV{VALGRIND_LAUNCHER} = 'x';
	return on_host(@cpu, "$BUILD/libcachepeek/cachepeek-amd64-linux", '--tool=cachepeek', '-q', '--vgdb=no', @_);
}

my ($alone) = on_host(@cpu, "$BUILD/sim/native_flags");
plan(skip_all => 'the emulator does not run programs of this machine') if $alone != 0;

for my $program (['state', 132], ['flags', 0], ['rounding', 0]) {
	my ($name, $ends) = @$program;
	my @natively = on_host(@cpu, "$BUILD/sim/native_$name");
	my @simulated = simulated("$BUILD/sim/native_$name");

	is($natively[0], $ends, "$name ends alone as on a host without AVX-512");
	is($simulated[0], $natively[0], "$name: ends the same, simulated");
	is($simulated[1], $natively[1], "$name: prints the same");
}

my $lacks = "SIGILL at its instruction\nAVX-512 is not shown\n";
is((on_host(@cpu, "$BUILD/sim/native_lacking"))[1], $lacks, 'alone, a program gets SIGILL at the instruction');
is((simulated(@$_, "$BUILD/sim/native_lacking"))[1], $lacks, join(' ', 'simulated, too', @$_)) for [], ['--cpu=host'];

# ---- built for a host that has it ----

my $reporter = "$SCRATCH/illegal.o";
my $sources = "$Sim::ROOT/tests/sim/native";
is(system("gcc -O1 -c -o $reporter $sources/illegal.c"), 0, 'what says where SIGILL came is built');
for my $build (map { "$_ -O3 -w -ffast-math -march=skylake-avx512 -mprefer-vector-width=512" } qw(gcc clang)) {
	my $program = "$SCRATCH/kernels";
  SKIP: {
		skip("it does not build: $build", 3) if system("$build -o $program $sources/kernels.c $reporter -lm 2>/dev/null") != 0;
		my @alone = on_host(@cpu, $program);

		like($alone[1], qr/^signal 4 at main\+\d+, code 2, its address: 62 /, "$build: ends in AVX-512 alone");
		is_deeply([simulated($program)], \@alone, 'and at the same place simulated');
		skip('this machine has AVX-512', 1) if `$program` !~ /^signal 4/;
		is((sim_run($program))[1], `$program`, 'on this machine, too');
	}
}

done_testing;

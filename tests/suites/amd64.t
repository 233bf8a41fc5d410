#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Instructions that this machine may lack (AVX-512 and its later parts, SHA, GFNI, VAES),
# in an emulator that executes them: what programs compute natively there is compared, bit
# for bit, with what they compute under the simulated PMU there.
#
#	VM_NATIVE_SEEDS=N	N runs of the fuzzer instead of one, each of a sixteenth of the
#				encodings in 100 states
#	VM_NATIVE_SECONDS=N	until the emulator is stopped (600)
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../vm";
use Vm;
use File::Temp qw(tempdir);
use Test::More;

my $dir = need_vm('amd64');
my $scratch = tempdir('vm-XXXXXX', TMPDIR => 1, CLEANUP => 1);

# Boots that model, and does what the lines of init.c's say.
sub compare_all
{
	my ($model, @lines) = @_;
	my $file = "$scratch/tests";
	my $seconds = $ENV{VM_NATIVE_SECONDS} // 600;

	open(my $tests, '>', $file) or die "$file: $!";
	print $tests map { "$_\n" } 'let PLACES /bin/native_state places', @lines;
	close($tests) or die "$file: $!";
	my $console = `sh $FindBin::Bin/../vm/boot-amd64.sh '$dir' $model $file $seconds`;
	ok($console =~ /^\@off$/m && $console !~ /^\@error/m, "$model: booted, compared everything, and switched itself off") or
		diag(substr($console, -3000));
	my %compared = (console => $console);
	while ($console =~ /^(.*?)^\@compared (\S+) alone (\d+) simulated (\d+) lines (\d+) differ (\d+)$/smg) {
		$compared{$2} = {out => $1, alone => $3, simulated => $4, lines => $5, differ => $6};
	}
	return \%compared;
}

sub is_same
{
	my ($what, $compared, $ends, $least) = @_;

	is($compared->{simulated} // 'none', $compared->{alone} // 'nothing', "$what: ends as natively");
	is($compared->{alone}, $ends, "$what: with $ends");
	is($compared->{differ}, 0, "$what: " . ($compared->{lines} // 'no') . ' lines are the same') or diag($compared->{out});
	cmp_ok($compared->{lines} // 0, '>=', $least, "$what: not fewer than $least");
}

# How many states of that feature the fuzzer has executed.
sub executed
{
	my ($compared, $feature) = @_;

	return $compared->{out} =~ /^of $feature: (\d+) executed/m ? $1 : 0;
}

# Debian 12's kernel does not start on the emulator's models that have more, Ice Lake and
# Tiger Lake.
my %features = (
	corei7_skylake_x => [qw(AVX512F AVX512BW AVX512DQ AVX512CD FMA AVX2)],
);
my $seeds = $ENV{VM_NATIVE_SEEDS};
for my $model (sort keys %features) {
	my @built = map { ("kernels.$_.skylake-avx512", "generated.$_.skylake-avx512") } qw(gcc clang);
	my @fuzz = map { "compare fuzz$_ /bin/native_fuzz $_ 16 all " . ($seeds ? 100 : 3) } 1 .. $seeds // 1;
	my $all = compare_all($model, 'compare state /bin/native_state', 'compare flags /bin/native_flags',
		'compare rounding /bin/native_rounding', (map { "compare $_ /bin/$_" } @built),
		'run level CACHEPEEK_ENGINE=sim /bin/level', @fuzz);

	is_same("$model, state", $all->{state}, 0, 15);
	is_same("$model, flags", $all->{flags}, 0, 20);
	is_same("$model, rounding", $all->{rounding}, 0, 4);
	is_same("$model, $_", $all->{$_}, 0, /^kernels/ ? 250 : 100) for @built;
	is($all->{console} =~ /^\@end level (\d+)$/m ? $1 : 'not at all', 0, "$model: a program that says it needs AVX-512 starts");
	like($all->{console}, qr/^\@report level\n.*"instructions"/m, 'and is counted');
	for my $seed (1 .. $seeds // 1) {
		is_same("$model, instructions, seed $seed", $all->{"fuzz$seed"}, 0, 1000);
	}
	for my $feature (@{$features{$model}}) {
		my $n = 0;
		$n += executed($all->{"fuzz$_"}, $feature) for 1 .. $seeds // 1;
		cmp_ok($n, '>', 0, "$model: $n states of $feature were executed");
	}
}

done_testing;

#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Instructions that this machine may lack (AVX-512 and its later parts, SHA, GFNI, VAES),
# in an emulator that executes them: what programs compute natively there is compared, bit
# for bit, with what they compute under the simulated PMU there; and references are counted.
#
#	VM_NATIVE_SEEDS=N	N runs of the fuzzer instead of one, each of an eighth of the
#				encodings of AVX-512 in 50 states instead of 5
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
my $seeds = $ENV{VM_NATIVE_SEEDS} || 0;
my $model = 'tigerlake';

# Boots that model, and does what the lines of init.c's say.
sub console_of
{
	my @lines = @_;
	my $file = "$scratch/tests";
	my $seconds = $ENV{VM_NATIVE_SECONDS} // 600;

	open(my $tests, '>', $file) or die "$file: $!";
	print $tests map { "$_\n" } 'let PLACES /bin/native_state places', @lines;
	close($tests) or die "$file: $!";
	return scalar(`sh $FindBin::Bin/../vm/boot-amd64.sh '$dir' $model $file $seconds`);
}

# {NAME => {out, alone, simulated, lines, differ}}
sub compared_in
{
	my ($console) = @_;
	my %compared;

	while ($console =~ /^((?:(?!\@).*\n)*)\@compared (\S+) alone (\d+) simulated (\d+) lines (\d+) differ (\d+)$/mg) {
		$compared{$2} = {out => $1, alone => $3, simulated => $4, lines => $5, differ => $6};
	}
	return \%compared;
}

sub is_same
{
	my ($what, $compared, $least) = @_;

	is($compared->{simulated} // 'none', $compared->{alone} // 'nothing', "$what: ends as natively");
	is($compared->{differ}, 0, "$what: " . ($compared->{lines} // 'no') . ' lines are the same') or diag($compared->{out});
	cmp_ok($compared->{lines} // 0, '>=', $least, "$what: not fewer than $least");
}

sub is_same_to_the_end
{
	my ($what, $compared, $least) = @_;

	is_same($what, $compared, $least);
	is($compared->{alone}, 0, "$what: with 0");
}

# How many states of that feature the fuzzer has executed.
sub executed
{
	my ($compared, $feature) = @_;

	return ($compared->{out} // '') =~ /^of $feature: (\d+) executed/m ? $1 : 0;
}

sub read_text
{
	my ($path) = @_;

	open(my $file, '<', $path) or die "$path: $!";
	local $/;
	return scalar(<$file>);
}

my @loops = map { my $name = $_; map { "$name.$_.skylake-avx512" } qw(gcc clang) } qw(kernels generated24 generated25 generated26);
my %chosen = (sealed => '', dgemm => '', json => ' /bin/document.json');
my @there = grep { -e "$dir/root/bin/$_" } sort keys %chosen;
my @seeds = 1 .. ($seeds || 1);
my $console = console_of(
	'compare state /bin/native_state', 'compare flags /bin/native_flags', 'compare rounding /bin/native_rounding',
	'print counts --l1i=64,8,64 --l1d=64,8,64 /bin/native_counts',
	'run level CACHEPEEK_ENGINE=sim CACHEPEEK_EVENTS=instructions /bin/level',
	'print lacking /bin/native_lacking', 'print shown --cpu=host /bin/native_lacking',
	(map { "compare $_ /bin/$_" } @loops),
	(map { "compare $_ --cpu=host /bin/$_$chosen{$_}" } @there),
	(map { "compare fuzz$_ /bin/native_fuzz $_ 8 wide " . ($seeds ? 50 : 5) } @seeds));
my $all = compared_in($console);

ok($console =~ /^\@off$/m && $console !~ /^\@error/m, "$model: booted, compared everything, and switched itself off") or
	diag(substr($console, -3000));
is_same_to_the_end('state', $all->{state}, 15);
is_same_to_the_end('flags', $all->{flags}, 20);
is_same_to_the_end('rounding', $all->{rounding}, 4);

# ---- references ----

my ($counts, $ended) = $console =~ /^\@begin counts\n(.*?)^\@printed counts (\d+)$/ms;
is($ended, 0, 'references: the program ends');
is($counts, read_text("$FindBin::Bin/../sim/native/counts.txt"), 'each makes the references that it should, to the lines of its operand');

# ---- what programs are shown ----

is($console =~ /^\@end level (\d+)$/m ? $1 : 'not at all', 0, 'a program that says it needs AVX-512 starts');
my ($report) = $console =~ /^\@report level\n(.*?)^\@end level/ms;
like($report // '', qr/"instructions": \{"value": \d{4}/, 'and is counted');
like($report // '', qr/"limits": "[^"]*marked x86-64-v4/, 'and the report says what it was shown');
like($console, qr/^executed\n\@printed lacking 0$/m, 'a program that does not ask has its instructions executed');

# ---- programs of loops, and the distribution's ----

my $lines = 0;
for my $name (@loops) {
	# Natively, too, the emulator refuses gathers by zmm16 to zmm31, of which clang makes some.
	$name =~ /generated.*clang/ ? is_same($name, $all->{$name}, 1) :
		is_same_to_the_end($name, $all->{$name}, $name =~ /^kernels/ ? 250 : 70);
	$lines += $all->{$name}{lines} // 0 if $name =~ /generated/;
}
cmp_ok($lines, '>=', 200, "$lines generated loops");
is_same_to_the_end("$_, with what the processor has", $all->{$_}, $_ eq 'sealed' ? 8 : 1) for @there;

# ---- single instructions ----

my %executed;
for my $seed (@seeds) {
	is_same_to_the_end("instructions, seed $seed", $all->{"fuzz$seed"}, 500);
	$executed{$1} += $2 while ($all->{"fuzz$seed"}{out} // '') =~ /^of (\S+): (\d+) executed/mg;
}
my @features = map { "AVX512$_" } qw(F BW DQ CD IFMA VBMI VBMI2 VNNI BITALG VPOPCNTDQ);
cmp_ok($executed{$_} // 0, '>', 0, "$_: " . ($executed{$_} // 0) . ' states were executed') for @features;
my $states = 0;
$states += $_ for values %executed;
diag("$states states of instructions of AVX-512 were executed");

done_testing;

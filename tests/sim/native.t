#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Instructions that the host executes, because VEX does not decode them, or decodes them
# badly: AVX-512 and whatever else the table of encodings has.  What programs compute is
# compared, bit for bit, with what they compute natively; and references are counted.
#
# NATIVE_SEEDS=6 tries every encoding so many times, each with twenty random states.
use strict;
use warnings;
use File::Basename qw(basename);
use FindBin;
use lib $FindBin::Bin;
use Sim;
use Test::More;

plan(skip_all => 'x86-64 only, and with libzydis-dev') if !-x "$BUILD/sim/native_state";

sub natively
{
	my @command = @_;
	open(my $pipe, '-|', @command) or die;
	local $/;
	my $out = <$pipe> // '';
	close($pipe);
	return ($?, $out);
}

sub compare
{
	my ($what, @command) = @_;
	my @native = natively(@command);
	my @simulated = sim_run(@command);
	my @lines = split(/\n/, $native[1]);
	my @got = split(/\n/, $simulated[1]);
	my @differ = grep { ($lines[$_] // '') ne ($got[$_] // '') } 0 .. ($#lines > $#got ? $#lines : $#got);

	is($simulated[0], $native[0], "$what: ends as natively");
	is(scalar(@differ), 0, "$what: " . @lines . ' lines are the same');
	diag("natively: $lines[$_]\nsimulated: $got[$_]") for grep { defined } @differ[0 .. 4];
	return scalar(@lines);
}

# ---- MXCSR: SSE, which VEX decodes ----

{
	my $flags = "$BUILD/sim/native_flags";

	compare('flags, FTZ, DAZ, unmasked exceptions, alignment', $flags, 'aligned');
	# Where the core's dispatcher cannot be patched, what computes is executed natively.
	my ($status, $unpatched) = sim_run('--hosted-flush=no', $flags);
	is($unpatched, (natively($flags))[1], 'the same without the patch of the dispatcher');
	my (undef, $none) = sim_run('--native=no', $flags);
	isnt($none, (natively($flags))[1], 'VEX alone would raise no flag');
}

# ---- rounding: SSE and AVX, which VEX decodes ----

SKIP: {
	my $rounding = "$BUILD/sim/native_rounding";

	skip('this machine has no AVX', 3) if (natively($rounding))[0] != 0;
	compare('rounding modes', $rounding);
	my (undef, $nearest) = sim_run('--native=no', $rounding);
	isnt($nearest, (natively($rounding))[1], 'VEX alone would round otherwise');
}

# ---- what every processor has, and VEX does not decode ----

my $missing = "$BUILD/sim/native_missing";
# RDFSBASE and its like take a kernel that lets programs have them.
my @with = (natively($missing, 1, 200, 'bases'))[1] =~ /^f3480fae\S+ signal 4 /m ? () : ('bases');
for my $seed (1 .. ($ENV{NATIVE_SEEDS} ? 25 : 1)) {
	my $tried = compare("enter, cmps, ftst and others, seed $seed", $missing, $seed, 4000, @with);
	is($tried, 4000, "seed $seed: so many states");
}
my (undef, $without) = sim_run('--native=no', $missing, 1, 200);
like($without, qr/^66\S+ signal 4 /m, 'VEX alone would not execute them');

# ---- hints, which change nothing on processors that do not know them ----

cmp_ok(compare('hints', "$BUILD/sim/native_hints"), '>', 5000, 'hints: thousands of spellings');
like((sim_run('--native=no', "$BUILD/sim/native_hints"))[1], qr/^0f1837: signal 4$/m, 'VEX alone would not know prefetchit1');

# ---- a host that lacks it, and a tool that may not ----

# An instruction that CPUID does not tell of is tried, and the host ends it.
compare('an instruction that few processors have', "$BUILD/sim/native_lacking", 'rare');

my $state = "$BUILD/sim/native_state";
my ($native) = natively($state);
my ($status) = sim_run('--native=no', $state);
is($status & 127, 4, 'where nothing is executed natively, SIGILL is what comes');

# ---- state ----

if ($native == 0) {
	$ENV{PLACES} = (natively($state, 'places'))[1];
	compare('faults, signals, threads, fork, upper halves', $state);
} else {
	($status) = sim_run($state);
	is($status, $native, 'this machine has no AVX-512: the program ends as natively');
}

# ---- single instructions; those that the machine lacks end in SIGILL ----

my $seeds = $ENV{NATIVE_SEEDS};
my $has_avx = (natively("$BUILD/sim/native_rounding"))[0] == 0;
for my $seed ($has_avx ? 1 .. $seeds // 1 : ()) {
	my $tried = compare("instructions, seed $seed", "$BUILD/sim/native_fuzz", $seed, $seeds ? (1, 'all', 20) : (4, 'all'));
	cmp_ok($tried, '>', 1000, "seed $seed: more than a thousand");
}

# ---- what compilers make ----

my $sources = "$Sim::ROOT/tests/sim/native";
is(system("$^X $sources/generate.pl 24 60 > $SCRATCH/generated.c"), 0, 'programs are generated');
for my $name (qw(gcc clang)) {
	my @builds = (["$sources/kernels.c", '-ffast-math', 250], ["$SCRATCH/generated.c", '-fwrapv -fno-math-errno', 60]);
	for my $build (@builds) {
		my ($source, $more, $least) = @$build;
		my $program = "$SCRATCH/vectorised";
		my $what = "$name $more, " . basename($source);
	  SKIP: {
			my $error = `$name -O3 -w -march=native -mprefer-vector-width=512 $more -o $program $source -lm 2>&1`;
			skip("$name does not build it", 3) if $?;
			cmp_ok(compare($what, $program), '>=', $least, "$what: loops of many kinds");
		}
	}
}

# ---- references ----

if ($native != 0) {
	done_testing;
	exit;
}
my ($ended, $counted) = sim_run('--l1i=64,8,64', '--l1d=64,8,64', "$BUILD/sim/native_counts");
is($ended, 0, 'references: the program ends');
open(my $expected, '<', "$sources/counts.txt") or die;
is($counted, join('', <$expected>), 'each makes the references that it should, to the lines of its operand');

done_testing;

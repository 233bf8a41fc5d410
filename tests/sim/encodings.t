#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Instruction by instruction: each encoding of x86-64 that a decoder knows makes the
# references that the decoder's tables give it, and touches the lines of its operand.
# encodings.c says how.  What the core cannot emulate is skipped; what is counted
# otherwise stands in %otherwise, with its reason.
# ENCODINGS_TABLE=1 prints what table 3 of doc/validation.md sums up.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Sim;
use Test::More;

# Lines tell the size of an operand: of non-temporal stores, too, where they are ordinary ones.
our @machine = ('--cache-instructions=no', '--l1i=64,8,64', '--l1d=64,8,64', '--l2=1024,16,64', '--llc=8192,16,64',
	'--itlb=16,4', '--dtlb=64,4', '--stlb=1024,8');
my $program = "$BUILD/sim/encodings";
plan(skip_all => 'encodings of x86-64 only, and with libzydis-dev') if !-x $program;

# Mnemonics: what is counted instead, and why.
my @otherwise = (
	['fxsave, fxrstor, xsave, xrstor', qr/^(?:fx|x)(?:save|rstor)/,
		'as two or three references: the x87 part, MXCSR and the registers'],
	['clflush, clflushopt, clwb', qr/^cl(?:flush|wb)/, 'as none: lines stay where they are'],
	['enter with levels', qr/^enter$/, 'as the frame pointers that it loads and stores, too'],
);
my @sizes = (
	['bt, bts, btr, btc by a register', qr/^bt[src]?$/, 'of the byte that has the bit'],
	['punpckl of MMX registers', qr/^punpckl/, 'of 8 bytes, not 4'],
	['shifts by a number in memory', qr/^v?ps[rl][la][wdq]$/, 'of the 8 bytes that are used'],
	['movsxd to 16 bits', qr/^movsxd$/, 'of 2 bytes'],
	['scalar FMA4', qr/^vfn?m(?:add|sub)s[sd]$/, 'of 16 bytes'],
);

# Instructions that this processor executes, and the simulator does not.
my @unknown = (
	['fbld, fbstp: numbers of 18 digits, where the simulator has 53 bits', qr/^fb(?:ld|stp)$/],
	['fldenv, fnstenv, frstor, fnsave in the layout of 16 bits', qr/^f(?:ldenv|nstenv|rstor|nsave)$/],
	['xsavec', qr/^xsavec/],
	['ptwrite, to a trace of the processor', qr/^ptwrite$/],
	['bswap, pushf, popf, enter, leave, pop to memory of 16 bits', qr/^(?:bswap|pushf|popf|enter|leave|pop)$/],
	['mov to a segment register', qr/^mov$/],
	['ldtilecfg, sttilecfg, of matrices (AMX), which programs are not told of', qr/^(?:ld|st)tilecfg$/],
);

# Masked moves of eight lanes, by the lanes that are on: the references, and the lines
# where the 32 bytes end with theirs, and a byte later.
my @masked;
for my $move (['c4e27d2c07 vmaskmovps', 1, 0], ['c4e27d2e07 vmaskmovps', 0, 1],
	['c4e27d8c07 vpmaskmovd', 1, 0], ['c4e27d8e07 vpmaskmovd', 0, 1]) {
	push(@masked, ["$move->[0] @$move[1, 2] 32 $_->[0]", $_->[1] ? "$move->[0] @$move[1, 2] $_->[2]" : "$move->[0] 0 0 0 0"])
		for ['00', 0], ['06', 1, '1 1'], ['80', 1, '1 2'], ['81', 1, '1 2'], ['7f', 1, '1 1'];
}

sub reason
{
	my ($table, $mnemonic) = @_;
	return (grep { $mnemonic =~ $_->[1] } @$table)[0];
}

sub run_list
{
	open(my $list, '>', "$SCRATCH/list") or die;
	print($list "$_\n") for @_;
	close($list);
	open(STDIN, '<', "$SCRATCH/list") or die;
	my ($status, $out) = sim_run(@machine, $program, 'run');
	return split(/\n/, $out);
}

my @list = split(/\n/, `$program list`);
# The kernel switches a faulty RDSEED off, which goes on executing.
my $flags = do { open(my $info, '<', '/proc/cpuinfo') or die; local $/; <$info> };
@list = grep { !/ rdseed / } @list unless $flags =~ /\brdseed\b/;
cmp_ok(scalar(@list), '>', 3000, 'the decoder lists thousands of encodings');
push(@list, map { $_->[0] } @masked);

# The core's own assertions end the run at some encodings: it goes on behind each.
my @got;
while (@got < @list) {
	my @more = run_list(@list[@got .. $#list]);
	BAIL_OUT('the program does not run') if !@more && @got > 1 && $got[-1] eq 'asserts' && $got[-2] eq 'asserts';
	push(@got, @more);
	push(@got, 'asserts') if @got < @list;
}

my @masked_got = splice(@got, @got - @masked);
splice(@list, @list - @masked);
SKIP: {
	skip('no masked moves here', 1) if grep { /signal/ } @masked_got;
	is(join("\n", @masked_got), join("\n", map { $_->[1] } @masked),
		'masked moves are one reference, from the first lane that is on to the last');
}

# Natively those that are not executed: each of the others has its references to be compared.
my @left = grep { $got[$_] =~ /^(?:asserts|\S+ \S+ signal )/ } 0 .. $#list;
open(my $left, '>', "$SCRATCH/left") or die;
print($left "$list[$_]\n") for @left;
close($left);
my %natively;
@natively{@left} = split(/\n/, `$program run < $SCRATCH/left`);
my %seen = map { $_ => 0 } qw(same signal asserts otherwise);
my (@references, @extents, @refused);
for my $i (0 .. $#list) {
	my ($bytes, $mnemonic, $loads, $stores, $size) = split(/ /, $list[$i]);
	my ($as, undef, @is) = split(/ /, $got[$i]);
	if ($as eq 'asserts' || $is[0] eq 'signal') {
		$seen{$as eq 'asserts' ? 'asserts' : 'signal'}++;
		push(@refused, $list[$i]) if ($natively{$i} // '') !~ /signal/;
		next;
	}
	my $differs = $as ne $bytes || $is[0] != $loads || $is[1] != $stores;
	# An operand that ends with its line lies in one, a byte later in two; zero are those
	# that must be aligned.
	my $lines = !$differs && $size > 1 && $size <= 64 && ($is[2] != 1 || ($is[3] != 2 && $is[3] != 0));
	$seen{$differs || $lines ? 'otherwise' : 'same'}++;
	push(@references, "$bytes $mnemonic: $is[0] loads and $is[1] stores, not $loads and $stores")
		if $differs && !reason(\@otherwise, $mnemonic);
	push(@extents, "$bytes $mnemonic of $size bytes: $is[2] and $is[3] lines")
		if $lines && !reason(\@sizes, $mnemonic) && !reason(\@otherwise, $mnemonic);
}
is(join("\n", @references), '', 'each makes the references of the architecture');
is(join("\n", @extents), '', 'each touches the lines of its operand');
my @unexplained = grep { !reason(\@unknown, (split(/ /))[1]) } @refused;
is(scalar(grep { defined } @natively{@left}), scalar(@left), 'each of those is executed natively, or ends in a signal');
is(join("\n", @unexplained), '', 'what this processor executes is executed, but for what is known');
cmp_ok($seen{same}, '>', 1200, 'more than a thousand were executed');

# The result does not depend on the operand, which is loaded nevertheless.  %rdx is 0.
my @folded = ('2317 and 1 0 4', '832700 and 1 1 4', '6b1700 imul 1 0 4', 'f72f imul 1 0 4', '48f727 mul 1 0 8',
	'2217 and 1 0 1', '662317 and 1 0 2', 'c4e2e8f50f bzhi 1 0 8', 'c4e26bf607 mulx 1 0 4', '0fefc00fdb07 pand 1 0 8',
	'660fefc0660fdb07 pand 1 0 16', '85d20f4407 cmove 1 0 4', '85d20f4507 cmovne 1 0 4');
is(join("\n", map { s/ \S+ \S+$//r } run_list(@folded)), join("\n", map { s/ \S+$//r } @folded), 'VEX folds no load away');

# A hypervisor hides what the processor executes nevertheless.
my @hidden = grep { (split(/ /))[1] =~ /^(?:movdiri|sha\d\w+|gf2p8\w+|v?pclmul\w+|vpdpbusd|rdpid|rdseed|clwb|vp(?:shld|opcnt|erm)b)$/ } @list;
cmp_ok(scalar(@hidden), '>', 10, 'instructions that CPUID tells of by a bit of their own');
open(my $hidden, '>', "$SCRATCH/hidden") or die;
print($hidden "$_\n") for @hidden;
close($hidden);
my @alone = split(/\n/, `$program run < $SCRATCH/hidden`);
my @told = run_list(@hidden);
my @untold = do { local @machine = (@machine, '--asks-cpuid=no'); run_list(@hidden) };
is(join("\n", grep { /signal/ } @untold), join("\n", grep { /signal/ } @alone), 'what CPUID hides is executed if the processor does');
is(join("\n", @untold), join("\n", @told), 'and makes the same references');

if ($ENV{ENCODINGS_TABLE}) {
	printf("| encodings | of them executed | the same | otherwise |\n| --: | --: | --: | --: |\n| %d | %d | %d | %d |\n\n",
		scalar(@list), $seen{same} + $seen{otherwise}, $seen{same}, $seen{otherwise});
	print("| instructions | counted |\n| --- | --- |\n");
	print("| $_->[0] | $_->[2] |\n") for @otherwise, @sizes;
	print("\n| not executed, though the processor does | encodings |\n| --- | --: |\n");
	for my $kind (@unknown) {
		printf("| %s | %d |\n", $kind->[0], scalar(grep { (split(/ /))[1] =~ $kind->[1] } @refused));
	}
}
done_testing();

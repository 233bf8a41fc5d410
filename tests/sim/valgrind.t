#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Valgrind's own functions: each function that is wrapped or taken is in the archives that this
# was built with; where one is not, or a header or an archive, the build says so in one line.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Sim;
use Test::More;

my $room = "$Sim::ROOT/tools/sim/valgrind";
my ($object) = grep { -e } "$BUILD/sim/main.o";
plan(skip_all => 'the simulated PMU is not built') if !$object;
my $architecture = `uname -m` =~ /aarch64/ ? 'arm64' : 'amd64';
my @parts = ('all', $architecture, -e "$BUILD/sim/native_table.o" ? 'table' : ());
my ($libraries) = grep { -e "$_/libvex-$architecture-linux.a" } glob('/usr/lib/*/valgrind /usr/lib/valgrind');
plan(skip_all => 'no archives of Valgrind') if !$libraries;
my @archives = map { "$libraries/$_-$architecture-linux.a" } qw(libcoregrind libvex);
my $include = '/usr/include/valgrind';

# Returns the status, what is printed and what is said.
sub find_with
{
	my ($headers, @there) = @_;
	my $command = join(' ', "sh $room/find.sh gcc $headers $architecture", @there, '--', @parts);
	my $out = `$command 2>$SCRATCH/said`;
	return ($? >> 8, $out, slurp("$SCRATCH/said"));
}

# ---- this Valgrind ----

my %listed;
for (split(/\n/, slurp("$room/functions.list"))) {
	my ($kind, $part, $name) = /^(wrap|take) (\S+) (\S+)$/ or next;
	$listed{$name} = $kind if grep { $_ eq $part } @parts;
}
my (%there, %asked);
for (`nm -A @archives 2>/dev/null`) {
	my ($kind, $name) = / (\w) (\S+)$/ or next;
	($kind eq 'U' ? $asked{$name} : $there{$name}) = 1;
}
for my $name (sort keys %listed) {
	ok($there{$name}, "$name is there");
	ok($asked{$name}, "$name is asked for by another of its objects") if $listed{$name} eq 'wrap';
}

my ($status, $found, $said) = find_with($include, @archives);
is($status, 0, 'the build finds all that it needs') || diag($said);
is($found, slurp("$BUILD/sim/valgrind/found.h"), 'and has found this');

# ---- and nothing else is taken that the headers for tools do not have ----

my %declared = map { $_ => 1 } map { /(\w+)/g } map { slurp($_) } glob("$include/*.h $include/*/*.h");
my %own;
my @objects = grep { !/sanitized/ } glob("$BUILD/sim/*.o $BUILD/sim/*/*.o");
my %taken;
for (`nm @objects 2>/dev/null`) {
	my ($kind, $name) = /(?:^| )(\w) (\S+)$/ or next;
	($kind eq 'U' ? $taken{$name} : $own{$name}) = 1;
}
my @unlisted = grep { $there{$_} && !$listed{$_} && !$own{$_} && !$declared{s/^(?:vgPlain|vgModuleLocal)_//r} } sort keys %taken;
is("@unlisted", '', 'what is taken is in the list');
my @unused = grep { $listed{$_} eq 'take' ? !$taken{$_} : !$own{"__wrap_$_"} } sort keys %listed;
is("@unused", '', 'and what is in the list is taken');

my @sources = glob("$Sim::ROOT/tools/sim/*.[ch] $Sim::ROOT/tools/sim/*/*.[ch]");
my @elsewhere = grep { !m{/valgrind/\w+\.h$} && slurp($_) =~ /^extern [^;]*VG_\(|^\w[\w ]* \**VG_\(\w+\)\([^;{]*\);|^#include "libvex_guest_/m } @sources;
is("@elsewhere", '', 'the room has all declarations of it');

# ---- another one ----

my @without = grep { $listed{$_} } ('vgPlain_fd_soft_limit', 'LibVEX_Translate');
for my $name (@without) {
	my @other = map { my $to = "$SCRATCH/" . (split(m{/}))[-1]; system("objcopy --redefine-sym $name=another $_ $to") == 0 or die; $to } @archives;
	my ($ended, undef, $why) = find_with($include, @other);

	is($ended, 1, "a core without $name is refused");
	like($why, qr/\Acachepeek: needs $name of Valgrind's core, and that of 3\.\d+ has none: [^\n]*\n\z/, 'in one line, with what is missing and the version');
}
system("objcopy --redefine-sym LibVEX_Translate=another $archives[0] $SCRATCH/core.a") == 0 or die;
($status, undef, $said) = find_with($include, "$SCRATCH/core.a", $archives[1]);
like($said, qr/needs LibVEX_Translate of/, 'so is one that does not ask for what is wrapped');

my @gone = find_with($include, "$SCRATCH/nowhere/libvex.a");
is("$gone[0] $gone[2]", "1 cachepeek: needs Valgrind's libvex.a, and $SCRATCH/nowhere has none: install valgrind\n", 'an archive that is not there');
@gone = find_with("$SCRATCH/nowhere", @archives);
is("$gone[0] $gone[2]", "1 cachepeek: needs Valgrind's libvex_ir.h, and $SCRATCH/nowhere has none: install valgrind\n", 'headers that are not there');

# Differences between versions are found by name, not by number.
mkdir("$SCRATCH/headers");
system("cp $include/*.h $SCRATCH/headers/ && sed -i 's/Iop_Clz64,/Iop_Other64,/' $SCRATCH/headers/libvex_ir.h") == 0 or die;
like((find_with("$SCRATCH/headers", @archives))[1], qr/^#define HAS_Iop_Clz64 0$/m, 'an operation that is gone');
like($found, qr/^#define HAS_$_ [01]$/m, "$_ is looked for") for map { /^(\w+)$/ ? $1 : () } split(/\n/, slurp("$room/names.list"));

done_testing;

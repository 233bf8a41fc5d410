#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# The same programs on the same two-level machine under cachegrind, which
# counts a read-modify-write as one reference, and each piece that the core makes of an
# instruction (bit tests of registers, fused multiply-adds) as one of its own.  Both run with the same small
# environment, the directory of the tool included, because the core puts that
# into LD_PRELOAD: a longer one alone moves data misses.
use strict;
use warnings;
no warnings 'qw';
use FindBin;
use lib $FindBin::Bin;
use Programs;
use Sim;
use Test::More;

my @ours = qw(--report=yes --pieces=yes --cache-instructions=no --cores=1 --l1i=64,8,64 --l1d=64,8,64 --l2=0,0,0 --llc=8192,16,64);
my @theirs = qw(--cache-sim=yes --I1=32768,8,64 --D1=32768,8,64
	--LL=8388608,16,64);

my ($lib) = grep { -d } qw(/usr/libexec/valgrind /usr/lib/valgrind);
plan skip_all => 'no cachegrind here' unless $lib && glob "$lib/cachegrind-*-linux";
symlink "$BUILD/libcachepeek", "$SCRATCH/lib0";
symlink $lib, "$SCRATCH/lib1";

my ($all, $document) = @ENV{qw(CACHEGRIND_ALL CACHEGRIND_TABLE)};
%ENV = (PATH => $ENV{PATH}, B => $ENV{B} // 'build', PERL_HASH_SEED => 0,
	PYTHONHASHSEED => 0, PYTHONDONTWRITEBYTECODE => 1);

# cc1 takes as long as all the others: CACHEGRIND_ALL=1.
my %programs = programs($all);
delete $programs{cc1} unless $all;

sub our_counts {
	my ($status, $out, $log) = run_tool("$SCRATCH/lib0", 'cachepeek', @ours, @_);
	my %n = $log =~ /process \d+ (\w+) (\d+)/g;

	return (all_output($out, @_), instructions => $n{instructions},
		references => $n{l1d_loads} + $n{l1d_stores} - $n{l1d_rmw},
		'I1 misses' => $n{l1i_misses},
		'D1 misses' => $n{l1d_load_misses} + $n{l1d_store_misses},
		'LL misses' => $n{llc_ifetch_misses} + $n{llc_load_misses} + $n{llc_store_misses});
}

sub their_counts {
	my $file = "$SCRATCH/cg.out";
	unlink $file;
	my ($status, $out) = run_tool("$SCRATCH/lib1", 'cachegrind', @theirs,
		"--cachegrind-out-file=$file", @_);
	ok(-s $file, 'cachegrind writes what it counted') or return ($out);
	my ($names) = slurp($file) =~ /^events: (.*)$/m;
	my ($values) = slurp($file) =~ /^summary: (.*)$/m;
	my %n;
	@n{split ' ', $names} = split ' ', $values;
	return (all_output($out, @_), instructions => $n{Ir}, references => $n{Dr} + $n{Dw},
		'I1 misses' => $n{I1mr}, 'D1 misses' => $n{D1mr} + $n{D1mw},
		'LL misses' => $n{ILmr} + $n{DLmr} + $n{DLmw});
}

my %tolerance = (instructions => 0.001, references => 0.001, 'D1 misses' => 0.005,
	'LL misses' => 0.01, 'I1 misses' => 0.02);

# No two runs of threads are the same: xz waits by the clock, and what two threads on
# one core leave each other in the caches depends on when they take turns (two runs
# under one tool were apart 2 % in D1, 6 % in I1 and 15 % in LL misses).  How much they
# execute and refer to hardly does.
my %of_threads = (instructions => 0.02, references => 0.02);

# Python's allocator looks blocks up by their addresses, and a tree of those has another
# depth where the heap is not beside the mappings (tools/sim/system/heap.c): 90,154 fewer
# of 81,023,401 instructions.
my %of_python = (%tolerance, instructions => 0.002);

# ---- the table of the documents: CACHEGRIND_TABLE=doc/validation.md ----

my %rows;

# Our counts beside theirs, in per cent.
sub apart {
	my ($ours, $theirs) = @_;

	return $ours == $theirs ? 'same' : sprintf('%+.3f %%', 100 * ($ours - $theirs) / $theirs);
}

sub row {
	my ($name, $ours, $theirs) = @_;
	my @what = ('instructions', 'references', 'I1 misses', 'D1 misses', 'LL misses');

	return join(' | ', "| $name", map { thousands($theirs->{$_}) . ', ' . apart($ours->{$_}, $theirs->{$_}) } @what) . " |\n";
}

for my $name (sort keys %programs) {
	my @command = @{$programs{$name}};
	if (!-x $command[0]) {
		SKIP: { skip "no $command[0]", 1 }
		next;
	}
	my ($our_out, %ours) = our_counts(@command);
	my ($their_out, %theirs) = their_counts(@command);

	is($our_out, $their_out, "$name: same output");
	$rows{$name} = row($name, \%ours, \%theirs);
	my $limits = $name =~ /threads/ ? \%of_threads : $name =~ /python/ ? \%of_python : \%tolerance;

	for my $what (sort keys %$limits) {
		my $allowed = $theirs{$what} * $limits->{$what};

		$allowed = 50 if $what eq 'I1 misses' && $allowed < 50;
		cmp_ok(abs($ours{$what} - $theirs{$what}), '<=', $allowed,
			"$name: $what $ours{$what}, cachegrind $theirs{$what}");
	}
}

write_table($document, 'cachegrind', "| program | instructions | references | I1 misses | D1 misses | LL misses |\n" .
	"|---|--:|--:|--:|--:|--:|\n", \%rows) if $document;
done_testing;

#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Huge pages are one page for the TLBs: walks over 64 MB that touch each 4 KB, on
# machines of all kinds.  The kernel may have given fewer huge pages than 32: what
# smaps tells is what is expected.
use strict;
use warnings;
no warnings 'qw';
use FindBin;
use lib $FindBin::Bin;
use Sim;
use Test::More;

my $enabled = slurp('/sys/kernel/mm/transparent_hugepage/enabled');
plan(skip_all => 'this kernel has no transparent huge pages')
	if !$enabled || $enabled =~ /\[never\]/;

my ($AREAS, $PAGES) = (32, 512);
my ($machine, $got);

sub run_huge
{
	($machine, my @options) = @_;
	my ($status, $out, $log) = sim_run('--report=yes', @options, "$BUILD/sim/huge");

	$got = {map { split / / } split /\n/, $out};
	is($status, 0, "$machine: ran");
	return $log;
}

# Reading the counters, and the loop's own stack, miss a page or two.
sub near
{
	my ($name, $want, $what) = @_;
	my $have = $got->{$name} // -1;

	ok($have >= $want && $have <= $want + 4, "$machine: $what: $want") or diag("$name: $have");
}

sub expected
{
	my ($test, $areas) = @_;
	my $huge = $got->{"$test.huge"} // 0;

	$huge = $areas if $huge > $areas;
	return $huge + ($areas - $huge) * $PAGES;
}

sub walk
{
	my ($test, $what) = @_;

	near("$test.misses", expected($test, $AREAS), $what);
}

# ---- whichever the machine, as long as its TLB has at least 16 entries for huge pages ----

my @plain = qw(--dtlb=16,4 --itlb=16,4 --stlb=128,8);
for (['plain', @plain], ['not plain', @plain, '--l1d=64,8,64,plru'],
	['arrays of their own', @plain, qw(--dtlb-2m=4,4 --itlb-2m=1,8)],
	['arrays of their own, not plain', qw(--dtlb=1,64,plru --itlb=16,4 --stlb=0,0 --dtlb2=128,4 --dtlb-2m=1,16
		--dtlb2-2m=1,64 --itlb-2m=1,8)]) {
	run_huge(@$_);
	if ($got->{refused}) {
		plan(skip_all => 'madvise(MADV_HUGEPAGE) is refused here');
	}
	is($got->{'small.huge'}, 0, "$machine: no huge page where none is wanted");
	cmp_ok($got->{'first.huge'}, '>', 0, "$machine: some where they are");
	near('small.misses', $AREAS * $PAGES, 'small pages');
	walk('first', 'stores to new memory');
	is($got->{'first.pages'}, $got->{'first.huge'}, "$machine: so many are counted");
	walk('again', 'a second time') if $machine !~ /plain/;
	walk('replaced', 'other memory in its place, small');
	walk('read', 'huge again') if $got->{'read.huge'};
	SKIP: {
		skip('MADV_COLLAPSE: not this kernel, or no memory', 1) if !exists($got->{'collapsed.misses'});
		walk('collapsed', 'small pages made huge ones');
	}
	near('split.misses', 3 + $PAGES, 'one is split')
		if ($got->{'collapsed.huge'} // 0) == $AREAS && $got->{'split.huge'} == $AREAS - 1;
	my $in_child = $got->{'child.misses'};
	ok($in_child <= 2 * $AREAS || $in_child >= $AREAS * $PAGES, "$machine: a child's are copied, as small ones or huge")
		or diag($in_child);
	near('code.code', expected('code', 4), 'code in huge pages');
}

# ---- loads of memory that nobody has written to ----

SKIP: {
	skip('the kernel does not tell where the zero page is huge', 2)
		if slurp('/sys/kernel/mm/transparent_hugepage/use_zero_page') !~ /1/ ||
			$got->{'read.pages'} == 0;
	near('read.misses', $AREAS, 'loads of the huge zero page');
	near('early.misses', $AREAS, 'the same where the load comes after its count');
}

# ---- reach: 8 entries ----

for (['8 entries', @plain, '--dtlb-2m=2,4', '--stlb-2m=0,0'],
	['8 entries, not plain', @plain, '--dtlb-2m=2,4', '--stlb-2m=0,0', '--l1d=64,8,64,next-line']) {
	run_huge(@$_);
	SKIP: {
		skip('too few huge pages', 4) if $got->{'first.huge'} < $AREAS;
		near('fits_still.misses', 0, '8 huge pages fit');
		near('reach.misses', 3 * 16 - 8, '16 do not: least recently used, all but the first 8 miss');
		is($got->{'reach.walks'}, $got->{'reach.misses'}, "$machine: the second level has none");
		near('first.walks', $AREAS, 'nor at first');
	}
}
run_huge('8 entries and a second level', @plain, '--dtlb-2m=2,4');
SKIP: {
	skip('too few huge pages', 2) if $got->{'first.huge'} < $AREAS;
	near('reach.misses', 3 * 16 - 8, 'all but the first miss');
	near('reach.walks', 0, 'and are in the second level');
}

# ---- where they are not to be ----

for (['--huge-pages=no', @plain], ['no first level for them', @plain, '--dtlb-2m=0,0']) {
	run_huge($_->[0], ($_->[0] =~ /^--/ ? $_->[0] : ()), @$_[1 .. $#$_]);
	near('first.misses', $AREAS * $PAGES, 'many small ones');
	is($got->{'first.pages'}, 0, "$machine: none is counted");
}
run_huge('pages of 16 KB', @plain, '--page=16384');
near('first.misses', $AREAS * $PAGES / 4, 'the size of all pages');

# ---- from smaps ----

run_huge('smaps', @plain, '--huge-pages=smaps');
near('small.misses', $AREAS * $PAGES, 'small pages');
walk('first', 'stores to new memory');
walk('replaced', 'other memory in its place, small');

# ---- several machines in one run ----

my $log = run_huge('compare', @plain, '--next-machine', @plain, '--dtlb-2m=2,4', '--next-machine',
	@plain, '--l1d=64,8,64,plru', '--next-machine', @plain, '--dtlb-2m=0,0');
walk('first', 'stores to new memory');
# The last four are the parent's.
my ($first, @others) = ($log =~ /^.*(?:process \d+|machine \d) dtlb_store_misses (\d+)/mg)[-4 .. -1];
my @pages = ($log =~ /^.*(?:process \d+|machine \d) huge_pages (\d+)/mg)[-4 .. -1];
cmp_ok($others[0], '>', $first + 30, 'fewer entries miss more');
cmp_ok(abs($others[1] - $first), '<', 10, 'another L1D has the same pages');
cmp_ok($others[2], '>', $first + 3 * $AREAS * $PAGES, 'no huge pages: thousands more');
cmp_ok($pages[0], '>', $AREAS, 'they are counted');
is_deeply([@pages[1 .. 3]], [$pages[0], $pages[0], 0], 'by every machine that knows them');

# ---- in the report ----

for my $of (['skylake-sp', qr/limits .*; (\d+) huge pages of 2 MB seen, each one page in the TLBs/],
	['itanium2', qr/limits .*are not shown AVX-512$/]) {
	my ($named, $want) = @$of;
	my $text = qx($BUILD/cachepeek -v -E sim -m $named -e huge_pages $BUILD/sim/huge 2>&1);

	$text =~ s/\n {11}/ /g;
	like($text, qr/$want/m, "$named: what holds is said");
}

done_testing;

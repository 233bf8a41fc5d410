#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Real TLB misses on an emulated RISC-V PMU: the emulator's TLB behaves like one
# of 256 entries, direct-mapped.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Vm;

my $dir = need_vm('riscv64');
my ($loads, $stores) = ('perf::DTLB-LOAD-MISSES', 'perf::DTLB-STORE-MISSES');
my $vm = boot($dir, 'rv64,sscofpmf=on', '',
	"run all CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS=$loads,$stores,perf::INSTRUCTIONS /bin/vm_pages",
	'run loops CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS=perf::INSTRUCTIONS /bin/vm_loops 1000000 2');

my %walks = ('load-1024' => $loads, 'store-1024' => $stores, 'load-16' => $loads,
	'store-16' => $stores, 'nothing' => $loads);

# More pages than entries: each page misses, and a few of ours that the walk has
# thrown out.  Few pages: they stay.  Never in another region.
sub ok_walk
{
	my ($thread, $name, $calls, $who) = @_;
	my $region = region($thread, $name);

	is($region->{calls}, $calls, "$who, $name: its executions");
	for my $event ($loads, $stores) {
		my $count = count($region, $event);
		my $walked = $event eq $walks{$name} && $name =~ /1024/;
		my ($least, $most) = $walked ? (1024, 1040) : $name =~ /1024/ ? (0, 16) : (0, 4);

		is($count->{status}, 'exact', "$who, $name: $event is exact");
		cmp_ok($count->{per_call}{min}, '>=', $least, "$who, $name: at least $least $event each");
		cmp_ok($count->{per_call}{max}, '<=', $most, "$who, $name: at most $most $event each");
	}
	return;
}

is(status($vm->{all}), 0, 'the program ended well');
for my $name (sort keys %walks) {
	ok_walk(thread($vm->{all}, 'vm_pages'), $name, 4, 'main');
	ok_walk(thread($vm->{all}, 'walker'), $name, 8, 'thread');
}

# The emulator interrupts where it likes: retries of the clock's lock are seen.
for my $index (0 .. 2) {
	my $thread = thread($vm->{loops}, $index ? "loop-$index" : 'vm_loops');
	my $more = count(region($thread, 'loop'), 'perf::INSTRUCTIONS')->{value} -
		count(region($thread, 'one'), 'perf::INSTRUCTIONS')->{value};
	my $truth = 2 * 2 * (1000000 * ($index + 1) - 1);

	cmp_ok(abs($more - $truth), '<=', 64, "instructions in thread $index: 2 per turn")
		or diag("$more, not $truth");
}

done_testing();

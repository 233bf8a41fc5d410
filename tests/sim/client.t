#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Programs with known counts, and every request of request.h.
use strict;
use warnings;
no warnings 'qw';
use FindBin;
use lib $FindBin::Bin;
use Sim;
use Test::More;

my @machine = qw(--l1i=64,8,64 --l1d=64,8,64 --l2=1024,16,64 --llc=8192,16,64
	--itlb=16,4 --dtlb=16,4 --stlb=128,8);
my ($status, $c) = sim_client(@machine);

is($status, 0, 'the client ran to its end, past an unmapped mirror');
my ($protocol) = slurp("$FindBin::Bin/../../tools/sim/request.h") =~ /^#define CP_SIM_PROTOCOL (\d+)/m;
is($c->{hello}, $protocol, 'HELLO answers the protocol');
is($c->{bad_pointer}, 0, 'a pointer to nowhere is refused');

sub counts {
	my ($test, %want) = @_;

	is($c->{"$test.$_"}, $want{$_}, "$test: $_") for sort keys %want;
}

# client.c reads its counters with a handful of stores of its own.
my $own_stores = $c->{'nothing.l1d_stores'};
my $own_loads = $c->{'nothing.l1d_loads'};
my $own_instructions = $c->{'nothing.instructions'};

cmp_ok($own_instructions, '<', 30, 'a READ costs a few instructions');
counts('nothing', l1d_load_misses => 0, l1d_store_misses => 0, l2_load_misses => 0);
counts('loads', l1d_load_misses => 100, l1d_store_misses => 0, l2_load_misses => 100,
	llc_load_misses => 100, dtlb_load_misses => 2, dtlb_load_walks => 2, l1d_rmw => 0,
	l1d_loads => 1000 + $own_loads, l1d_stores => $own_stores);
cmp_ok($c->{'loads.l1i_accesses'}, '<=', 100, 'loads: a loop changes lines once, not once a turn');
counts('stores', l1d_load_misses => 0, l1d_store_misses => 100, l2_store_misses => 100,
	llc_store_misses => 100, dtlb_store_misses => 2, l1d_loads => $own_loads,
	l1d_stores => 1000 + $own_stores);
counts('straddles', l1d_loads => 100 + $own_loads, l1d_load_misses => 100, l1d_load_lines => 200,
	l2_load_misses => 100, l2_load_lines => 200, llc_load_misses => 100, llc_load_lines => 200,
	dtlb_load_misses => 4, dtlb_load_pages => 4);
for my $how ('rmw', 'locked') {
	counts($how, l1d_loads => 100 + $own_loads, l1d_stores => 100 + $own_stores, l1d_rmw => 100,
		l1d_load_misses => 100, l1d_store_misses => 0);
}
counts('pages', dtlb_load_misses => 500, dtlb_load_walks => 500);
cmp_ok($c->{'writebacks.l1d_writebacks'}, '>=', 400, 'every dirtied line was written back');

counts('paused', l1d_load_misses => 0, l2_load_misses => 0, l2_store_misses => 0,
	dtlb_load_misses => 0);
cmp_ok($c->{'paused.instructions'}, '<', 400, 'paused: instructions');
cmp_ok($c->{'paused.l1d_loads'}, '<=', 60, 'paused: the loads after RESUME count');
cmp_ok($c->{'paused.l1d_loads'}, '>=', 50, 'paused: all of them');
counts('resumed', l1d_load_misses => 100, l2_load_misses => 100);

counts('before_own_code', l1d_load_misses => 300);
is($c->{'own_code.answer'}, 1, 'OWN_CODE is answered');
counts('own_code', l1d_load_misses => 0, l2_load_misses => 0, dtlb_load_misses => 0);
cmp_ok($c->{'own_code.instructions'}, '<', 30, 'own_code: instructions');
counts('after_own_code', l1d_load_misses => 300);

cmp_ok($c->{'thread.l1d_loads'}, '>=', 10000, "a thread's mirror has its last counts");
cmp_ok($c->{'thread.l1d_loads'}, '<', 12000, "and not another's");
cmp_ok($c->{'creator.l1d_loads'}, '<', 5000, "its creator's counters have none of them");
for my $k (qw(instructions l1d_loads l1d_stores l1d_load_misses itlb_misses)) {
	is($c->{"both.$k"}, $c->{"thread.$k"} + $c->{"creator.$k"}, "the process has both: $k");
}
cmp_ok($c->{'second_thread.l1d_loads'}, '<', 12000, 'a thread id used again starts at zero');
cmp_ok($c->{'second_thread.l1d_loads'}, '>=', 10000, 'and counts');
cmp_ok($c->{'process_mirror.instructions'}, '>', 0, "the process's mirror is newer than the READ");
cmp_ok($c->{'sharing.hitm'}, '>=', 19, 'a line written in turns comes modified each time');
cmp_ok($c->{'sharing.invalidations'}, '>=', 19, 'and is taken away each time');

cmp_ok($c->{'child_start.instructions'}, '<', 5000, 'a fork child starts at zero');
cmp_ok($c->{'child.l1d_load_misses'}, '<', 30, "and keeps the parent's warm caches");
is($c->{'fork.status'}, 7, 'its exit status');
cmp_ok($c->{'parent_mirror.instructions'}, '<', 3000000, "the child leaves the parent's mirror alone");

# The same without L2, without anything behind L1, and counted by lines of 32.
($status, $c) = sim_client(qw(--l1i=64,8,64 --l1d=64,8,64 --l2=0,0,0 --llc=8192,16,64));
counts('loads', l1d_load_misses => 100, l2_load_misses => 0, llc_load_misses => 100);
($status, $c) = sim_client(qw(--l1i=64,8,64 --l1d=64,8,64 --l2=0,0,0 --llc=0,0,0 --stlb=0,0));
counts('loads', l1d_load_misses => 100, l2_load_misses => 0, llc_load_misses => 0,
	dtlb_load_walks => 2);
($status, $c) = sim_client(qw(--l1i=64,8,32 --l1d=64,8,32 --l2=999,12,32 --llc=212992,16,32));
counts('loads', l1d_load_misses => 100, llc_load_misses => 100);
counts('straddles', l1d_load_misses => 100, l1d_load_lines => 200);

# A machine that is not plain, but counts as if: second-level TLBs of their own.
($status, $c) = sim_client(qw(--l1i=64,8,64 --l1d=64,8,64 --l2=1024,16,64 --llc=8192,16,64
	--itlb=16,4 --dtlb=16,4 --stlb=0,0 --itlb2=128,8 --dtlb2=128,8));
is($status, 0, 'not plain: the client ran to its end');
counts('loads', l1d_load_misses => 100, l1d_store_misses => 0, l2_load_misses => 100,
	llc_load_misses => 100, dtlb_load_misses => 2, dtlb_load_walks => 2, l1d_rmw => 0,
	l1d_loads => 1000 + $own_loads, l1d_stores => $own_stores);
cmp_ok($c->{'loads.l1i_accesses'}, '<=', 100, 'not plain: a loop changes lines once');
counts('stores', l1d_load_misses => 0, l1d_store_misses => 100, l2_store_misses => 100,
	dtlb_store_misses => 2, l1d_stores => 1000 + $own_stores);
counts('straddles', l1d_load_misses => 100, l1d_load_lines => 200, dtlb_load_misses => 4);
counts('rmw', l1d_rmw => 100, l1d_load_misses => 100, l1d_store_misses => 0);
counts('pages', dtlb_load_misses => 500, dtlb_load_walks => 500);
counts('paused', l1d_load_misses => 0, dtlb_load_misses => 0);
cmp_ok($c->{'sharing.hitm'}, '>=', 19, 'not plain: a line written in turns comes modified');
cmp_ok($c->{'sharing.invalidations'}, '>=', 19, 'not plain: and is taken away');

# Stores that L1D passes on, and lines fetched ahead.
($status, $c) = sim_client(qw(--l1d=64,8,64,write-through,no-allocate));
counts('stores', l2_store_misses => 100, l1d_writebacks => 0);
# Where the stack is so that the client's own stores share no line with a load, they miss, too.
my $missed = $c->{'stores.l1d_store_misses'};
ok($missed >= 1000 && $missed <= 1000 + $own_stores, 'stores: l1d_store_misses') or diag($missed);
($status, $c) = sim_client(qw(--l1d=64,8,64,next-line));
cmp_ok($c->{'loads.l1d_load_misses'}, '<=', 4, 'a walk misses the first line of each page');

done_testing;

#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The simulated PMU on arm64: the same programs as under the emulated one, and the
# same counts.  (The emulator's time plays no part, hence "free".)
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Vm;

my $dir = need_vm('arm64');
my $turns = 1000;
my $pages = 1024;

sub sim
{
	my ($name, $what, $command) = @_;
	return "run $name CACHEPEEK_ENGINE=sim CACHEPEEK_MACHINE=neoverse-n1 $what $command";
}

my $n1 = boot($dir, 'neoverse-n1', 'free',
	sim('loops', 'CACHEPEEK_EVENTS=instructions', "/bin/vm_loops $turns 3"),
	sim('pages', 'CACHEPEEK_EVENTS=l1d_load_misses,l1d_store_misses,dtlb_load_misses,dtlb_store_misses',
		'/bin/vm_pages'),
	sim('pinned', 'CACHEPEEK_REPRODUCIBLE=1 CACHEPEEK_EVENTS=instructions', "/bin/vm_loops $turns 3"));

# ---- instructions ----

is(status($n1->{loops}), 0, 'the program ended well');
is($n1->{loops}{report}{engine}{name}, 'sim', 'the simulated PMU counted');
is(status($n1->{pinned}), 0, 'so did the same with turns in one order');
for my $index (0 .. 2) {
	my $thread = thread($n1->{loops}, $index ? "loop-$index" : 'vm_loops');
	my $loop = region($thread, 'loop');
	my $count = count($loop, 'instructions');
	my $one = count(region($thread, 'one'), 'instructions');

	is($count->{status}, 'simulated', "thread $index: simulated, and says so");
	is(($count->{value} // 0) - ($one->{value} // 0), $loop->{calls} * 2 * ($turns * ($index + 1) - 1),
		"thread $index: 2 instructions per turn, and nothing else");
	is($count->{per_call}{min}, $count->{per_call}{max}, "thread $index: the same in each execution");
}

# ---- misses ----

# The lines of 1024 pages share 16 ways of the L1D, and their pages the 48 entries of
# the DTLB: every reference misses both.  What the markers themselves miss is
# what the region without references has.
my %missed = (
	load => [qw(l1d_load_misses dtlb_load_misses)],
	store => [qw(l1d_store_misses dtlb_store_misses)],
);
is(status($n1->{pages}), 0, 'pages: the program ended well');
for my $name ('vm_pages', 'walker') {
	my $thread = thread($n1->{pages}, $name);
	for my $kind (sort keys %missed) {
		my $walk = region($thread, "$kind-$pages");
		for my $event (@{$missed{$kind}}) {
			my $count = count($walk, $event);
			my $extra = ($count->{value} // 0) - $walk->{calls} * $pages;
			ok($extra >= 0 && $extra <= 8 * $walk->{calls},
				"$name: $event: each of the pages, and at most 8 of the markers' in each execution")
				or diag("$extra more in $walk->{calls} executions");
		}
	}
	my $few = count(region($thread, 'load-16'), 'dtlb_load_misses');
	ok($few->{per_call}{min} <= 8, "$name: 16 pages stay in the DTLB") or diag($few->{per_call}{min});
}

done_testing();

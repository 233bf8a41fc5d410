#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Counts that hold on every machine: programs without libc, of which each byte of code
# and each address is given, with CACHEPEEK_REPRODUCIBLE, on named machines.
#	GOLDEN=write tests/sim/golden.t	# prints the table anew
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Json;
use Test::More;

my $cc = (split(' ', $ENV{CC} || 'gcc'))[0];
plan(skip_all => 'they are programs of x86-64') unless `$cc -dumpmachine` =~ /^x86_64/;

# The counters of each program on each machine; the last level of pentium-pro is its L2.
my @COUNTERS = qw(instructions l1d_loads l1d_stores l1d_load_misses l1d_store_misses
	l1d_writebacks l1i_accesses l1i_misses l2_load_misses l2_store_misses
	llc_load_misses llc_store_misses dtlb_load_misses dtlb_store_misses);
my %golden = map { my ($name, @values) = split(' '); $name => "@values" } grep { /\S/ } <DATA>;

my $work = scratch('golden');
mkdir($work);
for my $program (qw(walk pages start)) {
	my $run = run(command => [$cc, '-nostdlib', '-static', '-no-pie', '-Wl,-z,noseparate-code',
		'-Wl,-Ttext=0x400000', '-Wl,-Tbss=0x800000', '-Wl,--build-id=none', '-o', "$work/$program",
		"$FindBin::Bin/golden/$program.s"]);
	is(status_text($run->{status}), 'exit 0', "$program: built") or diag($run->{err});
}

# The variables that a program keeps, without any of the caller's.
my %bare = (map({ $_ => undef } keys %ENV), PATH => '/usr/bin:/bin');

sub counts
{
	my ($program, $machine, %more) = @_;
	my @pinned = $more{free} ? () : ('--reproducible');
	my $json = scratch('golden.json');
	unlink($json);
	run(command => [cli(), '-E', 'sim', '-m', $machine, @pinned, '-e', join(',', @COUNTERS), '-o', $json, "./$program"],
		cwd => $more{cwd} || $work, env => {%bare, HOME => $work, %{$more{env} || {}}});
	my $whole = region(decode_json(read_file($json) // '{}'));
	return join(' ', map { value($whole, $_) // '-' } @COUNTERS);
}

for my $program (qw(walk pages start)) {
	# "bare": skylake-sp without its prefetchers.
	for my $machine (qw(skylake-sp bare neoverse-n1 pentium-pro)) {
		my $counts = counts($program, $machine eq 'bare' ? bare('skylake-sp') : $machine);
		diag("$program/$machine $counts") if $ENV{GOLDEN};
		is($counts, $golden{"$program/$machine"}, "$program on $machine: @COUNTERS");
	}
}

# Whatever the stack has, and wherever the program lies.
mkdir("$work/below");
run(command => ['cp', "$work/start", "$work/below"]);
my %other = (env => {VARIABLE => 'x' x 777, HOME => '/somewhere/else', LOGNAME => 'nobody'},
	cwd => "$work/below");
is(counts('start', 'skylake-sp', %other), $golden{'start/skylake-sp'}, 'in another environment and directory');

# The test can fail: without pinning the environment is what there is.
{
	isnt(counts('start', 'skylake-sp', env => $other{env}, free => 1), $golden{'start/skylake-sp'}, 'not pinned: another count');
}
done_testing();
__DATA__
walk/skylake-sp 59428 8192 2048 136 0 1920 1 1 16 0 16 0 16 0
walk/bare 59428 8192 2048 8192 0 1920 1 1 1024 0 1024 0 16 0
walk/neoverse-n1 59428 8192 2048 1024 0 0 1 1 1024 0 1024 0 16 0
walk/pentium-pro 59428 8192 2048 8192 0 2016 16384 2 1024 0 1024 0 16 0
pages/skylake-sp 36869 4096 4096 4096 0 4088 1 1 4096 0 2048 0 4096 0
pages/bare 36869 4096 4096 4096 0 4088 1 1 4096 0 2048 0 4096 0
pages/neoverse-n1 36869 4096 4096 4096 0 4080 1 1 4096 0 2048 0 4096 0
pages/pentium-pro 36869 4096 4096 4096 0 4094 8192 2 4096 0 4096 0 4096 0
start/skylake-sp 261355 65311 64 80 0 0 2 2 71 0 71 0 25 0
start/bare 261355 65311 64 1086 0 0 2 2 1085 0 1085 0 25 0
start/neoverse-n1 261355 65311 64 1086 0 0 2 2 1085 0 1085 0 25 0
start/pentium-pro 261355 65311 64 2112 0 3 130406 4 2112 0 2112 0 25 0

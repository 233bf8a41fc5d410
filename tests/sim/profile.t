#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Misses by instruction: they add up to the counters' own account, for each
# counter and thread, to the last one, on plain machines and others; and counting
# is the same with and without.
use strict;
use warnings;
no warnings 'qw';
use File::Temp 'tempdir';
use FindBin;
use lib $FindBin::Bin;
use Sim;
use Profile;
use Test::More;

%ENV = (PATH => $ENV{PATH}, B => $ENV{B} // 'build', PERL_HASH_SEED => 0,
	PYTHONHASHSEED => 0);

my %machines = (
	plain => [],
	small => [qw(--l1i=4,2,64 --l1d=4,2,64 --l2=16,2,64 --llc=64,4,64
		--itlb=1,4 --dtlb=1,4 --stlb=4,2)],
	flex => [qw(--l1i=64,4,32 --l1d=64,4,64,write-through,no-allocate,fp-bypass
		--l2=256,8,128,stream:2:8 --llc=4096,24,128,inclusive --itlb=1,32
		--dtlb=1,32 --stlb=0,0 --itlb2=1,128 --dtlb2=1,128)],
);
my $text = "$SCRATCH/text";
system("cat $FindBin::Bin/*.[cht] > $text");

my %programs = (
	gzip => ['/bin/gzip', '-c', $text],
	sqlite3 => ['/usr/bin/sqlite3', ':memory:', 'with recursive c(x) as (select 1 union all ' .
		'select x+1 from c where x<900) select count(*), max(hex(x)) from c;'],
	python3 => ['/usr/bin/python3', '-S', '-c', 'print(sum(x * x for x in range(9000)))'],
	matmul => ["$BUILD/sim/matmul", 60],
	threads => ["$BUILD/sim/threads", 3, 400],
);

sub counts_of {
	my ($log) = @_;
	my %n;
	$n{$1} = $2 while $log =~ /process \d+ (\w+) (\d+)/g;
	return \%n;
}

my ($names, $first, $last) = counter_names();
for my $machine (sort keys %machines) {
	for my $name (sort keys %programs) {
		my @command = @{$programs{$name}};
		next if $machine ne 'plain' && $name eq 'python3';
	      SKIP: {
			skip "no $command[0]", 1 unless -x $command[0];
			my $dir = tempdir(CLEANUP => 1);
			my ($status, $out, $log) =
				sim_run('--report=yes', @{$machines{$machine}}, "--profile=$dir", @command);
			my @files = glob "$dir/*.profile";
			is(scalar @files, 1, "$machine, $name: one process, one profile");
			my $profile = profile_read($files[0]);
			my $sums = profile_sums(@{$profile->{sites}});
			my $counts = counts_of($log);
			my (@wrong, %total);

			is($profile->{lost}, 0, "$machine, $name: nothing lost");
			for my $id (sort { $a <=> $b } keys %{$profile->{threads}}) {
				my $count = $profile->{threads}{$id}{count};
				for my $i (0 .. $#$names) {
					my $what = $names->[$i];
					$total{$what} += $count->{$what};
					next if $i < $first || $i > $last;
					my $sum = $sums->{$id}{$what} // 0;
					push @wrong, "thread $id: $what $count->{$what}, sites $sum"
						if $sum != $count->{$what};
				}
			}
			is_deeply(\@wrong, [], "$machine, $name: instructions add up to each thread");
			is_deeply([grep { $total{$_} != $counts->{$_} } @$names], [],
				"$machine, $name: and the threads to the process");
			cmp_ok($total{l1d_load_misses}, '>', 100, "$machine, $name: there are misses");
			ok(!(grep { !$_->{module} } @{$profile->{sites}}),
				"$machine, $name: each instruction is in a mapping");

			# The others do not do quite the same twice: threads, buffers and seeds.
			next if $name ne 'matmul';
			my (undef, $plain_out, $plain_log) =
				sim_run('--report=yes', @{$machines{$machine}}, "--page=4096", @command);
			is($out, $plain_out, "$machine, $name: same output");
			my $plain = counts_of($plain_log);
			# Where a few of libc's stores go is random: misses of small or
			# unusual caches show it by a few.
			my @far = grep { abs($plain->{$_} - $counts->{$_}) > 50 } sort keys %$plain;
			is("@far", '', "$machine, $name: the same was counted") or
				diag(map { "$_ $plain->{$_} $counts->{$_}\n" } @far);
		}
	}
}

# ---- the second line of a block ----

# Without huge pages the lines of such a block are not fetched one by one.
for my $pages ('--huge-pages=yes', '--huge-pages=no') {
	my ($blocks, $rounds) = (1000, 7);
	my $dir = tempdir(CLEANUP => 1);
	sim_run("--profile=$dir", $pages, "$BUILD/sim/lines", $rounds);
	my ($file) = glob "$dir/*.profile";
	my %lines;
	$lines{$_->{instruction} % 128}++ for grep { $_->{count}{l1i_misses} == $rounds }
		@{profile_read($file)->{sites}};
	# Behind the last one is the function's return.
	is($lines{0}, $blocks + 1,
		"$pages: a block's first line is missed once a round, by its first instruction");
	is($lines{64}, $blocks, "$pages: and so is its second line, by its own");
}

# ---- what is told to caches ----

# The bytes of that instruction, as its file has them.
sub bytes_at {
	my ($profile, $site) = @_;
	my $module = $profile->{modules}{$site->{module}};
	return substr(slurp($module->{path}), $site->{instruction} - $module->{start} + $module->{offset}, 3);
}

SKIP: {
	skip 'instructions of x86-64', 1 unless `uname -m` =~ /x86_64/;
	my $dir = tempdir(CLEANUP => 1);
	sim_run("--profile=$dir", "$BUILD/tests/programs/cache_hints");
	my ($file) = glob "$dir/*.profile";
	my $profile = profile_read($file);
	my ($most) = sort { $b->{count}{llc_writebacks} <=> $a->{count}{llc_writebacks} } @{$profile->{sites}};
	is($most->{count}{llc_writebacks}, 200, 'as many modified lines as are flushed go to memory');
	like(bytes_at($profile, $most), qr/\A\x0f\xae[\x38-\x3f]/, '... by the clflush itself');
}

done_testing;

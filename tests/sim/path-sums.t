#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Call paths, and places in code, of every program of tests/programs add up to what was
# counted, for each counter, thread and process.  What waits for somebody, or runs for long, is killed after
# PATH_SUMS_SECONDS (2) of CPU, or ten times that of waiting.  What is killed is left out:
# what it leaves is of two moments.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use FindBin;
use lib $FindBin::Bin;
use Profile;
use Sim;
use Test::More;

my $seconds = $ENV{PATH_SUMS_SECONDS} // 2;
my $tool = abs_path((grep { !/x86/ } glob "$BUILD/libcachepeek/cachepeek-*-linux")[0]);
my $machine = '--l1i=4,2,64 --l1d=4,2,64 --l2=16,2,64 --llc=64,4,64 --itlb=1,4 --dtlb=1,4 --stlb=4,2';
my $shell = "ulimit -t $seconds; ulimit -c 0; exec timeout -s KILL " . 10 * $seconds;
my $programs = 0;
symlink abs_path("$BUILD/libcachepeek"), "$SCRATCH/lib";

# Where these of a thread are not what it counted.
sub differences
{
	my ($profile, $what, $rows, @counters) = @_;
	my $sums = profile_sums(@$rows);
	my @wrong;

	for my $id (sort { $a <=> $b } keys %{$profile->{threads}}) {
		my $count = $profile->{threads}{$id}{count};
		push @wrong, map { "thread $id: $_ $count->{$_}, $what " . ($sums->{$id}{$_} // 0) }
			grep { $count->{$_} != ($sums->{$id}{$_} // 0) } @counters ? @counters : sort keys %$count;
	}
	return @wrong;
}

sub all_differences
{
	my ($profile) = @_;
	my ($site) = @{$profile->{sites}};
	return (differences($profile, 'paths', [values %{$profile->{paths}}]),
		differences($profile, 'places', $profile->{sites}, sort keys %{($site || {})->{count} || {}}));
}

$ENV{VALGRIND_LIB} = $ENV{VALGRIND_LAUNCHER} = "$SCRATCH/lib";
for my $program (grep { -f && -x _ && !/\.so$/ } sort glob "$BUILD/tests/programs/*") {
	my $dir = tempdir(CLEANUP => 1);
	my ($name) = $program =~ m{([^/]+)$};

	$program = abs_path($program);
	system('sh', '-c', "cd $dir && $shell $tool --tool=cachepeek -q --vgdb=no --vex-iropt-register-updates=allregs-at-mem-access " .
		"--log-file=$dir/log $machine --report=yes --profile=$dir --call-paths=$dir $program >$dir/out 2>&1 </dev/null");
	my $log = slurp("$dir/log");
	my @profiles = map { profile_read($_) } grep { m{(\d+)-\d+\.profile$} && $log =~ /process $1 / } glob "$dir/*.profile";
	next unless @profiles;
	$programs++;
	is_deeply([map { all_differences($_) } @profiles], [], "$name: paths and places of " . scalar(@profiles) . ' processes');
	my ($one) = @profiles == 1 ? $profiles[0] : {threads => {}};
	my %total;
	for my $count (map { $_->{count} } values %{$one->{threads}}) {
		$total{$_} += $count->{$_} for keys %$count;
	}
	my %process = $one->{pid} ? $log =~ /process $one->{pid} (\w+) (\d+)/g : ();
	is_deeply([map { "$_ $process{$_}, threads $total{$_}" } grep { defined $total{$_} && $total{$_} != $process{$_} } sort keys %process],
		[], "$name: threads are the process") if %process;
}
cmp_ok($programs, '>=', 40, "$programs programs have profiles");
done_testing;

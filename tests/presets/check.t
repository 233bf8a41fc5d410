#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Every event of the preset files is known to the libpfm4 of some architecture,
# and none is unknown to a libpfm4 that has its PMU.
use strict;
use warnings;
use Test::More;

my $B = $ENV{B} // 'build';
my $dir = "$B/presets";
my @native = ('amd64', "$B/cachepeek list presets --check --verbose");
my @foreign = (
	['i386', 'qemu-i386'], ['arm64', 'qemu-aarch64'], ['armhf', 'qemu-arm'],
	['ppc64el', 'qemu-ppc64le -cpu power9']);

# PMUs without a table in Debian's libpfm4 4.13: their events are raw or sysfs
# codes, and the names beside those are of later versions.
my %has_no_table = map { $_ => 1 } qw(adl_glc adl_grt arm_ac72 arm_ac76 armv5_xscale apple_m1
	adl_unc_imc icx_unc_imc spr_unc_imc client_unc_imc amd_l3 amd_df amd_umc perf);

my %sound_on;

sub check
{
	my ($arch, $command) = @_;
	my @lines = split /\n/, `$command 2>&1`;
	my $status = $?;
	my @broken = grep { /^broken:/ } @lines;
	my ($summary) = grep { /^\d+ PMUs, / } @lines;

	is($status, 0, "$arch: the checker succeeds");
	is(scalar @broken, 0, "$arch: " . ($summary // 'no summary'));
	diag($_) for @broken;
	my ($pmus) = ($summary // '') =~ /^(\d+) PMUs.*: 0 broken$/;
	cmp_ok($pmus // 0, '>=', 80, "$arch: at least 80 PMUs");
	for (@lines) {
		$sound_on{$1}{$arch} = $2 eq 'sound' if /^(\S+)\s+\d+ presets  (.+)$/;
	}
}

check(@native);
SKIP: {
	if (open my $file, '<', "$dir/missing") {
		chomp(my $why = <$file>);
		skip("the other four architectures: $why", 1);
	}
	check($_->[0], "$_->[1] $dir/check-$_->[0]") for @foreign;
	my @unchecked = grep { my $pmu = $_; !grep { $_ } values %{$sound_on{$pmu}} }
		sort keys %sound_on;
	is("@unchecked", '', 'each PMU is sound on at least one architecture');
	my @everywhere = grep { my $pmu = $_; 5 == grep { $_ } values %{$sound_on{$pmu}} }
		sort keys %sound_on;
	is("@everywhere", join(' ', sort keys %has_no_table),
		'what every libpfm4 accepts is raw, sysfs or of the kernel');
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The tables of the systems that came before, as a user of today sees them: Arm's guide
# to L2 effectiveness on the Neoverse N2, and the modes of the XScale's performance
# monitor.  Each column has a number or says why not; what is derived is what the manual
# derives.  The counts themselves are neoverse.t's and timing.t's.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

# One run, as text and as data.
sub table
{
	my ($machine, $groups, $events, @program) = @_;
	my ($json, $text) = map { scratch("table.$_") } qw(json txt);
	my $run = run(command => [cli(), '-E', 'sim', '-m', $machine, '-g', $groups, '-e', join(',', @$events),
		'-o', $json, '-o', $text, @program]);
	my $report = decode_json(read_file($json) // '{}');

	ok($report->{schema}, "$machine, $groups: a report") || diag($run->{err});
	$text = read_file($text) // '';
	note($text =~ s/.*?^ran .*?\n\n//msr =~ s/^limits .*//msr);
	return ($report, $text);
}

sub commas { return scalar reverse(reverse($_[0]) =~ s/(\d{3})(?=\d)/$1,/gr) }

# Every column asked for is a number, or has a reason; no number is without the other.
sub ok_columns
{
	my ($region, $what) = @_;
	my %all = (%{$region->{counts}}, %{$region->{metrics}});
	my @mute = grep { !defined $all{$_}{value} && !$all{$_}{reason} } sort keys %all;

	is("@mute", '', "$what: nothing is without a reason");
	for my $name (grep { !defined $all{$_}{value} } sort keys %all) {
		note("$what: no $name: $all{$name}{reason}");
	}
	return grep { !defined $all{$_}{value} } sort keys %all;
}

# The row of the text has each of the numbers.
sub ok_row
{
	my ($text, $row, $region, $what, @events) = @_;
	my %there = map { $_ => 1 } map { split } $text =~ /^ *\Q$row\E +(.*)$/mg;
	my @lost = grep { my $number = commas($region->{counts}{$_}{value} // 'none');
		!$there{$number} && !$there{"~$number"} } @events;

	is("@lost", '', "$what: the text has each count");
}

# ---- Arm Neoverse N2: L2 cache effectiveness ----

my @l2 = qw(L2D_CACHE L2D_CACHE_REFILL L2D_CACHE_REFILL_RD L2D_CACHE_REFILL_WR L2D_CACHE_WR
	L2D_CACHE_RD L1D_CACHE_WR INST_RETIRED L2D_CACHE_WB L2D_CACHE_WB_VICTIM BUS_ACCESS
	BUS_ACCESS_RD BUS_ACCESS_WR REMOTE_ACCESS);

for my $row (['clean', 1], ['clean', 3], ['clean', 8], ['clean', 9], ['dirty', 8], ['loads', 7]) {
	my $what = "Neoverse, @$row bases";
	my ($report, $text) = table('neoverse-n2', 'l2-effectiveness', \@l2, program('neoverse'), @$row);
	my $guide = region($report, 'guide');
	my %n = map { $_ => value($guide, $_) } @l2;
	my %wanted = (
		bus_accesses => $n{BUS_ACCESS}, bus_reads => $n{BUS_ACCESS_RD}, bus_writes => $n{BUS_ACCESS_WR},
		l2_writebacks => $n{L2D_CACHE_WB}, l2_misses => $n{L2D_CACHE_REFILL}, l1d_stores => $n{L1D_CACHE_WR});
	my @without = ok_columns($guide, $what);

	# its memory is one socket's; and shares of nothing, where there is nothing
	my @zero = (($n{L2D_CACHE_WB} ? () : 'l2_wb_victim_share'), ($n{L2D_CACHE_WR} ? () : 'l2_write_miss_ratio'));
	my %may = map { $_ => 1 } @zero, qw(remote_accesses remote_pki remote_share l2_write_miss_ratio
		l2_read_miss_ratio);
	is(join(' ', grep { !$may{$_} } @without), '', "$what: all others have numbers");
	is(join(' ', grep { !defined $n{$_} } @l2), '', "$what: each event of the table has a number");
	ok_row($text, 'guide', $guide, $what, @l2);
	is(value($guide, $_), $wanted{$_}, "$what: $_ is its event") for sort keys %wanted;
	is($n{BUS_ACCESS}, $n{BUS_ACCESS_RD} + $n{BUS_ACCESS_WR}, "$what: the bus reads or writes");
	is($n{BUS_ACCESS_WR}, 2 * $n{L2D_CACHE_WB}, "$what: what is written back takes two beats");
	is($guide->{metrics}{bus_beats_per_refill}{value}, 2, "$what: and what is read") if $n{L2D_CACHE_REFILL};
	is($n{REMOTE_ACCESS}, 0, "$what: one socket");
	like($guide->{metrics}{remote_share}{reason}, qr/has no sockets in its file/, "$what: which is said");
}

# ---- Intel XScale: seven modes of two counters, and one of four ----

my @modes = (
	['icache', [qw(0x7 0x0)], l1i_miss_rate => sub { $_[0]{'0x0'} / $_[0]{'0x7'} },
		cpi => sub { $_[0]{cycles} / $_[0]{'0x7'} }],
	['dcache', [qw(0xA 0xB)], l1d_miss_ratio => sub { $_[0]{'0xB'} / $_[0]{'0xA'} }],
	['fetch-latency', [qw(0x1 0x0)], ifetch_latency => sub { $_[0]{'0x1'} / $_[0]{'0x0'} },
		ifetch_stall_share => sub { $_[0]{'0x1'} / $_[0]{cycles} }],
	['buffer-full', [qw(0x8 0x9)], fb_full_duration => sub { $_[0]{'0x8'} / $_[0]{'0x9'} },
		fb_full_share => sub { $_[0]{'0x8'} / $_[0]{cycles} }],
	['stall-writeback', [qw(0x2 0xC 0xB)], l1d_half_wb_per_miss => sub { $_[0]{'0xC'} / 2 / $_[0]{'0xB'} }],
	['itlb', [qw(0x7 0x3)], itlb_miss_rate => sub { $_[0]{'0x3'} / $_[0]{'0x7'} }],
	['dtlb', [qw(0xA 0x4)], dtlb_miss_ratio => sub { $_[0]{'0x4'} / $_[0]{'0xA'} }],
	['dcache-four', [qw(0xA 0xB 0xC 0x9)], l1d_hit_ratio => sub { 1 - $_[0]{'0xB'} / $_[0]{'0xA'} },
		l1d_half_wb_per_miss => sub { $_[0]{'0xC'} / 2 / $_[0]{'0xB'} },
		fb_full_per_request => sub { $_[0]{'0x9'} / $_[0]{'0xA'} }],
);
my %time = map { $_ => 1 } qw(0x1 0x2 0x8 0x9 cpi ifetch_latency ifetch_stall_share fb_full_duration
	fb_full_share fb_full_per_request);
for (@modes) {
	my ($mode, $events, %derived) = @$_;
	# "timed" has loops that fill all buffers
	my ($report, $text) = table('ixp45x', $mode, [@$events, 'cycles'], program('timed'), 60);
	my $all = region($report);
	my %n = map { $_ => value($all, $_) } @$events, 'cycles';

	ok_columns($all, $mode);
	is(join(' ', grep { !defined $n{$_} } @$events), '', "$mode: each of its events has a number");
	is(join(' ', grep { !$n{$_} } @$events), '', "$mode: and counts something");
	ok_row($text, 'whole run', $all, $mode, @$events);
	for my $name (sort keys %derived) {
		is_near($all->{metrics}{$name}{value}, $derived{$name}->(\%n), "$mode: $name");
	}
	for my $name (grep { exists $time{$_} } @$events, sort keys %derived) {
		my $it = $all->{counts}{$name} // $all->{metrics}{$name};
		is($it->{status}, 'estimated', "$mode: $name is the model's");
	}
}

# 0xD counts branches, which the simulated PMU does not; 0x10 to 0x17 are reserved.
{
	my ($report) = table('ixp45x', 'icache', ['0xD'], '/bin/true');
	my $all = region($report);

	is($all->{counts}{'0xD'}{value}, undef, '0xD has no number');
	like($all->{counts}{'0xD'}{reason}, qr/needs what the simulated PMU does not count/, '0xD says why');
	my $run = run(command => [cli(), qw(-E sim -m ixp45x -e 0x10 /bin/true)]);
	is(status_text($run->{status}), 'exit 2', '0x10 is refused');
	like($run->{err}, qr/there is no event "0x10"/, 'and named');
}

done_testing;

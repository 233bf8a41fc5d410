# SPDX-License-Identifier: MIT
# Laws that the counts of every report obey, whatever was run: Peek.pm holds each report
# that a test has made against them.  A law that is broken fails the test; one that
# holds says nothing, so that plans stay what they were.
package Laws;
use strict;
use warnings;
use Test::More;

# Counts that were made, not estimated or scaled.
my %certain = (exact => 1, simulated => 1);

sub count
{
	my ($region, $name, $which) = @_;
	my $count = $region->{counts}{$name};
	return undef unless $count && $certain{$count->{status}};
	return $count->{$which || 'value'};
}

sub sum
{
	my ($region, $names) = @_;
	my $sum = 0;
	for my $name (split(/ \+ /, $names)) {
		my $n = count($region, $name);
		return undef unless defined $n;
		$sum += $n;
	}
	return $sum;
}

# On the simulated PMU: what is counted on hardware need not be of one kind.
my @laws = (
	# a reference misses once
	['l1d_load_misses', '<=', 'l1d_loads'],
	['l1d_store_misses', '<=', 'l1d_stores'],
	['l1d_misses', '<=', 'l1d_accesses'],
	['l1d_load_misses + l1d_store_misses', '==', 'l1d_misses'],
	['l1d_loads + l1d_stores', '==', 'l1d_accesses'],
	['dtlb_misses', '<=', 'l1d_accesses'],
	['dtlb_fills', '<=', 'dtlb_accesses'],
	['dtlb_load_misses + dtlb_store_misses', '==', 'dtlb_misses'],
	['l1i_misses', '<=', 'l1i_accesses'],
	['itlb_misses', '<=', 'l1i_accesses'],
	['l2_misses', '<=', 'l2_accesses'],
	['llc_misses', '<=', 'llc_accesses'],
	# and lacks a line or page, perhaps two
	['l1d_load_misses', '<=', 'l1d_load_lines'],
	['l1d_store_misses', '<=', 'l1d_store_lines'],
	['dtlb_misses', '<=', 'dtlb_fills'],
	['dtlb_l2_hits + dtlb_walks', '==', 'dtlb_fills'],
	['itlb_l2_hits + itlb_walks', '==', 'itlb_misses'],
	['l2_load_lines', '<=', 'l2_accesses'],
	# memory serves what the last level lacks, and what was prefetched
	['llc_misses', '<=', 'memory_lines'],
	['beyond_l2_fills', '<=', 'l2_accesses + l2_prefetches'],
);

# The names that they speak of.
sub names
{
	my %names = map { $_ => 1 } map { map { split(/ \+ /) } @$_[0, 2] } @laws;
	return sort keys %names;
}

sub laws { return @laws }

sub broken_laws
{
	my ($region) = @_;
	my @broken;
	for my $law (@laws) {
		my ($left, $relation, $right) = @$law;
		my ($x, $y) = (sum($region, $left), sum($region, $right));
		next unless defined $x && defined $y;
		push(@broken, "$left ($x) $relation $right ($y)")
			unless $relation eq '==' ? $x == $y : $x <= $y;
	}
	return @broken;
}

# The time model gives a walk to the region that it begins in, where two may be under way at
# the end: their share of the region's cycles.
sub walks_left
{
	my ($region) = @_;
	my ($walks, $cycles, $all) = map { ($region->{counts}{$_} || {})->{value} } qw(dtlb_walks dtlb_walk_cycles cycles);
	return $walks && $cycles && $all ? 2 * $cycles / $walks / $all : 0;
}

# Shares, and misses of what was asked for; others are so much per something else.
sub broken_ratios
{
	my ($region) = @_;
	my @broken;
	for my $name (sort grep { /_(?:ratio|share)$|^frac_/ } keys %{$region->{metrics}}) {
		my $metric = $region->{metrics}{$name};
		next if ($metric->{unit} // '') ne 'ratio' || !defined $metric->{value};
		next if $name =~ /^load_to_store|^remote_share/;
		my $most = $name =~ /_walk_share$/ ? 1 + walks_left($region) : 1;
		push(@broken, "$name is $metric->{value}") if $metric->{value} < 0 || $metric->{value} > $most + 1e-9;
	}
	return @broken;
}

# All bytes between levels are lines of one size.
sub broken_volumes
{
	my ($region) = @_;
	my %lines = (l2_volume => 'l1d_fills + l1d_writebacks', l3_volume => 'beyond_l2_fills + l2_writebacks',
		mem_volume => 'memory_lines + llc_writebacks');
	my (%size, @broken);
	for my $name (sort keys %lines) {
		my $volume = ($region->{metrics}{$name} || {})->{value};
		my $lines = sum($region, $lines{$name});
		next unless defined $volume && defined $lines;
		push(@broken, "$name: $volume of $lines lines") if !$lines != !$volume;
		$size{sprintf('%.4f', 1e9 * $volume / $lines)} = 1 if $lines && $volume > 1e-5;
	}
	push(@broken, 'lines of ' . join(', ', sort keys %size) . ' bytes') if keys %size > 1;
	return @broken;
}

sub has_flag
{
	my ($region, $flag) = @_;
	return scalar grep { $_ eq $flag } @{$region->{flags} || []};
}

# Ranges lie across others, beside the regions of their thread.
sub overlaps
{
	my ($region) = @_;
	return has_flag($region, 'overlapping');
}

# Names may be empty.
sub key { return join("\0", scalar(@_), @_) }

# The cost of a pair of boundaries at the start is taken away from every pair, but where a
# tracer looks on, each switches as often, and takes as long, as the scheduler likes.
my %of_boundaries = ('perf::CONTEXT-SWITCHES' => 1, map { $_ => 1 } qw(task_clock perf::TASK-CLOCK perf::CPU-CLOCK));

# Inclusive is exclusive and what the regions right inside have.
sub broken_sums
{
	my ($regions) = @_;
	my (%inside, @broken);
	for my $region (@$regions) {
		my @path = @{$region->{path}};
		next if !@path || overlaps($region);
		pop(@path);
		push(@{$inside{key(@path)}}, $region);
	}
	for my $region (grep { !overlaps($_) } @$regions) {
		my @children = @{$inside{key(@{$region->{path}})} || []};
		for my $name (sort keys %{$region->{counts}}) {
			my ($all, $own) = map { count($region, $name, $_) } qw(value exclusive);
			my @of_children = map { count($_, $name) } @children;
			next if !defined $all || !defined $own || grep { !defined } @of_children;
			next if $of_boundaries{$name};
			$own += $_ for @of_children;
			push(@broken, "$name is $all, of its parts $own") if $all != $own;
		}
	}
	return @broken;
}

# Threads make up the whole, of all processes and ranks.
sub broken_wholes
{
	my ($report) = @_;
	my (%sum, %whole, %unknown, @broken);
	for my $thread (map { @{$_->{threads} || []} } @{$report->{processes} || []}) {
		for my $region (@{$thread->{regions}}) {
			my $path = key(@{$region->{path}});
			for my $name (keys %{$region->{counts}}) {
				my $n = count($region, $name);
				$unknown{"$path $name"} = 1 unless defined $n;
				$sum{"$path $name"} += $n // 0;
			}
		}
	}
	# Names that differ only in what a report cannot show have one path.
	for my $region (@{$report->{regions}}) {
		my $path = key(@{$region->{path}});
		for my $name (keys %{$region->{counts}}) {
			my $n = count($region, $name);
			$unknown{"$path $name"} = 1 unless defined $n;
			$whole{"$path $name"} += $n // 0;
		}
	}
	for my $what (sort keys %whole) {
		next if $unknown{$what} || !defined $sum{$what};
		push(@broken, join('/', split(/\0/, $what)) . " is $whole{$what}, of threads $sum{$what}")
			if $whole{$what} != $sum{$what};
	}
	return @broken;
}

# The laws that are broken, in words.
sub broken
{
	my ($report) = @_;
	my @broken = (broken_sums($report->{regions} || []), broken_wholes($report));
	my @threads = map { @{$_->{threads} || []} } @{$report->{processes} || []};
	push(@broken, broken_sums($_->{regions})) for @threads;
	return @broken unless ($report->{engine}{name} // '') eq 'sim';
	for my $region (map { @{$_->{regions} || []} } $report, @threads) {
		my $where = join('/', @{$region->{path}}) || 'whole run';
		push(@broken, map { "$where: $_" } broken_laws($region), broken_ratios($region), broken_volumes($region));
	}
	return @broken;
}

sub hold
{
	my ($report) = @_;
	my @broken = broken($report) or return;
	local $Test::Builder::Level = $Test::Builder::Level + 2;
	fail('the laws that counts obey');
	diag(join("\n", @broken > 10 ? (@broken[0 .. 9], '...') : @broken));
}

1;

# SPDX-License-Identifier: MIT
#
# Reads a PID-N.profile (tools/sim/profile_file.h).
package Profile;
use strict;
use warnings;
use Exporter 'import';
use Sim;

our @EXPORT = qw(profile_read profile_sums counter_names);

# The counters' names, in their order, and which of them are kept by instruction.
sub counter_names {
	my $text = slurp("$Sim::ROOT/tools/sim/request.h");
	my @names = $text =~ /^\tX\(([a-z]\w*),/mg;
	my ($first) = grep { $names[$_] eq 'l1i_misses' } 0 .. $#names;
	my ($last) = grep { $names[$_] eq 'dtlb_store_misses' } 0 .. $#names;

	return (\@names, $first, $last);
}

# {pid, lost, threads => {ID => {tid, count => {}}}, modules => {ID => {}},
# sites => [{thread, module, instruction, count => {}}],
# objects => [{data, thread, module, address, size, blocks, count => {}}],
# paths => {ID => {parent, thread, module, function, calls, folded, passage, count => {}}}}
sub profile_read {
	my ($path) = @_;
	my ($names, $first, $last) = counter_names();
	my @kept = @$names[$first .. $last];
	my $bytes = slurp($path);
	my ($magic, $version, undef, $pid, $line, $page, undef, undef, undef, undef, undef, undef, undef,
		@lost) = unpack('a8 L L l L L L LL LL Q Q Q' . @kept, $bytes);
	my $lost = 0;
	$lost += $_ for @lost;
	my %profile = (pid => $pid, lost => $lost, sites => [], chunks => length($bytes) >> 18);
	my $at = 32 + 32 + 8 * @kept + 4 * 8 + 5 * 8 + 12 * 8 + 2 * 8 + 8 * 4;

	die "$path is no profile" unless $magic eq 'cpeekprf' && $version == 18;
	while ($at + 8 <= length $bytes) {
		my ($kind, $size) = unpack('L L', substr($bytes, $at, 8));
		my $entry = substr($bytes, $at + 8, $size - 8) if $size;

		if ($kind == 1) {
			my ($id, $tid, @count) = unpack('L l Q*', $entry);
			my %count;
			@count{@$names} = @count;
			$profile{threads}{$id} = {tid => $tid, count => \%count};
		} elsif ($kind == 2) {
			my ($id, undef, $start, $end, $offset, undef, $path) =
				unpack('L L Q Q Q a32 Z*', $entry);
			$profile{modules}{$id} =
				{start => $start, end => $end, offset => $offset, path => $path};
		} elsif ($kind == 3) {
			my ($thread, $module, $instruction, $part, @count) = unpack('L L Q Q Q*', $entry);
			my %count;
			@count{@kept} = @count;
			push @{$profile{sites}}, {thread => $thread, module => $module,
				instruction => $instruction, part => $part, count => \%count};
		} elsif ($kind == 4) {
			my ($data, $thread, $module, undef, $address, $size, $blocks, @count) =
				unpack('L L L L Q Q Q Q*', $entry);
			my %count;
			@count{@kept} = @count;
			push @{$profile{objects}}, {data => $data, thread => $thread,
				module => $module, address => $address, size => $size,
				blocks => $blocks, count => \%count};
		} elsif ($kind == 7) {
			my ($id, $parent, $thread, $module, $function, $calls, $folded, $passage, @count) =
				unpack('L L L L Q Q Q Q Q*', $entry);
			my %count;
			@count{@$names} = @count;
			$profile{paths}{$id} = {parent => $parent, thread => $thread, module => $module,
				function => $function, calls => $calls, folded => $folded,
				passage => $passage, count => \%count};
		}
		$at = $kind ? $at + $size : (($at >> 18) + 1) << 18;
	}
	return \%profile;
}

# By thread and counter, of paths or sites.
sub profile_sums {
	my %sum;

	for my $row (@_) {
		$sum{$row->{thread}}{$_} += $row->{count}{$_} for keys %{$row->{count}};
	}
	return \%sum;
}

1;

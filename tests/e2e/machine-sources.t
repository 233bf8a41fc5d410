#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Each figure of the machines that come with the library says where it is from
# (cachepeek-machines(5), Sources): a comment on its line names a source that the head
# of the file describes, or says that the figure is assumed or chosen.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

# The subjects of clauses, and how each looks in a value.  A subject in @own is nobody's
# geometry: it has a clause of its own.
my %looks = (size => qr/^\d+[KMG]\b/, entries => qr/^\d+ \d+/, ways => qr/^\S+ \d+/,
	line => qr/^\S+ \d+ \d+/, latency => qr/\blatency=/, prefetch => qr/\bprefetch=/,
	numbers => qr/\bprefetch=\S+:\d/, shared => qr/\bshared=/, policy => qr/^\d+[KMG]? \d+/, duel => qr/\bduel=/, inclusion => qr/^\d+[KMG] /);
my @own = qw(latency prefetch duel);

# The sources that the head of a file describes: "#   NAME: what it is".
sub sources
{
	my ($text) = @_;
	return map { $_ => 1 } $text =~ /^#   ([a-z0-9][a-z0-9-]*): \S/mg;
}

# The faults of the clauses of one line, "SOURCE; FIGURE SOURCE; ...".
sub faults
{
	my ($value, $comment, $known) = @_;
	my ($first, @others) = split(/; /, $comment);
	my (%about, @faults);

	return 'no source' if !defined $first;
	for my $clause (@others) {
		my ($figure, $source) = $clause =~ /^([a-z]+) (\S+)$/;
		push(@faults, "what is \"$clause\"?") && next if !defined $figure;
		push(@faults, "the value has no $figure") if $value !~ ($looks{$figure} // qr/(?!)/);
		push(@faults, "$figure twice") if $about{$figure}++;
	}
	for my $source (map { s/^[a-z]+ //r } $first, @others) {
		push(@faults, "nothing describes \"$source\"") if !$known->{$source};
		$known->{$source}++;
	}
	for my $figure (@own) {
		push(@faults, "no source for its $figure") if $value =~ $looks{$figure} && !$about{$figure};
	}
	return @faults;
}

# Levels that time hangs on, and that reports have to call assumed: the key "assumed" names it.
my $level = qr/^(?:l1d|l2|llc|stlb|[id]tlb2)$/;
my $timed = qr/^(?:\S+-latency|prefetch-distance|clock-mhz|\S+-buffers|width|window|\S+-ports|walkers)$/;

sub assumed_by
{
	my ($key, $comment) = @_;
	return $key =~ s/^[id]tlb2$/stlb/r if $key =~ $level && $comment =~ /; latency assumed$/;
	return $key =~ $timed && $comment eq 'assumed' ? $key : ();
}

# The faults of a file, each with its line.
sub all_faults
{
	my ($text) = @_;
	my %known = (sources($text), assumed => 2, chosen => 2);
	my ($named) = $text =~ /^assumed = (.*)/m;
	my (@faults, @assumed);

	for my $line (split(/\n/, $text)) {
		my ($key, $value, $comment) = $line =~ /^(\S+) = (.*?)\s*(?:# (.*))?$/ or next;
		next if $key =~ /^(?:like|pmu|events|assumed)$/; # names
		push(@faults, map { "$line: $_" } faults($value, $comment // '', \%known));
		push(@assumed, grep { my $name = $_; !grep { $_ eq $name } @assumed } assumed_by($key, $comment // ''));
	}
	push(@faults, "assumed = @assumed, not " . ($named // '')) if "@assumed" ne ($named // '');
	push(@faults, map { "the source $_ is of nothing" } sort grep { $known{$_} < 2 } keys(%known));
	return @faults;
}

for my $file (glob(source() . '/base/machines/*.machine')) {
	my ($name) = $file =~ m{([^/]+)\.machine$};
	my @faults = all_faults(read_file($file));

	is(scalar(@faults), 0, "$name: each figure has its source") or diag(join("\n", @faults));
}

# ---- the test itself: what it has to find ----

my $head = "# Sources:\n#   manual: a manual\n";
for my $case (['cores = 1', 'no source'], ['cores = 1 # guess', 'nothing describes'],
	['l2 = 1M 8 64 latency=9 # manual', 'its latency'],
	['l2 = 1M 8 64 # manual; latency manual', 'has no latency'],
	['l1d = 1M 8 64 prefetch=next-line # manual', 'its prefetch'],
	['dtlb = none # manual; ways manual', 'has no ways'],
	['cores = 1 # assumed', 'manual is of nothing'],
	["l2 = 1M 8 64 latency=9 # manual; latency assumed\nassumed = memory-latency", 'assumed = l2, not'],
	["memory-latency = 9 # manual\nassumed = memory-latency", 'assumed = , not'],
	['cores = 1 # manual; and so on', 'what is']) {
	my ($line, $why) = @$case;
	like(join("\n", all_faults("$head$line\n")), qr/\Q$why\E/, "found: $line");
}
for my $line ('stlb = 512 4 latency=7 # manual; latency assumed', 'window = 9 # assumed', 'store-ports = 1 # assumed') {
	like(join("\n", all_faults("${head}cores = 1 # manual\n$line\n")), qr/assumed = \S+, not/, "found: $line");
}
is(scalar(all_faults("${head}l2 = 1M 8 64 latency=9 # manual; ways assumed; latency assumed\nassumed = l2\n")), 0,
	'and nothing else');

done_testing;

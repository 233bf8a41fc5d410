# SPDX-License-Identifier: MIT
package Json;

# decode_json and encode_json, compiled ones: half of the time of many tests was that of
# JSON::PP.  A key that an object has twice is an error.  Reports of many regions
# (cachepeek-report/2) have what they leave out since it is usual, as version 1 has it;
# decode_as_is has a document as it is written.
use strict;
use warnings;
use Cpanel::JSON::XS ();
use Exporter 'import';

our @EXPORT = qw(decode_json decode_as_is encode_json);

my $coder = Cpanel::JSON::XS->new->utf8->allow_nonref;

sub true { return Cpanel::JSON::XS::true() }

sub false { return Cpanel::JSON::XS::false() }

sub decode_as_is { return $coder->decode($_[0]) }

# Over the executions, and over threads, if it does not say otherwise.
sub fill_in_calls
{
	my ($value, $calls) = @_;
	return if exists $value->{per_call};
	my $each = defined $value->{value} && $calls ? $value->{value} / $calls : undef;
	$value->{per_call} = defined $each ? {min => $each, max => $each, mean => $each, stddev => 0} : undef;
}

sub fill_in_extent
{
	my ($value, $at) = @_;
	my $of = $value->{value};
	return if !defined $of || exists $value->{min};
	%$value = (%$value, min => $of, max => $of, mean => $of, stddev => 0, $of > 0 ? (imbalance => 1) : (),
		min_at => $at, max_at => $at);
}

sub fill_in_counts
{
	my ($counts, $usual, $calls) = @_;
	for my $name (keys %$counts) {
		my $value = $counts->{$name};
		%$value = (exclusive => $value->{value}, %{$usual->{$name}}, %$value);
		delete $value->{scope} if exists $value->{scope} && !defined $value->{scope};
		fill_in_calls($value, $calls);
	}
}

sub fill_in_region
{
	my ($region, $usual) = @_;
	my ($metrics, $at) = ($region->{metrics}, delete $region->{at});
	$region->{time_s} = {%{$usual->{time_s}}, %{$region->{time_s}}};
	fill_in_counts($region->{counts}, $usual->{counts}, $region->{calls});
	%{$metrics->{$_}} = (%{$usual->{metrics}{$_}}, %{$metrics->{$_}}) for keys %$metrics;
	return unless $at;
	fill_in_extent($_, $at) for values(%{$region->{counts}}), values(%$metrics);
}

# The region of the only thread, which has nothing over threads.
sub of_thread
{
	my ($region) = @_;
	my %made = %$region;
	delete @made{qw(threads ranks entered_by)};
	$made{flags} = [grep { $_ ne 'short' } @{$region->{flags}}] if $region->{flags};
	for my $kind (qw(counts metrics)) {
		my $all = $region->{$kind};
		$made{$kind} = {map { $_ => {%{$all->{$_}}} } keys %$all};
		delete @$_{qw(min max mean stddev imbalance min_at max_at)} for values %{$made{$kind}};
	}
	return \%made;
}

sub fill_in
{
	my ($report) = @_;
	my $usual = delete $report->{usual} or return;
	fill_in_region($_, $usual) for @{$report->{regions}};
	for my $process (@{$report->{processes}}) {
		fill_in_counts($process->{$_}{counts}, $usual->{counts}, 0) for qw(whole_process unattributed);
		for my $thread (@{$process->{threads}}) {
			fill_in_region($_, $usual) for @{$thread->{regions} || []};
			$thread->{regions} ||= [map { of_thread($_) } @{$report->{regions}}];
		}
	}
}

sub decode_json
{
	my $document = decode_as_is($_[0]);
	fill_in($document) if ref $document eq 'HASH' && ($document->{schema} || '') eq 'cachepeek-report/2';
	return $document;
}

sub encode_json { return $coder->encode($_[0]) }

1;

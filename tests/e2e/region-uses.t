#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Nested, recursive, too deep, left, ended elsewhere, paused, left open: what the
# manual says happens, to the page fault.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

need_perf();
my $faults = 'perf::PAGE-FAULTS';
my ($before, $run) = map { peek(engine => 'perf', events => $faults,
	command => [program('region_uses'), $_]) } 2, 3;
my $report = $run->{report} or BAIL_OUT($run->{err});
my ($main) = threads_named($report, 'region_uses');
my ($less) = threads_named($before->{report}, 'region_uses');

# The counts that the third pass added.
sub added
{
	my ($path, @which) = @_;
	return (value(region($main, @$path), $faults, @which) || 0)
		- (value(region($less, @$path), $faults, @which) || 0);
}

sub flags { join(' ', @{(region($main, @_) || {})->{flags} || []}) =~ s/ ?short//r }
sub ok_region
{
	my ($what, $path, $calls, $value, $exclusive) = @_;
	my ($region, $other) = map { region($_, @$path) || {calls => 0} } $main, $less;
	is($region->{calls} - $other->{calls}, $calls, "$what: executions");
	is(added($path), $value, "$what: pages, with what is inside");
	is(added($path, 'exclusive'), $exclusive, "$what: and without");
}

ok_region('nested', ['all', 'nested'], 1, 11, 1);
ok_region('inside', ['all', 'nested', 'inner'], 4, 10, 10);
is_deeply({map { $_ => region($main, qw(all nested inner))->{counts}{$faults}{per_call}{$_} } qw(min max mean)},
	{min => 1, max => 4, mean => 2.5}, 'inside: least, most and mean of an execution');
cmp_ok(abs(region($main, qw(all nested inner))->{counts}{$faults}{per_call}{stddev} - sqrt(15 / 11)), '<', 1e-9,
	'inside: and their spread');
ok_region("again, $_ deep", ['all', ('again') x $_], 1, 6 - $_, 1) for 1 .. 5;
ok_region('deep', ['all', 'deep'], 1, 3, 0);
ok_region('deep, the last path', ['all', ('deep') x 249], 1, 3, 3);
is(flags('all', ('deep') x 249), 'deeper', 'deep: it says that there is more');
is(region($main, 'all', ('deep') x 250), undef, 'deep: and no path below');
ok_region('left by longjmp', ['all', 'lands', 'left by longjmp'], 1, 3, 3);
is(flags('all', 'lands', 'left by longjmp'), 'wrong_name', 'left by longjmp: closed by the one around it');
ok_region('what it lands in', ['all', 'lands'], 1, 3, 0);
is(added(['all', 'paused']), 1, 'paused: without what was touched meanwhile');
is(flags('open'), 'left_open', 'left open: and says so');
my @stray = grep { grep { ($_ || '') eq 'end_without_begin' } @{region($_)->{flags} || []} }
	map { @{$_->{threads}} } @{$report->{processes}};
is(scalar(@stray), 3, 'ended elsewhere: the other threads had no begin');
is(region($main, 'all', 'elsewhere')->{calls}, 3, 'ended elsewhere: where it began it ends once');
is(scalar(@{$report->{warnings}}), 3, 'one line for each kind of misuse') or diag(@{$report->{warnings}});

# Always: inclusive is exclusive and the children.
for my $thread (map { @{$_->{threads}} } @{$report->{processes}}) {
	my %inside;
	for my $region (grep { @{$_->{path}} } @{$thread->{regions}}) {
		my @path = @{$region->{path}};
		pop(@path);
		$inside{join("\0", @path)} += value($region, $faults);
	}
	my @wrong = grep { value($_, $faults) != value($_, $faults, 'exclusive') +
		($inside{join("\0", @{$_->{path}})} || 0) } @{$thread->{regions}};
	is(scalar(@wrong), 0, "thread $thread->{name}: inclusive is exclusive and children in all regions");
}

# An execution that was unlike the others shows on the page.
{
	my $pages = peek(engine => 'perf', events => $faults, output => 'stderr',
		command => [program('region_pages'), 1000, 0]);
	my $many = peek(engine => 'perf', events => $faults, output => 'stderr', command => [program('region_outlier')]);
	like($many->{err}, qr/^step: uneven: one of 10 executions had 500 \Q$faults\E; mean 51, least 1$/m,
		'the one execution that was slow is named');
	unlike($pages->{err}, qr/uneven: one of/, 'where there is none, none is');
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The laws that every report is held against (Laws.pm): a real report keeps them, and
# with one number changed breaks the one that is about it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Laws;
use Peek;
use Test::More;

my @laws = Laws::laws();
my %names = map { $_ => 1 } map { split(/ \+ /, $_) } map { @{$_}[0, 2] } @laws;
my $json = peek(engine => 'sim', machine => 'skylake-sp', command => [program('region_threads')],
	groups => 'l2,l3,mem,cache', events => join(',', sort keys %names))->{json};

# A report like that; and the region in which numbers are changed.
sub intact { return decode_json($json) }
sub busiest { return region($_[0]) }

is_deeply([Laws::broken(intact())], [], 'a real report breaks no law');

# ---- counts that belong together ----

# With the counts of this law alone, others have nothing to say.
for my $law (@laws) {
	my ($left, $relation, $right) = @$law;
	my $what = "$left $relation $right";
	my %counts = map { $_ => 1 } split(/ \+ /, "$left + $right");
	my $region = busiest(intact());
	delete @{$region->{counts}}{grep { !$counts{$_} } keys %{$region->{counts}}};
	is(keys %{$region->{counts}}, keys %counts, "$what: the report has its counts") or next;
	is_deeply([Laws::broken_laws($region)], [], '... which keep it');
	my ($changed) = split(/ \+ /, $left);
	my $count = $region->{counts}{$changed};
	$count->{value} += Laws::sum($region, $right) - Laws::sum($region, $left) + 1;
	like(join("\n", Laws::broken_laws($region)), qr/^\Q$left\E \(\d+\) $relation \Q$right\E \(\d+\)\z/, '... or break it by 1');
	if ($relation eq '==') {
		$count->{value} -= 2;
		is(scalar(() = Laws::broken_laws($region)), 1, '... to either side');
	}
	$count->{status} = 'estimated';
	is_deeply([Laws::broken_laws($region)], [], '... but for an estimate');
}

# The text that Laws::broken gives of the report after a change.
sub broken_by
{
	my ($change) = @_;
	my $report = intact();
	$change->($report);
	return join("\n", Laws::broken($report));
}

sub change
{
	my ($region, $name, $by, @which) = @_;
	$region->{counts}{$name}{$_} += $by for @which;
}

my $threads = sub { return map { @{$_->{threads}} } @{$_[0]{processes}} };
like(broken_by(sub { change($_[0]{regions}[0], 'l1d_loads', 1, 'exclusive') }), qr/\Al1d_loads is \d+, of its parts \d+\z/,
	'inclusive is what the parts have');
like(broken_by(sub { change(region(($threads->($_[0]))[1]), 'l1d_loads', 1, 'exclusive') }),
	qr/\Al1d_loads is \d+, of its parts \d+\z/, '... in each thread');
like(broken_by(sub { change(region(($threads->($_[0]))[1]), 'l2_prefetches', 1, 'exclusive', 'value') }),
	qr/\A\S+ l2_prefetches is \d+, of threads \d+\z/, 'threads make up the whole');

# ---- metrics ----

my @ratios = grep { /_ratio$|_share$|^frac_/ } keys %{busiest(intact())->{metrics}};
ok(scalar(@ratios), 'there are ratios');
for my $name (sort @ratios) {
	like(broken_by(sub { busiest($_[0])->{metrics}{$name}{value} = $_ }), qr/\Awhole run: \Q$name\E is \Q$_\E\z/, "$name of $_") for 1.5, -0.5;
}
for my $name (qw(l2_volume l3_volume mem_volume)) {
	like(broken_by(sub { busiest($_[0])->{metrics}{$name}{value} *= 2 }), qr/\Awhole run: lines of [\d.]+, [\d.]+ bytes\z/,
		"$name: lines of another size");
	like(broken_by(sub { busiest($_[0])->{metrics}{$name}{value} = 0 }), qr/\Awhole run: $name: 0 of [1-9]\d* lines\z/,
		'... and no bytes');
}

# ---- a test that has such a report fails ----

# The result of a test of this report.
sub held
{
	my $file = write_file(scratch('held.json'), encode_json($_[0]));
	return run(command => [$^X, "-I$FindBin::Bin", '-MLaws', '-MTest::More', '-MJson', '-e',
		'local $/; Laws::hold(decode_json(<STDIN>)); pass("read"); done_testing'], stdin => $file);
}

my $broken = intact();
change($broken->{regions}[0], 'l1d_loads', 1, 'exclusive');
my $run = held($broken);
like($run->{out}, qr/^not ok 1 - the laws that counts obey$/m, 'a test with a broken report fails');
like($run->{err}, qr/^# l1d_loads is \d+, of its parts \d+$/m, '... and says why');
is(held(intact())->{out}, "ok 1 - read\n1..1\n", '... and with another says nothing');
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Names that people know from perf, PAPI and LIKWID: each is read as the preset or group
# of output/names/others.names, the report says so once, and libcachepeek(7) has the
# same table.  What an engine knows by itself keeps its meaning.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my (@rows, %of);
for (split(/\n/, read_file(source() . '/output/names/others.names'))) {
	next if /^#|^$/;
	like($_, qr/^(perf|PAPI|LIKWID) (event|group) \S+ = \S+( : \S.*)?$/, $_) or next;
	my ($tool, $kind, $name, $ours, $differs) = /^(\S+) (\S+) (\S+) = (\S+)(?: : (.*))?$/;
	push(@rows, {tool => $tool, name => $name, ours => $ours, differs => $differs,
		note => "$name: read as $ours" . (defined $differs ? " ($differs)" : '')});
	push(@{$of{$kind}}, $rows[-1]);
}
cmp_ok(scalar(@{$of{event}}), '>=', 45, 'events');
cmp_ok(scalar(@{$of{group}}), '>=', 10, 'groups');

# ---- the manual ----

{
	my ($text) = read_file(source() . '/doc/libcachepeek.7') =~ /^\.SS Names of other tools\n(.*?)(?=^\.S[SH] )/ms;
	$text =~ s/\\-/-/g;
	my (%part) = $text =~ /^(\w+):\n\.PP\n\.RS 4\n\.nf\n(.*?)^\.fi$/msg;
	is_deeply([map { my $t = $_; map { "$t: $_" } split(/\n/, $part{$t}) } qw(perf PAPI LIKWID)],
		[map { "$_->{tool}: $_->{name} = $_->{ours}" } @rows], 'libcachepeek(7) has the same table');
	my %differs;
	while ($text =~ /^\.TP\n\.BR (.*)\n(.*)\.$/mg) {
		my ($names, $how) = ($1, $2);
		$differs{$_} = lc($how) for $names =~ /([\w-]+)/g;
	}
	is_deeply(\%differs, {map { $_->{name} => lc($_->{differs}) } grep { defined $_->{differs} } @rows},
		'and says where the meanings differ');
}

# ---- events of the simulated PMU ----

my @own = sort keys %{{map { $_->{ours} => 1 } @{$of{event}}}};
my @sim = (engine => 'sim', machine => 'skylake-sp', command => [program('region_nested')]);
{
	my $run = peek(@sim, events => join(',', @own, map { $_->{name} } @{$of{event}}));
	is(status_text($run->{status}), 'exit 0', 'simulated: the program runs');
	my $counts = region($run->{report})->{counts};
	my $inner = region($run->{report}, 'outer')->{counts};
	for my $row (@{$of{event}}) {
		for my $region ($counts, $inner) {
			my ($theirs, $ours) = map { $region->{$_} } $row->{name}, $row->{ours};
			is($theirs->{value}, $ours->{value}, "$row->{name}: the counts of $row->{ours}");
			is($theirs->{status}, $ours->{status}, "$row->{name}: and its status");
		}
	}
	is(scalar(grep { !defined $counts->{$_}{value} } @own), 0, 'all of these presets are counted there')
		|| diag(explain([grep { !defined $counts->{$_}{value} } @own]));
	is_deeply([sort grep { /read as/ } @{$run->{report}{warnings}}],
		[sort map { $_->{note} } grep { $_->{name} ne $_->{ours} } @{$of{event}}], 'the report says so, once for each');
}
{
	my @spelled = qw(perf::CACHE-MISSES CACHE-MISSES:u perf::instructions:u papi_l1_dcm);
	my $run = peek(@sim, events => join(',', 'llc_misses,instructions,l1d_misses', @spelled, 'perf::CACHE-MISSES:k', 'LLC-loads'));
	my $region = region($run->{report});
	is(value($region, $spelled[0]), value($region, 'llc_misses'), 'perf:: before it');
	is(value($region, $spelled[1]), value($region, 'llc_misses'), 'capitals, and :u behind it');
	is(value($region, $spelled[2]), value($region, 'instructions'), 'both');
	is(value($region, $spelled[3]), value($region, 'l1d_misses'), 'small letters');
	for my $none ('perf::CACHE-MISSES:k', 'LLC-loads') {
		is($region->{counts}{$none}{status}, 'unavailable', "$none: not counted");
		unlike(join("\n", @{$run->{report}{warnings}}), qr/\Q$none\E: read as/, "$none: nor read as anything");
	}
}

# ---- groups ----

for my $row (@{$of{group}}) {
	my $run = peek(engine => 'sim', machine => 'zen4', groups => $row->{name}, command => ['true']);
	is_deeply([map { ref ? $_->{name} : $_ } @{$run->{report}{groups} || []}], [$row->{ours}], "-g $row->{name}: the group $row->{ours}");
	is_deeply([grep { /read as/ } @{$run->{report}{warnings}}], [$row->{note}], "-g $row->{name}: the report says so");
}

# ---- the perf engine ----

{
	my $run = peek(engine => 'perf', events => 'PAPI_TOT_INS,instructions,cache-misses', command => [program('region_nested')]);
	my $region = region($run->{report});
	my ($theirs, $ours) = map { $region->{counts}{$_} } qw(PAPI_TOT_INS instructions);
	is($theirs->{status}, $ours->{status}, 'perf: a name of PAPI is as available as the preset');
	is($theirs->{value}, $ours->{value}, 'perf: with its count');
	is($theirs->{reason}, $ours->{reason}, 'perf: or its reason');
	is_deeply([grep { /read as/ } @{$run->{report}{warnings}}], ['PAPI_TOT_INS: read as instructions'],
		'perf: which is said; a name of the kernel keeps its meaning');
}

# ---- where they are found ----

for my $row (@rows) {
	my $list = $row->{tool} eq 'LIKWID' ? 'groups' : 'presets';
	next if $row->{name} eq $row->{ours};
	my $run = run(command => [cli(), 'list', $list, $row->{name}]);
	is(status_text($run->{status}), 'exit 0', "list $list $row->{name}: is found");
	like($run->{out} =~ s/\n  (?=\S)/ /r, qr/^$row->{tool}'s \Q$row->{note}\E\n$row->{ours}: /, 'as what, and what that is');
}
unlike(run(command => [cli(), qw(list groups cache)])->{out}, qr/read as/, 'our own name is nobody else\'s');
done_testing();

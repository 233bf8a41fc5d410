#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Regions under CACHEPEEK_ENGINE=shadow: executions are exact, and what one counts is
# estimated from some that a shadow went through.
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../hook";
use JSON::PP;
use Objects;
use Peek;
use Test::More;

plan(skip_all => why_not('shadow')) if why_not('shadow');

my ($walk, $lines) = (4 * 2048 + 2, 2048); # instructions and lines of one
my %formats = map { $_ => scratch("regions.$_") } qw(json txt csv html);

# How many windows there are depends on what else the machine does: longer, until that region
# has enough of them.  Two threads may have none however long they are.
sub shadowed
{
	my ($how, $region, %more) = @_;
	my $run;
	for my $ms ("@$how" eq 'twice' ? (2000, 6000) : (2000, 6000, 18000, 40000)) {
		$run = run(command => [cli(), '-E', 'shadow', '-m', 'skylake-sp', (map { ('-o', $_) } values %formats),
				program('shadow_regions'), $ms, @$how],
			env => {CACHEPEEK_BUDGET => 20, CACHEPEEK_EVENTS => 'instructions,l1d_accesses,l1d_misses', %more});
		is($run->{status}, 0, "@$how: the program ends as it does");
		$run->{report} = decode_json(read_file($formats{json}));
		my $got = region($run->{report}, @$region);
		last if $got && ($got->{counts}{l1d_misses}{reason} // '') !~ /fewer than 10/;
	}
	return $run;
}

sub said { join("\n", map { ref($_) ? $_->{text} // '' : $_ } @{$_[0]->{report}{warnings}}) }

# Two threads leave a machine of two cores none for shadows, and others may have the rest.
sub has_windows
{
	my ($run, $region) = @_;
	return (region($run->{report}, @$region)->{counts}{instructions}{reason} // '') !~ /fewer than 10/;
}

# Three intervals, of which a million runs miss a few; and what begin and end have beside.
sub ok_count
{
	my ($run, $region, $name, $wanted, $more) = @_;
	my $got = region($run->{report}, @$region);
	my $count = $got->{counts}{$name};
	is($count->{status}, 'estimated', "@$region: $name is estimated") or return diag(explain($count), said($run));
	cmp_ok($count->{error}, '>=', 0, "@$region: $name has an interval");
	cmp_ok(abs($count->{value} - $got->{calls} * $wanted), '<=', 3 * $count->{error} + $got->{calls} * ($more + $wanted / 100),
		"@$region: $name of all executions") or diag($got->{calls} * $wanted, explain($count), said($run));
	return $count;
}

my $run = shadowed([], ['outer', 'walk']);
my ($turns) = $run->{out} =~ /^(\d+)$/m;
is(region($run->{report}, @$_)->{calls}, $turns, "@$_: executions are exact") for ['outer'], ['outer', 'small'], ['outer', 'walk'];
my $instructions = ok_count($run, ['outer', 'walk'], 'instructions', $walk, 30);
ok_count($run, ['outer', 'walk'], 'l1d_accesses', $lines, 10);
ok_count($run, ['outer', 'walk'], 'l1d_misses', $lines, 10);
my $outer = region($run->{report}, 'outer')->{counts}{instructions};
SKIP: {
	skip('outer has too few windows', 3) if $outer->{status} ne 'estimated';
	ok_count($run, ['outer'], 'instructions', $walk + 5 * (200 + 127.5) + 2, 150);
	is($outer->{exclusive}, undef, 'what is outside of nested regions is not known');
}
my $thread = (grep { join(' ', @{$_->{path}}) eq 'outer walk' } @{$run->{report}{processes}[0]{threads}[0]{regions}})[0];
like($thread->{counts}{instructions}{reason}, qr/^shadows estimate it for all threads of a process together/, 'of one thread nothing is said');
like(said($run), qr/\d+ windows are of executions of regions; \d+ more were cut before their end/, 'windows are told');
like(read_file($formats{txt}), qr/^ +walk +[\d,]+ .*~\d/m, 'text: the value is marked as an estimate');
like(read_file($formats{csv}), qr/^[^\n]*outer[^\n]*walk[^\n]*instructions,$instructions->{value},events,estimated,/m, 'CSV: value and status');
my $page = read_file($formats{html});
ok($page =~ /\b$instructions->{value}\b/ && $page =~ /"status": "estimated"[^}]*"error": @{[int($instructions->{error})]}\b/, 'a page has both');
my $diff = run(command => [cli(), 'diff', '--all', '-o', '-', $formats{json}, $formats{json}]);
like($diff->{out}, qr/walk/, 'diff compares it') or diag($diff->{out}, $diff->{err});

# All threads together.
$run = shadowed(['twice'], ['outer', 'walk']);
is(region($run->{report}, 'outer', 'walk')->{calls}, $run->{out} + 0, 'two threads: executions of both');
SKIP: {
	skip('walk has too few windows', 3) if !has_windows($run, ['outer', 'walk']);
	ok_count($run, ['outer', 'walk'], 'instructions', $walk, 30);
}

# Two threads begin a region for the first time while somebody else looks for its number.
{
	my $objects = Objects->new(lib());
	my ($at) = map { /^\s*\d+:\s+([0-9a-f]+)\s.*\scp_runtime$/ ? "0x$1" : () } `readelf -sW '@{[lib()]}'`;
	my ($shadows) = $objects->member('cp_runtime', 'shadows');
	my ($lock) = $objects->member('cp_shadows', 'finding');
	my ($sites, $size, $count) = $objects->member('cp_shadows', 'site');
	my ($executions) = $objects->member('cp_site', 'executions');
	my $held = run(command => [cli(), '-E', 'shadow', program('sites_held'), hex($at) + $shadows, $lock, $sites, $size, $count, $executions]);
	is($held->{out}, "2000 2000\n", 'each execution has a number, whoever looks for one') or diag($held->{err});
}

# A patched function, whose stub has saved all registers before the fork, and restores them
# in the shadow: those of AVX-512, too.
$run = shadowed(['plain'], ['walk_lines'], CACHEPEEK_REGIONS => 'func:walk_lines');
unlike(said($run), qr/of those met a fault/, 'no window of a function ends in its stub');
SKIP: {
	skip('walk_lines has too few windows', 3) if !has_windows($run, ['walk_lines']);
	ok_count($run, ['walk_lines'], 'instructions', $walk, 30);
}

# ---- what cannot be said ----

$run = shadowed(['calls'], ['outer', 'walk']);
my $cut = region($run->{report}, 'outer', 'walk')->{counts}{instructions};
is($cut->{value}, undef, 'an execution that makes system calls has no estimate');
like($cut->{reason}, qr/^no execution of it ended within a window of its shadow \(30 million instructions, and no system call/, 'for that reason') or diag(said($run));
like(said($run), qr/of those met a system call that would have had an effect \(the last: 230,/, 'and it is told which call');
ok_count($run, ['outer', 'small'], 'instructions', 5 * (200 + 127.5) + 2, 60) if region($run->{report}, 'outer', 'small')->{counts}{instructions}{status} eq 'estimated';
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek diff --call-paths: what two trees of call paths have before and after, against
# those trees as their own JSON has them.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Browser;
use Json;
use Peek;
use Test::More;

my ($before, $after) = map { scratch($_) } qw(before after);
my %profile;

# A run that is kept, and as JSON.
sub kept
{
	my ($dir, @ways) = @_;
	my $run = run(command => [cli(), 'dcache', '-m', 'zen3', '--call-paths', '-d', $dir, '-o', "$dir.json", program('call_paths'), @ways]);
	is($run->{err}, '', "@ways: a run");
	$profile{$dir} = decode_json(read_file("$dir.json"));
	return;
}

sub diff
{
	my (@arguments) = @_;
	return run(command => [cli(), 'diff', @arguments]);
}

kept($before, qw(recursion tails));
kept($after, qw(tails exceptions));

my %counters = (
	'instructions' => ['instructions'],
	'references' => [qw(l1d_loads l1d_stores)],
	'L1D misses' => [qw(l1d_load_misses l1d_store_misses l1d_bypasses)],
	'L2 misses' => [qw(l2_load_misses l2_store_misses)],
	'L3 misses' => [qw(llc_load_misses llc_store_misses)],
);

# {path}{"calls" or a quantity}, of one profile.
sub expected
{
	my ($profile) = @_;
	my (%sum, @name);
	for my $path (@{$profile->{call_paths}{paths}}) {
		my $name = defined $path->{parent} ? "$name[$path->{parent}];$path->{function}" : '(program)';
		push @name, $name;
		$sum{$name}{calls} += $path->{calls};
		for my $what (keys %counters) {
			$sum{$name}{$what} += $path->{exclusive}{$_} // 0 for @{$counters{$what}};
		}
	}
	return \%sum;
}

# ---- JSON, from directories and from JSON ----

my ($of_directories, $of_json) = map { scratch("$_.json") } qw(directories json);
is(diff('--call-paths', '-o', $of_directories, $before, $after)->{err}, '', 'two directories');
is(diff('--call-paths', '-o', $of_json, "$before.json", "$after.json")->{err}, '', 'two profiles in JSON');
my $diff = decode_json(read_file($of_directories));
my $other = decode_json(read_file($of_json));
my %number = map { $_->{function} => 1 } @{$diff->{paths}};
is_deeply($other->{paths}, $diff->{paths}, 'which say the same');
is($diff->{before}{label}, $before, 'and how they were named');
{
	my (%sum, @name);
	for my $path (@{$diff->{paths}}) {
		my $name = defined $path->{parent} ? "$name[$path->{parent}];$path->{function}" : '(program)';
		push @name, $name;
		for my $side (qw(before after)) {
			my %has = (calls => $path->{$side}{calls}, %{$path->{$side}{exclusive}});
			$sum{$side}{$name} = \%has if grep { $_ } values %has;
		}
	}
	for my $side ([before => $before], [after => $after]) {
		my $expected = expected($profile{$side->[1]});
		delete $expected->{$_} for grep { my $has = $expected->{$_}; !grep { $_ } values %$has } keys %$expected;
		is_deeply($sum{$side->[0]}, $expected, "$side->[0]: each path has what it has in its own report");
		my $whole = $profile{$side->[1]}{call_paths}{paths}[0]{inclusive};
		is($diff->{paths}[0]{$side->[0]}{inclusive}{instructions}, $whole->{instructions}, 'and the whole is the whole');
	}
	is(scalar(keys %{{map { $_ => 1 } @name}}), scalar @name, 'a path is there once');
	my $check = run(command => ['/usr/bin/python3', '-c', <<'END', source() . '/doc/cachepeek-path-diff-1.schema.json', $of_json]);
import json, sys
import jsonschema
jsonschema.Draft7Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))
print("valid")
END
	is($check->{out}, "valid\n", 'the schema holds') or diag($check->{err});
}

# ---- folded ----

{
	my $folded = scratch('both.folded');
	diff('--call-paths', '-o', $folded, $before, $after);
	my %stacks = map { /^(.*) (\d+) (\d+)$/ ? ($1 => [$2, $3]) : () } split /\n/, read_file($folded);
	my ($was, $is) = map { expected($profile{$_}) } $before, $after;
	my %expected = map { my $n = [$was->{$_}{'L1D misses'} // 0, $is->{$_}{'L1D misses'} // 0];
		$n->[0] || $n->[1] ? (s/;/;/gr => $n) : () } keys %{{%$was, %$is}};
	is_deeply(\%stacks, \%expected, 'folded: two numbers for each stack');
}

# ---- text ----

sub rows
{
	my ($text) = @_;
	return map { s/(?<=\d),(?=\d{3})//gr =~ /^ *([+-]?\d+)  +(\d+)  +(\d+)  +((?:\d+ > )?\d+)  ([* ]) ( *)(\S.*)$/
		? {change => $1, before => $2, after => $3, calls => $4, mark => $5, depth => length $6, name => $7} : () } split /\n/, $text;
}

{
	my $run = diff('--call-paths', '--all', $before, $after);
	my ($was, $is) = map { $_->{call_paths}{paths}[0]{inclusive}{instructions} } @profile{$before, $after};
	my @rows = rows($run->{out});
	my %row = map { $_->{name} => $_ } @rows;

	like($run->{out} =~ s/,//gr, qr/^instructions: $was to $is \([+-]@{[abs($is - $was)]} /m, 'text: the whole, before and after');
	is_deeply([grep { $_->{change} != $_->{after} - $_->{before} } @rows], [], 'a change is after less before');
	is($row{recursion}{after}, 0, 'what is gone');
	is($row{exceptions}{before}, 0, 'what is new');
	is($row{throw_middle}{calls}, '0 > 3', 'and how often it is called');
	is($row{tail_from}{calls}, 6, 'what is called as often as before');
	is(scalar @rows, scalar @{$diff->{paths}}, '--all: each path');
	my $least = 0.01 * max($rows[0]{before}, $rows[0]{after});
	my @cut = rows(diff('--call-paths', $before, $after)->{out});
	cmp_ok(scalar @cut, '<', scalar @rows, 'without it, what changed most');
	my %below;
	for my $i (reverse 0 .. $#rows) {
		my $above = (grep { $rows[$_]{depth} < $rows[$i]{depth} } reverse 0 .. $i - 1)[0];
		$below{$i} = max(abs($rows[$i]{change}), $below{$i} // 0);
		$below{$above} = max($below{$above} // 0, $below{$i}) if defined $above;
	}
	is_deeply([sort map { $_->{name} } @cut], [sort map { $rows[$_]{name} } grep { !$_ || $below{$_} >= $least } 0 .. $#rows],
		'by 1 % of the whole, or something behind it');
	my $icache = diff('--call-paths=icache', $before, $after);
	like($icache->{out}, qr/^Call Paths, by L1I misses/m, 'by what another measurement counts');
	my @same = rows(diff('--call-paths', $before, $before)->{out});
	is_deeply([map { [@$_{qw(name change)}] } @same], [['(program)', 0]], 'a run and itself: nothing');
}

sub max
{
	my ($x, $y) = @_;
	return $x > $y ? $x : $y;
}

# ---- what is wrong ----

my $without = scratch('without');
run(command => [cli(), 'dcache', '-d', $without, '-o', scratch('without.txt'), program('empty')]);
run(command => [cli(), 'dtlb', '-d', $before, '-o', scratch('dtlb.json')]);
for my $bad ([[$before, $without], "$without has no call paths: it takes --call-paths when the program is run", 1],
	[[$before, scratch('nowhere')], scratch('nowhere') . ': no such file or directory: check the path', 1],
	[[$before, scratch('dtlb.json'), '--call-paths=dcache'], scratch('dtlb.json') . ' has what dtlb counts, not dcache', 1],
	[[$before, $after, '--call-paths=l1'], '--call-paths=l1: expected dcache, dtlb or icache', 2],
	[[$before, $after, '-o', scratch('x.csv')], '--call-paths: output ' . scratch('x.csv')
		. ': use -, stderr, or a file that ends in .txt, .json, .html or .folded', 2],
	[[$before, $after, '--fail-if', 'l2_mpki>1'], '--call-paths compares two runs, without --fail-if', 2],
	[[$before, $after, '--', $after], '--call-paths compares two runs, without others', 2]) {
	my ($arguments, $why, $status) = @$bad;
	my $run = diff('--call-paths', @$arguments);
	is($run->{err}, "cachepeek: diff: $why\n", $why);
	is($run->{status} >> 8, $status, 'status');
}

# ---- the page ----

my $page = scratch('paths.html');
is(diff('--call-paths', '-o', $page, $before, $after)->{err}, '', 'a page');
unlike(read_file($page), qr/<(?:script|link|img)[^>]*(?:src|href)="(?!data:)/i, 'no other file is named');
SKIP: {
	skip(no_browser(), 1) if no_browser();
	ok_browser(8, 'check_paths.py', $page, $of_directories);
}

done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The HTML report in a real browser: tests/browser/check.py reads its numbers
# back and uses it.  Here: the runs, and what the file is.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Browser;
use Json;
use POSIX ();
use Peek;
use Test::More;

my $place = scratch('pages');
mkdir($place);

# Regions of a page, which are a table, as the JSON report has them: of values what is shown.
sub from_table
{
	my ($table, $page) = @_;
	my $state = sub { return ref($_[0]) ? $_[0] : $table->{states}[$_[0]] };
	return [map {
		my ($path, $calls, $threads, $ranks, $cells) = @$_;
		my @values = map {
			my ($value, $at) = ref($cells->[$_]) ? @{$cells->[$_]} : ($cells->[$_], $table->{columns}[$_]);
			+{%{$state->($at)}, value => $value};
		} 0 .. $#$cells;
		my $time = shift(@values);
		my %counts = map { $_ => shift(@values) } @{$page->{events}};
		my %metrics = map { $_->{name} => +{%{shift(@values)}, unit => $_->{unit}} } @{$page->{metrics}};
		+{path => $path, calls => $calls, threads => $threads, time_s => $time, counts => \%counts, metrics => \%metrics};
	} @{$table->{rows}}];
}

sub shown
{
	my ($regions, $threads) = @_;
	my $pick = sub { my ($v, @keys) = @_; return {map { $_ => $v->{$_} } qw(value status reason), @keys} };
	return [map {
		my $r = $_;
		my %counts = map { $_ => $pick->($r->{counts}{$_}, qw(coverage error)) } keys %{$r->{counts}};
		my %metrics = map { $_ => $pick->($r->{metrics}{$_}, 'unit') } keys %{$r->{metrics}};
		[$r->{path}, $r->{calls}, $threads ? $r->{threads} : (), $pick->($r->{time_s}), \%counts, \%metrics];
	} @$regions];
}

# That the page holds the report.
sub ok_held
{
	my ($name, $page, $report) = @_;
	my @of_page = map { @{$_->{threads}} } @{$page->{processes}};
	my @of_report = map { @{$_->{threads}} } @{$report->{processes}};
	is_deeply(shown(from_table($page->{regions}, $page), 1), shown($report->{regions}, 1), "$name: the page holds all regions");
	is_deeply([map { $_->{regions} && shown(from_table($_->{regions}, $page)) } @of_page],
		[map { @of_report > 1 ? shown($_->{regions}) : undef } @of_report], "$name: and those of each thread, if there are several");
	delete @$_{qw(regions metrics)} for $page, $report, @of_page, @of_report;
	delete @$_{qw(schema)} for $page, $report; # what many regions leave out is filled in
	is_deeply($page, $report, "$name: and all else of the report");
}

for my $case (['threads', 'cache,tlb', program('region_threads'), 8], ['hostile', 'cache', program('hostile')],
	['many', undef, program('many_regions'), 10000], ['two', 'cache', program('region_nested')],
	['series', 'cache', program('phases'), 10], ['sets', 'cache', program('phases'), 10]) {
	my ($name, $groups, @command) = @$case;
	my $run = peek(engine => 'sim', machine => $name eq 'two' ? 'neoverse-n2' : 'zen3', groups => $groups, output => "$place/$name.html,$place/$name.json",
		env => {CACHEPEEK_INTERVAL => $name =~ /^se/ ? '20ms' : undef,
			CACHEPEEK_WORKING_SET => $name eq 'sets' ? 1000000000 : undef},
		events => $groups ? undef : 'instructions,l1d_misses', command => \@command);
	is(status_text($run->{status}), 'exit 0', "$name: ran");
	my $page = read_file("$place/$name.html");
	my ($inside) = $page =~ m{<script id="report" type="application/json">\n(.*?)</script>}s;
	ok_held($name, Json::decode_json($inside), Json::decode_json(read_file("$place/$name.json")));
	is(scalar(() = $page =~ m{</script}gi), 4, "$name: and nothing ends its scripts");
	unlike($page, qr/<(?:script|link|img)[^>]*(?:src|href)="(?!data:)/i, "$name: no other file is named");
}

cmp_ok(-s "$place/many.html", '<', 1_000_000, 'many: a page of 10,000 regions is of a size that opens at once');

# A level in other sizes: where that can be known, and where it cannot.
for my $case (['sweep', undef, 'L2.size=64K..8M'], ['unswept', 'zen4', 'L2.size=256K..4M']) {
	my ($name, $machine, $sweep) = @$case;
	my $run = peek(engine => 'sim', machine => $machine, output => "$place/$name.html,$place/$name.json",
		env => {CACHEPEEK_SWEEP => $sweep}, command => [program('matmul')]);
	is(status_text($run->{status}), 'exit 0', "$name: ran") || diag($run->{err});
}

# The JSON that a page holds, beside it; of a profile, which leaves out what is 0, there is
# the whole as well.
sub keep_inside
{
	my ($name, $kind) = @_;
	my ($inside) = read_file("$place/$name.html") =~ m{<script id="report" type="application/json">\n(.*?)</script>}s;
	my $file = $kind eq 'profile' ? "$place/$name-page.json" : "$place/$name.json";
	write_file($file, $inside);
	my $valid = run(command => ['/usr/bin/python3', source() . '/tests/validate.py',
		source() . "/doc/cachepeek-$kind-1.schema.json", $file]);
	is($valid->{out}, "1 reports, 0 faults\n", "$name: the page holds what the schema of $kind says") || diag($valid->{err});
}

my $compared = run(command => [cli(), 'compare', '-m', 'pentium4-m2,zen3,itanium2,ixp45x', '-o', "$place/compare.html",
	program('region_nested'), '</script><b>&amp;']);
is(status_text($compared->{status}), 'exit 0', 'compare: ran') || diag($compared->{err});
keep_inside('compare', 'compare');

# Profiles: one whose source is here, and not that of libc; one whose source is hostile.
for my $kind (['profile', 'dcache'], ['dtlb', 'dtlb'], ['icache', 'icache']) {
	my ($name, $command) = @$kind;
	my $run = run(command => [cli(), $command, '-m', bare('zen3'), '-o', "$place/$name.html,$place/$name.json",
		program('profiled'), qw(load store thread data)]);
	is(status_text($run->{status}), 'exit 0', "$name: ran") || diag($run->{err});
	keep_inside($name, 'profile');
}
{
	my $profile = Json::decode_json(read_file("$place/profile.json"));
	my $misses = sub { my $sum = 0; $sum += $_[0]{$_} // 0 for qw(l1d_load_misses l1d_store_misses l1d_bypasses); return $sum };
	my %sums = map { my $sum = 0; $sum += $_->{misses} for @{$_->{places}}; ("$_->{name}, $_->{file}:$_->{line}" => [$sum, $misses->($_->{counts})]) } @{$profile->{data}};
	is_deeply([grep { $sums{$_}[0] != $sums{$_}[1] } keys %sums], [], 'profile: what statements missed in some data adds up to its misses');
	my ($fresh) = grep { $_->{name} =~ /::fresh,/ } @{$profile->{data}};
	my %of;
	$of{$_->{function}} += $_->{misses} for @{$fresh->{places}};
	is_deeply(\%of, {store_lines => 4096, load_lines => 4096, in_thread => 4096},
		'profile: by function, exactly');
	my $page = Json::decode_json(read_file("$place/profile-page.json"));
	cmp_ok((sort { $b <=> $a } map { scalar(@{$_->{places}}) } @{$page->{data}})[0], '<=', 12, 'profile: a page has twelve of each');
}
my $paths = run(command => [cli(), 'dcache', '-m', 'zen3', '--call-paths', '-d', scratch('paths'), '-o', "$place/paths.html,$place/tree.json",
	program('call_paths'), qw(recursion tails threads exceptions)]);
is(status_text($paths->{status}), 'exit 0', 'paths: ran') || diag($paths->{err});
keep_inside('paths', 'profile');
run(command => [cli(), 'dcache', '-d', scratch('paths'), '--cutoff', '3,100,0', '-o', "$place/cut.html"]);

# A page that a browser can hold, of a program with many instructions: those that matter.
sub instructions
{
	my ($name) = @_;
	my $report = Json::decode_json(read_file("$place/$name-page.json"));
	my $total = $report->{counts}{l1d_load_misses} + $report->{counts}{l1d_store_misses} + $report->{counts}{l1d_bypasses};
	my @statements = map { @{$_->{statements}} } @{$report->{functions}};
	my $sum = sub { my $all = 0; $all += $_ // 0 for map { @{$_->{counts}}{qw(l1d_load_misses l1d_store_misses l1d_bypasses)} } @_; return $all };
	return ($total, $sum->(@statements), map { $sum->($_) } map { @{$_->{instructions}} } @statements);
}
my $large = run(command => [cli(), 'dcache', '-m', 'zen3', '--call-paths', '-o', "$place/large.html",
	'/usr/bin/python3', '-c', 'import json, re; d = {str(i): [i, {"k": "v%d" % i}] for i in range(2000)}; print(len(json.loads(json.dumps(d))))']);
is(status_text($large->{status}), 'exit 0', 'large: ran') || diag($large->{err});
keep_inside('large', 'profile');
cmp_ok(-s "$place/large.html", '<', 2_000_000, 'large: a page of less than 2 MB');
{
	my ($total, $statements, @instructions) = instructions('large');
	is($statements, $total, 'large: all misses are there');
	cmp_ok(scalar(@instructions), '>', 50, 'large: with instructions');
	is_deeply([grep { $_ < 0.0002 * $total } @instructions], [], 'large: those with 0.02 % of them');
	($total, $statements, @instructions) = instructions('profile');
	my $all = 0;
	$all += $_ for @instructions;
	is($all, $total, 'small: with all instructions');
}
SKIP: {
	skip('the kernel counts nothing', 3) unless can_count('software');
	my $run = run(command => [cli(), 'dtlb', '-E', 'perf', '-o', "$place/sampled.html,$place/sampled.json", program('profiled'), qw(load store)]);
	is(status_text($run->{status}), 'exit 0', 'sampled: ran') || diag($run->{err});
	keep_inside('sampled', 'profile');
	like(read_file("$place/sampled.json"), qr/"statuses": \{"places": "exact",/, 'sampled: each fault of a page is counted');
}
is(run(command => [(split(' ', $ENV{CC} || 'gcc'))[0], '-g', '-O2', '-o', "$place/blur", source() . '/examples/blur.c'])->{status}, 0, 'blur: compiled');
run(command => [cli(), 'dcache', '-m', 'zen3', '-o', "$place/blur.html,$place/blur.json", "$place/blur"]);
keep_inside('blur', 'profile');
write_file("$place/evil.c", <<"END");
#include <stdlib.h>
int main(void) { volatile char *at = calloc(4096, 64); int sum = 0;
for (int i = 0; i < 4096; i++) /* </script><b>bold <img src=x onerror=alert(1)> <!--<script> \xe2\x80\xae\x1b[31m \xff */
sum += at[64 * i]; /* <!--<script> */
return sum; }
END
is(run(command => [(split(' ', $ENV{CC} || 'gcc'))[0], '-g', '-O1', '-o', "$place/evil", "$place/evil.c"])->{status}, 0, 'evil: compiled');
run(command => [cli(), 'dcache', '-m', 'cachegrind', '-o', "$place/evil.html", "$place/evil"]);
is(scalar(() = read_file("$place/evil.html") =~ m{</script}gi), 7, 'evil: nothing ends the scripts of its page');

# The source is read when the page is written, if it is what a source can be.
my $kept = scratch('kept');
run(command => [cli(), 'dcache', '-m', 'cachegrind', '-d', $kept, '-o', "$place/evil.json", "$place/evil"]);

sub listed
{
	my $page = scratch('listed.html');
	my $run = run(command => [cli(), 'dcache', '-d', $kept, '-o', $page]);
	my ($json) = read_file($page) =~ m{<script id="sources" type="application/json">\n(.*?)</script>}s;
	my ($file) = grep { $_->{file} eq "$place/evil.c" } @{Json::decode_json($json)->{files}};
	return $file;
}

my $now = (stat("$place/evil"))[9];
utime($now - 10, $now - 10, "$place/evil.c");
is(scalar(@{listed()->{lines}}), 5, 'source: all lines of so short a file');
ok(!listed()->{changed}, 'source: older than the program');
utime($now + 10, $now + 10, "$place/evil.c");
ok(listed()->{changed}, 'source: newer than the program');
for my $case (['not there', 'no such file or directory: check the path', sub { }], ['a FIFO', 'it is a FIFO: name a regular file',
	sub { POSIX::mkfifo($_[0], 0600) }], ['too long', 'it is larger than 16384 KiB, more than such a file has: name another one', sub { write_file($_[0], ''); truncate($_[0], 17 << 20) }]) {
	my ($what, $reason, $make) = @$case;
	unlink("$place/evil.c");
	$make->("$place/evil.c");
	my $file = listed();
	is($file->{reason}, $reason, "source: $what");
	is_deeply($file->{lines}, [], "source: $what: no line");
}

SKIP: {
	skip(no_browser(), 1) if no_browser();
	ok_browser(201, 'check.py', $place);
}
done_testing();

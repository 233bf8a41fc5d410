#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek dcache -E shadow: misses by function and line, and their shares, are estimates
# with 95 % intervals that hold what full simulation counts, or there are none for a reason.
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use List::Util qw(sum);
use Peek;
use Test::More;

plan(skip_all => why_not('shadow')) if why_not('shadow');

my $machine = machine_file('plain');
my @functions = qw(at_random in_order in_cache);

sub profile
{
	my ($kind, $engine, $arguments, %more) = @_;
	my $file = $more{output} || scratch("$kind-$engine.json");
	my $run = run(command => [cli(), $kind, '-E', $engine, '-m', $more{machine} || $machine, (map { ('-o', $_) } $file, @{$more{also} || []}),
			program('shadow_places'), @$arguments],
		env => {CACHEPEEK_BUDGET => 20, %{$more{env} || {}}});
	is($run->{status}, 0, "$kind -E $engine @$arguments: the program ends as it does") or diag($run->{err});
	$run->{profile} = decode_json(read_file($file)) if $file =~ /json$/;
	return $run;
}

sub row { my ($profile, $function) = @_; return (grep { $_->{function} eq $function } @{$profile->{functions}})[0] }
sub turns { my ($run) = @_; return sum($run->{out} =~ /^(\d+)$/mg) }

# How many windows there are depends on what else the machine does: longer, until there are
# enough, or nobody had time for them.  80 leave three of 16 groups empty in one run of 10,000.
sub shadowed
{
	my ($kind, $arguments, %more) = @_;
	my $run;
	for my $ms (4000, 8000, 20000) {
		$run = profile($kind, 'shadow', [$ms, @$arguments], %more);
		my $row = row($run->{profile}, 'at_random') // {};
		return $run if defined $row->{share} || $run->{profile}{shadows}{windows} >= 80;
	}
	diag("too few windows: $run->{profile}{shadows}{windows}");
	return undef;
}

# What one turn misses, and which part of the three functions' misses each has.
my $truth = profile('dcache', 'sim', [-1000]);
sub misses_of { my ($counts) = @_; return $counts->{l1d_load_misses} + $counts->{l1d_store_misses} }
my %misses = map { $_ => misses_of(row($truth->{profile}, $_)->{counts}) / turns($truth) } @functions;
my $all = misses_of($truth->{profile}{counts}) / turns($truth);
cmp_ok($misses{at_random}, '>', 1000, 'the program misses');

# Three intervals, of which a million runs miss a few; and what is once in a run.
sub ok_function
{
	my ($run, $function, $machine) = @_;
	my $got = row($run->{profile}, $function);
	my $true = $misses{$function} * turns($run);
	$got // return fail("$machine: $function has misses");

	ok(defined $got->{share} && defined $got->{counts}{misses}, "$machine: $function: there is an estimate") or return diag(explain($got));
	cmp_ok(abs($got->{share} - $misses{$function} / $all), '<=', 3 * $got->{share_error} + 0.002, "$machine: $function: its share")
		or diag($misses{$function} / $all, explain($got));
	cmp_ok($got->{share_error}, '<', 0.1, "$machine: $function: tells something");
	# Time, of which windows are slices, is the machine's: turns of one take longer than those of another.
	cmp_ok(abs($got->{counts}{misses} - $true), '<=', 3 * $got->{errors}{misses} + 0.05 * $true, "$machine: $function: its misses")
		or diag($true, explain($got));
	cmp_ok($got->{errors}{misses}, '>', 0, "$machine: $function: has an interval");
	my ($line) = @{$got->{statements}};
	cmp_ok(abs($line->{counts}{misses} - $got->{counts}{misses}), '<=', 0.05 * $got->{counts}{misses}, "$machine: $function: nearly all are of one line");
}

my %also = map { $_ => scratch("places.$_") } qw(txt csv);
my $shm = join(' ', glob('/dev/shm/*'));
my $run = shadowed('dcache', [], also => [$also{txt}, $also{csv}]);
SKIP: {
	skip('too few windows', 1) if !$run;
	my $profile = $run->{profile};

	ok_function($run, $_, 'plain') for @functions;
	cmp_ok($profile->{shadows}{windows}, '>=', 30, 'JSON says of how many windows');
	ok(!exists $profile->{sample}, 'and of no sample of another kind');
	ok($profile->{exact}, 'places add up to what windows counted');
	is_deeply($profile->{findings}, [], 'rules do not go by windows');
	is_deeply($profile->{data}, [], 'there is no data');
	my $sum = sum(map { $_->{counts}{misses} // 0 } @{$profile->{functions}});
	cmp_ok($sum, '<=', $profile->{counts}{misses} + 1, 'functions have no more than the run');
	cmp_ok($sum, '>=', 0.98 * $profile->{counts}{misses}, 'and nearly all of it');
	is($profile->{statuses}{$_}, 'estimated', "$_ is estimated") for qw(l1d_load_misses l1d_loads);
	is($profile->{counts}{$_}, undef, "$_ is not told") for qw(l2_load_lines llc_load_lines load_from_memory hitm);
	ok(!exists row($profile, 'at_random')->{counts}{l2_load_lines}, 'nor by place');
	my $text = read_file($also{txt});
	like($text =~ s/\s+/ /gr, qr/estimates from forks of the program \(CACHEPEEK_ENGINE=shadow, experimental\), each with half of its 95 % interval/,
		'text: where they come from');
	like($text, qr/^ *[\d.]+\+-[\d.]+ +[\d.]+ +[\d,]+\+-[\d.]+% .*at_random/m, 'text: share and misses have intervals');
	like($text, qr/^l2_load_lines +\S+ \(shadows do not tell it/m, 'text: what is not told has a reason');
	like($text, qr/pid \d+, all threads$/m, 'text: windows are of all threads');
	my ($head, $whole) = split(/\n/, read_file($also{csv}));
	my %run; @run{split(/,/, $head)} = split(/,/, $whole, -1);
	is_near($run{l1d_load_misses}, $profile->{counts}{l1d_load_misses}, 'CSV: an estimate');
	is_near($run{l1d_load_misses_error}, $profile->{errors}{l1d_load_misses}, 'CSV: with its interval');
}
is(join(' ', glob('/dev/shm/*')), $shm, 'nothing is left in /dev/shm');

# Caches that are not LRU are simulated in another way.
$run = shadowed('dcache', [], machine => machine_file('other', l1d => '32K 8 64 plru'));
SKIP: {
	skip('too few windows', 1) if !$run;
	ok_function($run, $_, 'plru') for @functions;
}

# ---- several images and processes are one profile ----

for my $how ('forks', 'execs') {
	my $run = shadowed('dcache', [$how]);
	SKIP: {
		skip('too few windows', 1) if !$run;
		is(scalar(() = $run->{out} =~ /^\d+$/mg), 2, "$how: it ran twice");
		is($run->{profile}{processes}, 2, "$how: each has a file");
		ok_function($run, $_, $how) for qw(at_random in_order);
	}
}

# Where code is, is known of any window.
for my $ms (500, 2000, 8000) {
	$run = profile('dcache', 'shadow', [$ms, 'maps']);
	last if $run->{profile}{shadows}{windows} > 2;
}
like(row($run->{profile}, 'at_random')->{module} // '', qr/shadow_places$/, 'behind 1,000 mappings code has its module') or diag(explain($run->{profile}{functions}));

# ---- what cannot be said ----

my $short = profile('dcache', 'shadow', [300], also => [$also{txt}]);
my $why = qr/^shadows: there are fewer than 30 windows/;
is_deeply([grep { defined $_->{share} || defined $_->{counts}{misses} } @{$short->{profile}{functions}}], [], 'a short run: no place has a value');
is_deeply([grep { $_->{reason} !~ $why } @{$short->{profile}{functions}}], [], 'and each says why');
is($short->{profile}{counts}{l1d_load_misses}, undef, 'nor has the run');
like(read_file($also{txt}), qr/^l1d_load_misses +\S+ \(shadows: there are fewer than 30 windows/m, 'text: and why');
my $screen = profile('dcache', 'shadow', [300], output => 'stderr')->{err};
like($screen, qr/^in all +\xe2\x80\x94$/m, 'the screen: no value of the run');
like($screen =~ s/\s+/ /gr, qr/ no value shadows: there are fewer than 30 windows \(a longer run, or a larger CACHEPEEK_BUDGET, has more\) machine /,
	'the screen: and why, once');
unlike($screen, qr/more: [\d.]+ %/, 'the screen: nor is there a share of the rest');

# Its code is in L1I before and after, and so it is unknown what of it the windows' first misses are.
my $code = profile('icache', 'shadow', [4000])->{profile};
SKIP: {
	skip('too few windows', 2) if $code->{shadows}{windows} < 30;
	is($code->{counts}{l1i_misses}, undef, 'what may be hits for the most part has no value');
	like((row($code, 'at_random') // {})->{reason} // 'nobody missed', qr/what was in that cache where windows began is not known|nobody missed/, 'and says why');
}

# ---- what is refused ----

my %refused = ('--sharing' => qr/expected with dcache on the simulated PMU/, '--line-use' => qr/expected with dcache on the simulated PMU/,
	'--call-paths' => qr/call paths: shadows do not follow calls: expected with --engine sim/, '--callers=main' => qr/call paths: shadows do not follow calls/,
	'--reproducible' => qr/expected with the simulated PMU/);
for my $option (sort keys %refused) {
	my $run = run(command => [cli(), 'dcache', '-E', 'shadow', $option, 'true']);
	my $said = $refused{$option};
	is($run->{status} >> 8, 2, "$option is refused");
	like($run->{err}, qr/^cachepeek: .*$said.*\n\z/, "$option: in one line");
}
my $sharing = peek(command => [program('shadow_places'), 100], engine => 'shadow', env => {CACHEPEEK_PROFILE => 'sharing'});
like($sharing->{json}, qr/CACHEPEEK_PROFILE=sharing is ignored: shadows do not see what threads share/, 'the library says what shadows do not see');
my $pages = peek(command => [program('shadow_places'), 100], engine => 'shadow', env => {CACHEPEEK_PROFILE => 'dtlb'});
like($pages->{json}, qr/CACHEPEEK_PROFILE=dtlb is ignored: estimates of shadows for the DTLB were found off/, 'nor what they are known to be wrong in');
done_testing();

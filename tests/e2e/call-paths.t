#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek dcache --call-paths: what was counted by call path, where it is known how often
# each path was gone: recursion, longjmp, exceptions, signals, threads, fork, tail calls,
# shared libraries.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

# One with three levels: a host may have no L3.
$ENV{CACHEPEEK_MACHINE} = 'zen3';

my $runs = 0;

# The JSON profile of call_paths, with the whole path of each node.
sub paths
{
	my ($options, @command) = @_;
	my $file = scratch('paths' . ++$runs . '.json');
	my $run = run(command => [cli(), 'icache', '--call-paths', @$options, '-o', $file, @command]);
	my $profile = eval { decode_json(read_file($file) // '') };
	diag($run->{err}) unless $profile;
	name_paths($_) for $profile->{call_paths}{paths}, map { $_->{paths} } @{$profile->{call_paths}{threads}};
	return ($profile, $run);
}

# From the way on that was asked for, or the thread's first function; without what libc
# has between them.
my $FROM = 'recursion|jumps|exceptions|same_stack|other_stack|threads|children|tails|library|turns|trap|trap_elsewhere|dropping|reopened|in_thread|thread';
sub name_paths
{
	my ($paths) = @_;
	for my $i (1 .. $#$paths) {
		my $path = $paths->[$i];
		my $above = $paths->[$path->{parent}]{names} // [];
		my $ours = $path->{module} =~ m{/(?:call_paths|lib(?:callee|first|second)\.so)$};
		$path->{ours} = $ours;
		$path->{names} = @$above ? [@$above, $ours ? $path->{function} : '-']
			: $ours && $path->{function} =~ /^(?:$FROM)$/ ? [$path->{function}] : [];
	}
	return;
}

# {path} calls, of the program's own functions.
sub calls
{
	my ($paths) = @_;
	my %calls;
	for my $path (@$paths) {
		my $name = join(' ', grep { $_ ne '-' } @{$path->{names} // []});
		$calls{$name} += $path->{calls} if $name ne '' && $path->{ours};
	}
	return \%calls;
}

# All paths together are the whole run, of each counter; and each is what it has by itself
# and what it calls.
sub ok_path_sums
{
	my ($profile, $what) = @_;
	my $paths = $profile->{call_paths}{paths};
	my ($whole, @wrong) = ($paths->[0]{inclusive});
	my @sum = map { {%{$_->{exclusive}}} } @$paths;
	for my $i (reverse 1 .. $#$paths) {
		$sum[$paths->[$i]{parent}]{$_} += $sum[$i]{$_} for keys %{$sum[$i]};
	}
	for my $i (0 .. $#$paths) {
		my %all = %{$paths->[$i]{inclusive}};
		push @wrong, "$i: $_" for grep { ($sum[$i]{$_} // 0) != ($all{$_} // 0) } keys %{{%all, %{$sum[$i]}}};
	}
	is_deeply(\@wrong, [], "$what: what a path has is its own and what it calls");
	for my $name (grep { defined $profile->{counts}{$_} } qw(instructions l1i_misses l1i_accesses l2_ifetch_misses itlb_walks)) {
		is($whole->{$name} // 0, $profile->{counts}{$name}, "$what: $name of all paths are those of the run");
	}
	ok($profile->{exact}, "$what: exact");
	return;
}

my %known = (
	recursion => {
		'' => 1, 'leaf' => 1,
		'down' => 15, 'down leaf' => 15,
		'even' => 1, 'even leaf' => 1,
		'even odd' => 1, 'even odd leaf' => 1,
		'even odd even' => 1, 'even odd even leaf' => 1,
		'even odd even odd' => 1, 'even odd even odd leaf' => 1,
		'even odd even odd even' => 1, 'even odd even odd even leaf' => 1,
	},
	jumps => {
		'' => 1, 'jump_middle' => 5, 'jump_middle jump_deep' => 5, 'jump_middle jump_deep leaf' => 5,
		'after_jump' => 5, 'after_jump leaf' => 5,
	},
	exceptions => {
		'' => 1, 'throw_middle' => 3, 'throw_middle throw_deep' => 3, 'throw_middle throw_deep leaf' => 3,
		'after_throw' => 6, 'after_throw leaf' => 6,
	},
	tails => {'' => 1, 'tail_from' => 6, 'tail_from tail_to' => 6, 'tail_from tail_to leaf' => 6, 'leaf' => 1},
	library => {
		'' => 1, 'callee_outer' => 1, 'callee_outer callee_inner' => 7,
		'callee_outer called_back' => 2, 'callee_outer called_back leaf' => 2, 'leaf' => 1,
	},
	`uname -m` =~ /x86_64/ ? (dropping => {'' => 1, 'dropped' => 1, 'after_drop' => 1, 'after_drop leaf' => 1}) : (),
	turns => {'' => 1, 'ping' => 3, 'ping pong' => 3, 'leaf' => 1},
	map { ($_ => {
		'' => 1, 'handle' => 2, 'signals' => 1,
		'signals on_signal' => 4, 'signals on_signal leaf' => 4,
		'signals on_signal_jump' => 2, 'signals on_signal_jump leaf' => 2,
		'signals after_signal' => 6, 'signals after_signal leaf' => 6,
	}) } qw(same_stack other_stack stack_above),
);

# ---- each way ----

for my $way (sort keys %known) {
	my ($profile) = paths([], program('call_paths'), $way);
	my $calls = calls($profile->{call_paths}{paths});
	my $from = $way eq 'stack_above' ? 'in_thread' : $way; # which starts a thread
	my %expected = map { ($from . ($_ eq '' ? '' : " $_") => $known{$way}{$_}) } keys %{$known{$way}};
	is_deeply($calls, \%expected, "$way: each path as often as it was gone") or
		diag(join "\n", map { "$_ $calls->{$_}" } sort keys %$calls);
	ok_path_sums($profile, $way);
}

# ---- after signals ----

for my $way (`uname -m` =~ /x86_64/ ? qw(trap trap_elsewhere) : ()) {
	my ($profile) = paths([], program('call_paths'), $way);
	my $paths = $profile->{call_paths}{paths};
	my ($traps) = grep { join(' ', @{$_->{names} // []}) eq "$way traps" } @$paths;
	my ($handler) = grep { join(' ', grep { $_ ne '-' } @{$_->{names} // []}) eq "$way traps on_signal" && $_->{ours} } @$paths;

	is($handler->{calls}, 2, "$way: a handler's caller is who was interrupted");
	cmp_ok($handler->{inclusive}{instructions}, '<', 100, 'which has what follows');
	cmp_ok($traps->{exclusive}{instructions}, '>', 30000, 'all of it');
}

# ---- libraries that go ----

{
	my ($profile, $run) = paths([], program('call_paths'), 'reopened');
	my %places = map { $_ => 1 } $run->{out} =~ /(0x\w+)/g;
      SKIP: {
		skip 'the second library is elsewhere', 1 unless keys %places == 1;
		my $calls = calls($profile->{call_paths}{paths});
		is_deeply({map { $_ => $calls->{$_} } grep { /only/ } keys %$calls},
			{'reopened call_from only_first' => 1, 'reopened call_from only_second' => 1},
			'another function in the same place is another path');
	}
}

# ---- threads ----

{
	my ($profile) = paths([], program('call_paths'), 'threads');
	my $threads = $profile->{call_paths}{threads};
	my $together = calls($profile->{call_paths}{paths});
	my %sum;

	is_deeply({map { $_ => $together->{$_} } grep { /^thread / } keys %$together},
		{'thread after_signal' => 8, 'thread after_signal leaf' => 8}, 'threads together');
	is(scalar @$threads, 3, 'and each by itself');
	is_deeply([sort map { calls($_->{paths})->{'thread after_signal'} // 0 } @$threads], [0, 3, 5],
		'with its own calls');
	for my $thread (@$threads) {
		my $whole = $thread->{paths}[0]{inclusive};
		$sum{$_} += $whole->{$_} for keys %$whole;
	}
	is_deeply(\%sum, $profile->{call_paths}{paths}[0]{inclusive}, 'threads add up');
	ok_path_sums($profile, 'threads');
	is_deeply([grep { $_->{module} =~ /libcachepeek/ && @{$_->{names} // []} } @{$profile->{call_paths}{paths}}], [],
		'the library\'s own functions are on no path');
}

# ---- processes ----

{
	my ($profile) = paths([], program('call_paths'), 'children');
	my $threads = $profile->{call_paths}{threads};
	my ($child) = grep { calls($_->{paths})->{'children in_child'} } @$threads;

	is($profile->{processes}, 2, 'a child is another process');
	is_deeply(calls($child->{paths}), {'children' => 0, 'children in_child' => 2, 'children in_child leaf' => 2},
		'a child begins where its parent was, with nothing counted');
	is_deeply(calls($profile->{call_paths}{paths}), {'children' => 1, 'children in_child' => 2,
		'children in_child leaf' => 2, 'children leaf' => 1}, 'and is part of the tree');
	ok_path_sums($profile, 'children');
}

# ---- text ----

sub text
{
	my (@options) = @_;
	my $run = run(command => [cli(), 'dcache', '-o', '-', @options]);
	my ($table) = $run->{out} =~ /^((?:Call Paths|Callers of .*)\n.*?)\n\n/ms;
	return ($run, $table // '');
}

# The rows of a table: {share, calls, mark, depth, name}.
sub rows
{
	my ($table) = @_;
	return map { /^ *([\d.]+) (?: *([\d.]+) )? *([\d,]+)(?: +[\d,]+){5}  ([* ]) ( *)(\S.*)$/
		? {share => $1, own => $2, calls => $3, mark => $4, depth => length $5, name => $6} : () } split /\n/, $table;
}

my $kept = scratch('kept');
{
	my ($run, $table) = text('-d', $kept, '--call-paths', '--cutoff', '0,100,0', program('call_paths'), 'recursion', 'tails');
	my @rows = split /\n/, $table;

	like($rows[1], qr/^ *Incl% +Excl% +Calls +Instr +Refs +L1D +L2 +L3  Path \(\* the hottest\)$/, 'columns');
	like($rows[2], qr/^100\.00 +\d+\.\d\d +0 +[\d,]+ +[\d,]+ +[\d,]+ +[\d,]+ +[\d,]+  \* \(program\)$/, 'the whole is the first row');
	like($table, qr/ 15 .*?   ( +)down\n.* 15 .*?   \1 leaf\n/, 'what is called stands below, one further in');
	my ($tail) = grep { /tail_to$/ } @rows;
	like($tail // '', qr/^ *\d+\.\d\d +\d+\.\d\d +6 /, 'calls are counted');
	my $hot = join('', map { $_->{mark} } rows($table));
	like($hot, qr/^\*+ /, 'the hot path goes on from the first row');

	(undef, my $cut) = text('-d', $kept, '--call-paths', '--cutoff', '20,100,0');
	cmp_ok(scalar(split /\n/, $cut), '<', scalar @rows, 'rows below the cutoff are left out');
	like($cut, qr/\(\d+ more, each with what is behind it: 1?\d\.\d\d % or less\)/, 'which is said');
	my @below = grep { /^ *(\d+\.\d\d) / && $1 < 20 } split /\n/, $cut;
	is_deeply(\@below, [], 'no row has less');
}

# ---- callers ----

{
	my ($run, $table) = text('-d', $kept, '--callers', 'leaf', '--cutoff', '0,100,0');
	my @rows = rows($table);

	is($rows[0]{name}, 'leaf', 'callers of a function');
	is($rows[0]{calls}, 28, 'all calls of it');
	is_deeply({map { $_->{name} => $_->{calls} } grep { $_->{depth} == 1 } @rows},
		{down => 15, even => 3, odd => 2, tail_to => 6, tails => 1, recursion => 1},
		'who calls it, and how often') or diag($table);
	my ($chain) = $table =~ /tail_to\n(.*?) +_start\n/s;
	is_deeply([map { $_->{name} } (rows($chain // ''))[0, 1, 2]], [qw(tail_from tails main)], 'and who calls those');
}

for my $bad ([['--callers', 'no_such'], "cachepeek: --callers no_such: no function of that name was called\n", 1]) {
	my ($run) = text('-d', $kept, @{$bad->[0]});
	is($run->{err}, $bad->[1], "@{$bad->[0]}: one line says why");
	is($run->{status} >> 8, $bad->[2], 'status');
}

# ---- the variable ----

{
	my $dir = scratch('variable');
	my $run = peek(engine => 'sim', command => [program('call_paths'), 'tails'],
		env => {CACHEPEEK_CALL_PATHS => 1, CACHEPEEK_DIR => $dir});
	is_deeply($run->{notes}, [], 'nothing is said');
	my ($shown, $table) = text('-d', $dir, '--call-paths', '--cutoff', '0,100,0');
	like($table, qr/tail_to/, 'paths without a profile');
	unlike($shown->{out}, qr/^Function Summary$/m, 'which has no functions');
	like($shown->{out}, qr/^source    simulated \(exact\): every miss, by call path;/m, 'and is exact');

	$run = peek(engine => 'perf', command => [program('empty')], env => {CACHEPEEK_CALL_PATHS => 1});
	like("@{$run->{notes}}", qr/CACHEPEEK_CALL_PATHS is ignored: it takes the simulated PMU/, 'kernel counters: it says so');
	$run = peek(engine => 'auto', command => [program('empty')], env => {CACHEPEEK_CALL_PATHS => 1});
	like($run->{report}{engine}{why}, qr/^CACHEPEEK_CALL_PATHS: only the simulated PMU sees all calls/, 'auto: simulated');
}

# ---- for callgrind's readers ----

{
	my $name = scratch('kept.callgrind');
	my $json = scratch('kept.json');
	run(command => [cli(), 'dcache', '-d', $kept, '-o', "$name,$json"]);
	my $text = read_file($name);
	my @paths = @{decode_json(read_file($json))->{call_paths}{paths}};
	my %all;
	for my $i (1 .. $#paths) {
		my ($path, $above) = ($paths[$i], $paths[$paths[$i]{parent}]{above} // {});
		$path->{above} = {%$above, $path->{function} => 1};
		$all{$path->{function}} += $path->{inclusive}{instructions} unless $above->{$path->{function}};
	}
	my $whole = $paths[0]{inclusive}{instructions};

	my (undef, $callers) = text('-d', $kept, '--callers', 'even', '--cutoff', '0,100,0');
	my ($calls, $instructions) = $callers =~ /^ *[\d.]+ +(\d+) +([\d,]+) .*\* even$/m;
	is($calls, 3, 'callers of what is inside of itself: all calls');
	is(($instructions // '') =~ s/,//gr, $all{even}, 'and once what follows from them');

	like($text, qr/^events: instructions .*l1d_load_misses/m, 'callgrind: events');
	like($text, qr/^summary: $whole /m, 'the whole');
	like($text, qr/^fn=tail_from\n\d+(?: \d+)+\ncob=\S+\ncfi=\S+call_paths\.cc\ncfn=tail_to\ncalls=6 \d+\n\d+ $all{tail_to} /m,
		'a call: how often, and what follows from it');
      SKIP: {
		my $annotate = which('callgrind_annotate');
		skip 'no callgrind_annotate here', 2 unless $annotate;
		my $run = run(command => [$annotate, '--inclusive=yes', '--threshold=100', '--auto=no', '--show=instructions', $name]);
		my %theirs;
		while ($run->{out} =~ /^ *([\d,]+) \([^)]*\) +\S*:(\w+) \[/mg) {
			my ($n, $function) = ($1, $2);
			$theirs{$function} = $n =~ s/,//gr;
		}
		is($run->{err}, '', 'callgrind_annotate reads it');
		my @functions = qw(main recursion down even odd tails tail_from tail_to);
		is_deeply({map { $_ => $theirs{$_} } @functions}, {map { $_ => $all{$_} } @functions},
			'and adds up the same');
	}
}

# ---- stacks for flame graphs ----

my %counters = (
	'instructions' => ['instructions'],
	'references' => [qw(l1d_loads l1d_stores)],
	'L1D misses' => [qw(l1d_load_misses l1d_store_misses l1d_bypasses)],
	'L2 misses' => [qw(l2_load_misses l2_store_misses)],
	'L3 misses' => [qw(llc_load_misses llc_store_misses)],
);

sub amount
{
	my ($counts, $what) = @_;
	my $sum = 0;
	$sum += $counts->{$_} // 0 for @{$counters{$what}};
	return $sum;
}

# {what}{stack}: what each has by itself, if those that have less than so many percent of
# everything are their callers'.
sub stacks
{
	my ($paths, $percent) = @_;
	my (%sum, @stack);
	for my $i (0 .. $#$paths) {
		my $path = $paths->[$i];
		my $kept = !$i || !$percent || grep {
			my $all = amount($path->{inclusive}, $_);
			$all && 100 * $all >= $percent * amount($paths->[0]{inclusive}, $_) } keys %counters;
		my $above = $i ? $stack[$path->{parent}] : '';
		$stack[$i] = !$kept ? $above : $i ? $above . ';' . $path->{function} =~ s/;/:/gr : '(program)';
		$sum{$_}{$stack[$i]} += amount($path->{exclusive}, $_) for keys %counters;
	}
	for my $what (keys %sum) {
		delete $sum{$what}{$_} for grep { !$sum{$what}{$_} } keys %{$sum{$what}};
	}
	return \%sum;
}

# {what}{stack} of a file of pprof's, and what `go tool pprof` shows of it.
sub pprof
{
	my ($file) = @_;
	my $run = run(command => [qw(go tool pprof -raw -symbolize=none), $file], env => {HOME => scratch('go'), PPROF_TMPDIR => scratch('go')});
	my ($samples, $locations) = $run->{out} =~ /^Samples:\n(.*)^Locations\n(.*)^Mappings\n/ms;
	my ($types, @samples) = split /\n/, $samples // '';
	my @types = map { s{/count(?:\[dflt\])?$}{}r } split /(?<=count)(?:\[dflt\])? (?=.)/, $types // '';
	my %name = ($locations // '') =~ /^ *(\d+): 0x0 (?:M=\d+ )?(.*) \S*:\d+ s=\d+$/mg;
	my %sum;
	for my $sample (@samples) {
		my ($values, $stack) = split /: /, $sample;
		my $names = join ';', map { $name{$_} =~ s/;/:/gr } reverse split ' ', $stack;
		my @values = split ' ', $values;
		$sum{$types[$_]}{$names} += $values[$_] for grep { $values[$_] } 0 .. $#values;
	}
	return (\%sum, $run->{out} =~ s/(.*)^(Mappings\n.*)/$2$1/smr);
}

sub total
{
	my $sum = 0;
	$sum += $_ for @_;
	return $sum;
}

{
	my $json = scratch('stacks.json');
	run(command => [cli(), 'dcache', '-d', $kept, '-o', $json]);
	my @paths = @{decode_json(read_file($json))->{call_paths}{paths}};

	for my $percent (undef, 0, 3) {
		my ($folded, $scope, $pprof) = map { scratch("stacks.$_") } qw(folded speedscope.json pprof);
		my @cutoff = defined $percent ? ('--cutoff', "$percent,100,0") : ();
		my $what = @cutoff ? "@cutoff" : 'as it is';
		my $run = run(command => [cli(), 'dcache', '-d', $kept, @cutoff, '-o', "$folded,$scope,$pprof"]);
		my $expected = stacks(\@paths, $percent // 0.02);
		my %folded;

		is($run->{err}, '', "stacks, $what: written");
		for my $line (split /\n/, read_file($folded)) {
			my ($stack, $n) = $line =~ /^(.*) (\d+)$/ or fail("no folded stack: $line");
			$folded{$stack} += $n;
		}
		is_deeply(\%folded, $expected->{'L1D misses'}, "folded, $what: each stack has its misses");
		is(total(values %folded), amount($paths[0]{inclusive}, 'L1D misses'), 'and all of them are those of the run');

		my $file = decode_json(read_file($scope));
		my @names = map { $_->{name} =~ s/;/:/gr } @{$file->{shared}{frames}};
		is_deeply([map { $_->{name} } @{$file->{profiles}}],
			['instructions', 'references', 'L1D misses', 'L2 misses', 'L3 misses'], "speedscope, $what: what it has");
		is($file->{profiles}[$file->{activeProfileIndex}]{name}, 'L1D misses', 'and shows first');
		for my $profile (@{$file->{profiles}}) {
			my ($of, %stack) = $profile->{name};
			$stack{join ';', map { $names[$_] } @{$profile->{samples}[$_]}} += $profile->{weights}[$_]
				for 0 .. $#{$profile->{samples}};
			is_deeply(\%stack, $expected->{$of}, "speedscope, $what: $of of each stack");
			is($profile->{endValue}, amount($paths[0]{inclusive}, $of), "and all $of are those of the run");
			is(total(@{$profile->{weights}}), $profile->{endValue}, 'which its weights add up to');
		}
	      SKIP: {
			skip 'no go here, whose pprof reads it', 2 unless which('go');
			my ($stacks, $text) = pprof($pprof);
			is_deeply($stacks, $expected, "pprof, $what: the same stacks");
			like($text, qr/^1: \S+ \S*\/call_paths .*^ *\d+: \S+ M=1 tail_to \S+call_paths\.cc:[1-9]/ms,
				'the program is first, frames have their source') if ($percent // 1) == 0;
		}
		my ($ours) = grep { $_->{name} eq 'tail_to' } @{$file->{shared}{frames}};
		like("$ours->{file}:$ours->{line}", qr/call_paths\.cc:[1-9]/, 'frames have their source') if ($percent // 1) == 0;
		my ($left) = $file->{name} =~ /^\S*call_paths recursion tails(?: \((\d+) paths with less than 3 % are part of their callers\))?$/;
		if ($percent) {
			cmp_ok($left // 0, '>', 100, 'what is cut is said');
			cmp_ok(scalar keys %folded, '<', 50, 'and cut');
		}
	}
}

# ---- machines with less ----

{
	my $scope = scratch('two.speedscope.json');
	my $run = run(command => [cli(), 'dcache', '-m', 'core2duo', '--call-paths', '-o', "-,$scope", program('call_paths'), 'tails']);
	like($run->{out}, qr/^ *Incl% +Excl% +Calls +Instr +Refs +L1D +L2  Path/m, 'without an L3 there is no column of it');
	is_deeply([map { $_->{name} } @{decode_json(read_file($scope))->{profiles}}],
		['instructions', 'references', 'L1D misses', 'L2 misses'], 'nor a profile');
}

# ---- cachepeek run ----

{
	my @run = (cli(), 'run', '--call-paths', '-E', 'sim');
	my $both = run(command => [@run, '-o', '-,' . scratch('run.txt'), program('call_paths'), 'tails']);
	like($both->{out}, qr/^1\n.*^whole run .*^Call Paths\n.*\* \(program\)\n/ms, 'run: paths behind the report');
	is($both->{err}, '', 'and nowhere else');
	unlike(read_file(scratch('run.txt')), qr/Call Paths/, 'not in files');
	is($both->{status}, 0, 'status');
	like(run(command => [@run, program('call_paths'), 'tails'])->{err}, qr/^Call Paths$/m, 'on standard error without an output');
	unlike(run(command => [cli(), 'run', '-E', 'sim', program('call_paths'), 'tails'])->{err}, qr/Call Paths/, 'unless they are not asked for');
	my $json = run(command => [@run, '--json', program('call_paths'), 'recursion']);
	ok(eval { decode_json($json->{out} =~ s/^1\n//r) }, 'JSON is only that') or diag($json->{out});
	my $static = run(command => [@run, program('static_chase'), 100, 100]);
	like($static->{err}, qr/^cachepeek: --call-paths is ignored: nothing can be preloaded into a static program$/m, 'static: said');
	my $repeat = run(command => [@run, '--repeat', 2, program('empty')]);
	is($repeat->{err}, 'cachepeek: --repeat: ' . program('empty') . ": --call-paths shows those of one run: leave one of them out\n", '--repeat: said');
	is($repeat->{status} >> 8, 2, 'and nothing is run');
}

# ---- files that are wrong ----

# The kept run with 8 bytes of each entry of that kind, at that offset, changed.
sub with_changed
{
	my ($kind, $offset, $change) = @_;
	my $dir = scratch('changed' . ++$runs);
	system('cp', '-r', $kept, $dir);
	my ($file) = glob("$dir/*.profile");
	my $bytes = read_file($file);
	for (my $at = 32 + 24 + 8 * ((unpack('L', substr($bytes, 12, 4)))); $at < length $bytes; $at += 8) {
		my ($is, $size) = unpack('L L', substr($bytes, $at, 8));
		next if $is != $kind || $size != 56 + 8 * unpack('L', substr($bytes, 12, 4));
		substr($bytes, $at + $offset, 8) = pack('Q', $change->(unpack('Q', substr($bytes, $at + $offset, 8))));
		last;
	}
	write_file($file, $bytes);
	return $dir;
}

{
	my ($run) = text('-d', with_changed(7, 56, sub { $_[0] + 1 }), '--call-paths');
	like($run->{out}, qr/^warning: the call paths do not add up to the counts: a process was killed/m, 'paths that do not add up: said');
	like($run->{out}, qr/^source    simulated \(see the warnings\)/m, 'and not called exact');
	($run) = text('-d', with_changed(7, 8, sub { 9 << 32 | 1 }), '--call-paths');
	like($run->{out} . $run->{err}, qr/is damaged: what can be read is used|has no call paths/, 'a parent behind its child: said');
}

# ---- the schema ----

{
	my $file = scratch('schema.json');
	run(command => [cli(), 'dtlb', '--call-paths', '-o', $file, program('call_paths'), 'threads']);
	my $check = run(command => ['/usr/bin/python3', '-c', <<'END', source() . '/doc/cachepeek-profile-1.schema.json', $file]);
import json, sys
import jsonschema
jsonschema.Draft7Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))
print("valid")
END
	is($check->{out}, "valid\n", 'the schema holds') or diag($check->{err});
}

# ---- without ----

{
	my $without = scratch('without');
	my ($run, $table) = text('-d', $without, program('call_paths'), 'tails');
	is($table, '', 'no paths unless they are asked for');
	ok(!exists decode_json(do { run(command => [cli(), 'dcache', '-d', $without, '-o', scratch('without.json')]);
		read_file(scratch('without.json')) })->{call_paths}, 'nor in JSON');
	($run) = text('-d', $without, '--call-paths');
	like($run->{err}, qr/^cachepeek: \S+ has no call paths: it takes --call-paths when the program is run$/, 'which is said');
	is($run->{status} >> 8, 1, 'status');
}

done_testing();

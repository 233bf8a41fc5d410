#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The cachepeek command: same report as the preloaded library, lists, doctor.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

sub command
{
	my ($arguments, %env) = @_;
	return run(command => [cli(), @$arguments], env => {CACHEPEEK_ENGINE => 'sim', %env});
}

# ---- run ----

my $json = scratch('report.json');
{
	my $plain = run(command => [program('threads'), 3]);
	for my $how ([], ['run']) {
		unlink($json);
		my $run = command([@$how, '-e', 'instructions,l1d_misses', '-o', $json, program('threads'), 3]);
		is($run->{out}, $plain->{out}, "cachepeek @$how: same output");
		is($run->{err}, '', "cachepeek @$how: nothing else");
		is(status_text($run->{status}), 'exit 0', "cachepeek @$how: same status");
		my $report = eval { Json::decode_json(read_file($json)) } || {};
		is_deeply($report->{command}, [program('threads'), '3'], "cachepeek @$how: a report of the program");
		cmp_ok(value(region($report), 'instructions') || 0, '>', 10000, "cachepeek @$how: with counts");
		is(scalar(@{$report->{processes} || []}), 1, "cachepeek @$how: and without itself");
	}
	my $killed = command(['-o', $json, program('exits'), 'term']);
	is(status_text($killed->{status}), 'signal 15', 'a program that is killed: so is the command');
	my $absent = command(['./absent']);
	is(status_text($absent->{status}), 'exit 127', 'a program that is not there');
	like($absent->{err}, qr/absent.*No such file/, 'and it says which');
}

# ---- several runs ----

{
	unlink($json);
	my $run = command(['--passes', '-e', 'perf::PAGE-FAULTS', '-o', $json, program('threads'), 3],
		CACHEPEEK_ENGINE => 'perf');
	my $report = eval { Json::decode_json(read_file($json)) } || {};
	is($run->{out}, run(command => [program('threads'), 3])->{out}, '--passes: events that need no PMU need one run');
	is(region($report)->{counts}{'perf::PAGE-FAULTS'}{status}, 'exact', '--passes: which counts them');
	is(scalar(@{$report->{processes} || []}), 1, '--passes: and is one process');
	SKIP: {
		skip('this machine has a PMU', 1) if can_count('hardware');
		is_deeply($report->{events}, ['perf::PAGE-FAULTS'],
			'--passes: instructions, which nobody asked for and no PMU counts, are not missed');
	}
	# The record's PMU is made up here; all else is as it is there.
	SKIP: {
		skip('the kernel counts no software events here', 1) unless can_count('software');
		my $log = scratch('passes');
		my @passes = ('--passes', '-e', 'perf::PAGE-FAULTS', '-o', $json);
		my %perf = (CACHEPEEK_ENGINE => 'perf');
		unlink($json);
		$run = command([@passes, program('passes'), 3, $log], %perf);
		is(status_text($run->{status}), 'exit 0', '--passes, three: the program\'s status');
		is(read_file($log), "1\n2\n3\n", '--passes, three: each run knows which it is');
		$report = eval { Json::decode_json(read_file($json)) } || {};
		like($report->{engine}{why}, qr/shared by 3 runs/, '--passes, three: one report');
		is(scalar(@{$report->{processes} || []}), 1, '--passes, three: of the first\'s processes');
		is(value(region($report, 'part'), 'perf::PAGE-FAULTS'), 10, '--passes, three: with its own counts');

		unlink($log);
		$run = command([@passes, program('passes'), 3, $log, 'differ'], %perf);
		is(read_file($log), "1\n2\n", '--passes, ends differ: no more runs');
		like($run->{err}, qr/pass 2 of 3 ended unlike the first/, '--passes, ends differ: which is said');
		is(status_text($run->{status}), 'exit 1', '--passes, ends differ: the first one\'s status');

		unlink($log);
		command([@passes, program('passes'), 1001, $log], %perf);
		is(read_file($log), "1\n", '--passes: no record makes it run for ever');
	}
	$run = command([program('threads'), 3], CACHEPEEK_PASS => 'two', CACHEPEEK_ENGINE => 'perf');
	like($run->{err}, qr/CACHEPEEK_PASS=two is not a NUMBER: 0 is used/, 'a pass that is no number');
}

# ---- text, several sinks, and the same from the records ----

{
	my $directory = scratch('records');
	my $text = scratch('report.txt');
	my $run = peek(engine => 'sim', groups => 'cache', output => "$text,$json,stderr",
		env => {CACHEPEEK_DIR => $directory}, command => [program('region_nested')]);
	my $report = read_file($text) || '';
	like($report, qr/outer/, 'the text report has the regions');
	is(scalar(grep { length > 80 } split(/\n/, decode($report))), 0, 'in 80 columns');
	unlike($report, qr/\e\[/, 'without colours in a file');
	my $screen = $run->{err} . join('', @{$run->{notes}});
	like($report, qr/^limits +/m, 'the whole of it');
	unlike($screen, qr/^limits +/m, 'the answer on stderr');
	is((split(/\n/, $screen))[0], (split(/\n/, $report))[0], 'of the same run');
	ok(eval { Json::decode_json(read_file($json)) }, 'and JSON beside it');

	my $again = command(['report', '-v', $directory]);
	is($again->{out}, $report, 'cachepeek report -v: the same again from the records');
	is(command(['report', $directory])->{out}, $screen, 'and without -v the answer');
	my $last = command(['report']);
	is(status_text($last->{status}), 'exit 0', 'cachepeek report without an argument');
	like($last->{out}, qr/outer|threads|exits/, 'shows the last run');
	my $none = command(['report', scratch('absent')]);
	isnt(status_text($none->{status}), 'exit 0', 'cachepeek report of nothing fails');
	like($none->{err}, qr/absent/, 'and says of what');
}

sub decode { my ($bytes) = @_; utf8::decode($bytes); return $bytes }

# ---- lists, help, doctor ----

for my $case (['events', qr/perf::PAGE-FAULTS/], ['presets', qr/^\s*l1d_misses\b/m],
	['groups', qr/^\s*cache\b.*^\s*tlb\b.*^\s*icache\b/ms], ['machines', qr/\bcachegrind\b/]) {
	my ($what, $pattern) = @$case;
	my $list = command(['list', $what]);
	is(status_text($list->{status}), 'exit 0', "cachepeek list $what");
	like($list->{out}, $pattern, "cachepeek list $what: knows it");
}
{
	my $help = command(['help', 'variables']);
	is(status_text($help->{status}), 'exit 0', 'cachepeek help variables');
	my $manual = read_file(source() . '/doc/cachepeek-environment.7');
	my @variables = sort keys %{{map { $_ => 1 } $help->{out} =~ /\b(CACHEPEEK_[A-Z]+)\b/g}};
	cmp_ok(scalar(@variables), '>=', 8, 'it lists the variables');
	is_deeply([grep { $manual !~ /\b$_\b/ } @variables], [], 'cachepeek-environment(7) has all of them');
	like(command(['--version'])->{out}, qr/\b\d+\.\d+\.\d+\b/, 'cachepeek --version');
}
# A terminal of 80 columns shows these without breaking lines.
for my $command (['help', 'variables'], ['list', 'machines'], ['list', 'groups'], map { ['list', 'groups', $_] } qw(cache memlevel l2-effectiveness)) {
	my @long = grep { length(decode($_)) > 80 } split(/\n/, command($command)->{out});
	is_deeply(\@long, [], "cachepeek @$command: no line is longer than 80 columns");
}
like(command(['list', 'groups', 'cache'])->{out}, qr/^  assumed: MEMORY_CYCLES = 250 /m, 'what formulas assume is shown');
# ---- commands and options that are none ----

my $no_word = 'no program in PATH, no command of cachepeek';
for my $case (['lst', "$no_word: did you mean `cachepeek list`?"], ['nonesuch', "$no_word: see cachepeek --help"],
	['./lst', 'No such file or directory']) {
	my ($word, $why) = @$case;
	my $run = command([$word]);
	is($run->{err}, "cachepeek: $word cannot be run: $why\n", "cachepeek $word: one line");
	is(status_text($run->{status}), 'exit 127', 'and the status of a shell');
}

# Two lines of a terminal, whatever the reason is.
for my $asked (['CALL_PATHS', 1], ['WORKING_SET', 1000], ['REPRODUCIBLE', 1], ['SAMPLE', 'fast'], ['WHAT_IF', 'L1D.ways=8'],
	['PROFILE', 'sharing'], can_count('hardware') ? () : ['VERBOSE', 0]) {
	my ($variable, $value) = @$asked;
	my $run = command(['-o', scratch('notice.json'), 'true'], CACHEPEEK_ENGINE => 'auto', "CACHEPEEK_$variable" => $value);
	my ($notice) = $run->{err} =~ /^(cachepeek: on the simulated PMU, .*)$/m;
	like($notice // '', qr/\((?:CACHEPEEK_$variable|no hardware counters): .*\); CACHEPEEK_ENGINE=perf forbids it$/, "$variable: why it is simulated");
	cmp_ok(length($notice // ''), '<=', 160, "$variable: in two lines of 80 columns");
}

# A profile of a part of a run says so before anything else.
{
	my @kill = qw(dcache -E sim /usr/bin/perl -e);
	like(command([@kill, 'kill TERM => $$'])->{err}, qr/\Acachepeek \S+ dcache: .*\nended +SIGTERM: cut short, /, 'dcache of a program that a signal ended');
	unlike(command([@kill, '1'])->{err}, qr/^ended/m, '... and of one that ended by itself');
}

# Commands that users of perf type.
{
	my $run = command([qw(record ls)]);
	like($run->{err}, qr/\Acachepeek: there is no command "record": `cachepeek dcache PROGRAM` .*\n\z/, 'cachepeek record: one line');
	is(status_text($run->{status}), 'exit 127', 'and the status of a shell');
	$run = command([qw(-E sim -e instructions -o), scratch('stat.json'), 'stat', '/bin/ls']);
	like($run->{err}, qr/\Acachepeek: stat is a program, and is counted: `cachepeek PROGRAM` counts a program\n/, 'cachepeek stat PROGRAM: a line');
	is(status_text($run->{status}), 'exit 0', 'and stat is run');
	$run = command([qw(-E sim -e instructions -o), scratch('stat.json'), 'stat', '/etc/passwd']);
	unlike($run->{err}, qr/stat is a program/, 'cachepeek stat FILE: none');
}
# The last of many holds, and costs no other its place.
{
	my $json = scratch('many.json');
	command([('-e', 'l1d_loads') x 20, qw(-e instructions -o), $json, program('region_nested')]);
	like(read_file($json), qr/"events": \["instructions"\]/, 'an option that is given 21 times: the last value');
}

# -R is CACHEPEEK_REGIONS.
{
	my $names = sub {
		my ($options, %env) = @_;
		my $json = scratch('options.json');
		run(command => [cli(), qw(-E sim -e instructions -o), $json, @$options, program('region_nested')], env => {%env});
		return {map { $_ => 1 } read_file($json) =~ /"path": ?(\[.*?\])/g};
	};
	my $both = $names->([], CACHEPEEK_REGIONS => 'func:main,inner*');
	is_deeply($both, {map { $_ => 1 } '[]', '["main"]', '["main", "inner"]'}, 'regions by name, and a function');
	is_deeply($names->(['-R', 'func:main', '-R', 'inner*']), $both, '-R: as CACHEPEEK_REGIONS, also twice');
}

{
	my $shut = scratch('shut');
	mkdir($shut);
	write_file("$shut/closed", '');
	my $run = command(['closed'], PATH => $shut);
	is($run->{err}, "cachepeek: closed cannot be run: Permission denied\n", 'a file that is no program: one line');
	is(status_text($run->{status}), 'exit 126', 'and the status of a shell');
}

for my $case (
	['--hepl', 'there is no option "--hepl": did you mean "--help"?'],
	['--enigne sim true', 'there is no option "--enigne": did you mean "--engine"?'],
	['run --enigne=sim true', 'there is no option "--enigne": did you mean "--engine"?'],
	['compare --machnes zen4 true', 'there is no option "--machnes": did you mean "--machines"?'],
	['list --pmm skx presets', 'there is no option "--pmm": did you mean "--pmu"?'],
	['report --jsn', 'there is no option "--jsn": did you mean "--json"?'],
	['merge --jsn', 'there is no option "--jsn": did you mean "--json"?'],
	['list groups --qqqqqqqq', 'there is no option "--qqqqqqqq": `cachepeek help list` has them'],
	['-v -xv true', 'there is no option "-x": `cachepeek help run` has them'],
	['--e instructions true', 'there is no option "--e": `cachepeek help run` has them'],
	['--passes=2 true', '--passes takes no value'],
	['report --json=yes', '--json takes no value'],
	['-g', '-g lacks its value: `cachepeek help run` shows which'],
	['compare --machines', '--machines lacks its value: `cachepeek help compare` shows which'],
	['list presets -p', '-p lacks its value: `cachepeek help list` shows which'],
	['merge --output', '--output lacks its value: `cachepeek help merge` shows which']) {
	my ($line, $message) = @$case;
	my $run = command([split(/ /, $line)]);
	is($run->{err}, "cachepeek: $message\n", "cachepeek $line: one line says what is wrong");
	is(status_text($run->{status}) . $run->{out}, 'exit 2', 'and it ends with 2');
}
{
	my $run = command(['sh', '-c', 'echo "$0"', '--help']);
	is($run->{out}, "--help\n", 'what stands after the program is its own');
}

# An empty variable is not set: nothing is written into the directory where the user is.
{
	mkdir(scratch('here')) or die $!;
	my $run = run(env => {map { ($_ => '') } qw(CACHEPEEK_DIR CACHEPEEK_GROUPS CACHEPEEK_ENGINE)},
		command => ['sh', '-c', 'cd "$1" && "$2" -e perf::PAGE-FAULTS true', 'sh', scratch('here'), cli()]);
	is(status_text($run->{status}), 'exit 0', 'empty variables: the program runs');
	is(join(' ', glob(scratch('here') . '/*')), '', 'and no record is where it ran');
}

{
	my $doctor = command(['doctor']);
	like(status_text($doctor->{status}), qr/^exit [01]$/, 'cachepeek doctor');
	like($doctor->{out}, qr/PMU|perf/i, 'says what can be counted here');
	my $verify = command(['doctor', '--verify']);
	is(status_text($verify->{status}), 'exit 0', 'cachepeek doctor --verify on the simulated PMU')
		|| diag($verify->{out}, $verify->{err});
	like($verify->{out}, qr/l1d_misses/, 'compares presets');
	unlike($verify->{out}, qr/\bfail/i, 'none fails');
}
# ---- the list of events: those that the kernel counts here, with words ----
{
	my $all = run(command => [cli(), qw(list events)])->{out};
	my %shown = $all =~ /^(\w+::\S+)\n {4}(\S.*)$/mg;
	SKIP: {
		skip('the kernel counts no software events here', 2) unless can_count('software');
		like($shown{'perf::PAGE-FAULTS'} // '', qr/^pages that /, 'list events: in words');
		is_deeply([grep { /PERF_COUNT_/ } %shown], [], 'list events: no name in place of them, none twice as long');
	}
	SKIP: {
		skip('the kernel counts hardware events here', 3) if can_count('hardware');
		is_deeply([grep { /CACHE|TLB|BRANCH|CYCLES/ } keys %shown], [], 'list events: what cannot be counted here is left out');
		like($all, qr/^\d+ more of this processor are not counted here \(`cachepeek doctor` says why/m, 'list events: with its number');
		like(run(command => [cli(), qw(list events CACHE-MISSES)])->{out}, qr/\Aperf::CACHE-MISSES \(not counted here\)\n {4}references that /,
			'list events: by its name it is there, and says so');
	}
}

done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# --json: the same as in a .json file, on standard output, and of what has no such file
# (list, doctor) the same as in the text.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

sub command { return run(command => [cli(), @_]) }

# The document, which has to be all of standard output and what its schema says.
sub document
{
	my ($schema, @words) = @_;
	my $run = command(@words);
	my $what = "cachepeek @words" =~ s{/\S*/}{}gr;
	is(status_text($run->{status}) . $run->{err}, 'exit 0', "$what: runs");
	my $made = eval { decode_json($run->{out}) } || {};
	is($made->{schema}, "cachepeek-$schema/1", "$what: is JSON");
	my $file = write_file(scratch("$schema.json"), $run->{out});
	my $check = run(command => ['/usr/bin/python3', source() . '/tests/validate.py',
		source() . "/doc/cachepeek-$schema-1.schema.json", $file]);
	is(status_text($check->{status}), 'exit 0', "$what: as its schema says") or diag($check->{out} . $check->{err});
	return $made;
}

# ---- runs ----

my $program = program('region_nested');
my $dir = scratch('records');
{
	my $made = document('report', '--json', '-E', 'sim', '-e', 'l1d_misses', $program);
	is($made->{command}[0], $program, 'run: of this program');
	my $both = command(qw(run -E sim -e l1d_misses --json -o), scratch('report.txt'), $program);
	like($both->{out}, qr/\A\{.*\}\n\z/s, 'run: with -o, still on standard output');
	like(read_file(scratch('report.txt')), qr/\Acachepeek [\d.]+: /, 'and the file is there');
	my $after = command(qw(--json -E sim -e l1d_misses sh -c), 'echo first');
	like($after->{out}, qr/\Afirst\n\{/, 'run: after what the program has written');
	my $run = peek(engine => 'sim', events => 'l1d_misses', output => '-.json', command => [$program]);
	like($run->{out}, qr/\A\{.*"cachepeek-report\/1".*\}\n\z/s, 'the library alone: -.json');
	is(command(qw(report --json))->{out}, command(qw(report -o -.json))->{out}, 'report: -.json is --json');
	my $repeat = command(qw(--repeat 2 --json -E sim -e l1d_misses), $program);
	like($repeat->{out}, qr/"cachepeek-repeat\/1"/, 'run --repeat, too');
	mkdir(scratch('in'));
	mkdir(scratch('in/-.json'));
	my $beside = run(command => ['sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', scratch('in'),
		cli(), qw(--json -E sim -e l1d_misses), $program]);
	like($beside->{out}, qr/\A\{.*\}\n\z/s, 'and no file is meant');
}
for my $command (qw(dcache dtlb icache)) {
	my $made = document('profile', $command, '--json', '-m', 'zen4', '-d', $dir, $program);
	is($made->{measurement}, $command, "$command: of this measurement");
	command($command, '-d', $dir, '-o', scratch('kept.json'));
	is(command($command, '--json', '-d', $dir)->{out}, read_file(scratch('kept.json')), "$command: as in a file");
	system('rm', '-rf', $dir);
}
document('sharing', qw(sharing --json), $program);

# ---- lists ----

# The names in the text, which begin the lines that are not indented.
sub names_in
{
	my ($text, $pattern) = @_;
	return [$text =~ /^$pattern/mg];
}
my %pattern = (events => qr/(\w+::\S+)$/m, presets => qr/([a-z0-9_]+) /, groups => qr/([a-z0-9-]+): /,
	machines => qr/([a-z0-9-]+) /);
for my $topic (sort keys %pattern) {
	my $made = document('list', 'list', $topic, '--json');
	my @names = map { $_->{name} } @{$made->{$topic}};
	cmp_ok(scalar(@names), '>=', 10, "$topic: there are some");
	my ($text) = split(/\n\n(?=cpu: )/, command('list', $topic)->{out});
	my $shown = names_in($text, $pattern{$topic});
	if ($topic eq 'events') { # the text has those that can be counted here
		my %is_shown = map { $_ => 1 } @$shown;
		@names = grep { $is_shown{$_} } @names;
	}
	is_deeply(\@names, $shown, "$topic: those of the text");
}
{
	my $presets = document('list', qw(list presets --json l1d_accesses PAPI_L2_TCM))->{presets};
	is_deeply([map { $_->{name} } @$presets], [qw(l1d_accesses l2_misses)], 'presets that were asked for');
	is_deeply($presets->[0]{on}{sim}, ['l1d_loads + l1d_stores'], 'and what is behind them');
	my $skx = document('list', qw(list presets --json -p skx l2_misses))->{presets}[0]{on};
	is_deeply([keys %$skx], ['skx'], 'of another processor');
	my $pmus = document('list', qw(list presets --json -p all))->{pmus};
	is_deeply([map { $_->{name} } @$pmus], names_in(command(qw(list presets -p all))->{out}, qr/(\S+)$/m), 'which there are');
	my $group = document('list', qw(list groups --json -p skx cache))->{groups}[0];
	my $text = command(qw(list groups -p skx cache))->{out};
	my $plan = $group->{on}{skx};
	is_deeply([keys %{$group->{on}}], ['skx'], 'a group, there');
	like($text, $plan->{complete} ? qr/skx: complete/ : qr/skx: (?:partial|not usable)/, 'and whether it can be counted');
	like($text, qr/\b$_\b/, "it lacks $_") for @{$plan->{missing}};
	# The order is that of the manual, first those that can be counted.
	my ($section) = read_file(source() . '/doc/libcachepeek.7') =~ /^\.SS Groups\n(.*?)^\.SS /ms;
	my @manual = map { s/\\//gr =~ /[a-z][a-z0-9-]*/g } $section =~ /^\.TP\n\.BR? (.*)/mg;
	for my $options ([qw(-p arm_n2)], [qw(-p skx)], []) {
		my @groups = @{document('list', qw(list groups --json), @$options)->{groups}};
		my %usable = map { my $on = $_->{on}; $_->{name} => scalar(grep { $_->{usable} } values %$on) } @groups;
		is_deeply([map { $_->{name} } @groups], [(grep { $usable{$_} } @manual), grep { !$usable{$_} } @manual],
			"list groups @$options: those that can be counted, in the order of the manual");
	}
	my @events = map { $_->{name} } @{document('list', qw(list events --json page-faults))->{events}};
	is_deeply([grep { !/page-faults/i } @events], [], 'events of that name only');
	cmp_ok(scalar(@events), '>=', 1, 'and there are some');
}

{
	my $run = command(qw(list presets --json l1d_mises));
	is(status_text($run->{status}) . $run->{out} . $run->{err},
		"exit 2cachepeek: there is no preset \"l1d_mises\": did you mean \"l1d_misses\"?\n", 'a misspelt one: no JSON');
}

# ---- doctor ----

{
	my $made = document('doctor', qw(doctor --json --verify));
	my $text = command(qw(doctor --verify))->{out};
	for my $can (@{$made->{can_count}}) {
		my ($word) = $text =~ /^  \Q$can->{what}\E +(yes|no) /m;
		is($word, $can->{works} ? 'yes' : 'no', "doctor: $can->{what}");
	}
	is(scalar(@{$made->{can_count}}), 4, 'doctor: four of them');
	like($text, qr/\($made->{engine}\)$/m, 'doctor: the engine');
	like($text, qr/kernel\.$_ = $made->{settings}{$_}$/m, "doctor: $_") for sort keys %{$made->{settings}};
	my @verified = $text =~ /^  (\w+) +(\d+) +\S+  (ok|OFF|skip)\b/mg;
	my @made = map { map { ($_->{preset}, $_->{expected}, $_->{result}) } @{$_->{presets}} } @{$made->{verified}};
	is_deeply(\@made, \@verified, 'doctor: what is verified');
	is_deeply([map { $_->{engine} } @{$made->{verified}}], [$text =~ /^engine (\w+)$/mg], 'doctor: on each engine');
	is_deeply(document('doctor', qw(doctor --json))->{verified}, [], 'doctor: nothing is, if nobody asks');
}
done_testing();

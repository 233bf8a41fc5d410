#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Wrong requests, and those that the machine refuses: the program runs as
# always, one line names the cause and the cure, and nothing is made up.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $faults = 'perf::PAGE-FAULTS';
my $no_other = no_other_user();
my @program = (command => [program('threads'), 3]);
my $plain = plain(@program);

# Same program, one line of ours (or as many as said) that matches each pattern.
sub complains
{
	my ($what, $patterns, %run) = @_;
	my $run = peek(@program, engine => 'perf', %run);
	my $reference = $run{reference} || $plain;

	is($run->{out}, $reference->{out}, "$what: same output");
	is($run->{err}, $reference->{err}, "$what: same errors");
	is(status_text($run->{status}), status_text($reference->{status}), "$what: same status");
	is(notes($run), 1, "$what: one line") || diag(@{$run->{notes}});
	like($run->{notes}[0] || '', $_, "$what: it says so") for @$patterns;
	return $run;
}

# Not counted is not 0: no value, and the reason.
sub ok_unavailable
{
	my ($region, $name, $reason, $what) = @_;
	my $count = $region->{counts}{$name};
	ok($count && !defined $count->{value} && $count->{status} eq 'unavailable',
		"$what: no value") || diag(explain($count));
	like($count->{reason} || '', $reason, "$what: and why");
}

# ---- what is asked for ----

SKIP: {
	skip('the kernel counts no software events here', 1) unless can_count('software');
	my $run = complains('an event nobody knows',
		[qr/perf::PAGE-FAULTZ/, qr/did you mean [`"]?perf::PAGE-FAULTS/i],
		events => 'perf::PAGE-FAULTZ,perf::CONTEXT-SWITCHES');
	ok_unavailable(region($run->{report}), 'perf::PAGE-FAULTZ', qr/./, 'an event nobody knows');
	ok(defined value(region($run->{report}), 'perf::CONTEXT-SWITCHES'), 'the others are counted');

	complains('a preset misspelt', [qr/l1d_mises/, qr/did you mean [`"]?l1d_misses/],
		events => "l1d_mises,$faults");
	complains('a group nobody knows', [qr/\bcach\b/, qr/did you mean [`"]?cache\b/],
		groups => 'cach', events => $faults);
	complains('a variable misspelt', [qr/CACHEPEEK_EVENT\b/, qr/did you mean CACHEPEEK_EVENTS/],
		events => $faults, env => {CACHEPEEK_EVENT => 'x'});
	complains('a variable unlike any', [qr/CACHEPEEK_QQQQQQQQ/, qr/ignored/],
		events => $faults, env => {CACHEPEEK_QQQQQQQQ => 'x'});
	complains('an engine there is not', [qr/CACHEPEEK_ENGINE=prf/, qr/auto\|perf\|sim/],
		events => $faults, engine => 'prf');
	my $gone = complains('an engine that is gone', [qr/CACHEPEEK_ENGINE=shadow is not one of auto\|perf\|sim: auto is used \(it is gone: --sample, /],
		events => $faults, engine => 'shadow');
	is($gone->{report}{engine}{name}, 'perf', 'an engine that is gone: auto has chosen');
	my $file = write_file(scratch('file'), '');
	complains('a report that cannot be written',
		[qr{\Q$file\E/report\.json}, qr/Not a directory|ENOTDIR/i],
		events => $faults, output => "$file/report.json");
	complains('a report of no known format', [qr/report\.xyz/, qr/\.json/],
		events => $faults, output => scratch('report.xyz'));
}
{
	my $run = complains('a machine nobody knows', [qr/\bpentium-profi\b/],
		engine => 'sim', machine => 'pentium-profi', events => 'l1d_misses');
	$run = complains('no group that anybody knows', [qr/\bcach\b.*"cache"\? \(cache(,time)? is counted instead\)/],
		engine => 'sim', groups => 'cach');
	$run = complains('a seconds-based event on sim', [qr/./],
		engine => 'sim', events => 'cyclse,instructions');
	ok(value(region($run->{report}), 'instructions') > 0, 'what sim can count is counted');
}

# ---- what the machine refuses ----

SKIP: {
	skip('this machine has a PMU', 1) if can_count('hardware');
	my $run = complains('no PMU', [qr/no hardware PMU|no PMU/i, qr/hypervisor|bare metal/i],
		events => 'perf::CPU-CYCLES') ;
	ok_unavailable(region($run->{report}), 'perf::CPU-CYCLES', qr/PMU/, 'no PMU');
	$run = complains('no PMU for the default group', [qr/PMU/], groups => 'cache');
	my $counts = region($run->{report})->{counts};
	is(scalar(grep { defined $_->{value} } values %$counts), 0, 'no value is made up')
		|| diag(explain($counts));
}

for my $refusal (qw(eperm enosys)) {
	my $run = complains("a seccomp filter ($refusal)", [qr/seccomp/, qr/allow|security-opt/],
		events => $faults, under => [program('launch'), $refusal]);
	ok_unavailable(region($run->{report}), $faults, qr/seccomp/, "a seccomp filter ($refusal)")
		if ok($run->{report}, "a seccomp filter ($refusal): a report");
}

SKIP: {
	skip('the kernel counts no software events here', 1) unless can_count('software');
	my @command = (command => [program('threads'), 60], under => [qw(prlimit --nofile=24:24)]);
	my $run = complains('too few descriptors', [qr/descriptor/, qr/ulimit -n/], @command,
		events => $faults, reference => plain(@command));
	my @threads = map { @{$_->{threads}} } @{$run->{report}{processes} || []};
	my @lost = grep { !defined value(region($_), $faults) } @threads;
	is(scalar(@threads), 61, 'too few descriptors: every thread is there');
	ok(@lost > 0, 'too few descriptors: some could not be counted');
	ok_unavailable(region($lost[0]), $faults, qr/descriptor/, 'too few descriptors') if @lost;
}

# A setting that forbids: kernel mode for an ordinary user.
SKIP: {
	my $paranoid = '/proc/sys/kernel/perf_event_paranoid';
	my $before = read_file($paranoid);
	skip('no perf_event_paranoid here', 1) unless defined $before;
	skip($no_other, 1) if $no_other;
	skip('perf_event_paranoid is below 2 and cannot be set', 1)
		if $before < 2 && !eval { write_file($paranoid, '2') };
	# Where an ordinary user may look and write.
	my $place = scratch('ordinary');
	mkdir($place) && chmod(0777, $place);
	my $run = complains('perf_event_paranoid', [qr/perf_event_paranoid/, qr/sysctl|CAP_PERFMON/],
		events => "$faults:k", output => "$place/report.json",
		env => {XDG_CACHE_HOME => $place}, under => [as_user()]);
	ok_unavailable(region(decode($place)), "$faults:k", qr/perf_event_paranoid/, 'perf_event_paranoid');
	write_file($paranoid, $before) if $before < 2;
}

sub decode { Json::decode_json(read_file("$_[0]/report.json") || '{}') }
done_testing();

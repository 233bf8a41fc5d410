#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Every software event of the kernel against what getrusage(2) and the program itself
# know, for a user who may count in kernel mode and for one who may not.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

need_perf();

my $directory = scratch('other');
mkdir($directory) or die "$directory: $!";
my @everyone = ('perf::PAGE-FAULTS', 'perf::MINOR-FAULTS', 'perf::MAJOR-FAULTS');
my $switches = 'perf::CONTEXT-SWITCHES';

# Root becomes a user without rights; any other is one already.
my $no_other = root() ? no_other_user() : '';
chown(65534, 65534, $directory) if root();

sub paranoid { my $text = read_file('/proc/sys/kernel/perf_event_paranoid'); $text ? $text + 0 : 0 }

# {region => {inner => [...], outer => [...]}} of both threads, added up.
sub truth
{
	my ($text) = @_;
	my %truth;
	for (split(/\n/, $text)) {
		if (/^migrations (\d+)/) { $truth{migrations} += $1; next }
		my ($region, @of) = /^(\w+) inner (\d+) (\d+) (\d+) outer (\d+) (\d+) (\d+)$/ or next;
		$truth{$region}{inner}[$_] += $of[$_] for 0 .. 2;
		$truth{$region}{outer}[$_] += $of[$_ + 3] for 0 .. 2;
	}
	return \%truth;
}

sub between
{
	my ($got, $truth, $index, $what) = @_;
	my ($least, $most) = map { $truth->{$_}[$index] } qw(inner outer);
	ok(defined $got && $got >= $least && $got <= $most, "$what: as the kernel's accounts have it") or
		diag('got ' . ($got // 'nothing') . ", $least to $most");
}

sub check
{
	my ($run, $who) = @_;
	my $report = $run->{report};
	is(status_text($run->{status}), 'exit 0', "$who: ends as alone") or diag($run->{err});
	ok($report, "$who: a report") or return;
	my $truth = truth($run->{out});
	for my $region (qw(faults sleeps yields)) {
		my $of = region($report, $region);
		between(value($of, 'perf::PAGE-FAULTS'), $truth->{$region}, 0, "$who: faults in $region");
		between(value($of, $switches), $truth->{$region}, 2, "$who: switches in $region");
		is(value($of, 'perf::MAJOR-FAULTS'), 0, "$who: no major fault in $region");
		is($of->{counts}{$switches}{status}, 'exact', "$who: switches in $region are exact");
	}
	cmp_ok(value(region($report, 'sleeps'), $switches), '>=', 160, "$who: 160 sleeps, a switch each");
	# The first reference of each page is the kernel's, and kernel mode is left out.
	my $read = region($report, 'reads');
	cmp_ok(value($read, 'perf::PAGE-FAULTS'), '<=', $truth->{reads}{outer}[0] - 400,
		"$who: faults in kernel mode are not user mode's");
	is($report->{engine}{domain}, 'u', "$who: the domain is still user mode");
	return $truth;
}

{
	my $run = peek(engine => 'perf', command => [program('kernel_events')],
		events => join(',', @everyone, $switches));
	check($run, 'as we are');
}

SKIP: {
	skip('needs root and two processors', 3) unless root() && paranoid() < 4;
	my $run = peek(engine => 'perf', command => [program('kernel_events')], events => 'perf::CPU-MIGRATIONS');
	my $truth = truth($run->{out});
	skip('one processor: nothing migrates', 3) unless $truth->{migrations};
	my $count = region($run->{report}, 'migrations')->{counts}{'perf::CPU-MIGRATIONS'};
	is($truth->{migrations}, 40, 'two threads went to and fro');
	cmp_ok($count->{value}, '>=', 40, 'migrations: all of them are counted');
	is($count->{status}, 'exact', 'migrations: exact');
}

# Users who may not open an event in kernel mode.
SKIP: {
	skip('this user may count in kernel mode', 1) if paranoid() < 2;
	skip($no_other, 1) if $no_other;
	my @under = root() ? as_user() : ();
	my $file = "$directory/r.json";
	my $run = run(command => [@under, 'env', 'LD_PRELOAD=' . lib(), program('kernel_events')],
		env => {CACHEPEEK_ENGINE => 'perf', CACHEPEEK_OUTPUT => $file, XDG_CACHE_HOME => "$directory/cache",
			CACHEPEEK_EVENTS => join(',', @everyone, $switches, 'perf::CPU-MIGRATIONS')});
	$run->{notes} = [grep { /^cachepeek: / } split(/^/, $run->{err})];
	$run->{report} = eval { Json::decode_json(read_file($file)) };
	check($run, 'another user');
	my $report = $run->{report} or last SKIP;
	ok((grep { /getrusage\(RUSAGE_THREAD\)/ } @{$report->{warnings}}), 'another user: the other source is named');
	my $count = region($report)->{counts}{'perf::CPU-MIGRATIONS'};
	is($count->{value}, undef, 'another user: migrations are not counted');
	is($count->{status}, 'unavailable', 'another user: migrations are unavailable, not 0');
	like($count->{reason}, qr/perf_event_paranoid is \d.*sysctl -w kernel\.perf_event_paranoid=1.*CAP_PERFMON/,
		'another user: the reason names the setting and the cure');
}

# A server that gives up its rights: threads that begin later may not open what the first
# one has open.  Its parent, which may, writes the report.
SKIP: {
	skip('this user may count in kernel mode', 1) if paranoid() < 2;
	skip('needs root, to give it up', 1) unless root();
	my $server = write_file(scratch('server.py'), <<'END');
import os, threading, time
os.setuid(65534)
def work():
    for i in range(50): time.sleep(0.001)
threads = [threading.Thread(target=work) for i in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
END
	my $run = peek(engine => 'perf', command => ['sh', '-c', "/usr/bin/python3 $server; :"],
		events => "perf::PAGE-FAULTS,$switches,perf::CPU-MIGRATIONS");
	is(notes($run), 0, 'rights given up: nothing to say') or diag(@{$run->{notes}});
	my ($python) = grep { $_->{exe} =~ /python/ } @{$run->{report}{processes}};
	my (undef, @later) = @{$python->{threads}};
	is(scalar(@later), 3, 'rights given up: its threads');
	for my $thread (@later) {
		my $counts = region($thread)->{counts};
		is($counts->{'perf::PAGE-FAULTS'}{status}, 'exact', 'rights given up: faults are counted');
		is($counts->{$switches}{status}, 'exact', 'rights given up: switches, too, by the accounts');
		cmp_ok($counts->{$switches}{value} // 0, '>=', 50, 'rights given up: 50 sleeps, a switch each');
		is($counts->{'perf::CPU-MIGRATIONS'}{value}, undef, 'rights given up: migrations are not 0');
		like($counts->{'perf::CPU-MIGRATIONS'}{reason}, qr/refused to the user that the process became/,
			'rights given up: but unavailable');
	}
}

# Events that could only be 0, and times that have no mode.
my %refused = (
	"$switches:u" => qr/in the kernel only.*leave ':u' out/,
	'perf::CPU-MIGRATIONS:u' => qr/in the kernel only.*leave ':u' out/,
	'perf::CGROUP-SWITCHES:u' => qr/in the kernel only.*leave ':u' out/,
	'perf::TASK-CLOCK:u' => qr/does not divide this time by mode/,
	'perf::CPU-CLOCK:k' => qr/does not divide this time by mode/,
);
my ($machine) = run(command => ['uname', '-m'])->{out} =~ /(\S+)/;
$refused{'perf::ALIGNMENT-FAULTS'} = $refused{'perf::EMULATION-FAULTS'} = qr/could only be 0/
	if $machine eq 'x86_64';
for my $event (sort keys %refused) {
	my $run = peek(engine => 'perf', command => ['/bin/true'], events => "$event,perf::PAGE-FAULTS");
	my $count = region($run->{report})->{counts}{$event};
	is($count->{status}, 'unavailable', "$event: unavailable");
	is($count->{value}, undef, "$event: not 0");
	like($count->{reason}, $refused{$event}, "$event: says why");
	like("@{$run->{notes}}", qr/\Q$event\E is not counted: /, "$event: said when the program starts");
}
for my $event ('perf::CS', 'perf::TASK-CLOCK:uk', 'perf::PAGE-FAULTS:k', 'perf::CPU-CLOCK') {
	my $run = peek(engine => 'perf', command => ['/bin/true'], events => $event);
	is(region($run->{report})->{counts}{$event}{status}, 'exact', "$event: counted") if root();
}

done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The examples for services: systemd reads the drop-in, node_exporter hands on what its command
# writes, and what the pod of Kubernetes does counts.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HTTP::Tiny;
use IO::Socket::INET;
use Json;
use Npm;
use Peek;
use Stage;
use Test::More;

my $stage = stage();
my $examples = "$stage/usr/local/share/doc/cachepeek/examples";

# ---- systemd ----

my $conf = read_file("$examples/systemd.conf");
my ($command) = $conf =~ /^ExecStart=(\/.*)$/m;
my $program = program('phases');
my $prom = scratch('prom');
mkdir($prom);
sub here
{
	my ($text, $cli) = @_;
	return $text =~ s{/usr/bin/cachepeek}{$cli}r =~ s{/usr/local/bin/app}{$program}r;
}
SKIP: {
	my $analyze = which('systemd-analyze') or skip('no systemd-analyze (systemd)', 3);
	my $units = scratch('units');
	mkdir($_) for $units, "$units/app.service.d";
	write_file("$units/app.service", "[Service]\nExecStart=/bin/true\n");
	my $verify = sub {
		my ($text) = @_;
		write_file("$units/app.service.d/cachepeek.conf", $text);
		return run(command => [$analyze, 'verify', '--man=no', "$units/app.service"], env => {SYSTEMD_UNIT_PATH => "$units:"});
	};
	my $run = $verify->(here($conf, cli()));
	my @ours = grep { m{\Q$units\E|app\.service} } split(/\n/, $run->{out} . $run->{err});
	is_deeply(\@ours, [], 'systemd has nothing to say of the drop-in');
	is(status_text($run->{status}), 'exit 0', 'and takes it');
	$run = $verify->(here($conf, cli()) =~ s/^RuntimeDirectory=/RuntimeDirectories=/mr);
	like($run->{err}, qr/RuntimeDirector/, 'it would of a misspelt key');
}

# ---- its command, under a program that goes on, and node_exporter ----

# Arguments as systemd splits and fills them in; the engine is pinned.
my @command = map { s/%t/@{[scratch()]}/r =~ s/%N/app/gr =~ s{^/var/lib/prometheus/node-exporter}{$prom}r }
	split(' ', here($command, cli()));
($command[2] eq 'perf') or fail('the engine stands where it is replaced');
splice(@command, 1, 2, '-E', 'sim', '-m', 'skylake-sp', '-e', 'instructions,l1d_misses');
my ($interval) = $conf =~ /^Environment=CACHEPEEK_INTERVAL=(\S+)$/m;
is($interval, '15s', 'an interval');
my $run = run(command => [@command, 5, 'exit'], env => {CACHEPEEK_INTERVAL => '20ms'});
is(status_text($run->{status}), 'exit 0', 'the command of the drop-in runs') or diag($run->{err});
my $text = read_file("$prom/app.prom") // '';
my @samples = $text =~ /^(cachepeek_events\{.*)$/mg;
cmp_ok(scalar(@samples), '>=', 2, 'the file has counts');
SKIP: {
	my $promtool = which('promtool') or skip('no promtool (prometheus)', 1);
	my $run = run(command => [$promtool, 'check', 'metrics'], stdin => "$prom/app.prom");
	is($run->{out} . $run->{err}, '', 'promtool has nothing to say of it');
}

sub free_port
{
	my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1) or die $!;
	return $socket->sockport;
}

# The answer of node_exporter; undef: it does not start.
sub exported
{
	my ($exporter, $port) = @_;
	my $pid = fork() // die $!;
	unless ($pid) {
		open(STDOUT, '>', '/dev/null');
		open(STDERR, '>', scratch('exporter.log'));
		exec($exporter, '--collector.disable-defaults', '--collector.textfile',
			"--collector.textfile.directory=$prom", "--web.listen-address=127.0.0.1:$port") or exit(127);
	}
	my $response;
	for (1 .. 1000) {
		$response = HTTP::Tiny->new(timeout => 10)->get("http://127.0.0.1:$port/metrics");
		last if $response->{success} || waitpid($pid, 1) == $pid;
		select(undef, undef, undef, 0.05);
	}
	kill('TERM', $pid);
	waitpid($pid, 0);
	return $response->{success} ? $response->{content} : undef;
}
SKIP: {
	my $exporter = which('prometheus-node-exporter') or skip('no prometheus-node-exporter', 3);
	my $answer = exported($exporter, free_port());
	ok(defined $answer, 'node_exporter answers') or diag(read_file(scratch('exporter.log')));
	like($answer // '', qr/^node_textfile_scrape_error 0$/m, 'it reads the file');
	# It sorts labels, and writes numbers in its own way.
	my $as_set = sub {
		return {map { my ($labels, $value) = /^cachepeek_events\{(.*)\} (\S+)$/ or die $_;
			join(',', sort split(/,(?=\w+=")/, $labels)) => $value + 0 } @_};
	};
	is_deeply($as_set->(($answer // '') =~ /^(cachepeek_events\{.*)$/mg), $as_set->(@samples), 'and has each of its counts');
}

# ---- Kubernetes ----

my $python = which('python3');
SKIP: {
	skip('no python3-yaml', 12) if run(command => [$python, '-c', 'import yaml'])->{status};
	my $run = run(command => [$python, '-c', 'import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))',
		"$examples/kubernetes.yml"]);
	my ($claim, $deployment) = @{decode_json($run->{out})};
	my $pod = $deployment->{spec}{template}{spec};
	my ($init, $app) = ($pod->{initContainers}[0], $pod->{containers}[0]);
	my %env = map { $_->{name} => $_->{value} } @{$app->{env}};
	my %volumes = map { $_->{name} => 1 } @{$pod->{volumes}};
	is_deeply([grep { !$volumes{$_->{name}} } map { @{$_->{volumeMounts}} } $init, $app], [], 'each mount has its volume');
	my ($reports) = grep { $_->{name} eq 'reports' } @{$pod->{volumes}};
	is($reports->{persistentVolumeClaim}{claimName}, $claim->{metadata}{name}, 'reports outlive the pod: their volume is claimed');
	is($env{CACHEPEEK_ENGINE}, 'perf', 'nothing is simulated unasked');
	# The two containers, with their folders in places of ours.
	my %at = ('/cachepeek' => scratch('volume'), '/reports' => scratch('reports'), '/usr/lib' => "$stage/usr/local/lib");
	mkdir($_) for @at{qw(/cachepeek /reports)};
	my $moved = sub { my ($text) = @_; return $text =~ s{(/cachepeek|/reports|/usr/lib)(?=/)}{$at{$1}}gr };
	$run = run(command => [map { $moved->($_) } @{$init->{command}}]);
	is(status_text($run->{status}), 'exit 0', 'the init container copies') or diag($run->{err});
	$run = run(command => [program('phases'), 2, 'exit'], env => {(map { $_ => $moved->($env{$_}) } keys %env),
		CACHEPEEK_ENGINE => 'sim', CACHEPEEK_EVENTS => 'instructions'});
	my ($file) = glob(scratch('reports/*.json'));
	my $report = decode_json(read_file($file // '') // '{}');
	cmp_ok(value(region($report), 'instructions') // 0, '>', 1000, 'the application is counted') or diag($run->{err});
	is($report->{processes}[0]{series}{asked_s}, 15, 'over time');

	my ($models, $why) = npm_package('kubernetes-models', '4.5.1');
	skip($why, 3) unless $models && which('node');
	my $validate = sub {
		my $file = write_file(scratch('deployment.json'), encode_json($_[0]));
		return run(command => ['node', '-e', <<'JS', $models, $file]);
const object = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));
const kinds = { ...require(process.argv[1] + "/apps/v1"), ...require(process.argv[1] + "/v1") };
new kinds[object.kind](object).validate();
JS
	};
	$run = $validate->($deployment);
	is(status_text($run->{status}), 'exit 0', 'Kubernetes\' schema holds') or diag($run->{err});
	is(status_text($validate->($claim)->{status}), 'exit 0', 'and for the claim');
	delete $deployment->{spec}{selector};
	isnt(status_text($validate->($deployment)->{status}), 'exit 0', 'and would not without a selector');
}
done_testing();

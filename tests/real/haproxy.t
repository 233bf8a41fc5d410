#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# HAProxy: a master and its workers, threads that poll, connections to and fro, what it says of itself.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

my $server = '/usr/sbin/haproxy';

# The statistics are the server that it is a proxy of.
sub configuration
{
	my ($at) = @_;
	return <<"END";
global
	nbthread 3
	maxconn 100
	stats socket ${\$at->work('admin')} mode 600 level admin
defaults
	mode http
	http-reuse never
	timeout connect 20s
	timeout client 60s
	timeout server 60s
frontend in
	bind 127.0.0.1:${\$at->port}
	http-request return status 200 content-type text/plain string "hello" if { path /hello }
	http-request deny if { path_beg /not }
	default_backend two
backend two
	balance roundrobin
	server first unix\@${\$at->work('first')}
	server second unix\@${\$at->work('second')}
listen first
	bind unix\@${\$at->work('first')}
	http-request return status 200 content-type text/plain string "first" if TRUE
listen second
	bind unix\@${\$at->work('second')}
	http-request return status 200 content-type text/plain string "second" if TRUE
END
}

sub fetch
{
	my ($at) = @_;
	my $url = "http://127.0.0.1:${\$at->port}";
	$at->client('curl', '-sS', "$url/hello");
	$at->client('curl', '-sS', '-o', '/dev/null', '-w', '%{http_code}', "$url/nothing");
	my %answers;
	$answers{$at->native('curl', '-sS', "$url/")}++ for 1 .. 6;
	$at->note_down(map { "$_ $answers{$_} times" } sort keys %answers);
	my $ab = $at->native('ab', '-q', '-k', '-n', 300, '-c', 4, "$url/");
	$at->note_down(grep { /^(Complete|Failed|Keep-Alive)/ } split(/\n/, $ab));
}

software('haproxy', needs => [$server, 'ab', 'curl'], users => ['nobody'],
	prepare => sub {
		my ($at) = @_;
		my $path = $at->file('haproxy.cfg', configuration($at));
		$at->under($server, '-c', '-f', $path);
		$at->under($server, '-vv');
	},
	start => sub { my ($at) = @_; return [$server, '-W', '-f', $at->work('haproxy.cfg')] },
	ready => sub { my ($at) = @_; $at->listens },
	use => sub {
		my ($at) = @_;
		fetch($at);
		$at->descriptors;
		$at->stop('TERM');
	},
	filter => [[qr/\(\d+\)/, '(N)', 'numbers of processes']],
	ends => {'haproxy signal 15' => 1},
	counted => {haproxy => 4});
done_testing();

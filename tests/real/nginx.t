#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# nginx: workers that edit their argv for a title, threads for files, reloads.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

sub configuration
{
	my ($at) = @_;
	my ($work, $port) = ($at->work, $at->port);
	my $user = $at->{user} eq 'root' ? "user nobody nogroup;\n" : '';
	return $user . <<"END";
worker_processes 3; pid $work/nginx.pid; error_log $work/error.log notice; daemon off;
events { worker_connections 100; }
http {
	access_log off; client_body_temp_path $work/body; proxy_temp_path $work/proxy;
	fastcgi_temp_path $work/fastcgi; uwsgi_temp_path $work/uwsgi; scgi_temp_path $work/scgi;
	aio threads; sendfile off;
	server { listen 127.0.0.1:$port; root $work/html; }
}
END
}

sub fetch
{
	my ($at) = @_;
	$at->client('curl', '-sS', "http://127.0.0.1:${\$at->port}/");
	$at->client('curl', '-sS', '-o', '/dev/null', '-w', '%{http_code} %{size_download}',
		"http://127.0.0.1:${\$at->port}/large");
	my $ab = $at->native('ab', '-q', '-n', 500, '-c', 4, "http://127.0.0.1:${\$at->port}/");
	$at->note_down(grep { /^(Complete|Failed)/ } split(/\n/, $ab));
}

# The new workers are there, and the old ones have gone.
sub reload
{
	my ($at) = @_;
	my %old = map { $_ => 1 } $at->workers;
	kill('HUP', $at->pid);
	$at->until('new workers', sub {
		my @workers = $at->workers;
		@workers == 3 && !grep { $old{$_} } @workers;
	});
}

software('nginx', needs => ['/usr/sbin/nginx', 'ab', 'curl'], users => [qw(nobody root)],
	prepare => sub {
		my ($at) = @_;
		$at->file('html/index.html', "hello\n");
		$at->file('html/large', 'x' x 300_000);
		$at->file('nginx.conf', configuration($at));
	},
	start => sub {
		my ($at) = @_;
		return ['/usr/sbin/nginx', '-p', $at->work, '-c', $at->work('nginx.conf'), '-e', $at->work('error.log')];
	},
	ready => sub { my ($at) = @_; $at->listens && $at->workers == 3 },
	use => sub {
		my ($at) = @_;
		fetch($at);
		$at->descriptors;
		for (1 .. 3) { reload($at) }
		fetch($at);
		$at->descriptors;
		$at->stop('QUIT');
		$at->note_down(map { s/^.*?\]\s*//r } grep { !/\[notice\]/ } split(/\n/, read_file($at->work('error.log'))));
	},
	counted => {nginx => 13});
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# lighttpd: raises limits, gives up its user, and sends files by sendfile.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

software('lighttpd', needs => ['/usr/sbin/lighttpd', 'curl'], users => ['nobody', 'root'],
	prepare => sub {
		my ($at) = @_;
		mkdir($at->work('site'), 0755);
		$at->file('site/index.html', "hello\n");
		$at->file('site/large.txt', join('', map { "line $_\n" } 1 .. 50000));
		$at->file('lighttpd.conf', <<"END");
server.document-root = "${\$at->work('site')}"
server.bind = "127.0.0.1"
server.port = ${\$at->port}
server.modules = ("mod_indexfile", "mod_staticfile")
index-file.names = ("index.html")
mimetype.assign = (".html" => "text/html", ".txt" => "text/plain")
${\($at->{user} eq 'root' ? "server.username = \"nobody\"\nserver.groupname = \"nogroup\"\n" : '')}
END
	},
	start => sub { my ($at) = @_; return ['/usr/sbin/lighttpd', '-D', '-f', $at->work('lighttpd.conf')] },
	ready => sub { my ($at) = @_; $at->listens },
	use => sub {
		my ($at) = @_;
		my $url = "http://127.0.0.1:${\$at->port}";
		$at->client('curl', '-sS', "$url/");
		$at->client('sh', '-c', "curl -sS $url/large.txt | cksum");
		$at->client('curl', '-sS', '-o', '/dev/null', '-w', '%{http_code}\n', "$url/none");
		$at->descriptors;
		$at->stop('INT');
	},
	notes => {map { $_ => qr/no report: the program changed its root directory or its user/ } qw(perf sim)},
	filter => [[qr/^2> \d{4}-\d\d-\d\d \d\d:\d\d:\d\d/m, '2> when', 'what time it is'],
		[qr/ PID = \d+/, ' PID = N', 'the kernel chooses it']],
	counted => {lighttpd => 1});
done_testing();

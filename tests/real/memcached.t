#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# memcached: an event loop in each of several threads.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

use IO::Socket::INET;

# The server's answer to these lines.
sub talk
{
	my ($at, @lines) = @_;
	my $socket = $at->listens or return $at->note_down('no connection');
	print $socket map { "$_\r\n" } @lines, 'quit';
	local $/;
	$at->note_down("> @lines", (<$socket> // '') =~ tr/\r//dr);
}

software('memcached', needs => ['memcached'], users => ['nobody', 'root'],
	start => sub {
		my ($at) = @_;
		return ['memcached', '-l', '127.0.0.1', '-p', $at->port, '-U', 0, '-t', 3, '-m', 8,
			$at->{user} eq 'root' ? ('-u', 'nobody') : ()];
	},
	ready => sub { my ($at) = @_; $at->listens },
	use => sub {
		my ($at) = @_;
		talk($at, "set k$_ 0 0 3", "v" . ($_ + 10), "get k$_") for 1 .. 30;
		talk($at, 'incr k1 1', 'set n 0 0 1', '5', 'incr n 37', 'delete n', 'get n', 'flush_all', 'get k1');
		$at->descriptors;
		$at->stop('TERM');
	},
	# Started as root, it is another user in the end.
	notes => {map { $_ => qr/no report: the program changed its root directory or its user/ } qw(perf sim)},
	counted => {memcached => 1});
done_testing();

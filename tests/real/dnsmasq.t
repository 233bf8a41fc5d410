#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# dnsmasq: gives up its user and its capabilities, and asks the kernel for addresses by
# netlink.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

use IO::Socket::INET;

# The address that the server has for this name; "": none.
sub ask
{
	my ($at, $name) = @_;
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $at->port, Proto => 'udp', Timeout => 5)
		or return 'no socket';
	my $question = join('', map { chr(length) . $_ } split(/\./, $name)) . "\0" . pack('nn', 1, 1);
	my $ready = '';
	vec($ready, fileno($socket), 1) = 1;
	$socket->send(pack('n6', 77, 0x0100, 1, 0, 0, 0) . $question);
	return 'no answer' unless select($ready, undef, undef, 10);
	# Nobody listens yet: the socket has an error instead.
	my $answer = '';
	return 'no answer' unless defined $socket->recv($answer, 512) && length $answer >= 12;
	my ($id, $flags, undef, $answers) = unpack('n4', $answer);
	return sprintf('%d code %d: %s', $id, $flags & 15, $answers ? join('.', unpack('C4', substr($answer, -4))) : '');
}

software('dnsmasq', needs => ['/usr/sbin/dnsmasq'], users => ['nobody', 'root'],
	start => sub {
		my ($at) = @_;
		# As root it gives its log to nobody: not /dev/null.
		return ['/usr/sbin/dnsmasq', '-k', '-p', $at->port, '--listen-address=127.0.0.1', '--bind-interfaces',
			'--no-resolv', '--no-hosts', '--conf-file=/dev/null', '--pid-file=', '--log-facility=' . $at->file('log', ''),
			'--address=/inside.test/10.1.2.3', '--local=/test/'];
	},
	ready => sub { my ($at) = @_; ask($at, 'inside.test') =~ /10\.1\.2\.3/ },
	use => sub {
		my ($at) = @_;
		$at->note_down($_, ask($at, $_)) for ('inside.test', 'a.inside.test', 'nobody.test') x 5;
		$at->descriptors;
		$at->stop('TERM');
	},
	notes => {map { $_ => qr/no report: the program changed its root directory or its user/ } qw(perf sim)},
	counted => {dnsmasq => 1});
done_testing();

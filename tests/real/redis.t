#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Redis: children that save what the parent goes on changing.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

sub redis
{
	my ($at, @words) = @_;
	$at->client('redis-cli', '-h', '127.0.0.1', '-p', $at->port, @words);
}

sub idle
{
	my ($at, $what) = @_;
	$at->until("$what has ended", sub {
		my $info = $at->native('redis-cli', '-p', $at->port, 'info', 'persistence');
		return $info !~ /_in_progress:1|_scheduled:1/;
	});
	my $info = $at->native('redis-cli', '-p', $at->port, 'info', 'persistence');
	$at->note_down($info =~ /((?:rdb_last_bgsave|aof_last_bgrewrite|aof_last_write)_status:\w+)/g);
}

software('redis', needs => ['redis-server', 'redis-cli', 'redis-benchmark'], users => ['nobody'],
	start => sub {
		my ($at) = @_;
		return ['redis-server', '--port', $at->port, '--bind', '127.0.0.1', '--dir', $at->work, '--save', '',
			'--io-threads', 2, '--loglevel', 'warning', '--logfile', $at->work('log')];
	},
	ready => sub { my ($at) = @_; $at->listens },
	use => sub {
		my ($at) = @_;
		redis($at, 'debug', 'populate', 2000) if 0;
		redis($at, 'eval', 'for i = 1, 3000 do redis.call("set", "key" .. i, string.rep("v", i % 100)) end return redis.call("dbsize")', 0);
		redis($at, 'bgsave');
		idle($at, 'the dump');
		redis($at, 'config', 'set', 'appendonly', 'yes');
		idle($at, 'the first log');
		$at->native('redis-benchmark', '-q', '-p', $at->port, '-n', 500, '-c', 5, '-t', 'set,get,lpush');
		redis($at, 'incrby', 'counter', 5);
		redis($at, 'bgrewriteaof');
		idle($at, 'the second log');
		redis($at, 'get', 'counter');
		redis($at, 'nonsense');
		$at->descriptors;
		redis($at, 'shutdown', 'nosave');
		$at->stop;
		$at->client('redis-check-rdb', $at->work('dump.rdb'));
	},
	filter => [[qr/^\[\w+ \w+.*?\]|'\d{6,}'|'\d+'/, 'N', 'times of the dump, and what the server used of memory'],
		[qr/^\[offset \d+\]/, '[offset]', 'follows what is in the header: memory in use'],
		[qr/^.*# WARNING.*/, undef, 'about the settings of this kernel'],
		[qr/^(?:\[offset\]|N) (?:AUX FIELD used-mem|Checksum|RDB looks OK).*/, 'rdb', 'the same']],
	counted => {'redis-check-rdb' => 4});
done_testing();

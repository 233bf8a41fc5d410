#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# MariaDB: a script that installs it, threads for connections, asynchronous I/O, a dump.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

# Where Debian keeps it, outside a user's PATH.
my $server = '/usr/sbin/mariadbd';

sub options
{
	my ($at) = @_;
	return ("--socket=${\$at->work('socket')}", '-u', 'root');
}

sub sql
{
	my ($at, @statements) = @_;
	$at->client('mariadb', options($at), '-N', '-e', join('; ', @statements));
}

software('mariadb', needs => [$server, 'mariadb', 'mariadb-dump', 'mariadb-admin', 'mariadb-install-db', 'mariadb-slap'], users => ['nobody'],
	prepare => sub {
		my ($at) = @_;
		$at->under('mariadb-install-db', '--no-defaults', "--datadir=${\$at->work('data')}", '--skip-test-db',
			'--auth-root-authentication-method=normal', '--skip-name-resolve');
	},
	start => sub {
		my ($at) = @_;
		return [$server, '--no-defaults', "--datadir=${\$at->work('data')}", "--socket=${\$at->work('socket')}",
			"--pid-file=${\$at->work('pid')}", '--skip-networking', '--innodb-buffer-pool-size=16M', '--innodb-flush-log-at-trx-commit=0', '--skip-name-resolve',
			"--log-error=${\$at->work('log')}"];
	},
	ready => sub { my ($at) = @_; system("mariadb-admin @{[options($at)]} ping > /dev/null 2>&1") == 0 },
	use => sub {
		my ($at) = @_;
		sql($at, 'create database real_one', 'use real_one', 'create table t (a int primary key auto_increment, b varchar(40)) engine=innodb');
		$at->client('mariadb', options($at), '-N', 'real_one', {stdin => $at->file('insert.sql',
			join('', map { "insert into t(b) values(md5($_)); select count(*), sum(a), max(b) from t;\n" } 1 .. 100))});
		sql($at, 'use real_one', 'create table u engine=aria as select a % 7 as k, count(*) as n from t group by k', 'select * from u order by k',
			'select sum(length(b)) from t join u on t.a % 7 = u.k', 'alter table t add index (b)', 'check table t, u');
		sql($at, 'select * from nowhere.t');
		my $slap = $at->native('mariadb-slap', options($at), '--concurrency=4', '--iterations=2', '--number-of-queries=200',
			'--auto-generate-sql', '--create-schema=real_two');
		$at->note_down($slap =~ /Number of clients running queries: (\d+)/);
		$at->client('mariadb-dump', options($at), '--skip-dump-date', 'real_one');
		$at->client('mariadb-admin', options($at), 'shutdown');
		$at->stop;
	},
	filter => [[qr/^2> \d{4}-\S+ +\S+ /, '2> ', 'the time']],
	counted => {mariadbd => 2});
done_testing();

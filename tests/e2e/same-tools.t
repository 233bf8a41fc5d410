#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Programs of the distribution run as without the library.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $text = write_file(scratch('text'), join('', map { "line $_ of " . ($_ * 7919 % 1000) . "\n" } 1 .. 60000));
my $sql = write_file(scratch('workload.sql'), <<'SQL');
create table t(id integer primary key, k integer, v text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
	insert into t select i, (i * 7919) % 100003, 'value ' || i from n;
create index tk on t(k);
select count(*), sum(k), max(v) from t where k between 1000 and 60000;
update t set v = v || '!' where k % 10 = 3;
delete from t where k % 3 = 0;
select count(*), sum(id), min(v) from t;
select * from nowhere;
SQL

for my $engine (qw(perf sim)) {
SKIP: {
	skip('perf: the kernel counts no software events here', 1)
		if $engine eq 'perf' && !can_count('software');
	my @with = (engine => $engine, exes => ['gzip'], threads => 1);

	ok_same('gzip', @with, command => ['gzip', '-c', $text]);
	ok_same('gzip of a file that is not there', @with, command => ['gzip', '-c', 'absent']);
	# From 5.6 on it forbids itself to open files (Landlock): no report of its own.
	SKIP: {
	skip('this xz confines itself', 1) if $engine eq 'perf' && `xz --version` !~ / 5\.[0-4]\./;
	ok_same('xz -T2, which closes its streams', engine => $engine, exes => ['xz'],
		threads => [2, 3], stdin => $text,
		command => ['xz', '-T2', '-0', '--block-size=400000', '-c']);
	}
	ok_same('sqlite3, 100,000 rows', engine => $engine, exes => ['sqlite3'],
		threads => 1, stdin => $sql, command => ['sqlite3', ':memory:']);
	ok_same('openssl', engine => $engine, exes => ['openssl'],
		command => ['openssl', 'dgst', '-sha256', $text]);
	ok_same('a command that does not exist', engine => $engine,
		exes => [(readlink('/bin/sh') || 'sh') =~ s{.*/}{}r],
		command => ['/bin/sh', '-c', './absent; exit $?']);
}
}
done_testing();

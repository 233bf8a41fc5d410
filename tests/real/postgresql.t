#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# PostgreSQL: shared memory, processes with titles, a crash and its recovery.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

my ($bin) = reverse sort glob('/usr/lib/postgresql/*/bin');
$bin //= '/usr/lib/postgresql';

sub sql
{
	my ($at, @statements) = @_;
	$at->client("$bin/psql", '-XAtq', '-h', '127.0.0.1', '-p', $at->port, '-U', 'me', 'postgres',
		map { ('-c', $_) } @statements);
}

sub bench
{
	my ($at, @options) = @_;
	my $out = $at->native("$bin/pgbench", '-n', '-h', '127.0.0.1', '-p', $at->port, '-U', 'me', @options, 'postgres');
	$at->note_down(grep { /number of|query mode/ } split(/\n/, $out));
}

# A backend that dies takes the others along; the server recovers from its log.
sub crash
{
	my ($at) = @_;
	sql($at, 'create table killed as select 1 as a');
	$at->client('sh', '-c', "{ echo 'select pg_backend_pid() as pid \\gset'; echo '\\setenv PID :pid'; " .
		"echo '\\! kill -9 \$PID'; echo 'select 1;'; } | $bin/psql -XAtq -h 127.0.0.1 -p ${\$at->port} -U me postgres 2>&1 | head -n 1");
	$at->until('recovered', sub {
		system("$bin/psql -XAtq -h 127.0.0.1 -p ${\$at->port} -U me postgres -c 'select 1' > /dev/null 2>&1") == 0;
	});
}

software('postgresql', needs => ["$bin/postgres", "$bin/pgbench"], users => ['nobody'],
	prepare => sub {
		my ($at) = @_;
		$at->under("$bin/initdb", '-D', $at->work('data'), '-U', 'me', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--no-locale');
		$at->native('sh', '-c', "cat >> ${\$at->work('data')}/postgresql.conf", {stdin => $at->file('more.conf', <<"END")});
listen_addresses = '127.0.0.1'
port = ${\$at->port}
unix_socket_directories = ''
max_connections = 20
shared_buffers = 4MB
fsync = off
log_min_messages = fatal
log_line_prefix = ''
END
	},
	start => sub { my ($at) = @_; return ["$bin/postgres", '-D', $at->work('data')] },
	ready => sub {
		my ($at) = @_;
		system("$bin/pg_isready -q -U me -h 127.0.0.1 -p ${\$at->port}") == 0;
	},
	use => sub {
		my ($at) = @_;
		bench($at, '-i', '-s', 1, '-q');
		bench($at, '-c', 3, '-j', 2, '-t', 20);
		bench($at, '-C', '-c', 2, '-t', 15);
		sql($at, 'select (select sum(abalance) from pgbench_accounts) = (select sum(bbalance) from pgbench_branches)',
			'select a.aid from pgbench_accounts a join pgbench_history h using (aid) where a.aid < 0');
		sql($at, "set max_parallel_workers_per_gather = 2; set min_parallel_table_scan_size = 0;"
			. "set parallel_setup_cost = 0; select sum(aid) from pgbench_accounts");
		sql($at, 'select * from nowhere');
		crash($at);
		sql($at, 'select count(*) from killed');
		$at->stop('INT');
	},
	filter => [[qr/^2> (FATAL:  the database system is |DETAIL:  Consistent).*/, undef,
		'while it starts it is asked again and again'],
		[qr/^2> FATAL:  terminating connection due to administrator command$/, undef,
		'whether the last client, whose end it has not seen yet, is still served when it is to stop'],
		[qr{^file: \./data/(base|global|pg_\w+)/.*}, undef, 'numbers of relations and segments of the log']],
	# The backend that is killed on purpose.
	ends => {'postgres unknown' => 1},
	counted => {postgres => 20});
done_testing();

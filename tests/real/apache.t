#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Apache: processes (prefork) and threads (event), graceful reloads and stops.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

my %limits = (
	prefork => "MinSpareServers 2\nMaxSpareServers 2\nMaxRequestWorkers 4",
	event => "ThreadsPerChild 4\nMinSpareThreads 4\nMaxSpareThreads 8\nMaxRequestWorkers 8",
);

sub configuration
{
	my ($at, $mpm) = @_;
	my ($work, $port) = ($at->work, $at->port);
	my $modules = '/usr/lib/apache2/modules';
	my $user = $at->{user} eq 'root' ? "User nobody\nGroup nogroup\n" : '';
	return $user . <<"END";
ServerName localhost
ServerRoot $work
PidFile $work/apache.pid
ErrorLog $work/error.log
LogLevel error
DefaultRuntimeDir $work
Listen 127.0.0.1:$port
LoadModule mpm_${mpm}_module $modules/mod_mpm_$mpm.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule alias_module $modules/mod_alias.so
LoadModule dir_module $modules/mod_dir.so
LoadModule mime_module $modules/mod_mime.so
LoadModule ${\($mpm eq 'event' ? 'cgid' : 'cgi')}_module $modules/mod_${\($mpm eq 'event' ? 'cgid' : 'cgi')}.so
TypesConfig /dev/null
DocumentRoot $work/html
ScriptAlias /cgi/ $work/cgi/
StartServers 2
$limits{$mpm}
END
}

sub get
{
	my ($at, $path) = @_;
	my $run = $at->client('curl', '-sS', '-m', 60, '-w', ' %{http_code} %{size_download}\n',
		"http://127.0.0.1:${\$at->port}/$path");
}

sub fetch
{
	my ($at) = @_;
	get($at, $_) for '', 'large', 'absent', 'cgi/hello?a=1';
	my $ab = $at->native('ab', '-q', '-n', 200, '-c', 3, "http://127.0.0.1:${\$at->port}/");
	$at->note_down(grep { /^(Complete|Failed)/ } split(/\n/, $ab));
}

sub generation
{
	my ($at) = @_;
	return grep { read_file("/proc/$_/comm") !~ /cgi/ } $at->workers;
}

sub reload
{
	my ($at) = @_;
	my %old = map { $_ => 1 } $at->workers;
	kill('USR1', $at->pid);
	$at->until('new children', sub {
		my @workers = $at->workers;
		return @workers >= 2 && !grep { $old{$_} } @workers;
	});
	$at->until('an answer', sub { $at->listens });
}

for my $mpm (qw(prefork event)) {
	software("apache-$mpm", needs => ['/usr/sbin/apache2', "/usr/lib/apache2/modules/mod_mpm_$mpm.so", 'ab', 'curl'],
		users => [$mpm eq 'event' ? 'root' : 'nobody'],
		prepare => sub {
			my ($at) = @_;
			$at->file('html/index.html', "hello\n");
			$at->file('html/large', 'x' x 300_000);
			chmod(0755, $at->file('cgi/hello', "#!/bin/sh\necho 'Content-Type: text/plain'\necho\necho \"\$QUERY_STRING\"\n"));
			$at->file('apache.conf', configuration($at, $mpm));
		},
		start => sub { my ($at) = @_; return ['/usr/sbin/apache2', '-D', 'FOREGROUND', '-f', $at->work('apache.conf')] },
		ready => sub { my ($at) = @_; $at->listens && $at->workers >= 2 },
		use => sub {
			my ($at) = @_;
			fetch($at);
			reload($at);
			fetch($at);
			reload($at);
			$at->descriptors;
			$at->stop('WINCH');
			$at->note_down(map { s/^.*?\]\s*//r } split(/\n/, read_file($at->work('error.log'))));
		},
		filter => [[qr/\[pid \d+:tid \d+\]/, '[pid]', 'the kernel chooses it'],
			[qr{^(?=x{1000}).*}, 'x...', 'a long line'],
			[qr/^\[mpm_event:error\] \[pid\] AH(10159|00484): /, undef,
				'how many threads are idle when it looks, once a second']],
		# So the daemon for CGI is told to end.
		ends => {'apache2 signal 15' => 3},
		# Programs that are started by a worker that became another user have no place to
		# record anything.
		notes => {map { $_ => qr/no run record in .*errno 13/ } qw(perf sim)},
		counted => {apache2 => 7});
}
done_testing();

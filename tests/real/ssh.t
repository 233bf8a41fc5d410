#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# sshd and ssh on loopback: executed anew for each connection, unprivileged children, a sandbox.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

sub ssh_options
{
	my ($at) = @_;
	return ('-F', '/dev/null', '-i', $at->work('key'), '-o', 'StrictHostKeyChecking=no', '-o', 'LogLevel=ERROR',
		'-o', "UserKnownHostsFile=${\$at->work('known')}", '-o', 'BatchMode=yes');
}

sub ssh
{
	my ($at, @command) = @_;
	$at->client('ssh', ssh_options($at), '-p', $at->port, 'root@127.0.0.1', @command);
}

software('ssh', needs => ['/usr/sbin/sshd', 'ssh', 'ssh-keygen'],
	skip => sub { return root() ? $ENV{REAL_SEPARATE} ? undef : 'no mounts of our own' : 'sshd for others needs root' },
	prepare => sub {
		my ($at) = @_;
		mkdir('/run/sshd', 0755);
		$at->under('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'c', '-f', $at->work($_)) for qw(host key);
		$at->file('sshd_config', <<"END");
ListenAddress 127.0.0.1:${\$at->port}
HostKey ${\$at->work('host')}
AuthorizedKeysFile ${\$at->work('key.pub')}
PidFile none
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
UsePAM no
LogLevel ERROR
PrintMotd no
PrintLastLog no
Subsystem sftp internal-sftp
END
	},
	start => sub { my ($at) = @_; return ['/usr/sbin/sshd', '-D', '-e', '-f', $at->work('sshd_config')] },
	ready => sub { my ($at) = @_; $at->listens },
	use => sub {
		my ($at) = @_;
		ssh($at, 'echo hello; id -un; exit 7');
		ssh($at, 'kill -TERM $$');
		$at->client('sh', '-c', "head -c 300000 /dev/zero | ssh @{[ssh_options($at)]} -p ${\$at->port} root\@127.0.0.1 wc -c");
		$at->file('batch', "put ${\$at->work('sshd_config')} ${\$at->work('copied')}\nls -1 ${\$at->work('copied')}\n");
		$at->client('sftp', '-q', '-b', $at->work('batch'), ssh_options($at), '-P', $at->port, 'root@127.0.0.1');
		$at->under('ssh', ssh_options($at), '-p', $at->port, 'root@127.0.0.1', 'echo from the client; exit 3');
		$at->descriptors;
		$at->stop('TERM');
	},
	counted => {sshd => 8, ssh => 1});
done_testing();

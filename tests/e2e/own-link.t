#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# /proc/self/exe, by each of its names and calls, of a program that was started by links:
# the program's file, and a library beside it is found ($ORIGIN, which java has).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

mkdir(scratch($_)) for qw(bin other);
my $beside = write_file(scratch('beside.c'), "int beside(void);\nint beside(void) { return 7; }\n");
my $source = write_file(scratch('own.c'), <<'C');
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
int beside(void);
static char to[5000];
static void show(const char *name, const char *call, long length, const char *behind)
{
	printf("%s, %s: %ld %.*s%s\n", name, call, length, length > 0 ? (int)length : 0, to,
		length > 0 && to[length] != *behind ? " and more" : "");
	memset(to, '.', sizeof(to));
}
static void look(const char *shown, const char *name)
{
	struct stat file, itself;
	int fd;
	memset(to, '.', sizeof(to));
	show(shown, "readlink", readlink(name, to, sizeof(to)), ".");
	show(shown, "readlink of 5 bytes", readlink(name, to, 5), ".");
	show(shown, "readlinkat", syscall(SYS_readlinkat, AT_FDCWD, name, to, sizeof(to)), ".");
	fd = open(name, O_RDONLY);
	if (strstr(name, "self/exe") && !strstr(name, "thread"))
		printf("%s: open: %s\n", shown, fd >= 0 && !fstat(fd, &file) && !stat(PROGRAM, &itself) &&
			file.st_ino == itself.st_ino && file.st_dev == itself.st_dev ? "itself" : "another");
	close(fd);
}
int main(void)
{
	char name[64];
	look("self", "/proc/self/exe");
	look("thread-self", "/proc/thread-self/exe");
	snprintf(name, sizeof(name), "/proc/%d/exe", (int)getpid());
	look("number", name);
	snprintf(name, sizeof(name), "/proc/self/task/%d/exe", (int)getpid());
	look("task", name);
	snprintf(name, sizeof(name), "/proc/%d/task/%d/exe", (int)getpid(), (int)getpid());
	look("number's task", name);
	printf("%ld %ld %d\n", (long)readlink("/proc/self/exe/x", to, 9), (long)readlink("/proc/self/cwd", to, 1), beside());
	return 3;
}
C
my $program = scratch('bin/own');
is(run(command => ['gcc', '-shared', '-fPIC', '-o', scratch('bin/libbeside.so'), $beside])->{status}, 0, 'a library');
is(run(command => ['gcc', '-O1', '-w', "-DPROGRAM=\"$program\"", '-o', $program, $source, '-L' . scratch('bin'), '-lbeside', '-Wl,-rpath,$ORIGIN'])->{status}, 0, 'beside a program');

# How it is started: from the folder, by a path.  Alternatives are links to links.
symlink($program, scratch('bin/straight'));
symlink('own', scratch('bin/relative'));
symlink('../bin/own', scratch('other/up'));
symlink(scratch('other/up'), scratch('twice'));
symlink('twice', scratch('three-times'));
my @ways = ([bin => './own'], [bin => './straight'], [bin => './relative'], ['', 'other/up'], ['', './three-times'], ['', scratch('bin/relative')],
	['', scratch('twice')], [other => '../bin/straight']);
for my $engine ((can_count('software') ? 'perf' : ()), 'sim') {
	for my $way (@ways) {
		my ($folder, $path) = @$way;
		my @command = ('sh', '-c', 'cd "$1" && shift && exec "$@"', '-', scratch($folder), $path);
		my $alone = plain(command => \@command);
		my $run = peek(engine => $engine, command => \@command);
		my $what = "$engine: " . ($path =~ s/^.*\/(?=[^\/]*\/[^\/]*$)//r) . " from /$folder";
		is(status_text($alone->{status}), 'exit 3', "$what: alone") or diag($alone->{err});
		is($run->{out}, $alone->{out}, "$what: the same links");
		is(status_text($run->{status}), 'exit 3', "$what: the same end") or diag($run->{err});
	}
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Interpreters, shells and pipelines run as without the library.
use strict;
use warnings;
use Cwd qw(abs_path);
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

sub exe { abs_path(which($_[0])) =~ s{.*/}{}r }

my $sh = exe('sh');
my $text = write_file(scratch('text'), join('', map { "line $_\n" } 1 .. 20000));
my $python = write_file(scratch('work.py'), <<'PY');
import sys, threading
def work(n, into):
    into.append(sum(hash(str(i)) % 97 for i in range(n)))
into = []
threads = [threading.Thread(target=work, args=(2000 * k, into)) for k in (1, 2, 3)]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(into))
print("to stderr", file=sys.stderr)
sys.exit(6)
PY
my $perl = write_file(scratch('work.pl'), <<'PL');
my %h; $h{$_ * 7 % 1001}++ for 1 .. 20000;
print join(",", (sort { $h{$b} <=> $h{$a} || $a <=> $b } keys %h)[0 .. 9]), "\n";
print scalar(`echo from a child`); warn "careful\n"; exit 3;
PL
my $limits = write_file(scratch('limits.py'), <<'PY');
import os, resource
files = resource.RLIMIT_NOFILE
def attempt(*limit):
    try:
        resource.setrlimit(files, limit)
    except (OSError, ValueError) as error:
        print(limit, type(error).__name__)
    print(limit, resource.getrlimit(files), resource.prlimit(0, files), flush=True)
attempt(200, 300)
attempt(400, 300)
attempt(100, 200)
if os.fork() == 0:
    attempt(0, 0)
    os.write(1, b'what is open stays open\n')
    os._exit(0)
os.wait()
attempt(150, 200)
PY
my $bash = write_file(scratch('work.sh'), <<'SH');
set -u
export MINE="a value"
sum=0; for i in {1..300}; do sum=$((sum + i)); done; echo "$sum"
f() { local x; x=$(echo "$1" | tr a-z A-Z); echo "$x"; }
f hello; (exit 4); echo "subshell $?"
env | grep '^MINE='
trap 'echo trapped; exit 9' TERM
cat < <(echo substituted)
kill -TERM $$
SH
my $javascript = write_file(scratch('work.js'), <<'JS');
let s = 0; for (let i = 0; i < 1e5; i++) s = (s * 31 + i) % 1000003;
console.log(s); console.error("to stderr"); process.exitCode = 5;
JS
my $busybox = which('busybox');
symlink($busybox, scratch('cksum')) or die "symlink: $!";

for my $engine (qw(perf sim)) {
SKIP: {
	skip('perf: the kernel counts no software events here', 1)
		if $engine eq 'perf' && !can_count('software');
	my @with = (engine => $engine);

	ok_same('python3', @with, exes => [exe('python3')], threads => 4,
		command => [which('python3'), $python]);
	ok_same('limits of open files', @with, command => [which('python3'), $limits]);
	ok_same('perl and a child of it', @with, command => [which('perl'), $perl]);
	ok_same('a pipeline', @with, exes => [$sh, 'gzip', 'wc'], threads => 3,
		command => ['sh', '-c', "gzip -c $text | wc -c"]);
	ok_same('a pipeline whose end leaves early', @with,
		command => ['sh', '-c', "cat $text $text $text | head -n 3"]);
	ok_same('a bash script', @with, command => ['bash', $bash]);
	ok_same('a busybox applet by its name', @with, exes => [exe('busybox')], threads => 1,
		command => [scratch('cksum'), $text]);
	ok_same('a busybox applet by name of argv[0] only', @with, exes => [exe('busybox')],
		file => $busybox, command => ['wc', '-c', $text]);
	ok_same('a busybox shell', @with,
		command => [$busybox, 'sh', '-c', 'seq 1 1000 | busybox md5sum; echo $0']);
	SKIP: {
		skip('no node here', 1) unless which('node');
		ok_same('node', @with, exes => [exe('node')], threads => [2, 64],
			command => [which('node'), $javascript]);
	}
}
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The shared library as the linker and the loader see it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Test::More;

sub output { run(command => [@_])->{out} }

my @got = output('nm', '-D', '--defined-only', lib()) =~ /^\S+ \S (\S+)$/mg;
is(join("\n", sort @got), join("\n", exports()), 'it exports what its map lists, and each of those');
# Symbols that a hook's file would show: one that the map lacks overrides nothing.
my @objects = map { build() . '/' . (s{^\Q${\source()}\E/|\.c$}{}gr) . '.o' } grep { !m{/(?:patch|heap|perfstubs)/} } map { glob(source() . "/preload/$_") } qw(*.c */*.c);
my %shown = map { $_ => 1 } output('readelf', '-sW', @objects) =~ /(?:GLOBAL|WEAK) +DEFAULT +(?!UND)\d+ (\w+)$/mg;
is(join("\n", sort keys %shown), join("\n", exports()), 'which are those that its files show');
is_deeply([grep { /\@/ } @got], [], 'without versions, which would disable hooks of OpenMP');

my @imports = output('nm', '-D', '--undefined-only', lib()) =~ /^\s+\S (\S+)/mg;
ok(@imports > 10, 'it imports something');
is_deeply([grep { /^__tls_get_addr/ } @imports], [], 'its thread-local storage is initial-exec');
# These may be the program's own (bash has a getenv, many have a malloc), or
# must not run in a hook.
my @forbidden = grep { /^(malloc|calloc|realloc|free|getenv|setenv|putenv|printf|fopen|fprintf|puts|exit|_?setjmp|__sigsetjmp|_?longjmp|__longjmp_chk)(\@|$)/ } @imports;
is_deeply(\@forbidden, [], 'it uses no malloc, stdio, getenv, setenv or setjmp');

# Runtimes of sanitizers that are linked with the program have these, too, and they are not
# ready when we begin: ours are in preload/libc, or system calls.
my @theirs = grep { /^(?:p?readv?|p?writev?|p?readv2|openat?|recv\w*|send\w*|mem(?:cpy|set|cmp|chr|rchr|mem)|str(?!casecmp|error)\w+|stp\w+)(?:\@|$)/ } @imports;
is("@theirs", '', 'nor what sanitizers put in the place of libc');

# A program's own function of the name of a hook would be called, and may call the hook.
my %exported = map { $_ => 1 } @got;
my @called = output('readelf', '-rW', lib()) =~ /^\S+\s+\S+\s+R_\S+\s+\S+\s+([^\s\@]+)/mg;
ok(scalar(grep { $_ eq 'dlsym' } @called), 'it calls functions of libc');
is_deeply([grep { $exported{$_} } @called], [], 'and none of those that it overrides, but by its own table');

my $dynamic = output('readelf', '-dW', lib());
is_deeply([$dynamic =~ /\(NEEDED\).*\[(.*)\]/g], ['libc.so.6'], 'it needs libc and nothing else');
like($dynamic, qr/FLAGS_1.*INITFIRST/, 'it is initialised first');
like($dynamic, qr/\(SONAME\).*\[libcachepeek\.so\]/, 'its name');
unlike($dynamic, qr/TEXTREL/, 'no relocations in code');
like(output('readelf', '-lW', lib()), qr/GNU_STACK\s+\S+\s+\S+\s+\S+\s+\S+\s+\S+\s+RW\s/, 'no executable stack');
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A library that was loaded for itself calls another tool's function by a jump, which
# leaves the address of its caller's caller: the function that it is linked with is
# called, whichever interface it is of, also where another library beside has its own.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use POSIX ();
use Standin;
use Test::More;

# All that we export, but for what libc has, what is injected and asks for a tool's
# library by its path, and our own.
my $libc = run(command => ['nm', '-D', '--defined-only', (glob('/lib/*-linux-gnu/libc.so.6'), glob('/lib*/libc.so.6'))[0]])->{out};
my %libc = map { $_ => 1 } $libc =~ /^\S+ \S ([^\s\@]+)/mg;
my @names = grep { /^[^#\s]/ && !$libc{$_} && !/^(?:kokkosp_|InitializeInjection|__itt_|ompt_start_tool|cachepeek_|__asan_)/ }
	exports();
cmp_ok(scalar(@names), '>', 600, 'functions that others may have behind us');
is(scalar(grep { /^MPI_Finalize$|^GOMP_parallel$|^__kmpc_fork_call$|^cali_end$|^Tau_stop$|^PAPI_hl_stop$|^likwid_markerClose$|^scorep_f_begin_$|^ps_tool_dump_data$|^Extrae_event$/ } @names), 10,
	'of all interfaces');
# The last two end the program's part in a job.
@names = ((grep { !/finalize|abort/i } @names), (grep { /finalize/i } @names), grep { /abort/i } @names);

# The tool: each function notes its name.  {prefix}: what tells two tools apart.
my $tool = "char tool_note[64];\nstatic void note(const char *a, const char *b) { char *to = tool_note; while (*a) *to++ = *a++; "
	. "while (*b) *to++ = *b++; *to = 0; }\n" . join('', map { "long $_(void) { note(TOOL, \"$_\"); return 7; }\n" } @names)
	=~ s/note\(TOOL, "([^"]{50})[^"]*"\)/note(TOOL, "$1")/gr;
# The caller: jump_N ends in the jump, call_N calls, leap_N calls what jumps.
my $plugin = <<'C' . join('', map { "EACH($_, $names[$_])\n" } 0 .. $#names) . "void *const jumps[] = {" . join(', ', map { "jump_$_" } 0 .. $#names) . "};\n"
#if defined(__x86_64__)
#define JUMP(name) "jmp " #name "@PLT"
#define CALL(name) "sub $8, %rsp\n\tcall " #name "@PLT\n\tadd $8, %rsp\n\tret"
#elif defined(__aarch64__)
#define JUMP(name) "b " #name
#define CALL(name) "stp x29, x30, [sp, #-16]!\n\tbl " #name "\n\tldp x29, x30, [sp], #16\n\tret"
#else
#define JUMP(name) "tail " #name
#define CALL(name) "addi sp, sp, -16\n\tsd ra, 8(sp)\n\tcall " #name "\n\tld ra, 8(sp)\n\taddi sp, sp, 16\n\tret"
#endif
#ifdef WEAK
#define MAYBE(name) ".weak " #name "\n"
#else
#define MAYBE(name)
#endif
#define FUNCTION(label, code) ".globl " #label "\n\t.type " #label ", %function\n" #label ":\n\t" code "\n"
#define EACH(n, name) \
	__asm__(".text\n" MAYBE(name) FUNCTION(jump_##n, JUMP(name)) FUNCTION(call_##n, CALL(name)) FUNCTION(leap_##n, CALL(jump_##n))); \
	extern void jump_##n(void), call_##n(void), leap_##n(void);
C
	. "void *const calls[] = {" . join(', ', map { "call_$_" } 0 .. $#names) . "};\n"
	. "void tool_body(void) { }\nvoid *const leaps[] = {" . join(', ', map { "leap_$_" } 0 .. $#names) . "};\n";
# The program: "plugin:how:tool:stays" each; what has not arrived at the tool (""; at none).
my $host = "static const char *const names[] = {" . join(', ', map { "\"$_\"" } @names) . "};\n" . <<'C';
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char zeros[1 << 16] __attribute__((aligned(64)));
static void call_all(char *const *functions, void *body, char *const *notes, const char *tool, const char *how)
{
	for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		char want[64] = "", got[140] = "";
		long (*call)(void *, void *, void *, void *, void *, void *, void *, void *) = (void *)functions[n];
		int gnu = strncmp(names[n], "GOMP_", 5) == 0, llvm = strncmp(names[n], "__kmpc_", 7) == 0;
		/* A number of things first: none of them; a body is the caller's own. */
		void *first = strncmp(names[n], "Extrae_nevent", 13) == 0 ? NULL : gnu ? body : zeros;
		if (*tool)
			snprintf(want, sizeof(want), "%s-%.50s", tool, names[n]);
		call(first, zeros, llvm ? body : gnu ? NULL : zeros, gnu ? (void *)64 : zeros, gnu ? (void *)8 : zeros, zeros, zeros, zeros);
		for (char *const *note = notes; *note; note++) {
			strcat(got, *note);
			**note = 0;
		}
		if (strcmp(got, want) != 0)
			printf("%s %s: '%s'\n", how, names[n], got);
	}
	printf("%s %s\n", how, tool);
}
int main(int argc, char **argv)
{
	char *notes[8] = {0};
	int count = 0;
	for (int i = 1; i < argc; i++) {
		char *path = strtok(argv[i], ":"), *how = strtok(NULL, ":"), *tool = strtok(NULL, ":"), *stays = strtok(NULL, ":");
		void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *functions = library ? dlsym(library, how) : NULL;
		if (!functions) {
			printf("%s\n", dlerror());
			return 1;
		}
		notes[count] = dlsym(library, "tool_note");
		call_all(functions, dlsym(library, "tool_body"), notes, strcmp(tool, "none") == 0 ? "" : tool, how);
		if (stays)
			count += notes[count] != NULL;
		else
			dlclose(library);
	}
	return 0;
}
C

my $program = compiled('host', $host, 'gcc', '-O1', '-w', 'SOURCE');
my %plugin;
for my $which (qw(one two)) {
	my $library = compiled("lib$which.so", $tool, 'gcc', '-O1', '-w', '-fno-builtin', '-shared', '-fPIC', "-DTOOL=\"$which-\"", 'SOURCE');
	$plugin{$which} = compiled("plugin-$which.so", $plugin, 'gcc', '-O1', '-w', '-shared', '-fPIC', 'SOURCE',
		'-Wl,--no-as-needed', $library, '-Wl,-rpath,' . scratch());
}
# One that does without all of them.
$plugin{none} = compiled('plugin-none.so', $plugin, 'gcc', '-O1', '-w', '-DWEAK', '-shared', '-fPIC', 'SOURCE');

sub arrives
{
	my ($what, @steps) = @_;
	my @command = ($program, map { my ($which, $how, $stays) = @$_; "$plugin{$which}:$how:$which" . ($stays ? ":$stays" : '') } @steps);
	for my $engine ([@PERF], [@SIM]) {
		my $run = peek(@$engine, command => \@command, env => {CACHEPEEK_MPI_TIMEOUT => 0});
		is(status_text($run->{status}), 'exit 0', "$what, $engine->[1]: its end") or diag($run->{err});
		is($run->{out}, join('', map { "$_->[1] " . ($_->[0] eq 'none' ? '' : $_->[0]) . "\n" } @steps), "$what, $engine->[1]: all arrive where they are linked");
	}
}
arrives('a jump, before there is a tool, with one, and with another in its place', ['none', 'jumps', 'stays'], ['one', 'jumps'], ['two', 'jumps']);
arrives('a call, and a call of what jumps, with two tools', ['one', 'calls', 'stays'], ['two', 'leaps', 'stays'], ['one', 'leaps'], ['two', 'calls']);
# Where the place of a call tells nothing of it, whoever can do without a tool gets one.
arrives('no tool, beside one', ['one', 'jumps', 'stays'], ['none', 'calls']) if (POSIX::uname())[4] eq 'x86_64';
done_testing();

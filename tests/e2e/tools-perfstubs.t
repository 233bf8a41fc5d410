#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A tool of PerfStubs that the user has, before us or behind: each entry point of it is
# called as without us, in the same order, with the same arguments, and what it gives
# back arrives.  The table is the interface's; program and tool are made from it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Standin;
use Test::More;

# A name, what it gives back, what it takes.  A name with a dollar is what an earlier
# call has given back to the name behind the equals sign.
my @calls = map { [split] } grep { /\S/ } split(/\n/, <<'TABLE');
	initialize           void
	register_thread      void
	timer_create         handle=timer   text
	timer_start          void           $timer
	timer_stop           void           $timer
	start_string         void           text
	pause_measurement    void
	resume_measurement   void
	stop_string          void           text
	dynamic_phase_start  void           text int
	stop_current         void
	dynamic_phase_start  void           text int
	dynamic_phase_stop   void           text int
	set_parameter        void           text long
	create_counter       handle=counter text
	sample_counter       void           $counter double
	set_metadata         void           text text
	dump_data            void
	get_timer_data       void           handle
	get_counter_data     void           handle
	get_metadata         void           handle
	free_timer_data      void           handle
	free_counter_data    void           handle
	free_metadata        void           handle
	finalize             void
TABLE
my %types = (void => 'void', handle => 'void *', text => 'const char *', int => 'int', long => 'long', double => 'double');
my %formats = (handle => '%p', text => '%s', int => '%d', long => '%ld', double => '%g');

my ($n, $program, $tool) = (4700, '', '');
my %seen;
for my $call (@calls) {
	my ($name, $gives, @takes) = @$call;
	my ($type, $variable) = split(/=/, $gives);
	my @kinds = map { /^\$/ ? 'handle' : $_ } @takes;
	my $parameters = join(', ', map { $types{$_} } @kinds) || 'void';
	my $values = join(', ', map { $n++; /^\$(\w+)/ ? $1 : {text => "\"text $n\"", int => $n, long => $n, double => "$n.5", handle => "(void *)$n"}->{$_} } @takes);
	$program .= "\t{\n\t\t$types{$type} (*function)($parameters);\n\t\t*(void **)&function = dlsym(RTLD_DEFAULT, \"ps_tool_$name\");\n" .
		($type eq 'void' ? "\t\tif (function)\n\t\t\tfunction($values);\n"
			: "\t\t$variable = function ? function($values) : NULL;\n\t\tprintf(\"$name $formats{$type}\\n\", $variable);\n") . "\t}\n";
	next if $seen{$name}++;
	my $i = 0;
	$tool .= "$types{$type} ps_tool_$name(" . (join(', ', map { "$types{$_} a" . ++$i } @kinds) || 'void') . ")\n{\n" .
		"\tprint(\"$name" . join('', map { " $formats{$_}" } @kinds) . "\\n\"" . join('', map { ", a$_" } 1 .. @kinds) . ");\n" .
		($type eq 'void' ? '' : "\treturn (void *)" . ($n + 1000) . ";\n") . "}\n";
}
my $source = write_file(scratch('tool.c'), <<"C");
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
static void print(const char *format, ...)
{
	static FILE *file;
	va_list args;
	if (!file && (file = fopen(getenv("TOOL_LOG"), "a")))
		setvbuf(file, NULL, _IOLBF, 0);
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
}
$tool
C
my $exe = compiled('perfstubs', <<"C", 'gcc', '-w', 'SOURCE');
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	void *timer, *counter;
$program	return 0;
}
C
my @gcc = ('gcc', '-w', '-shared', '-fPIC', $source);
my $library = scratch('libtool.so');
run(command => [@gcc, '-o', $library]);
my ($lib, $switch) = (lib(), build() . '/libcachepeek/perfstubs.so');

for my $how (['behind us', "$lib:$library"], ['before us', "$library:$lib"], ['behind the switch', "$lib:$switch:$library"]) {
	my ($log, @with) = ok_same_calls("PerfStubs, all entry points, $how->[0]", [$exe], {}, {preload => [$library, $how->[1]]}, [@PERF], [@SIM]);
	is(scalar(() = $log =~ /\n/g), scalar(@calls), 'PerfStubs: a tool with all entry points is told of all calls') or diag($log);
	next if $how->[0] eq 'before us'; # PerfStubs asks the first one, and no other
	ok(region($_->{report}, 'text 4701') && region($_->{report}, 'text 4704'), 'PerfStubs: and we see its timers') for @with;
}
for my $name (sort keys %seen) {
	for my $which ('only', 'all but') {
		my $map = $which eq 'only' ? "{ global: ps_tool_$name; local: *; };\n" : "{ local: ps_tool_$name; };\n";
		write_file(scratch('tool.map'), $map);
		run(command => [@gcc, '-Wl,--version-script=' . scratch('tool.map'), '-o', $library]);
		my $has = sub { ($_[0] =~ /^$name /) == ($which eq 'only') };
		ok_same_calls("PerfStubs, $which $name", [$exe], {}, {preload => [$library, "$lib:$library"],
			seen => sub { join('', grep { $has->($_) } split(/^/, $_[0])) }}, [@PERF]);
	}
}
done_testing();

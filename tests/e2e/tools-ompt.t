#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A tool of OpenMP that the user has: LLVM's runtime calls each of its callbacks as
# without us, in the same order and with the same arguments, addresses in the code
# included.  The callbacks are those of the runtime's header.  (GCC's runtime has none.)
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Standin;
use Test::More;

my ($header) = glob('/usr/lib/llvm-*/lib/clang/*/include/omp-tools.h');
plan(skip_all => 'no clang with OpenMP here') unless $header && which('clang');
my $text = read_file($header);

# ---- the tool ----

my %signatures;
while ($text =~ /typedef\s+(void|int)\s*\(\*(ompt_callback_\w+_t)\)\s*\((.*?)\);/gs) {
	my ($gives, $type, $parameters) = ($1, $2, $3);
	$signatures{$type} = [$gives, map { s/^\s+|\s+$//gr } split(/,/, $parameters =~ s/\s+/ /gr)];
}
my @events;
push(@events, [$1, $2]) while $text =~ /^\s*macro\s*\(ompt_callback_(\w+)\s*,\s*(\w+)\s*,/mg;
cmp_ok(scalar(@events), '>', 30, 'the header has callbacks');

my ($functions, $set) = ('', '');
for my $event (@events) {
	my ($name, $type) = @$event;
	my ($gives, @parameters) = @{$signatures{$type} || []};
	next unless @parameters;
	my ($format, $values) = ('', '');
	for my $parameter (@parameters) {
		my ($kind, $variable) = $parameter =~ /^(.*?)(\w+)$/;
		my $how = $kind =~ /^ompt_data_t \*/ ? ['%s', "number($variable)"]
			: $variable =~ /codeptr/ ? ['%s', "place($variable)"]
			: $kind =~ /ompt_frame_t/ ? ['%d', "$variable != NULL"]
			: $kind =~ /\*/ ? ['%d', "$variable != NULL"]
			: $kind =~ /^(?:int|unsigned int|uint64_t|size_t|ompt_(?!data|id|wait|dependence)\w+_t) ?$/ ? ['%lld', "(long long)$variable"] : undef;
		($format, $values) = ("$format $how->[0]", "$values, $how->[1]") if $how;
	}
	$functions .= "static $gives on_$name(" . join(', ', @parameters) . ")\n{\n\tLOG(\"$name$format\\n\"$values);\n" . ($gives eq 'int' ? "\treturn 15;\n" : '') . "}\n";
	$set .= "\tLOG(\"set $name %d\\n\", set(ompt_callback_$name, (ompt_callback_t)on_$name));\n";
}
my $tool = <<"C";
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp-tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static FILE *file;
#define LOG(...) fprintf(file, __VA_ARGS__)
/* Texts that live until the line is written. */
static char *text(void)
{
	static char texts[8][200];
	static int n;
	return texts[n++ & 7];
}
static const char *number(ompt_data_t *data)
{
	static unsigned long last;
	char *to = text();
	if (!data)
		return "-";
	if (!data->value)
		data->value = ++last;
	sprintf(to, "%lu", (unsigned long)data->value);
	return to;
}
static const char *place(const void *address)
{
	char *to = text();
	Dl_info info;
	if (!dladdr(address, &info))
		return "-";
	sprintf(to, "%s+%lx", strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 : info.dli_fname,
		(unsigned long)((char *)address - (char *)info.dli_fbase));
	return to;
}
$functions
static int initialize(ompt_function_lookup_t look_up, int device, ompt_data_t *data)
{
	ompt_set_callback_t set = (ompt_set_callback_t)look_up("ompt_set_callback");
	LOG("initialize %d %d\\n", device, (int)data->value);
$set
	return !getenv("TOOL_FAILS");
}
static void finalize(ompt_data_t *data) { LOG("finalize %d\\n", (int)data->value); }
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
	static ompt_start_tool_result_t result = {initialize, finalize, {11}};
	file = fopen(getenv("TOOL_LOG"), "a");
	setvbuf(file, NULL, _IOLBF, 0);
	LOG("start %u %s\\n", version, runtime);
	return getenv("TOOL_DECLINES") ? NULL : &result;
}
C

# ---- the program ----

my $program = <<'C';
#ifdef TOOL
#include TOOL
#endif
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static int total;
static void loops(void)
{
#pragma omp parallel for schedule(dynamic, 2) reduction(+ : total)
	for (int i = 0; i < 7; i++)
		total += i;
#pragma omp parallel for ordered schedule(static)
	for (int i = 0; i < 3; i++) {
#pragma omp ordered
		total++;
	}
#pragma omp parallel
	{
#pragma omp sections
		{
#pragma omp section
			total++;
#pragma omp section
			total++;
		}
#pragma omp single
		total++;
#pragma omp master
		total++;
#pragma omp critical
		total++;
#pragma omp barrier
#pragma omp flush
#pragma omp parallel num_threads(1)
		total++;
#pragma omp for
		for (int i = 0; i < 3; i++) {
			total++;
#pragma omp cancel for if (i == 1)
		}
	}
}
static void tasks(void)
{
	int a = 0, b = 0;
#pragma omp parallel
#pragma omp single
	{
#pragma omp task depend(out : a)
		a = 1;
#pragma omp task depend(in : a) depend(out : b)
		b = a;
#pragma omp taskwait
#pragma omp taskgroup
		{
#pragma omp task untied
			total++;
#pragma omp taskyield
		}
#pragma omp taskloop num_tasks(3)
		for (int i = 0; i < 6; i++)
			total++;
#pragma omp task if (0)
		total += b;
	}
}
static void locks(void)
{
	omp_lock_t lock;
	omp_nest_lock_t nested;
	omp_init_lock(&lock);
	omp_set_lock(&lock);
	total += omp_test_lock(&lock);
	omp_unset_lock(&lock);
	omp_destroy_lock(&lock);
	omp_init_nest_lock(&nested);
	omp_set_nest_lock(&nested);
	omp_set_nest_lock(&nested);
	total += omp_test_nest_lock(&nested);
	omp_unset_nest_lock(&nested);
	omp_unset_nest_lock(&nested);
	omp_unset_nest_lock(&nested);
	omp_destroy_nest_lock(&nested);
}
static void league(void)
{
#pragma omp teams num_teams(1)
	total++;
}
int main(void)
{
	loops();
	tasks();
	locks();
	league();
	printf("%d\n", total);
	printf("%d\n", omp_control_tool(omp_control_tool_start, 3, NULL));
	return 0;
}
C

my @clang = ('clang', '-w', '-O1', '-I' . $header =~ s{/[^/]*$}{}r);
my $library = compiled('libompt.so', $tool, @clang, '-shared', '-fPIC', 'SOURCE');
my $exe = compiled('ompt', $program, @clang, '-fopenmp', 'SOURCE');
plan(skip_all => 'clang builds no OpenMP here') unless -e $library && -e $exe;
# One thread: then there is one order.
my %env = (OMP_NUM_THREADS => 1, OMP_CANCELLATION => 'true', OMP_WAIT_POLICY => 'passive');
my $ours = qr/no regions of OpenMP: another tool watches its runtime/;

# Which callbacks there were.
sub kinds { my %seen = map { $_ => 1 } $_[0] =~ /^(?!set)(\w+) /mg; return \%seen }

my ($log, @with) = ok_same_calls('OMPT, OMP_TOOL_LIBRARIES', [$exe], {%env, OMP_TOOL_LIBRARIES => $library}, {notes => $ours}, [@PERF], [@SIM]);
my $kinds = kinds($log);
is(join(' ', grep { !$kinds->{$_} } qw(thread_begin parallel_begin parallel_end task_create task_schedule implicit_task
	control_tool sync_region_wait dependences work masked sync_region lock_init lock_destroy mutex_acquire mutex_acquired
	mutex_released nest_lock flush cancel reduction)), '', 'OMPT: these callbacks were called');
like($log, qr/^parallel_begin .* ompt\+[0-9a-f]+$/m, 'OMPT: with an address in the program');
like(join('', @{$_->{notes}}), $ours, 'OMPT: that we leave the runtime to it is said') for @with;

# ---- wherever it is loaded ----

my $lib = lib();
ok_same_calls('OMPT, behind us', [$exe], \%env, {preload => [$library, "$lib:$library"], notes => $ours}, [@PERF], [@SIM]);
ok_same_calls('OMPT, before us', [$exe], \%env, {preload => [$library, "$library:$lib"], notes => $ours}, [@PERF], [@SIM]);
my $inside = write_file(scratch('inside.h'), $tool);
my $static = compiled('ompt-inside', $program, @clang, '-fopenmp', '-rdynamic', "-DTOOL=\"$inside\"", 'SOURCE');
ok_same_calls('OMPT, in the program', [$static], \%env, {notes => $ours}, [@PERF], [@SIM]);

# ---- one that declines, one that fails, none ----

for my $how ('TOOL_DECLINES', 'TOOL_FAILS') {
	ok_same_calls("OMPT, $how, OMP_TOOL_LIBRARIES", [$exe], {%env, OMP_TOOL_LIBRARIES => $library, $how => 1}, {notes => $ours}, [@PERF]);
	ok_same_calls("OMPT, $how, behind us", [$exe], {%env, $how => 1}, {preload => [$library, "$lib:$library"], notes => $ours}, [@PERF]);
}
my $alone = run(command => [$exe], env => \%env);
for my $engine ([@PERF], [@SIM]) {
	my $none = peek(@$engine, command => [$exe], env => \%env);
	is($none->{out}, $alone->{out}, 'OMPT, no tool: the program sees none');
	is($none->{err} . join('', @{$none->{notes}}), '', 'OMPT, no tool: nothing is said');
	cmp_ok(scalar(grep { @{$_->{path}} } @{$none->{report}{regions}}), '>=', 5, 'OMPT, no tool: regions are counted');
}
done_testing();

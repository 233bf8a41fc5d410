#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Tools that the user has, and for which the library stands in: each of their entry
# points is called as without us, in the same order, with the same arguments; what it
# gives back arrives; and what it does not have is not there.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Standin;
use Test::More;

my @perf = @PERF;
my @sim = @SIM;

# ---- Kokkos ----

my $tool = program('libkokkostool.so');
for my $variable ({}, {TOOL_FENCES => 1}) {
	my ($log) = ok_same_calls('Kokkos, all entry points', [program('kokkos_calls'), 'argument'],
		{KOKKOS_TOOLS_LIBS => $tool, %$variable}, [@perf], [@sim]);
	is(scalar(() = $log =~ /\n/g), 1 + 34, 'Kokkos: a tool with all entry points is told of 34 calls') or diag($log);
}

# A tool that has one entry point only: the others are not there, or ours.
{
	my %ours = map { $_ => 1 } qw(init_library finalize_library begin_parallel_for end_parallel_for begin_parallel_reduce
		end_parallel_reduce begin_parallel_scan end_parallel_scan push_profile_region pop_profile_region
		create_profile_section start_profile_section stop_profile_section destroy_profile_section begin_deep_copy
		end_deep_copy request_tool_settings);
	my $source = write_file(scratch('one.c'), "void kokkosp_begin_fence(const char *n, unsigned d, unsigned long *i) { *i = d; }\n");
	my $one = scratch('libone.so');
	is(status_text(run(command => ['gcc', '-shared', '-fPIC', '-o', $one, $source])->{status}), 'exit 0', 'a tool of one entry point');
	my $alone = run(command => [program('kokkos_calls')], env => {KOKKOS_TOOLS_LIBS => $one});
	my $with = peek(@perf, command => [program('kokkos_calls')], env => {KOKKOS_TOOLS_LIBS => $one});
	my @missing = grep { !$ours{$_} } $alone->{out} =~ /^kokkosp_(\w+) is not there$/mg;
	is_deeply([$with->{out} =~ /^kokkosp_(\w+) is not there$/mg], \@missing, 'Kokkos, one entry point: no other appears');
	like($with->{out}, qr/^fence 3$/m, 'Kokkos, one entry point: it is called');
	my $none = peek(@perf, command => [program('kokkos_calls')]);
	is_deeply([$none->{out} =~ /^kokkosp_(\w+) is not there$/mg], [sort_like($alone->{out}, grep { !$ours{$_} } ($alone->{out} =~ /^kokkosp_(\w+) is not there$/mg), 'begin_fence')],
		'Kokkos, no tool: only what is ours is there');
}

# Each of them alone: what others would have made, such as numbers, is as without us.
for my $name (read_file(source() . '/tests/programs/libkokkostool.c') =~ /^void kokkosp_(\w+)\(/mg,
	map { ("begin_$_", "end_$_") } qw(parallel_for parallel_reduce parallel_scan)) {
	next if $name =~ /##/;
	my $only = write_file(scratch('only.map'), "{ global: kokkosp_$name; local: *; };\n");
	my $library = scratch("lib$name.so");
	run(command => ['gcc', '-w', '-shared', '-fPIC', "-Wl,--version-script=$only", '-o', $library, source() . '/tests/programs/libkokkostool.c']);
	ok_same_calls("Kokkos, only $name", [program('kokkos_calls')], {KOKKOS_TOOLS_LIBS => $library}, {seen => sub { '' }}, [@PERF]);
}

# In the order of the calls.
sub sort_like {
	my ($out, @names) = @_;
	my %is = map { $_ => 1 } @names;
	my @order = qw(print_help parse_args provide_tool_programming_interface begin_fence end_fence profile_event allocate_data
		dual_view_sync dual_view_modify deallocate_data declare_metadata declare_input_type declare_output_type begin_context
		declare_optimization_goal request_values end_context);
	return grep { $is{$_} } @order;
}

# Two in a chain: the first one asks for the list.
ok_same_calls('Kokkos, two tools', [program('kokkos_calls')], {KOKKOS_TOOLS_LIBS => $tool, KOKKOS_PROFILE_LIBRARY => "$tool;/second.so"}, [@perf]);

SKIP: {
	skip('no Kokkos here', 1) unless -e '/usr/include/trilinos/Kokkos_Core.hpp';
	my $source = write_file(scratch('kokkos.cc'), <<'CC');
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ProfileSection.hpp>
#include <cstdio>
#include <dlfcn.h>
int main(int argc, char **argv)
{
	Kokkos::initialize(argc, argv);
	{
		Kokkos::View<double *> v("v", 100);
		Kokkos::View<double *> w("w", 100);
		double sum = 0;
		Kokkos::Profiling::pushRegion("phase");
		for (int i = 0; i < 3; i++)
			Kokkos::parallel_for("fill", 100, [=](int i) { v(i) = i; });
		Kokkos::parallel_reduce("sum", 100, [=](int i, double &all) { all += v(i); }, sum);
		Kokkos::parallel_scan("scan", 100, [=](int i, double &all, bool last) { all += v(i); });
		Kokkos::Profiling::ProfilingSection section("section");
		section.start();
		Kokkos::Profiling::markEvent("event");
		Kokkos::deep_copy(w, v);
		Kokkos::fence();
		Kokkos::Profiling::popRegion();
		section.stop();
		std::printf("%g %d\n", sum, dlsym(RTLD_DEFAULT, "kokkos_tool_is_global") != nullptr);
	}
	Kokkos::finalize();
}
CC
	my $exe = scratch('kokkos.exe');
	my $build = run(command => ['g++', '-w', '-O1', '-fopenmp', '-I/usr/include/trilinos', $source, '-o', $exe, '-ltrilinos_kokkoscore']);
	is(status_text($build->{status}), 'exit 0', 'Kokkos: compiles') or diag($build->{err});
	my ($log, $with) = ok_same_calls('Kokkos itself', [$exe], {KOKKOS_PROFILE_LIBRARY => $tool, OMP_NUM_THREADS => 1}, [@perf]);
	is(scalar(() = $log =~ /^deallocate /mg), 2, 'Kokkos itself: the tool sees what is given back');
	cmp_ok(scalar(() = $log =~ /^allocate /mg), '>=', 2, 'Kokkos itself: and what was allocated');
	is(region($with->{report}, 'phase', 'fill')->{calls}, 3, 'Kokkos itself: and we see its kernels');
}

# ---- OMPT ----

SKIP: {
	my ($header) = glob('/usr/lib/llvm-*/lib/clang/*/include/omp-tools.h');
	skip('no clang with OpenMP here', 1) unless $header && which('clang');
	my $source = write_file(scratch('ompt.c'), <<'C');
#include <omp-tools.h>
#include <stdio.h>
#include <stdlib.h>
static FILE *file;
static void thread_begin(ompt_thread_t type, ompt_data_t *data)
{
	if (type == ompt_thread_initial)
		fprintf(file, "initial thread %d\n", data != NULL);
}
static void parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
	unsigned threads, int flags, const void *caller)
{
	parallel->value = 7;
	fprintf(file, "parallel %u %d\n", threads, flags);
}
static void parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *caller)
{
	fprintf(file, "end %d\n", (int)parallel->value);
}
static int initialize(ompt_function_lookup_t look_up, int device, ompt_data_t *data)
{
	ompt_set_callback_t set = (ompt_set_callback_t)look_up("ompt_set_callback");
	fprintf(file, "initialize %d %d\n", device, (int)data->value);
	fprintf(file, "%d\n", set(ompt_callback_thread_begin, (ompt_callback_t)thread_begin));
	fprintf(file, "%d\n", set(ompt_callback_parallel_begin, (ompt_callback_t)parallel_begin));
	fprintf(file, "%d\n", set(ompt_callback_parallel_end, (ompt_callback_t)parallel_end));
	return 1;
}
static void finalize(ompt_data_t *data)
{
	fprintf(file, "finalize %d\n", (int)data->value);
}
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
	static ompt_start_tool_result_t result = {initialize, finalize, {11}};
	file = fopen(getenv("TOOL_LOG"), "a");
	setvbuf(file, NULL, _IOLBF, 0);
	fprintf(file, "start %u %s\n", version, runtime);
	return &result;
}
C
	my $program = write_file(scratch('parallel.c'), <<'C');
#include <stdio.h>
int main(void)
{
	int n = 0;
	for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(2)
		{
#pragma omp atomic
			n++;
		}
	}
	printf("%d\n", n);
	return 0;
}
C
	my ($library, $exe) = (scratch('libompt.so'), scratch('parallel'));
	run(command => ['clang', '-shared', '-fPIC', '-o', $library, $source, '-I' . $header =~ s{/[^/]*$}{}r]);
	run(command => ['clang', '-fopenmp', '-o', $exe, $program]);
	skip('clang builds no OpenMP here', 1) unless -e $library && -e $exe;
	my ($log, $with) = ok_same_calls('OMPT, OMP_TOOL_LIBRARIES', [$exe],
		{OMP_TOOL_LIBRARIES => $library, OMP_WAIT_POLICY => 'passive'}, {notes => qr/another tool watches its runtime/}, [@perf], [@sim]);
	is(scalar(() = $log =~ /^parallel 2/mg), 3, 'OMPT: the tool sees three regions') or diag($log);
	like(join('', @{$with->{notes}}), qr/no regions of OpenMP: another tool watches its runtime \(OMP_TOOL_LIBRARIES\)/,
		'OMPT: that it comes first is said');
	my $none = peek(@perf, command => [$exe]);
	is(scalar(@{$none->{notes}}), 0, 'OMPT, no tool: nothing is said');
	cmp_ok(scalar(grep { @{$_->{path}} } @{$none->{report}{regions}}), '>=', 1, 'OMPT, no tool: regions are counted');
	my $marked = write_file(scratch('marked.c'), "void __tsan_init(void) {}\n" . read_file($program));
	run(command => ['clang', '-rdynamic', '-fopenmp', '-o', $exe, $marked]);
	like(join('', @{peek(@perf, command => [$exe])->{notes}}), qr/another tool watches its runtime \(ThreadSanitizer's\)/,
		'OMPT: the tool of ThreadSanitizer comes first');
}

# ---- PerfStubs: it says on stdout that it found a tool ----

{
	my $source = write_file(scratch('stubs.c'), <<'C');
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	void (*initialize)(void), (*start)(const char *), (*stop)(const char *);

	*(void **)&initialize = dlsym(RTLD_DEFAULT, "ps_tool_initialize");
	if (!initialize)
		return 0;
	puts("found a tool");
	fflush(stdout);
	*(void **)&start = dlsym(RTLD_DEFAULT, "ps_tool_start_string");
	*(void **)&stop = dlsym(RTLD_DEFAULT, "ps_tool_stop_string");
	initialize();
	start("stub");
	stop("stub");
	return 0;
}
C
	my $exe = scratch('stubs');
	run(command => ['gcc', '-o', $exe, $source]);
	for my $engine ([@perf], [@sim]) {
		my %how = @$engine;
		my $with = peek(@$engine, command => [$exe]);
		is($with->{out} . $with->{err}, '', "PerfStubs, $how{engine}, no tool: it finds none");
	}
	my $tool = program('libusertool.so');
	my $alone = run(command => [$exe], env => {LD_PRELOAD => $tool});
	my $with = peek(@perf, command => [$exe], preload => lib() . ":$tool");
	is($with->{out}, "found a tool\n", 'PerfStubs, a tool: it is found');
	is($with->{err}, $alone->{err}, 'PerfStubs, a tool: it gets every call');
	is(region($with->{report}, 'stub')->{calls}, 1, 'PerfStubs, a tool: and so do we');
}

# ---- Score-P and TAU, while they make no handles: they get none of ours ----

{
	my $functions = <<'C';
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
void SCOREP_User_RegionInit(void **handle, const char **last_name, uint32_t *last, const char *name, uint32_t type, const char *file, uint32_t line);
void SCOREP_User_RegionBegin(void **handle, const char **last_name, uint32_t *last, const char *name, uint32_t type, const char *file, uint32_t line);
void SCOREP_User_RegionEnter(void *handle);
void SCOREP_User_RegionEnd(void *handle);
void Tau_profile_c_timer(void **timer, const char *name, const char *type, uint64_t group, const char *group_name);
void Tau_lite_start_timer(void *timer, int phase);
void Tau_lite_stop_timer(void *timer);
C
	my $library = compiled('libnone.so', $functions . <<'C', 'gcc', '-w', '-shared', '-fPIC', 'SOURCE');
static void print(const char *what, void *handle)
{
	FILE *file = fopen(getenv("TOOL_LOG"), "a");
	fprintf(file, "%s %p\n", what, handle);
	fclose(file);
}
void SCOREP_User_RegionInit(void **handle, const char **last_name, uint32_t *last, const char *name, uint32_t type, const char *file, uint32_t line) { print(name, *handle); }
void SCOREP_User_RegionBegin(void **handle, const char **last_name, uint32_t *last, const char *name, uint32_t type, const char *file, uint32_t line) { print(name, *handle); }
void SCOREP_User_RegionEnter(void *handle) { print("enter", handle); }
void SCOREP_User_RegionEnd(void *handle) { print("end", handle); }
void Tau_profile_c_timer(void **timer, const char *name, const char *type, uint64_t group, const char *group_name) { print(name, *timer); }
void Tau_lite_start_timer(void *timer, int phase) { print("start", timer); }
void Tau_lite_stop_timer(void *timer) { print("stop", timer); }
C
	my $exe = compiled('none', $functions . <<'C', 'gcc', '-w', 'SOURCE', $library, '-Wl,-rpath,' . scratch());
int main(void)
{
	void *one = NULL, *two = NULL, *timer = NULL;
	const char *last_name = NULL;
	uint32_t last = 0;
	SCOREP_User_RegionInit(&one, &last_name, &last, "one", 0, "file", 1);
	SCOREP_User_RegionEnter(one);
	SCOREP_User_RegionBegin(&two, &last_name, &last, "two", 0, "file", 2);
	SCOREP_User_RegionEnd(two);
	SCOREP_User_RegionEnd(one);
	Tau_profile_c_timer(&timer, "timer", "", 0, "");
	Tau_lite_start_timer(timer, 0);
	Tau_lite_stop_timer(timer);
	printf("%p %p %p\n", one, two, timer);
	return 0;
}
C
	ok_same_calls('Score-P and TAU, no handles', [$exe], {}, [@PERF]);
}

# ---- what the program sees of the variables ----

for my $name (qw(KOKKOS_TOOLS_LIBS KOKKOS_PROFILE_LIBRARY INTEL_LIBITTNOTIFY64 NVTX_INJECTION64_PATH)) {
	for my $value (undef, '/a/tool.so') {
		my $source = write_file(scratch('asks.c'), "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { const char *v = getenv(\"$name\"); puts(v ? v : \"-\"); return 0; }\n");
		my $exe = scratch('asks');
		run(command => ['gcc', '-o', $exe, $source]);
		my $with = peek(@perf, command => [$exe], env => {$name => $value});
		is($with->{out}, defined $value ? "$value\n" : "-\n", "$name: to a program that asks it is " . ($value // 'not set'));
	}
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Programs that are marked for other tools show their regions: real ones with
# LIKWID, PAPI and Kokkos as Debian has them, test programs written from the
# published interfaces of ITT, NVTX and Caliper.  A tool that is there, too, gets
# every call.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @perf = (engine => 'perf', events => 'perf::PAGE-FAULTS');
my @sim = (engine => 'sim', events => 'instructions');
my $other = build() . '/tests/programs/libothertool.so';

# "path calls" of every region, those of ranges with a ~; the root has none.
sub paths
{
	my ($in) = @_;
	return [map {
		my $region = $_;
		my $mark = (grep { $_ eq 'overlapping' } @{$region->{flags} || []}) ? '~' : '';
		$mark . join('/', @{$region->{path}}) . " $region->{calls}";
	} grep { @{$_->{path}} } @{($in || {})->{regions} || []}];
}

sub sorted { [sort @{$_[0]}] }

# The counts of the root's children, ranges apart, are those that it has not itself.
sub ok_root
{
	my ($report, $name, $what) = @_;
	my $root = region($report);
	my $inside = 0;
	$inside += value($_, $name) for grep { @{$_->{path}} == 1 &&
		!grep { $_ eq 'overlapping' } @{$_->{flags} || []} } @{$report->{regions}};
	is(value($root, $name), value($root, $name, 'exclusive') + $inside,
		"$what: inclusive is exclusive and children");
}

# Runs it without and with the library, by both engines.
sub check
{
	my ($what, $want, %run) = @_;
	my $out = delete $run{out};
	my $warnings = delete $run{warnings} // [];
	my $plain = run(%run);
	for my $engine ([@perf], [@sim]) {
		my %how = @$engine;
		my $with = peek(@$engine, %run);
		is($with->{out}, defined $out ? $out : $plain->{out}, "$what, $how{engine}: its output");
		is(status_text($with->{status}), 'exit 0', "$what, $how{engine}: its end");
		is_deeply(sorted(paths($with->{report})), sorted($want), "$what, $how{engine}: its regions")
			or diag($with->{err}, explain(paths($with->{report})));
		is_deeply([map { s/ in thread \d+//r } @{$with->{report}{warnings}}], $warnings, "$what, $how{engine}: what is warned of");
		ok_root($with->{report}, $how{events}, "$what, $how{engine}");
	}
	return $plain;
}

sub build_program
{
	my ($name, $text, @command) = @_;
	my $source = write_file(scratch($name), $text);
	my $exe = scratch("$name.exe");
	my $build = run(command => [map { $_ eq 'SOURCE' ? $source : $_ } @command, '-o', $exe]);
	is(status_text($build->{status}), 'exit 0', "$name: compiles") or diag($build->{err});
	return $exe;
}

# ---- LIKWID ----

SKIP: {
	skip('no LIKWID here', 1) unless -e '/usr/include/likwid-marker.h';
	my $exe = build_program('likwid.c', <<'C', 'gcc', '-DLIKWID_PERFMON', '-pthread', 'SOURCE', '-llikwid');
#include <likwid-marker.h>
#include <pthread.h>
#include <stdio.h>
static void *work(void *unused)
{
	LIKWID_MARKER_THREADINIT;
	for (int i = 0; i < 3; i++) {
		LIKWID_MARKER_START("outer");
		LIKWID_MARKER_START("inner");
		LIKWID_MARKER_STOP("inner");
		LIKWID_MARKER_START("over");
		LIKWID_MARKER_STOP("outer");
		LIKWID_MARKER_STOP("over");
		LIKWID_MARKER_STOP("never begun");
	}
	return unused;
}
int main(void)
{
	double events[4], time = 1;
	int nevents = 4, count = 0;
	pthread_t threads[2];
	LIKWID_MARKER_INIT;
	LIKWID_MARKER_REGISTER("outer");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, work, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	LIKWID_MARKER_GET("outer", &nevents, events, &time, &count);
	printf("%d\n", count);
	LIKWID_MARKER_CLOSE;
	return 0;
}
C
	check('LIKWID', ['outer 6', 'outer/inner 6', 'outer/over 6', 'over 6'], command => [$exe],
		warnings => ['END of region "never begun" of LIKWID, where it is not open: ignored']);

	# Between us and the real library: what reaches that, and what it returns.
	my $between = build_program('between.c', <<'C', 'gcc', '-shared', '-fPIC', '-D_GNU_SOURCE', 'SOURCE');
#include <dlfcn.h>
#include <stdio.h>
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
static int calls[6];
void likwid_markerInit(void) { calls[0]++; REAL(likwid_markerInit)(); }
void likwid_markerThreadInit(void) { __sync_add_and_fetch(&calls[1], 1); REAL(likwid_markerThreadInit)(); }
int likwid_markerRegisterRegion(const char *tag)
{
	calls[2]++;
	int result = REAL(likwid_markerRegisterRegion)(tag);
	fprintf(stderr, "register %s: %d\n", tag, result);
	return result;
}
int likwid_markerStartRegion(const char *tag)
{
	__sync_add_and_fetch(&calls[3], 1);
	return REAL(likwid_markerStartRegion)(tag);
}
int likwid_markerStopRegion(const char *tag)
{
	__sync_add_and_fetch(&calls[4], 1);
	return REAL(likwid_markerStopRegion)(tag);
}
void likwid_markerClose(void)
{
	calls[5]++;
	REAL(likwid_markerClose)();
	fprintf(stderr, "init %d threads %d register %d start %d stop %d close %d\n", calls[0], calls[1],
		calls[2], calls[3], calls[4], calls[5]);
}
C
	my $alone = run(command => [$exe], env => {LD_PRELOAD => $between});
	like($alone->{err}, qr/^init 1 threads 2 register 1 start 18 stop 24 close 1$/m, 'LIKWID, behind us: the calls');
	my $with = peek(@perf, command => [$exe], preload => lib() . ":$between");
	is($with->{err}, $alone->{err}, 'LIKWID, behind us: gets every call, and its results arrive');
	is_deeply(sorted(paths($with->{report})), ['outer 6', 'outer/inner 6', 'outer/over 6', 'over 6'],
		'LIKWID, behind us: and so do we');
}

# ---- PAPI: where it cannot count, programs are not told to give up ----

SKIP: {
	skip('no PAPI here', 1) unless -e '/usr/include/papi.h';
	my $exe = build_program('papi.c', <<'C', 'gcc', 'SOURCE', '-lpapi');
#include <papi.h>
#include <stdio.h>
int main(void)
{
	if (PAPI_hl_region_begin("outer") || PAPI_hl_region_begin("inner") || PAPI_hl_read("inner") ||
		PAPI_hl_region_end("inner") || PAPI_hl_region_end("outer") || PAPI_hl_stop())
		return 3;
	puts("counted");
	return 0;
}
C
	my $plain = check('PAPI', ['outer 1', 'outer/inner 1'], command => [$exe],
		cwd => scratch(), out => "counted\n");
	my $asked = peek(@perf, command => [$exe], env => {PAPI_EVENTS => 'PAPI_TOT_INS'});
	is(status_text($asked->{status}), status_text($plain->{status}), 'PAPI: its own errors when it was asked');

	# Where it can count, it counts what we do.
	my $pages = build_program('papi-pages.c', <<'C', 'gcc', '-Wl,-z,now', 'SOURCE', '-lpapi');
#include <papi.h>
#include <sys/mman.h>
static void touch(int pages)
{
	volatile char *at = mmap(0, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)at, pages * 4096, MADV_NOHUGEPAGE);
	while (pages--)
		at[pages * 4096] = 1;
}
int main(void)
{
	/* The code, the stack and the C library's pages that a call needs fault here, not in the first region. */
	touch(1);
	for (int i = 0; i < 3; i++) {
		if (PAPI_hl_region_begin("outer") || PAPI_hl_region_begin("inner"))
			return 3;
		touch(10 * (i + 1));
		if (PAPI_hl_region_end("inner") || PAPI_hl_region_end("outer"))
			return 4;
	}
	return PAPI_hl_stop();
}
C
	my %papi = (PAPI_EVENTS => 'perf::PAGE-FAULTS', PAPI_OUTPUT_DIRECTORY => scratch('papi'));
	SKIP: {
		skip('PAPI counts no page faults here', 4)
			if run(command => [$pages], env => \%papi)->{status} || !glob(scratch('papi/papi_hl_output/*.json'));
		$papi{PAPI_OUTPUT_DIRECTORY} = scratch('papi-both');
		my $both = peek(@perf, command => [$pages], env => \%papi);
		my ($file) = glob(scratch('papi-both/papi_hl_output/*.json'));
		my $theirs = Json::decode_json(read_file($file // '/dev/null') || '{}');
		my @theirs = map { $_->{'perf::PAGE-FAULTS'} } grep { $_->{name} eq 'inner' }
			map { values %{$_->{regions}} } values %{$theirs->{threads}};
		is(status_text($both->{status}), 'exit 0', 'PAPI, counting: no error');
		is(join(' ', sort { $a <=> $b } @theirs), '10 20 30', 'PAPI, counting: it gets every call');
		my $inner = region($both->{report}, 'outer', 'inner');
		is(value($inner, 'perf::PAGE-FAULTS'), 60, 'PAPI, counting: and so do we');
		is("$inner->{counts}{'perf::PAGE-FAULTS'}{per_call}{min} $inner->{counts}{'perf::PAGE-FAULTS'}{per_call}{max}",
			'10 30', 'PAPI, counting: to the page');
	}
}

# ---- Kokkos ----

SKIP: {
	skip('no Kokkos here', 1) unless -e '/usr/include/trilinos/Kokkos_Core.hpp';
	my $exe = build_program('kokkos.cc', <<'CC', 'g++', '-w', '-O1', '-fopenmp', '-I/usr/include/trilinos', 'SOURCE', '-ltrilinos_kokkoscore');
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ProfileSection.hpp>
#include <cstdio>
int main(int argc, char **argv)
{
	Kokkos::initialize(argc, argv);
	{
		Kokkos::View<double *> v(Kokkos::ViewAllocateWithoutInitializing("v"), 100);
		Kokkos::View<double *> w(Kokkos::ViewAllocateWithoutInitializing("w"), 100);
		double sum = 0;
		Kokkos::Profiling::pushRegion("phase");
		for (int i = 0; i < 3; i++)
			Kokkos::parallel_for("fill", 100, [=](int i) { v(i) = i; });
		Kokkos::parallel_reduce("sum", 100, [=](int i, double &all) { all += v(i); }, sum);
		Kokkos::parallel_scan("scan", 100, [=](int i, double &all, bool last) { all += v(i); });
		Kokkos::Profiling::ProfilingSection section("section");
		section.start();
		Kokkos::deep_copy(w, v);
		Kokkos::Profiling::popRegion();
		section.stop();
		std::printf("%g\n", sum);
	}
	Kokkos::finalize();
}
CC
	my $want = ['phase 1', 'phase/fill 3', 'phase/sum 1', 'phase/scan 1', 'phase/deep_copy 1', '~section 1'];
	check('Kokkos', $want, command => [$exe]);
	my $with = peek(@perf, command => [$exe], env => {KOKKOS_PROFILE_LIBRARY => $other});
	like($with->{err}, qr/^other tool: .* kokkos 7 /m, "Kokkos: the user's tool gets every call");
	is_deeply(sorted(paths($with->{report})), sorted($want), 'Kokkos: and so do we');
	my $named = peek(@perf, command => [$exe, "--kokkos-tools-library=$other"]);
	is(status_text($named->{status}), 'exit 0', 'Kokkos: a tool on its command line is no conflict');
	my $broken = peek(@perf, command => [$exe], env => {KOKKOS_PROFILE_LIBRARY => '/nowhere.so'});
	is(status_text($broken->{status}), 'exit 0', 'Kokkos: a tool that is not there ends nothing');
	like(join('', @{$broken->{notes}}), qr{/nowhere\.so cannot be loaded}, 'Kokkos: but is told');
}

# ---- ITT, NVTX, Caliper ----

my @itt = ('task 3', 'task/task 3', '~overlapped 1', '~region 1', '~one 1', 'event 1');
check('ITT', [@itt], command => [program('marks_itt')], out => "1 1 1\n",
	warnings => ['END of a region of ITT, where none is open: ignored']);
{
	my $with = peek(@perf, command => [program('marks_itt')], env => {INTEL_LIBITTNOTIFY64 => $other});
	like($with->{err}, qr/^other tool: itt 13 /m, "ITT: the user's collector gets every call");
	is_deeply(sorted(paths($with->{report})), sorted([map { s/~one/~other/r } @itt]),
		'ITT: and so do we, with its domains');
}

my @nvtx = ('push 1', "push/w\x{ef}de \x{20ac} 1", 'registered 1', 'registered/default 1', 'default 1',
	'~range 1 1', '~range 2 1');
check('NVTX', [@nvtx], command => [program('marks_nvtx')], out => "-2 -2\n1 1\n",
	warnings => ['END of a region of NVTX, where none is open: ignored']);
{
	my $with = peek(@perf, command => [program('marks_nvtx')], env => {NVTX_INJECTION64_PATH => $other});
	like($with->{err}, qr/^other tool: .* nvtx 5 /m, "NVTX: the user's tool gets every call");
	is($with->{out}, "7 8\n1 1\n", 'NVTX: and gives the results');
	is_deeply(sorted(paths($with->{report})), sorted([@nvtx]), 'NVTX: and so do we');
}

check('Caliper', ['main 1', 'main/setup 1', 'main/setup/assemble 1', 'main/steps 1',
	'main/steps/solver=direct 1', 'main/steps/solver=cg 2'], command => [program('marks_caliper')]);
{
	my %run = (command => [program('marks_caliper')]);
	is(peek(@perf, %run)->{err}, run(%run)->{err}, 'Caliper: gets every call');
}

# ---- Score-P, TAU, Extrae, PerfStubs ----

{
	my @want = ('solve 3', 'solve/step 3', 'solve/step/by name 3', 'tau 1', 'tau/timer 2', 'tau/tau 1', 'tau/after 1',
		'Phase=Seven 2', '1000=8 1', 'Phase=Seven/2000=5 1', '2000=5 1', 'ps 1', 'ps/iteration 2',
		'ps/iteration/string 2', 'ps/iteration/current 2', 'ps/iteration/after 2', 'ps/paused 1');
	# PerfStubs looks for a tool, which this is.
	my $perfstubs = build() . '/libcachepeek/perfstubs.so';
	check('user regions', [@want], command => [program('marks_user')], out => '', preload => lib() . ":$perfstubs");
	my $tool = program('libusertool.so');
	my %run = (command => [program('marks_user')]);
	my $alone = run(%run, env => {LD_PRELOAD => $tool});
	is(scalar(() = $alone->{err} =~ /^tool: /mg), 69, 'user regions: what their tool is told without us')
		or diag($alone->{err});
	my $with = peek(@perf, %run, preload => lib() . ":$tool");
	is($with->{err}, $alone->{err}, 'user regions: it gets every call');
	my $both = peek(@perf, %run, preload => lib() . ":$perfstubs:$tool");
	is($both->{err}, $alone->{err}, 'user regions: also behind the tool that makes PerfStubs find one');
	is_deeply(sorted(paths($with->{report})), sorted([@want]), 'user regions: and so do we, once')
		or diag(explain(paths($with->{report})));
	is(value(region($with->{report}, 'ps', 'paused'), 'perf::PAGE-FAULTS'), 1,
		'user regions: nothing between pause and resume');

	my $directory = scratch('dumped');
	my $dumped = peek(@perf, command => [program('marks_user'), 'killed'], env => {CACHEPEEK_DIR => $directory});
	is(status_text($dumped->{status}), 'signal 9', 'data dumped: killed after it');
	run(command => [cli(), 'report', '-o', scratch('dumped.json'), $directory]);
	my $report = Json::decode_json(read_file(scratch('dumped.json')));
	cmp_ok(value(region($report), 'perf::PAGE-FAULTS') // 0, '>=', 100, 'data dumped: all until then is there');
}

# ---- MPI_Pcontrol: what lies between 0 and 1 is in no region ----

{
	my %run = (command => [program('marks_pcontrol')]);
	my $plain = run(%run);
	like($plain->{out}, qr/^level 7 seven$/m, 'MPI: it takes arguments');
	my $with = peek(@perf, %run);
	is($with->{out}, $plain->{out}, 'MPI: they arrive');
	is(value(region($with->{report}, 'all'), 'perf::PAGE-FAULTS'), 2, 'MPI: two pages of four');
	ok_root($with->{report}, 'perf::PAGE-FAULTS', 'MPI');
}

# ---- where it is not there: nothing leaks ----

{
	my $run = peek(@perf, command => ['/bin/sh', '-c', 'env; echo "[$KOKKOS_TOOLS_LIBS]"']);
	unlike($run->{out}, qr/^(INTEL_LIBITTNOTIFY64|NVTX_INJECTION64_PATH|KOKKOS_)/m, 'no child inherits a variable');
	like($run->{out}, qr/^\[\]$/m, 'nor does a shell see one');
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Parallel regions of OpenMP, as gcc and clang compile them, on libgomp and
# libomp: named, and with each thread's own counts.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

need_perf();

my $faults = 'perf::PAGE-FAULTS';
my $sources = source() . '/tests/openmp';
my @perf = (engine => 'perf', events => $faults);
$ENV{OMP_WAIT_POLICY} = 'passive';
delete $ENV{$_} for grep { /^(OMP_(?!WAIT)|GOMP_|KMP_)/ } keys %ENV;

# NAME of what is compiled from SOURCE, or undef.
sub compiled
{
	my ($name, $source, @command) = @_;
	my $exe = scratch($name);
	my $build = run(command => [@command, '-O1', '-D_GNU_SOURCE', '-I' . source() . '/regions',
		'-fopenmp', $source, '-o', $exe]);
	is($build->{err}, '', "$name compiles") or return undef;
	return $exe;
}

# Where the first region of the function is: "FUNCTION@FILE:LINE".
sub place
{
	my ($file, $function, $nth) = @_;
	my ($inside, $line) = (0, 0);
	for (split(/\n/, read_file("$sources/$file"))) {
		$line++;
		$inside = 1 if /^static \w+ \Q$function\E\(/;
		return "$function\@$file:$line" if $inside && /#pragma omp (parallel|teams)/ && !$nth--;
	}
	die "no $function in $file";
}

# The count of each thread on the path, without nested regions, sorted.
sub shares
{
	my ($report, @path) = @_;
	my @shares;
	for my $thread (map { @{$_->{threads}} } @{$report->{processes}}) {
		my $region = region($thread, @path);
		push(@shares, value($region, $faults, 'exclusive')) if $region && $region->{calls};
	}
	return join(' ', sort { $a <=> $b } @shares);
}

# The runtime's own first touches, in tasks and new threads, are less than a tenth of one item.
sub about
{
	my ($value, $least, $what) = @_;
	return ok(defined $value && $value >= $least && $value < $least + 10, $what) ||
		diag(defined $value ? "$value, not $least" : 'none');
}

# calls; pages; what each thread has, where that is the program's to say.
my %want = (simple => [3, 60, '10 20 30'], statically => [3, 60, '10 20 30'],
	dynamically => [3, 60], guided => [3, 60], at_runtime => [3, 60],
	reduced => [3, 60, '10 20 30'], reduced_by_tasks => [3, 60], sections => [3, 60],
	alone => [1, 10, '10'], tasks => [2, 360], loop_of_tasks => [2, 210],
	barrier => [2, 60, '20 40'], teams => [2, 30], loops_inside => [3, 120, '20 40 60']);

sub check_all
{
	my ($what, $report) = @_;
	my @outside = ('measured');
	for my $function (sort keys %want) {
		my ($calls, $pages, $shares) = @{$want{$function}};
		my $name = place('all.c', $function);
		my $region = region($report, @outside, $name);
		ok($region, "$what: $name") or next;
		is($region->{calls}, $calls, "$what: $function: executions, one for each thread");
		about(value($region, $faults), $pages, "$what: $function: all that was touched");
		is(shares($report, @outside, $name), $shares, "$what: $function: by each thread")
			if $shares;
		my $before = region($report, $name);
		is($before ? $before->{calls} : 0, $calls, "$what: $function: the first time, too");
	}
	my @nested = (@outside, place('all.c', 'nested'));
	is(region($report, @nested)->{calls}, 2, "$what: the outer of two");
	push(@nested, place('all.c', 'nested', 1));
	is(region($report, @nested)->{calls}, 4, "$what: the inner of two");
	is(shares($report, @nested), '10 20 30 40', "$what: the inner of two, by each thread");
	my $whole = region($report, @outside);
	is($whole->{calls}, 1, "$what: the region around all is the main thread's");
	about(value($whole, $faults, 'exclusive'), 0, "$what: and has nothing else");
	my $sum = 0;
	$sum += value($_, $faults) for grep { @{$_->{path}} == 2 && $_->{path}[0] eq 'measured' }
		@{$report->{regions}};
	is(value($whole, $faults) - value($whole, $faults, 'exclusive'), $sum,
		"$what: but counts what all threads did inside");
	ok_sums($report, $what);
}

for my $compiler ('gcc', 'clang') {
	SKIP: {
		skip("no $compiler", 1) unless which($compiler);
		my $exe = compiled("all-$compiler", "$sources/all.c", $compiler, '-g') or last SKIP;
		my $plain = plain(command => [$exe]);
		skip("$compiler has no OpenMP runtime here", 1) if $plain->{status};
		my $with = peek(@perf, command => [$exe]);
		is($with->{out} . $with->{err}, $plain->{out} . $plain->{err}, "$compiler: same output");
		is(notes($with), 0, "$compiler: nothing to say") or diag(@{$with->{notes}});
		check_all($compiler, $with->{report});
		is_deeply([grep { grep { /^0x|^@/ } @{$_->{path}} } @{$with->{report}{regions}}], [],
			"$compiler: none without a name");

		my $off = peek(@perf, command => [$exe], env => {CACHEPEEK_OPENMP => 0});
		is(join(',', map { @{$_->{path}} } @{$off->{report}{regions}}), 'measured',
			"$compiler: CACHEPEEK_OPENMP=0");
		my $some = peek(@perf, command => [$exe], env => {CACHEPEEK_REGIONS => 'measured,simple*'});
		is(join(',', map { $_->{path}[-1] } grep { @{$_->{path}} > 1 } @{$some->{report}{regions}}),
			place('all.c', 'simple'), "$compiler: those that CACHEPEEK_REGIONS names");

		my $sim = peek(engine => 'sim', events => 'instructions', command => [$exe]);
		is($sim->{out}, $plain->{out}, "$compiler: the same on the simulated PMU");
		is(region($sim->{report}, 'measured', place('all.c', 'loops_inside'))->{calls}, 3,
			"$compiler: and regions");
		ok_sums($sim->{report}, "$compiler, simulated");
	}
}

# GCC's entries in LLVM's runtime, which tells of its regions by itself.
my ($libomp) = glob('/usr/lib/llvm-*/lib/libomp.so.5');
SKIP: {
	skip('no libomp', 1) unless $libomp && -x scratch('all-gcc');
	mkdir(scratch('libomp'));
	symlink($libomp, scratch('libomp/libgomp.so.1'));
	my $with = peek(@perf, command => [scratch('all-gcc')],
		env => {LD_LIBRARY_PATH => scratch('libomp')});
	check_all('gcc on libomp', $with->{report});
	# Its first region is what starts the runtime.
	my $one = compiled('one-gcc', write_file(scratch('one.c'),
		"int main(void) {\n#pragma omp parallel num_threads(2)\n__asm__ volatile(\"\");\n}\n"), 'gcc', '-g');
	$with = peek(@perf, command => [$one], env => {LD_LIBRARY_PATH => scratch('libomp')});
	is_deeply([map { "@{$_->{path}} $_->{calls}" } grep { @{$_->{path}} } @{$with->{report}{regions}}],
		['main@one.c:2 2'], 'gcc on libomp: the first region of all is counted once');
	$with = peek(@perf, command => [scratch('all-clang')], env => {OMP_TOOL => 'disabled'});
	like(join('', @{$with->{notes}}), qr/no regions of OpenMP.*OMP_TOOL=disabled/,
		'OMP_TOOL=disabled: it says so');
	is(join(',', map { @{$_->{path}} } @{$with->{report}{regions}}), 'measured',
		'OMP_TOOL=disabled: no regions');
}

# Waiting is no part of a region, whatever happens meanwhile.
for my $compiler (grep { which($_) } 'gcc', 'clang') {
	my $exe = compiled("waits-$compiler", "$sources/waits.c", $compiler, '-g') or next;
	my $with = peek(@perf, command => [$exe]);
	my %own = (at_end => 10, at_barrier => 30, at_loop => 30, at_sections => 10, last => 20);
	for my $function (sort keys %own) {
		my $value = value(region($with->{report}, place('waits.c', $function)), $faults);
		ok(defined $value && $value >= $own{$function} && $value < $own{$function} + 100,
			"$compiler: $function: without what came while it waited") or diag($value);
	}
	is_deeply($with->{report}{warnings}, [], "$compiler: no region is left open");
	ok(value(region($with->{report}), $faults) > 4000, "$compiler: which the whole run has");
}

# Tasks get what they would get.
for my $compiler (grep { which($_) } 'g++', 'clang++') {
	my $exe = compiled("tasks-$compiler", "$sources/tasks.cc", $compiler, '-g') or next;
	my $plain = plain(command => [$exe]);
	like($plain->{out}, qr/^987 1225 24750 4950 2 1 0 1$/, "$compiler: tasks");
	my $with = peek(@perf, command => [$exe]);
	is($with->{out} . status_text($with->{status}), $plain->{out} . status_text($plain->{status}),
		"$compiler: tasks of every kind are as without the library");
}

# ---- names ----

sub names
{
	my ($what, $text, $file, @command) = @_;
	my $exe = compiled("names-$what", write_file(scratch($file), $text), @command) or return '';
	my $report = peek(@perf, command => [$exe])->{report};
	return join(' ', sort map { $_->{path}[0] } grep { @{$_->{path}} } @{$report->{regions}});
}

my $cxx = <<'E';
namespace outer { namespace {
void hidden() {
#pragma omp parallel num_threads(2)
	__asm__ volatile("");
} }
struct thing { void method(int) const {
#pragma omp parallel num_threads(2)
	__asm__ volatile("");
} }; }
static void plain(double *) {
#pragma omp parallel num_threads(2)
	__asm__ volatile("");
}
int main() { outer::hidden(); outer::thing().method(1); plain(0); }
E
is(names('g++', $cxx, 'names.cc', 'g++', '-g'),
	'outer::(anonymous namespace)::hidden@names.cc:3 outer::thing::method@names.cc:7 plain@names.cc:11',
	'names of C++ functions') if which('g++');
like(names('clang++', $cxx, 'names.cc', 'clang++', '-g'),
	qr/hidden\@names.cc:3 .*method\@names.cc:7 .*plain\@names.cc:11/, 'and with clang')
	if which('clang++');
for my $dwarf (2, 3, 4, 5) {
	like(names("dwarf$dwarf", $cxx, 'names.cc', 'g++', "-gdwarf-$dwarf"),
		qr/hidden\@names.cc:3 .*method\@names.cc:7 .*plain\@names.cc:11/, "lines from DWARF $dwarf");
}
like(names('stripped', $cxx, 'names.cc', 'g++', '-s'),
	qr/^(\@names-stripped\+0x[0-9a-f]+ ?){3}$/, 'without symbols: the place in the file');
like(names('nolines', $cxx, 'names.cc', 'g++', '-g0'),
	qr/^outer::\(anonymous namespace\)::hidden\@names-nolines\+0x/, 'without lines: function and place');
# As g++ 12, g++ 16 and clang name them; a function may be called L, too.
my %internal = (_ZN5outer12_GLOBAL__N_16hiddenEv => 'outer::(anonymous namespace)::hidden',
	_ZN5outer12_GLOBAL__N_1L6hiddenEv => 'outer::(anonymous namespace)::hidden', _ZN5outerL6insideEi => 'outer::inside',
	_ZNL5outer6insideEi => 'outer::inside', _ZNK5outer5thingL6methodEv => 'outer::thing::method', _ZL5plainPd => 'plain',
	_Z1Lv => 'L', _ZN1L1LEv => 'L::L', _ZN5outerL1LEv => 'outer::L', _ZN5outer6hiddenB5cxx11Ev => 'outer::hidden[abi:cxx11]');
for my $name (sort keys %internal) {
	is(names("internal-$name", <<"E", 'internal.c', 'gcc', '-g'), "$internal{$name}\@internal.c:4", "the name $name");
static void body(void) __asm__("$name");
static __attribute__((noinline)) void body(void)
{
#pragma omp parallel num_threads(2)
	__asm__ volatile("");
}
int main(void) { body(); return 0; }
E
}
# Templates, by the command and by the reporter.
SKIP: {
	skip('no g++', 1) unless which('g++');
	my $templates = write_file(scratch('templates.cc'), <<'E');
#include <map>
#include <string>
namespace {
template <typename T, int N> T *fill(std::map<T, std::string> *, int (*)(T)) {
#pragma omp parallel num_threads(N)
	__asm__ volatile("");
	return 0;
} }
template <typename T> struct box { void shut(T) const {
#pragma omp parallel num_threads(2)
	__asm__ volatile("");
} };
struct caller { template <typename T> void operator()(T) {
#pragma omp parallel num_threads(2)
	__asm__ volatile("");
} };
int main() { fill<int, 2>(0, 0); box<box<char> >().shut(box<char>()); caller()(1L); }
E
	my $want = join("\n", sort '(anonymous namespace)::fill<int, 2>@templates.cc:5',
		'box<box<char> >::shut@templates.cc:10', 'void caller::operator()<long>(long)@templates.cc:14');
	my $exe = compiled('templates', $templates, 'g++', '-g') or skip('no templates', 1);
	my $json = scratch('templates.json');
	my @names;
	run(command => [cli(), '-E', 'perf', '-e', $faults, '-o', $json, $exe]);
	push(@names, [map { $_->{path}[0] } grep { @{$_->{path}} } @{decode_json(read_file($json))->{regions}}]);
	peek(@perf, command => [$exe], env => {CACHEPEEK_DIR => scratch('templates-run')});
	my $later = run(command => [cli(), 'report', '--json', scratch('templates-run')])->{out};
	push(@names, [map { $_->{path}[0] } grep { @{$_->{path}} } @{decode_json($later)->{regions}}]);
	is(join("\n", sort @$_), $want, 'names of templates') for @names;
	$exe = compiled('templates-g0', $templates, 'g++', '-g0');
	run(command => [cli(), '-E', 'perf', '-e', $faults, '-o', $json, $exe]);
	like(join("\n", map { $_->{path}[0] } grep { @{$_->{path}} } @{decode_json(read_file($json))->{regions}}),
		qr/^box<box<char> >::shut\@templates-g0\+0x[0-9a-f]+$/m, 'and without lines');
}
SKIP: {
	skip('no gfortran', 1) unless which('gfortran');
	my $fortran = <<'E';
module heat
contains
subroutine solve()
!$omp parallel num_threads(2)
call nothing()
!$omp end parallel
end subroutine
end module
subroutine nothing()
end subroutine
subroutine halo()
!$omp parallel num_threads(2)
call nothing()
!$omp end parallel
end subroutine
program main
use heat
call solve()
call halo()
!$omp parallel num_threads(2)
call nothing()
!$omp end parallel
end program
E
	is(names('gfortran', $fortran, 'names.f90', 'gfortran', '-g'),
		'MAIN__@names.f90:20 halo@names.f90:12 heat::solve@names.f90:4', 'names of Fortran procedures');
}

# The library that a program loads for itself finds its own runtime.
my $plugin = write_file(scratch('plugin.c'), <<'E');
void run(void) {
#pragma omp parallel num_threads(2)
	__asm__ volatile("");
}
E
my $host = write_file(scratch('host.c'), <<'E');
#include <dlfcn.h>
int main(int argc, char **argv) {
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	void (*run)(void) = library ? dlsym(library, "run") : 0;
	if (!run) return argc;
	run(); run();
	return 0;
}
E
for my $compiler (grep { which($_) } 'gcc', 'clang') {
	my $library = compiled("plugin-$compiler.so", $plugin, $compiler, '-g', '-shared', '-fPIC');
	my $built = run(command => [$compiler, $host, '-o', scratch("host-$compiler")]);
	my $with = peek(@perf, command => [scratch("host-$compiler"), $library]);
	is(status_text($with->{status}), 'exit 0', "$compiler: a runtime that is loaded later");
	my $region = region($with->{report}, 'run@plugin.c:2');
	is($region ? $region->{calls} : 'none', 4, "$compiler: and its regions");
}
done_testing();

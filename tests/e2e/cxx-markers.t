#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Classes of C++ that mark regions: Caliper's annotations, Score-P's and TAU's.  The
# libraries are made here from the published interfaces, and write down what they get:
# that is the same alone and with the library, and we see the regions.  Functions that
# mark regions and that we do not see: one line says so.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Standin;
use Test::More;

sub paths { return [sort map { join('/', @{$_->{path}}) . " $_->{calls}" } grep { @{$_->{path}} } @{$_[0]{regions} || []}] }

# A library of this name, a program that uses it, and the regions that there are.
sub check
{
	my ($what, $header, $library, $program, $count, @want) = @_;
	my $log = <<'CC';
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
static void print(const char *format, ...)
{
	static FILE *file = fopen(getenv("TOOL_LOG"), "a");
	va_list args;
	va_start(args, format);
	vfprintf(file, format, args);
	fputc('\n', file);
	fflush(file);
	va_end(args);
}
CC
	my @build = ('g++', '-w', '-x', 'c++', '-O1', 'SOURCE', '-x', 'none');
	my $lib = compiled("lib$what.so", $header . $log . $library, @build, '-shared', '-fPIC');
	my $exe = compiled($what, $header . $program, @build, $lib, '-Wl,-rpath,' . scratch());
	my ($told, @with) = ok_same_calls($what, [$exe], {}, [@PERF], [@SIM]);
	is(scalar(() = $told =~ /\n/g), $count, "$what: what it is told without us") or diag($told);
	is_deeply(paths($_->{report}), [sort @want], "$what: its regions") or diag(explain(paths($_->{report}))) for @with;
}

# ---- Caliper ----

check('Caliper', <<'H', <<'CC', <<'P', 41,
#include <cstdint>
#include <cstring>
#include <map>
enum cali_attr_type { INV, USR, INT, UINT, STRING, ADDR, DOUBLE, BOOL };
extern "C" {
void cali_begin_byname(const char *);
void cali_begin_int_byname(const char *, int);
void cali_begin_double_byname(const char *, double);
void cali_end_byname(const char *);
void cali_begin_double(uint64_t, double);
void cali_end(uint64_t);
const char *cali_attribute_name(uint64_t);
}
namespace cali {
class Variant {
public:
	uint64_t type;
	union { int64_t i; uint64_t u; double d; const void *p; bool b; } value;
	Variant(bool v) : type(BOOL) { value.u = 0; value.b = v; }
	Variant(int v) : type(INT) { value.i = v; }
	Variant(double v) : type(DOUBLE) { value.d = v; }
	Variant(const char *v) : type((uint64_t)strlen(v) << 32 | 0x777700 | STRING) { value.p = v; }
	Variant(cali_attr_type t, const void *v, uint64_t n) : type(n << 32 | t) { value.p = v; }
};
class Annotation {
	struct Impl;
	Impl *shared;
public:
	typedef std::map<const char *, Variant> MetadataListType;
	Annotation(const char *, int = 0);
	Annotation(const char *, const MetadataListType &, int = 0);
	Annotation(const Annotation &);
	~Annotation();
	class Guard {
		Impl *shared;
	public:
		Guard(Annotation &);
		~Guard();
	};
	Annotation &begin();
	Annotation &begin(int);
	Annotation &begin(double);
	Annotation &begin(const char *);
	Annotation &begin(cali_attr_type, void *, uint64_t);
	Annotation &begin(const Variant &);
	void end();
};
}
H
using namespace cali;
extern "C" {
void cali_begin_byname(const char *n) { print("begin %s", n); }
void cali_begin_int_byname(const char *n, int v) { print("begin %s %d", n, v); }
void cali_begin_double_byname(const char *n, double v) { print("begin %s %g", n, v); }
void cali_end_byname(const char *n) { print("end %s", n); }
void cali_begin_double(uint64_t a, double v) { print("begin %lu %g", a, v); }
void cali_end(uint64_t a) { print("end %lu", a); }
const char *cali_attribute_name(uint64_t a) { return a == 4 ? "four" : nullptr; }
}
struct Annotation::Impl {
	const char *name;
	int count, options;
	void drop() { if (--count == 0) delete this; }
};
Annotation::Annotation(const char *n, int o) : shared(new Impl{n, 1, o}) { print("new %s %d", n, o); }
Annotation::Annotation(const char *n, const MetadataListType &m, int o) : shared(new Impl{n, 1, o}) { print("new %s %zu %d", n, m.size(), o); }
Annotation::Annotation(const Annotation &a) : shared(a.shared) { shared->count++; }
Annotation::~Annotation() { shared->drop(); }
Annotation &Annotation::begin() { return begin(Variant(true)); }
Annotation &Annotation::begin(int v) { return begin(Variant(v)); }
Annotation &Annotation::begin(double v) { return begin(Variant(v)); }
Annotation &Annotation::begin(const char *v) { return begin(Variant(v)); }
Annotation &Annotation::begin(cali_attr_type t, void *v, uint64_t n) { return begin(Variant(t, v, n)); }
Annotation &Annotation::begin(const Variant &v)
{
	if ((v.type & 255) == STRING)
		print("begin %s %.*s", shared->name, (int)(v.type >> 32), v.value.p);
	else
		print("begin %s %lx %lx", shared->name, v.type, v.value.u);
	return *this;
}
void Annotation::end() { print("end %s", shared->name); }
Annotation::Guard::Guard(Annotation &a) : shared(a.shared) { shared->count++; }
Annotation::Guard::~Guard() { print("end guard %s", shared->name); shared->drop(); }
CC
int main()
{
	cali::Annotation phase("phase"), copy(phase);
	for (int i = 0; i < 5; i++) {
		phase.begin("assembly");
		copy.end();
	}
	{
		cali::Annotation::Guard guard(cali::Annotation("solver", 20).begin("cg"));
		cali::Annotation("inner").begin(3);
		cali::Annotation("inner").end();
	}
	cali::Annotation all("all", cali::Annotation::MetadataListType());
	all.begin();
	all.begin(0.25);
	all.begin(cali::Variant("variant"));
	all.begin(STRING, (void *)"textual", 4);
	all.begin(cali::Variant(7));
	for (int i = 0; i < 5; i++)
		all.end();
	cali::Annotation("iteration#loop").begin(1);
	cali::Annotation("iteration#loop").end();
	cali_begin_byname("flag");
	cali_end_byname("flag");
	cali_begin_int_byname("step", 4);
	cali_end_byname("step");
	cali_begin_double_byname("dt", 0.5);
	cali_begin_double(4, 2.5);
	cali_end(4);
	cali_end_byname("dt");
	return 0;
}
P
	'assembly 5', 'solver=cg 1', 'solver=cg/inner=3 1', 'all 1', 'all/all=0.25 1', 'all/all=0.25/all=variant 1',
	'all/all=0.25/all=variant/all=text 1', 'all/all=0.25/all=variant/all=text/all=7 1', 'flag 1', 'step=4 1', 'dt=0.5 1',
	'dt=0.5/four=2.5 1');

# ---- Score-P ----

check('Score-P', <<'H', <<'CC', <<'P', 6,
#include <cstdint>
extern "C" { typedef struct SCOREP_User_Region *SCOREP_User_RegionHandle; }
class SCOREP_User_RegionClass {
	SCOREP_User_RegionHandle handle;
public:
	SCOREP_User_RegionClass(SCOREP_User_RegionHandle *, const char *, const uint32_t, const char **, uint32_t *, const char *, const uint32_t);
	~SCOREP_User_RegionClass();
};
H
SCOREP_User_RegionClass::SCOREP_User_RegionClass(SCOREP_User_RegionHandle *h, const char *name, const uint32_t type,
	const char **last, uint32_t *number, const char *file, const uint32_t line) : handle((SCOREP_User_RegionHandle)(uintptr_t)name[0])
{
	*h = handle;
	print("enter %s %u %s %u %s %u", name, type, *last, *number, file, line);
}
SCOREP_User_RegionClass::~SCOREP_User_RegionClass() { print("exit %c", (int)(uintptr_t)handle); }
CC
static const char *last = "last";
static uint32_t number = 5;
static SCOREP_User_RegionHandle handles[2];
static void inner() { SCOREP_User_RegionClass region(&handles[1], "inner", 2, &last, &number, "file.cc", 7); }
int main()
{
	SCOREP_User_RegionClass region(&handles[0], "outer", 1, &last, &number, "file.cc", 9);
	inner();
	inner();
	return handles[0] && handles[1] ? 0 : 1;
}
P
	'outer 1', 'outer/inner 2');

# ---- TAU ----

check('TAU', <<'H', <<'CC', <<'P', 24,
#include <string>
using std::string;
void tauCreateFI(void **, const char *, const char *, unsigned long, const char *);
void tauCreateFI(void **, const char *, const string &, unsigned long, const char *);
void tauCreateFI(void **, const string &, const char *, unsigned long, const char *);
void tauCreateFI(void **, const string &, const string &, unsigned long, const char *);
extern "C" {
void Tau_lite_start_timer(void *, int);
void Tau_lite_stop_timer(void *);
void Tau_start_timer(void *, int, int);
void Tau_stop_timer(void *, int);
void Tau_dynamic_start(const char *, int);
void Tau_dynamic_stop(const char *, int);
int Tau_get_thread(void);
}
H
static void create(void **timer, const char *name, const char *type, unsigned long group, const char *of)
{
	print("create %s, %s, %lu %s", name, type, group, of);
	*timer = new string(name);
}
void tauCreateFI(void **t, const char *n, const char *y, unsigned long g, const char *o) { create(t, n, y, g, o); }
void tauCreateFI(void **t, const char *n, const string &y, unsigned long g, const char *o) { create(t, n, y.c_str(), g, o); }
void tauCreateFI(void **t, const string &n, const char *y, unsigned long g, const char *o) { create(t, n.c_str(), y, g, o); }
void tauCreateFI(void **t, const string &n, const string &y, unsigned long g, const char *o) { create(t, n.c_str(), y.c_str(), g, o); }
extern "C" {
int Tau_get_thread(void) { return 3; }
void Tau_start_timer(void *t, int phase, int thread) { print("start %s %d %d", ((string *)t)->c_str(), phase, thread); }
void Tau_stop_timer(void *t, int thread) { print("stop %s %d", ((string *)t)->c_str(), thread); }
void Tau_lite_start_timer(void *t, int phase) { Tau_start_timer(t, phase, 3); }
void Tau_lite_stop_timer(void *t) { Tau_stop_timer(t, 3); }
void Tau_dynamic_start(const char *name, int phase)
{
	static int n;
	void *timer;
	create(&timer, (name + string(" [") + std::to_string(n++) + "]").c_str(), "", phase, "");
	Tau_start_timer(timer, phase, 3);
}
void Tau_dynamic_stop(const char *name, int phase) { print("stop dynamic %s %d", name, phase); }
}
CC
struct Wrapper {
	void *timer;
	Wrapper(void *t) : timer(t) { Tau_lite_start_timer(t, 0); }
	~Wrapper() { Tau_lite_stop_timer(timer); }
};
int main()
{
	void *timers[4];
	tauCreateFI(&timers[0], "chars", "void ()", 1, "one");
	tauCreateFI(&timers[1], "half", string("int ()"), 2, "two");
	tauCreateFI(&timers[2], string("a name that is longer than what a string has room for"), "", 3, "three");
	tauCreateFI(&timers[3], string("short"), string("int"), 4, "four");
	for (void *timer : timers)
		Wrapper wrapper(timer);
	Tau_start_timer(timers[0], 1, 3);
	Wrapper *inner = new Wrapper(timers[1]);
	delete inner;
	Tau_stop_timer(timers[0], 3);
	Tau_start_timer(timers[0], 0, 4); /* a device's */
	Tau_stop_timer(timers[0], 4);
	for (int i = 0; i < 2; i++) {
		Tau_dynamic_start("dynamic", 0);
		Tau_dynamic_stop("dynamic", 0);
	}
	return 0;
}
P
	'chars 2', 'half 1', 'a name that is longer than what a string has room for 1', 'short 1', 'chars/half 1', 'dynamic 2');
# ---- functions that we do not see ----

SKIP: {
	skip('functions are not passed on on this architecture', 1) unless qx(uname -m) =~ /^(?:x86_64|aarch64)$/m;
	my @functions = qw(scorep_f_begin_ scorep_f_regionbynamebegin_ scorep_f_regionenter_ tau_start_ tau_profile_start_
		extrae_event_ extrae_user_function_ Extrae_user_function);
	my $declared = '(long, double, long, long, double, long, long, long, long)';
	my $library = "#include <stdio.h>\n#include <stdlib.h>\n" . join('', map {
		"int $_(long a, double b, long c, long d, double e, long f, long g, long h, long i)\n{\n" .
		"\tFILE *file = fopen(getenv(\"TOOL_LOG\"), \"a\");\n" .
		"\tfprintf(file, \"$_ %ld %g %ld %ld %g %ld %ld %ld %ld\\n\", a, b, c, d, e, f, g, h, i);\n\tfclose(file);\n\treturn 4711;\n}\n"
	} @functions);
	my $n = 0;
	my $program = "#include <stdio.h>\n" . join('', map { "int $_$declared;\n" } @functions) . "int main(void)\n{\n" .
		join('', map { $n++; "\tprintf(\"%d\\n\", $_($n, 1.5, $n, 4, 2.5, 6, 7, 8, 9));\n" } @functions, @functions) . "\treturn 0;\n}\n";
	my $lib = compiled('libunseen.so', $library, 'gcc', '-shared', '-fPIC', 'SOURCE');
	my $exe = compiled('unseen', $program, 'gcc', 'SOURCE', $lib, '-Wl,-rpath,' . scratch());
	my ($told, @with) = ok_same_calls('unseen', [$exe], {}, {notes => qr/no regions of/}, [@PERF], [@SIM]);
	is(scalar(() = $told =~ /\n/g), 2 * @functions, 'unseen: all calls');
	is(join(' ', map { /no regions of ([\w-]+)'s .*not received$/ ? $1 : $_ } @{$_->{notes}}), 'Score-P TAU Extrae',
		'unseen: the first call of each tool says so') for @with;
}
done_testing();

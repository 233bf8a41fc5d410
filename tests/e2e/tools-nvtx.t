#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A tool of NVTX that the user has: each entry point that it fills is called as without
# us, in the same order, with the same arguments, and what it gives back arrives.  The
# table is the interface's, version 3; program and tool are made from it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Standin;
use Test::More;

# A module, an index, a name, what it gives back, what it takes.  text, wide: strings of
# both widths; event: attributes; handle: an address of the program's; a name with a
# dollar is what an earlier call has given back to the name before the equals sign.
my @calls = map { [split] } grep { /\S/ } split(/\n/, <<'TABLE');
	5 15 Initialize              void            handle
	1  1 MarkEx                  void            event
	1  2 MarkA                   void            text
	1  3 MarkW                   void            wide
	1  4 RangeStartEx            id=first        event
	1  5 RangeStartA             id=second       text
	1  6 RangeStartW             id=third        wide
	1  7 RangeEnd                void            $first
	1  7 RangeEnd                void            $third
	1  7 RangeEnd                void            $second
	1  8 RangePushEx             int             event
	1  9 RangePushA              int             text
	1 10 RangePushW              int             wide
	1 11 RangePop                int
	1 11 RangePop                int
	1 11 RangePop                int
	1 11 RangePop                int
	1 12 NameCategoryA           void            number text
	1 13 NameCategoryW           void            number wide
	1 14 NameOsThreadA           void            number text
	1 15 NameOsThreadW           void            number wide
	2  1 NameCuDeviceA           void            number text
	2  2 NameCuDeviceW           void            number wide
	2  3 NameCuContextA          void            handle text
	2  4 NameCuContextW          void            handle wide
	2  5 NameCuStreamA           void            handle text
	2  6 NameCuStreamW           void            handle wide
	2  7 NameCuEventA            void            handle text
	2  8 NameCuEventW            void            handle wide
	3  1 NameClDeviceA           void            handle text
	3  2 NameClDeviceW           void            handle wide
	3  3 NameClContextA          void            handle text
	3  4 NameClContextW          void            handle wide
	3  5 NameClCommandQueueA     void            handle text
	3  6 NameClCommandQueueW     void            handle wide
	3  7 NameClMemObjectA        void            handle text
	3  8 NameClMemObjectW        void            handle wide
	3  9 NameClSamplerA          void            handle text
	3 10 NameClSamplerW          void            handle wide
	3 11 NameClProgramA          void            handle text
	3 12 NameClProgramW          void            handle wide
	3 13 NameClEventA            void            handle text
	3 14 NameClEventW            void            handle wide
	4  1 NameCudaDeviceA         void            number text
	4  2 NameCudaDeviceW         void            number wide
	4  3 NameCudaStreamA         void            handle text
	4  4 NameCudaStreamW         void            handle wide
	4  5 NameCudaEventA          void            handle text
	4  6 NameCudaEventW          void            handle wide
	5 12 DomainCreateA           handle=domain   text
	5 13 DomainCreateW           handle=wide     wide
	5  1 DomainMarkEx            void            $domain event
	5 10 DomainRegisterStringA   handle=string   $domain text
	5 11 DomainRegisterStringW   handle=letters  $wide wide
	5  2 DomainRangeStartEx      id=ranged       $domain event
	5  4 DomainRangePushEx       int             $domain event
	5  4 DomainRangePushEx       int             $wide $string
	5  4 DomainRangePushEx       int             $domain $letters
	5  5 DomainRangePop          int             $domain
	5  5 DomainRangePop          int             $wide
	5  5 DomainRangePop          int             $domain
	5  3 DomainRangeEnd          void            $domain $ranged
	5  6 DomainResourceCreate    handle=resource $domain handle
	5  7 DomainResourceDestroy   void            $resource
	5  8 DomainNameCategoryA     void            $domain number text
	5  9 DomainNameCategoryW     void            $wide number wide
	6  1 DomainSyncUserCreate    handle=lock     $domain handle
	6  3 DomainSyncUserAcquireStart   void       $lock
	6  4 DomainSyncUserAcquireFailed  void       $lock
	6  5 DomainSyncUserAcquireSuccess void       $lock
	6  6 DomainSyncUserReleasing void            $lock
	6  2 DomainSyncUserDestroy   void            $lock
	5 14 DomainDestroy           void            $wide
TABLE

my %sizes = (1 => 16, 2 => 9, 3 => 15, 4 => 7, 5 => 16, 6 => 7);
my %types = (void => 'void', int => 'int', id => 'uint64_t', handle => 'const void *', text => 'const char *',
	wide => 'const wchar_t *', number => 'uint32_t', event => 'const struct nvtx_attributes *');
my %formats = (int => '%d', id => '%#lx', handle => '%p', text => '%s', wide => '%ls', number => '%u', event => '%s');
my %made = map { $_->[3] =~ /^(\w+)=(\w+)$/ ? ($2 => $1) : () } @calls;

# An argument: its kind, and how it is written where it is the nth of the program's.
sub argument
{
	my ($what, $n) = @_;
	if ($what =~ /^\$(\w+)$/) {
		return ('event', "registered($1)") if $1 eq 'string' || $1 eq 'letters';
		return ($made{$1}, $1);
	}
	return ($what, {text => "\"text $n\"", wide => "L\"wide $n\"", number => $n, handle => "(const void *)${n}ul",
		event => "event(\"event $n\")"}->{$what});
}

# ---- the program: what the header makes of itself ----

my $n = 4700;
my $body = '';
for my $call (@calls) {
	my ($module, $index, $name, $gives, @takes) = @$call;
	my ($type, $variable) = split(/=/, $gives);
	my @arguments = map { [argument($_, ++$n)] } @takes;
	my $parameters = join(', ', map { $types{$_->[0]} } @arguments) || 'void';
	my $values = join(', ', map { $_->[1] } @arguments);
	my $function = "(($types{$type} (*)($parameters))slots[$module][$index])";
	my $nothing = $type eq 'int' ? -2 : 0;
	$body .= $type eq 'void' ? "\tif (slots[$module][$index]) $function($values);\n"
		: "\t{\n\t\t$types{$type} got = slots[$module][$index] ? $function($values) : ($types{$type})$nothing;\n" .
		"\t\tprintf(\"$name $formats{$type}\\n\", got);\n" . ($variable ? "\t\t$variable = got;\n" : '') . "\t}\n";
}
my $variables = join('', map { "static $types{$made{$_}} $_;\n" } sort keys %made);
my $fill = join('', map { "\tfor (int i = 1; i < $sizes{$_}; i++) slots[$_][i] = initial, places[$_][i] = &slots[$_][i];\n\tsizes[$_] = $sizes{$_};\n" } sort keys %sizes);

my $program = <<"C";
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include "markers_abi.h"
static nvtx_function *slots[7][16], **places[7][16];
static unsigned sizes[7];
static void initial(void) { puts("not attached"); }
static const struct nvtx_attributes *event(const char *text)
{
	static struct nvtx_attributes a = {.version = 3, .size = sizeof(a), .category = 5, .message_type = 1};
	a.message = text;
	return &a;
}
static const struct nvtx_attributes *registered(const void *string)
{
	static struct nvtx_attributes a = {.version = 3, .size = sizeof(a), .category = 6, .message_type = 3};
	a.message = string;
	return &a;
}
static int get_table(int module, nvtx_function ****table, unsigned *size)
{
	if (module < 1 || module > 6)
		return 0;
	*table = places[module];
	*size = sizes[module];
	return 1;
}
static void version(uint32_t number) { printf("version %u\\n", number); }
static const void *get_export_table(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = {sizeof(callbacks), get_table};
	static const struct { size_t size; uint32_t version, reserved; void (*set)(uint32_t); } info = {24, 3, 0, version};
	return id == 1 ? (const void *)&callbacks : id == 3 ? &info : NULL;
}
#ifdef STATIC_TOOL
#include STATIC_TOOL
int (*InitializeInjectionNvtx2_fnptr)(const void *(*)(uint32_t)) = InitializeInjectionNvtx2;
#else
__attribute__((weak)) int (*InitializeInjectionNvtx2_fnptr)(const void *(*)(uint32_t));
#endif
static int attach(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*initialize)(const void *(*)(uint32_t)) = NULL;
	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
	else if (!path)
		initialize = InitializeInjectionNvtx2_fnptr;
	if (initialize && initialize(get_export_table))
		return 1;
	if (initialize && library)
		dlclose(library);
	return 0;
}
/* An extension is a module of its own, with tables of its own. */
struct segment { size_t id, count; intptr_t *slots; };
struct module { uint16_t version, size, id, compatible; size_t count; struct segment *segments; intptr_t (*get)(uint32_t); const void *info; };
static intptr_t extended[3];
static void extension(void)
{
	struct segment segment = {0, 3, extended};
	struct module module = {3, sizeof(module), 11, 1, 1, &segment, NULL, NULL};
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*initialize)(struct module *) = NULL;
	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjectionNvtxExtension");
	if (initialize && initialize(&module) && extended[1])
		printf("extension %lx\\n", ((uint64_t (*)(uint64_t))extended[1])(0x4711));
}
$variables
int main(void)
{
	int attached;
$fill
	attached = attach();
	for (int m = 1; m < 7; m++)
		for (unsigned i = 1; i < sizes[m]; i++)
			if (!attached || slots[m][i] == initial)
				slots[m][i] = NULL;
$body
	extension();
	return 0;
}
C

# ---- the tool ----

my (%done, $functions, $slots);
for my $call (@calls) {
	my ($module, $index, $name, $gives, @takes) = @$call;
	my ($type) = split(/=/, $gives);
	next if $done{$name}++;
	my @kinds = map { [argument($_, 0)]->[0] } @takes;
	my $i = 0;
	my $parameters = join(', ', map { "$types{$_} a" . ++$i } @kinds) || 'void';
	$i = 0;
	my $values = join('', map { ', ' . ($_ eq 'event' ? 'told(a' . ++$i . ')' : 'a' . ++$i) } @kinds);
	my $back = $type eq 'void' ? '' : "\treturn ($types{$type})(" . (0x70000 + 0x100 * $module + $index) . "ul);\n";
	$functions .= "static $types{$type} tool_$name($parameters)\n{\n\tfprintf(file, \"$name" .
		join('', map { " $formats{$_}" } @kinds) . "\\n\"$values);\n$back}\n";
	$slots .= "\tfill(get, $module, $index, \"$name\", (nvtx_function *)tool_$name);\n";
}
my $tool = <<"C";
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include "markers_abi.h"
static FILE *file;
static void open_log(void)
{
	if (!file && (file = fopen(getenv("TOOL_LOG"), "a")))
		setvbuf(file, NULL, _IOLBF, 0);
}
static const char *told(const struct nvtx_attributes *a)
{
	static char text[200];
	if (a->message_type == 3)
		sprintf(text, "registered %p of %u", a->message, a->category);
	else
		sprintf(text, "%s of %u", (const char *)a->message, a->category);
	return text;
}
$functions
static void fill(const void *(*get)(uint32_t), int module, unsigned index, const char *name, nvtx_function *function)
{
	const char *only = getenv("TOOL_ONLY"), *but = getenv("TOOL_BUT");
	const struct nvtx_callbacks *callbacks = get(1);
	nvtx_function ***table;
	unsigned size = 0;
	if ((only && strcmp(only, name)) || (but && !strcmp(but, name)))
		return;
	if (callbacks->table(module, &table, &size) && index < size)
		*table[index] = function;
}
int InitializeInjectionNvtx2(const void *(*get)(uint32_t))
{
	const struct { size_t size; uint32_t version, reserved; void (*set)(uint32_t); } *info = get(3);
	open_log();
	fprintf(file, "initialize, of version %u, %d\\n", info->version, get(2) == NULL);
	info->set(7);
$slots
	return !getenv("TOOL_FAILS");
}
#ifdef EXTENSION
struct module { uint16_t version, size, id, compatible; size_t count; struct { size_t id, count; intptr_t *slots; } *segments; };
static uint64_t extended(uint64_t value)
{
	open_log();
	fprintf(file, "extension %lx\\n", value); return value + 1;
}
int InitializeInjectionNvtxExtension(struct module *module)
{
	module->segments[0].slots[1] = (intptr_t)extended;
	return module->id == 11;
}
#endif
__attribute__((destructor)) static void end(void) { if (file) fprintf(file, "end\\n"); }
C

my @gcc = ('gcc', '-w', '-I' . source() . '/tests/programs');
my $exe = compiled('nvtx', $program, @gcc, 'SOURCE');
my $library = compiled('libnvtx.so', $tool, @gcc, '-DEXTENSION', '-shared', '-fPIC', 'SOURCE');
my $plain = compiled('libplain.so', $tool, @gcc, '-shared', '-fPIC', 'SOURCE');
my @names = sort keys %done;

# ---- all of them ----

my ($log, @with) = ok_same_calls('NVTX, all entry points', [$exe], {NVTX_INJECTION64_PATH => $library}, [@PERF], [@SIM]);
is(scalar(() = $log =~ /\n/g), 3 + @calls, 'NVTX: a tool with all entry points is told of all calls') or diag($log);
for my $with (@with) {
	is(join(' ', map { region($with->{report}, @$_) ? 'there' : "no @$_" } ['event 4711'], ['event 4711', 'text 4712']),
		'there there', 'NVTX: and we see its ranges');
	is(scalar(grep { $_->{path}[0] =~ /^(?:text|wide|event) \d+$/ } grep { @{$_->{path}} } @{$with->{report}{regions}}),
		10, 'NVTX: all of them, by their names') or diag(explain([map { $_->{path} } @{$with->{report}{regions}}]));
}
ok_same_calls('NVTX, no extensions', [$exe], {NVTX_INJECTION64_PATH => $plain}, [@PERF]);

# ---- a tool that has one of them, and one that lacks one: what is not there is not there ----

for my $name (@names) {
	for my $which (qw(TOOL_ONLY TOOL_BUT)) {
		my $has = sub { my ($line) = @_; return ($line =~ /^$name /) == ($which eq 'TOOL_ONLY') };
		ok_same_calls("NVTX, $which $name", [$exe], {NVTX_INJECTION64_PATH => $plain, $which => $name},
			{seen => sub { join('', grep { $has->($_) } split(/^/, $_[0])) }, notes => qr/the tool that gets them registers no names/},
			[@PERF]);
	}
}

# ---- one that does not want to, one that is none, none ----

ok_same_calls('NVTX, a tool that fails', [$exe], {NVTX_INJECTION64_PATH => $library, TOOL_FAILS => 1},
	{seen => sub { join('', grep { /^extension|attached/ } split(/^/, $_[0])) }}, [@PERF]);
ok_same_calls('NVTX, a library that is no tool', [$exe], {NVTX_INJECTION64_PATH => program('libusertool.so')},
	{seen => sub { join('', grep { /^extension|attached/ } split(/^/, $_[0])) }}, [@PERF]);
for my $engine ([@PERF], [@SIM]) {
	my $none = peek(@$engine, command => [$exe]);
	is($none->{err}, '', 'NVTX, no tool: nothing is said');
	is(scalar(grep { !/END of a region of NVTX in thread/ } @{$none->{notes}}), 0, 'NVTX, no tool: nor by us');
	unlike($none->{out}, qr/extension|attached|^(?!Domain|Range)/m, 'NVTX, no tool: no entry point but ours');
	ok(region($none->{report}, 'event 4711', 'text 4712'), 'NVTX, no tool: ranges are counted');
}

# ---- one that is linked with the program ----

my $inside = write_file(scratch('inside.h'), $tool);
my $static = compiled('static', $program, @gcc, "-DSTATIC_TOOL=\"$inside\"", '-rdynamic', 'SOURCE');
ok_same_calls('NVTX, a tool in the program', [$static], {}, [@PERF]);

# ---- the header, where there is one ----

SKIP: {
	my ($header) = grep { -e "$_/nvtxDetail/nvtxTypes.h" } glob('/usr/include/nvtx3 /usr/local/cuda*/include/nvtx3');
	skip('no NVTX here', 1) unless defined $header;
	my %modules = (CORE => 1, CUDA => 2, OPENCL => 3, CUDART => 4, CORE2 => 5, SYNC => 6);
	my $text = read_file("$header/nvtxDetail/nvtxTypes.h");
	my %there;
	while ($text =~ /^\s*NVTX_CBID_(\w+?)_(\w+)\s*=\s*(\d+)/mg) {
		$there{"$modules{$1} $3 $2"} = 1 if $3 && $2 ne 'FORCE_INT';
	}
	my %ours = map { join(' ', @$_[0 .. 2]) => 1 } @calls;
	is_deeply([sort keys %ours], [sort keys %there], 'NVTX: the table is the header\'s');
	my $real = compiled('real', <<'C', 'gcc', '-w', "-I$header/..", 'SOURCE');
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("domain");
	nvtxEventAttributes_t event = {0};
	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
	printf("%d\n", nvtxRangePushA("outer"));
	printf("%d\n", nvtxDomainRangePushEx(domain, &event));
	nvtxMarkA("mark");
	printf("%d\n", nvtxDomainRangePop(domain));
	printf("%d\n", nvtxRangePop());
	nvtxRangeEnd(nvtxRangeStartW(L"range"));
	nvtxDomainDestroy(domain);
	return 0;
}
C
	my ($log, $with) = ok_same_calls('NVTX itself', [$real], {NVTX_INJECTION64_PATH => $plain}, [@PERF]);
	is(scalar(() = $log =~ /\n/g), 12, 'NVTX itself: the tool sees it all') or diag($log);
	ok(region($with->{report}, 'outer', 'registered'), 'NVTX itself: and so do we');
	ok_same_calls('NVTX itself, alone', [$real], {}, [@PERF]);
}
done_testing();

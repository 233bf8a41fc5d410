#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A collector of ITT that the user has: each function that it puts into the program's
# list is called as without us, in the same order, with the same arguments, and what it
# gives back arrives; domains and strings that it does not make, the program makes.  The
# table is the interface's (3.26, with the older functions); program and collector are
# made from it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Standin;
use Test::More;

# A name, after an equals sign that under which the collector knows it, what it gives
# back, what it takes.  *: the program's part has a function of its own.
my @calls = map { [split] } grep { /\S/ } split(/\n/, <<'TABLE');
	*domain_create                     domain  text
	*string_handle_create              string  text
	event_create                       event   text nine
	*module_load_with_sections         void    handle
	*module_unload_with_sections       void    handle
	*counter_create                    handle  text text
	*counter_create_typed              handle  text text int
	*pause                             void
	*resume                            void
	*pause_scoped                      void    int
	*resume_scoped                     void    int
	*thread_set_name                   void    text
	*thread_ignore                     void
	*thr_name_set                      int     text int
	*thr_ignore                        void
	*histogram_create                  handle  domain text int int
	*counter_create_v3                 handle  domain text int
	*bind_context_metadata_to_counter  void    handle size handle
	*enable_attach                     void
	detach                             void
	sync_create                        void    handle text text int
	sync_rename                        void    handle text
	sync_destroy                       void    handle
	sync_prepare                       void    handle
	sync_cancel                        void    handle
	sync_acquired                      void    handle
	sync_releasing                     void    handle
	suppress_push                      void    unsigned
	suppress_pop                       void
	suppress_mark_range                void    int unsigned handle size
	suppress_clear_range               void    int unsigned handle size
	fsync_prepare=sync_prepare         void    handle
	fsync_cancel=sync_cancel           void    handle
	fsync_acquired=sync_acquired       void    handle
	fsync_releasing=sync_releasing     void    handle
	model_site_begin                   void    handle handle text
	model_site_end                     void    handle handle
	model_task_begin                   void    handle handle text
	model_task_end                     void    handle handle
	model_lock_acquire                 void    handle
	model_lock_release                 void    handle
	model_record_allocation            void    handle size
	model_record_deallocation          void    handle
	model_induction_uses               void    handle size
	model_reduction_uses               void    handle size
	model_observe_uses                 void    handle size
	model_clear_uses                   void    handle
	model_site_beginA                  void    text
	model_site_beginAL                 void    text size
	model_task_beginA                  void    text
	model_task_beginAL                 void    text size
	model_iteration_taskA              void    text
	model_iteration_taskAL             void    text size
	model_site_end_2                   void
	model_task_end_2                   void
	model_lock_acquire_2               void    handle
	model_lock_release_2               void    handle
	model_aggregate_task               void    size
	model_disable_push                 void    int
	model_disable_pop                  void
	heap_function_create               handle  text text
	heap_allocate_begin                void    handle size int
	heap_allocate_end                  void    handle handle size int
	heap_free_begin                    void    handle handle
	heap_free_end                      void    handle handle
	heap_reallocate_begin              void    handle handle size int
	heap_reallocate_end                void    handle handle handle size int
	heap_internal_access_begin         void
	heap_internal_access_end           void
	heap_record_memory_growth_begin    void
	heap_record_memory_growth_end      void
	heap_reset_detection               void    unsigned
	heap_record                        void    unsigned
	id_create                          void    domain id
	id_destroy                         void    domain id
	get_timestamp                      long
	region_begin                       void    domain id id string
	region_end                         void    domain id
	frame_begin_v3                     void    domain idp
	frame_end_v3                       void    domain idp
	frame_submit_v3                    void    domain idp long long
	task_group                         void    domain id id string
	task_begin                         void    domain id id string
	task_begin_fn                      void    domain id id handle
	task_end                           void    domain
	counter_inc_v3                     void    domain string
	counter_inc_delta_v3               void    domain string long
	counter_dec_v3                     void    domain string
	counter_dec_delta_v3               void    domain string long
	marker                             void    domain id string int
	formatted_metadata_add             void    domain string int
	formatted_metadata_add_overlapped  void    domain id string int
	metadata_add                       void    domain id string int size handle
	metadata_str_add                   void    domain id string text size
	relation_add_to_current            void    domain int id
	relation_add                       void    domain id int id
	event_start                        int     event
	event_end                          int     event
	sync_set_name                      void    handle text text int
	notify_sync_name                   int     handle text int text int int
	notify_sync_prepare                void    handle
	notify_sync_cancel                 void    handle
	notify_sync_acquired               void    handle
	notify_sync_releasing              void    handle
	memory_read                        void    handle size
	memory_write                       void    handle size
	memory_update                      void    handle size
	state_get                          int
	state_set                          int     int
	obj_mode_set                       int     int int
	thr_mode_set                       int     int int
	frame_create                       handle  text
	pt_region_create                   int     text
	frame_begin                        void    handle
	frame_end                          void    handle
	counter_destroy                    void    handle
	counter_inc                        void    handle
	counter_inc_delta                  void    handle long
	counter_dec                        void    handle
	counter_dec_delta                  void    handle long
	counter_set_value                  void    handle handle
	counter_set_value_ex               void    handle handle long handle
	mark_create                        int     text
	mark                               int     int text
	mark_off                           int     int
	mark_global                        int     int text
	mark_global_off                    int     int
	stack_caller_create                handle
	stack_caller_destroy               void    handle
	stack_callee_enter                 void    handle
	stack_callee_leave                 void    handle
	clock_domain_create                handle  handle handle
	clock_domain_reset                 void
	id_create_ex                       void    domain handle long id
	id_destroy_ex                      void    domain handle long id
	task_begin_ex                      void    domain handle long id id string
	task_begin_fn_ex                   void    domain handle long id id handle
	task_end_ex                        void    domain handle long
	task_begin_overlapped              void    domain id id string
	task_begin_overlapped_ex           void    domain handle long id id string
	task_end_overlapped                void    domain id
	task_end_overlapped_ex             void    domain handle long id
	marker_ex                          void    domain handle long id string int
	metadata_add_with_scope            void    domain int string int size handle
	metadata_str_add_with_scope        void    domain int string text size
	relation_add_to_current_ex         void    domain handle long int id
	relation_add_ex                    void    domain handle long id int id
	track_group_create                 handle  string int
	track_create                       handle  handle string int
	set_track                          void    handle
	api_version                        text
	av_save                            int     handle int handle int text int
	module_load                        void    handle handle text
	module_unload                      void    handle
	histogram_submit                   void    handle size handle handle
	counter_set_value_v3               void    handle handle
TABLE

my %types = (void => 'void', int => 'int', nine => 'int', event => 'int', unsigned => 'unsigned', long => 'unsigned long long', size => 'size_t',
	text => 'const char *', handle => 'void *', domain => 'struct itt_domain *', string => 'struct itt_string *',
	id => 'struct itt_id', idp => 'struct itt_id *');
my %formats = (int => '%d', nine => '%d', event => '%d', unsigned => '%u', long => '%llu', size => '%zu', text => '%s', handle => '%p',
	domain => '%s', string => '%s', id => '%s', idp => '%s');
my %told = (domain => 'of_domain', string => 'of_string', id => 'of_id', idp => 'of_idp');

# ---- the program: its part of ITT, and a call of each function ----

my ($n, $slots, $list, $body) = (4700, '', '', '');
my %seen;
for my $call (@calls) {
	my ($name, $gives, @takes) = @$call;
	my $static = $name =~ s/^\*//;
	my $known = $name =~ s/=(\w+)// ? $1 : $name;
	my $type = $types{$gives};
	my ($i, $ids) = (0, 0);
	my $parameters = join(', ', map { "$types{$_} a" . ++$i } @takes) || 'void';
	my $arguments = join(', ', map { "a$_" } 1 .. @takes);
	my $nothing = $gives eq 'id' ? '' : ' 0';
	my $own = !$static ? "return$nothing;" : $name eq 'domain_create' ? 'return static_domain(a1);'
		: $name eq 'string_handle_create' ? 'return static_string(a1);' : "return$nothing;";
	$own = 'return;' if $gives eq 'void';
	my $return = $gives eq 'void' ? '' : 'return ';
	$slots .= "static $type ${name}_init($parameters);\nstatic $type (*$name)($parameters) = ${name}_init;\n" .
		"static $type ${name}_init($parameters)\n{\n\tattach();\n\tif ($name && $name != ${name}_init) { $return$name($arguments); " .
		($gives eq 'void' ? 'return; ' : '') . "}\n\t$own\n}\n";
	$list .= "\t{\"__itt_$known\", (void **)&$name, ${name}_init, " . ($static ? "${name}_init" : 'NULL') . ", 1},\n";
	my $values = join(', ', map {
		$n++;
		{text => "\"text $n\"", int => $n, nine => 9, unsigned => $n, long => $n, size => 5, handle => "(void *)${n}ul", domain => 'domain',
			string => 'string', event => 'event', id => $_ eq 'id' ? 'id' . ++$ids : '', idp => '&id1'}->{$_}
	} @takes);
	my $if = @takes && $takes[0] eq 'domain' ? "domain && domain->flags && $name" : $name;
	my $variable = $name eq 'domain_create' ? 'domain' : $name eq 'string_handle_create' ? 'string' : $name eq 'event_create' ? 'event' : '';
	$body .= $gives eq 'void' ? "\tif ($if) $name($values);\n"
		: "\t{\n\t\t$type got = $if ? $name($values) : 0;\n\t\tprintf(\"$name $formats{$gives}\\n\", " .
		($gives eq 'domain' ? 'got ? got->name : "-"' : $gives eq 'string' ? 'got ? got->text : "-"' : 'got') . ");\n" .
		($variable ? "\t\t$variable = got;\n" : '') . "\t}\n";
}
my $program = <<"C";
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "markers_abi.h"
static void attach(void);
static struct itt_domain *static_domain(const char *);
static struct itt_string *static_string(const char *);
$slots
static struct itt_function functions[] = {
$list	{NULL}
};
static struct itt_global global = {.functions = functions};
static void nullify(void)
{
	for (struct itt_function *f = functions; f->name; f++)
		*f->pointer = f->null;
}
static void attach(void)
{
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	void (*initialize)(struct itt_global *, int);
	static int tried;
	if (tried++)
		return;
	if (!path && getenv("INTEL_ITTNOTIFY_GROUPS"))
		path = "libittnotify.so";
	if (path)
		global.library = dlopen(path, RTLD_LAZY);
	if (!global.library) {
		nullify();
		return;
	}
	*(void **)&initialize = dlsym(global.library, "__itt_api_init");
	if (initialize)
		initialize(&global, -1);
	else for (struct itt_function *f = functions; f->name; f++)
		if (!(*f->pointer = dlsym(global.library, f->name)))
			*f->pointer = f->null;
	global.api_initialized = 1;
}
static void finish(void)
{
	void (*finalize)(struct itt_global *) = NULL;
	if (global.library)
		*(void **)&finalize = dlsym(global.library, "__itt_api_fini");
	if (finalize)
		finalize(&global);
	nullify();
}
static struct itt_domain *static_domain(const char *name)
{
	struct itt_domain **last = &global.domains;
	for (; *last; last = &(*last)->next)
		if (!strcmp((*last)->name, name))
			return *last;
	*last = calloc(1, sizeof(**last));
	(*last)->flags = 1;
	(*last)->name = strdup(name);
	return *last;
}
static struct itt_string *static_string(const char *text)
{
	struct itt_string **last = &global.strings;
	for (; *last; last = &(*last)->next)
		if (!strcmp((*last)->text, text))
			return *last;
	*last = calloc(1, sizeof(**last));
	(*last)->text = strdup(text);
	return *last;
}
static void all(void)
{
	static struct itt_id id1 = {71, 0, 1}, id2 = {72, 0, 2};
	struct itt_domain *domain = NULL;
	struct itt_string *string = NULL;
	int event = 0;
$body}
#ifndef PLUGIN
int main(int argc, char **argv)
{
	all();
	finish();
	all();
	if (argc > 1) { /* a library with a part of its own, which comes and goes */
		void *one = dlopen(argv[1], RTLD_NOW), *other = dlopen(argv[2], RTLD_NOW), (*work)(void);
		*(void **)&work = dlsym(one, "work");
		work();
		dlclose(one);
		*(void **)&work = dlsym(other, "work");
		work();
	}
	return 0;
}
#else
void work(void) { static_string("one more"); static_domain("one more"); all(); }
#endif
C

# ---- the collector ----

my ($functions, $fill, $exported) = ('', '', '');
my $m = 0;
for my $call (@calls) {
	my ($name, $gives, @takes) = @$call;
	$name =~ s/^\*//;
	$name =~ s/^.*=//;
	next if $seen{$name}++;
	$m++;
	my $i = 0;
	my $parameters = join(', ', map { "$types{$_} a" . ++$i } @takes) || 'void';
	$i = 0;
	my $values = join('', map { $i++; ', ' . ($told{$_} ? "$told{$_}(a$i)" : "a$i") } @takes);
	my $back = {void => '', text => "\treturn \"the tool's\";\n", domain => "\ttools_domain.name = \"the tool's\";\n\treturn &tools_domain;\n",
		string => "\ttools_string.text = a1;\n\treturn &tools_string;\n", handle => "\treturn (void *)" . (7000 + $m) . "ul;\n"}->{$gives} //
		"\treturn 700 + $m;\n";
	my $text = "$types{$gives} NAME($parameters)\n{\n\tprint(\"$name" . join('', map { " $formats{$_}" } @takes) . "\\n\"$values);\n$back}\n";
	$functions .= 'static ' . $text =~ s/NAME/tool_$name/r;
	$exported .= $text =~ s/NAME/__itt_$name/r;
	$fill .= "\tif (!strcmp(f->name, \"__itt_$name\")) mine = (void *)tool_$name;\n";
}
my $common = <<"C";
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "markers_abi.h"
static FILE *file;
static struct itt_global *known;
static struct itt_domain tools_domain = {.flags = 1};
static struct itt_string tools_string;
static void print(const char *format, ...)
{
	va_list args;
	if (!file && (file = fopen(getenv("TOOL_LOG"), "a")))
		setvbuf(file, NULL, _IOLBF, 0);
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
}
static const char *of_domain(struct itt_domain *domain)
{
	static char text[80];
	struct itt_domain *d = known ? known->domains : NULL;
	while (d && d != domain)
		d = d->next;
	sprintf(text, "%s, %d, %s", domain->name, domain->flags, domain == &tools_domain ? "mine" : d ? "listed" : "whose?");
	return text;
}
static const char *of_string(struct itt_string *string)
{
	static char text[80];
	struct itt_string *s = known ? known->strings : NULL;
	while (s && s != string)
		s = s->next;
	sprintf(text, "%s, %s", string ? string->text : "-", string == &tools_string ? "mine" : s ? "listed" : "whose?");
	return text;
}
static const char *of_id(struct itt_id id)
{
	static char text[4][80];
	static int n;
	sprintf(text[n = (n + 1) & 3], "(%lu %lu %lu)", id.d1, id.d2, id.d3);
	return text[n];
}
static const char *of_idp(struct itt_id *id) { return of_id(*id); }
__attribute__((destructor)) static void end(void) { print("end\\n"); }
C
my $tool = <<"C";
$common
int tools_own;
$functions
static void look(const char *what, struct itt_global *global)
{
	print("%s, %s\\n", what, dlsym(global->library, "tools_own") ? "my library" : "another library");
	known = global;
}
void __itt_api_init(struct itt_global *global, int groups)
{
	const char *only = getenv("TOOL_ONLY"), *but = getenv("TOOL_BUT");
	look("initialize", global);
	print("groups %d\\n", groups);
	for (struct itt_function *f = global->functions; f->name; f++) {
		void *mine = NULL;
$fill
		if ((only && strcmp(f->name + 6, only)) || (but && !strcmp(f->name + 6, but)))
			mine = getenv("TOOL_NULLS") ? f->null : *f->pointer;
		*f->pointer = mine;
	}
}
void __itt_api_fini(struct itt_global *global) { look("finish", global); }
C

my @gcc = ('gcc', '-w', '-I' . source() . '/tests/programs');
my $exe = compiled('itt', $program, @gcc, 'SOURCE');
my @plugins = map { compiled("plugin$_.so", $program =~ s/"text /"plugin $_ text /gr, @gcc, '-DPLUGIN', '-shared', '-fPIC', 'SOURCE') } 1, 2;
my $library = compiled('libitt.so', $tool, @gcc, '-shared', '-fPIC', 'SOURCE');
my @names = sort keys %seen;

# ---- all of them ----

my ($log, @with) = ok_same_calls('ITT, all entry points', [$exe], {INTEL_LIBITTNOTIFY64 => $library}, [@PERF], [@SIM]);
is(scalar(() = $log =~ /\n/g), @calls + 4, 'ITT: a collector with all entry points is told of all calls') or diag($log);
for my $with (@with) {
	is(join(', ', sort map { "@{$_->{path}} $_->{calls}" } grep { @{$_->{path}} } @{$with->{report}{regions}}),
		"text 4702 1, text 4702 2, text 4703 1, the tool's 1", 'ITT: and we see its regions');
}
ok_same_calls('ITT, parts of libraries', [$exe, @plugins], {INTEL_LIBITTNOTIFY64 => $library}, [@PERF]);

# ---- a collector that has one of them, and one that lacks one of those that we have ----

my %ours = map { $_ => 1 } read_file(source() . '/preload/markers/hooks_itt.c') =~ /^\tX\((\w+),/mg;
cmp_ok(scalar(keys %ours), '>', 10, 'ITT: we have many of them');
is(scalar(grep { $ours{$_} } @names), scalar(keys %ours), 'ITT: what we have is in the table');

for my $name (@names) {
	my @more = $ours{$name} ? ({TOOL_BUT => $name}, {TOOL_ONLY => $name, TOOL_NULLS => 1}) : ();
	for my $how ({TOOL_ONLY => $name}, @more) {
		my $what = join(' ', map { "$_ $how->{$_}" } sort keys %$how);
		my $has = sub { my ($line) = @_; return ($line =~ /^$name /) == exists $how->{TOOL_ONLY} };
		ok_same_calls("ITT, $what", [$exe], {INTEL_LIBITTNOTIFY64 => $library, %$how},
			{seen => sub { join('', grep { $has->($_) } split(/^/, $_[0])) }}, [@PERF]);
	}
}

# ---- one from before __itt_api_init, one without a name, one that is not there, none ----

my $old = compiled('libold.so', "$common\n$exported", @gcc, '-shared', '-fPIC', 'SOURCE');
my ($older) = ok_same_calls('ITT, an old collector', [$exe], {INTEL_LIBITTNOTIFY64 => $old},
	{notes => qr/no regions of ITT: the collector in INTEL_LIBITTNOTIFY64 has no __itt_api_init/}, [@PERF], [@SIM]);
cmp_ok(scalar(() = $older =~ /\n/g), '>', @calls, 'ITT: an old collector is told of all calls');
mkdir(scratch('default'));
rename($library, scratch('default/libittnotify.so'));
my ($default) = ok_same_calls('ITT, a collector without a name', [$exe],
	{INTEL_ITTNOTIFY_GROUPS => 'all', LD_LIBRARY_PATH => scratch('default')}, [@PERF], [@SIM]);
is($default, $log, 'ITT, a collector without a name: all calls');
ok_same_calls('ITT, no collector of this name', [$exe], {INTEL_LIBITTNOTIFY64 => '/nowhere.so'},
	{notes => qr{/nowhere\.so cannot be loaded}, seen => sub { '' }}, [@PERF]);
for my $engine ([@PERF], [@SIM]) {
	my $none = peek(@$engine, command => [$exe, @plugins]);
	is(status_text($none->{status}), 'exit 0', 'ITT, no collector: the program ends');
	is($none->{err} . join('', @{$none->{notes}}), '', 'ITT, no collector: nothing is said');
	is(join(' ', $none->{out} =~ /^(\w+) (?!0$|\(nil\)$|\(null\)$)/mg), 'domain_create string_handle_create event_create ' .
		'domain_create string_handle_create' . ' domain_create string_handle_create event_create' x 2,
		'ITT, no collector: no function gives anything but ours');
}
done_testing();

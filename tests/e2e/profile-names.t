#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Functions have the names that their programmers gave them: Rust's, of both schemes,
# and of programs that make code as they run; a stripped program has offsets.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $LINES = 4096;

# {name of a function: its misses}, and what has none, by module.
sub names_in
{
	my ($measurement, $counter, $what, @command) = @_;
	my $json = scratch('names.json');
	my $run = run(command => [cli(), $measurement, '-m', bare('skylake-sp'), '-o', $json, @command]);
	is($run->{err}, '', "$what: its profile");
	my $report = decode_json(read_file($json));
	unlink("/tmp/perf-$_->{pid}.map") for @{$report->{threads}};
	return {map { $_->{function} || $_->{module} => $_->{counts}{$counter} } @{$report->{functions}}};
}
sub functions_of { return names_in('dcache', 'l1d_load_misses', @_) }

sub ok_lines
{
	my ($got, $what) = @_;
	cmp_ok($got // -1, '>=', 0.99 * $LINES, $what);
}

# Symbols as in the book of rustc, without debugging information.
{
	my %names = (
		'_RNvMs_Cs4Cv8Wi1oAIB_7mycrateNtB4_7Example3foo' => '<mycrate::Example>::foo',
		'_RINvCsgStHSCytQ6I_7mycrate7examplelKj1_EB2_' => 'mycrate::example::<i32, 1>',
		'_RNCNvCsgStHSCytQ6I_7mycrate4main0B3_' => 'mycrate::main::{closure#0}',
		'_RNvCsdEaTj6DE1fQ_7mycrateu8gdel_5qa' => "mycrate::g\x{f6}del",
		'_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE' =>
			q(<Test + 'static as foo::Bar<Test>>::bar),
	);
	my @symbols = sort keys %names;
	my $text = "#include <stdlib.h>\n";
	for my $i (0 .. $#symbols) {
		$text .= "__attribute__((noipa)) void f$i(volatile char *at) __asm__(\"$symbols[$i]\");\n" .
			"void f$i(volatile char *at) { for (long i = 0; i < $LINES; i++) at[i * 64]; }\n";
	}
	$text .= "int main(void) { char *at = malloc($LINES * 64);\n" .
		join('', map { "f$_(at);\n" } 0 .. $#symbols) . "return 0; }\n";
	my $source = write_file(scratch('symbols.c'), $text);
	my $exe = scratch('symbols');
	is(system('gcc', '-O1', '-o', $exe, $source), 0, 'a program with symbols of Rust');
	my $functions = functions_of('Rust\'s symbols', $exe);
	ok_lines($functions->{$names{$_}}, "$_ in the profile") for @symbols;

	is(system('strip', $exe), 0, 'stripped');
	$functions = functions_of('a stripped program', $exe);
	cmp_ok($functions->{$exe} // -1, '>=', @symbols * 0.99 * $LINES, 'has its module');
	is_deeply([grep { $functions->{$names{$_}} } @symbols], [], 'and no names');
}

# The symbol that a compiler makes of it.
SKIP: {
	skip('no rustc here', 4) unless which('rustc');
	my $source = write_file(scratch('walk.rs'), <<'RUST');
use std::ptr::read_volatile;
pub struct Pair<T>(pub T, pub T);
pub trait Walk { fn walk(&self, n: usize) -> u64; }
impl<T: Copy + Into<u64>> Walk for Pair<T> {
    #[inline(never)]
    fn walk(&self, n: usize) -> u64 {
        let v: Vec<u64> = vec![self.0.into(); n];
        let (mut s, mut i) = (0, 0);
        while i < n { s += unsafe { read_volatile(&v[i]) }; i += 8; }
        s
    }
}
#[inline(never)]
pub fn sum<F: Fn(u64) -> u64>(f: F, v: &[u64]) -> u64 {
    let (mut s, mut i) = (0, 0);
    while i < v.len() { s += f(unsafe { read_volatile(&v[i]) }); i += 8; }
    s
}
fn main() {
    let v = vec![3u64; 32768];
    println!("{} {}", Pair(1u32, 2).walk(32768), sum(|x| x + 1, &v));
}
RUST
	my $exe = scratch('walk');
	is(system('rustc', '-g', '-O', '-C', 'symbol-mangling-version=v0', '-o', $exe, $source), 0, 'a program in Rust');
	my $functions = functions_of('Rust', $exe);
	ok_lines($functions->{'<walk::Pair<u32> as walk::Walk>::walk'}, 'a method of a trait, in the profile');
	ok_lines($functions->{'walk::sum::<walk::main::{closure#0}>'}, 'a function for a closure');
}

# ---- /tmp/perf-PID.map ----

# LuaJIT's own would take another build of it: a script writes what it asks for.
SKIP: {
	skip('no luajit here', 2) unless which('luajit');
	my $script = write_file(scratch('walk.lua'), <<'LUA');
local ffi, util = require('ffi'), require('jit.util')
ffi.cdef 'int getpid(void);'
local map = io.open(('/tmp/perf-%d.map'):format(ffi.C.getpid()), 'w')
jit.attach(function(what, trace, func)
	if what ~= 'stop' then return end
	local code, address = util.tracemc(trace)
	map:write(('%x %x trace of %s\n'):format(address, #code, util.funcinfo(func).loc))
	map:flush()
end, 'trace')
local function walk(t, n)
	local s = 0
	for i = 0, n - 1, 64 do s = s + t[i] end
	return s
end
local t, s = ffi.new('uint8_t[?]', 64 * 4096), 0
for k = 1, 3 do s = s + walk(t, 64 * 4096) end
os.exit(s == 0 and 0 or 1)
LUA
	my $functions = functions_of('LuaJIT', 'luajit', $script);
	my ($loop) = grep { /^trace of walk\.lua:10$/ } keys %$functions;
	ok_lines(($functions->{$loop // ''} // 0) / 3, 'a loop of Lua has its name and its misses');
}

# Without a map the report says what would write one.
SKIP: {
	my $php = which('php');
	my @jit = (-d => 'opcache.enable_cli=1', -d => 'opcache.jit_buffer_size=16M', -d => 'opcache.jit=tracing', -d => 'opcache.file_update_protection=0');
	my $has = $php && run(command => [$php, @jit, '-r', 'echo json_encode(opcache_get_status(false)["jit"]["on"] ?? false);'])->{out};
	skip('no PHP that compiles here', 4) unless ($has // '') eq 'true';
	my $script = write_file(scratch('walk.php'), '<?php function walk($a, $n) { $s = 0; for ($r = 0; $r < 20; $r++) '
		. 'for ($i = 0; $i < $n; $i += 8) $s += $a[$i]; return $s; } echo walk(range(0, 200000), 200000);');
	my $file = scratch('walk.json');
	for my $debug (0, 16) {
		my $run = run(command => [cli(), 'dcache', '-o', $file, $php, @jit, -d => "opcache.jit_debug=$debug", $script]);
		my $report = eval { decode_json(read_file($file)) } or BAIL_OUT($run->{err});
		my ($warning) = grep { /made at run time/ } @{$report->{warnings}};
		my @walk = grep { $_->{function} =~ /^TRACE-\d+\$walk\b/ } @{$report->{functions}};
		is(!!@walk, !!$debug, "PHP, jit_debug=$debug: the function has a name");
		like($warning // '', $debug ? qr/^$/ : qr/^\d\d % of the misses .* `php -d opcache\.jit_debug=16` writes them$/,
			"PHP, jit_debug=$debug: what would give it one");
		unlink("/tmp/perf-$_->{pid}.map") for @{$report->{threads}};
	}
}

# Python's are stubs, in front of what interprets the function: several lie in a line, and
# who comes there first misses.
SKIP: {
	my ($python) = grep { $_ && run(command => [$_, '-X', 'perf', '-c', 'import sys; sys.exit(not sys.is_stack_trampoline_active())'])->{status} == 0 }
		map { which("python3.$_") } 12 .. 15;
	skip('no python3.12 or later here that writes maps', 3) unless $python;
	my $script = write_file(scratch('steps.py'),
		join('', map { "def step_$_():\n    return $_\n" } 1 .. 40) . join('', map { "step_$_()\n" } 1 .. 40));
	my $functions = names_in('icache', 'l1i_misses', $python, $python, qw(-I -S -X perf), $script);
	my @steps = grep { /^py::step_\d+:\Q$script\E$/ } keys %$functions;
	cmp_ok(scalar(@steps), '>=', 5, 'functions of Python have their names and files');
	cmp_ok($functions->{"py::<module>:$script"} // 0, '>=', 1, 'and the script itself');
}

# NODE=1: node takes minutes on the simulated PMU.
SKIP: {
	skip('NODE=1 runs node', 3) unless $ENV{NODE} && which('node');
	my $script = write_file(scratch('walk.js'), <<'JS');
function walkTheTable(t) { let s = 0; for (let i = 0; i < t.length; i += 8) s += t[i]; return s; }
const table = new Float64Array(200000);
let s = 0;
for (let k = 0; k < 60; k++) s += walkTheTable(table);
process.stderr.write(s === 0 ? '' : 'wrong');
JS
	my $functions = functions_of('node', 'node', '--perf-basic-prof', $script);
	my ($walk) = grep { /walkTheTable \S*walk\.js:1/ } keys %$functions;
	ok($walk, 'a function of JavaScript has its name and file');
	ok_lines($functions->{$walk // ''}, 'and its misses');
}

done_testing;

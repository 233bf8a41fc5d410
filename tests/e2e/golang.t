#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Programs in Go make the exit system call themselves: one line says so, and what was
# counted is in the report that is made afterwards, or by the command.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Json;
use Test::More;

my $pages = 2000;
my $faults = 'perf::PAGE-FAULTS';
my $line = qr/^cachepeek: Go programs make the exit system call themselves: no report is written at the end\..*`cachepeek report`.*`cachepeek \.\/app`/;

my $source = <<'GO';
package main

/*
#include <sys/mman.h>

static void touch(int pages)
{
	volatile char *at = mmap(0, pages * 4096ul, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < pages; i++)
		at[i * 4096ul] = 1;
}
*/
import "C"
import (
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	pages, _ := strconv.Atoi(os.Args[1])
	C.touch(C.int(pages))
	fmt.Println("touched", pages)
	time.Sleep(time.Second)
	os.Exit(3)
}
GO

# A command, or undef: without Go, or without a C compiler for it.
sub cgo
{
	return unless which('go') && which('gcc');
	mkdir(scratch('go'), 0700);
	write_file(scratch('go/touch.go'), $source);
	my $built = run(command => ['go', 'build', '-o', scratch('go/touch'), scratch('go/touch.go')],
		env => {GO111MODULE => 'off', GOFLAGS => '', GOPROXY => 'off', CGO_ENABLED => 1,
			GOCACHE => scratch('go/cache'), HOME => scratch('go')});
	diag($built->{err}) if $built->{status};
	return $built->{status} ? undef : scratch('go/touch');
}

sub of_process
{
	my ($report) = @_;
	return $report ? root_process($report) : undef;
}

sub preloaded
{
	my ($name, $engine, @command) = @_;
	my $directory = scratch("$name-$engine");
	mkdir($directory, 0700) or die;
	my $run = peek(engine => $engine, events => $engine eq 'perf' ? $faults : 'l1d_stores',
		command => \@command, env => {CACHEPEEK_DIR => $directory});
	is(status_text($run->{status}) . " $run->{out}", "exit 3 touched $pages\n", "$name, $engine: the program");
	ok(!$run->{report}, "$name, $engine: no report at its end");
	my @said = @{$run->{notes}};
	is(scalar(@said), 1, "$name, $engine: one line") or diag(@said);
	like($said[0], $line, "$name, $engine: which says why, and what to do");
	my $report = kept_report($directory);
	is(of_process($report)->{exit}{how}, 'unknown', "$name, $engine: its end was not seen");
	return $report;
}

sub ok_faults
{
	my ($report, $what) = @_;
	my $count = region($report)->{counts}{$faults};
	cmp_ok($count->{value}, '>=', $pages, "$what: every page");
	cmp_ok($count->{value}, '<', $pages + 1500, "$what: and few others");
	like($count->{reason}, qr/counted up to the last reading$/, "$what: up to when");
}

sub commanded
{
	my ($name, @command) = @_;
	my $json = scratch("$name.json");
	my $run = run(command => [cli(), '-o', $json, @command], env => {CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $faults});
	is(status_text($run->{status}) . " $run->{out}$run->{err}", "exit 3 touched $pages\n", "$name, command: nothing is said");
	my $report = decode_json(read_file($json));
	is(join(' ', @{of_process($report)->{exit}}{qw(how code)}), 'exit 3', "$name, command: how it ended");
	ok_faults($report, "$name, command");
}

my $go = cgo();
for (['go_like', program('go_like'), $pages], ['cgo', $go, $pages]) {
	my ($name, @command) = @$_;
	SKIP: {
		skip('no Go that compiles programs with C in them (golang-go, gcc)', 1) unless $command[0];
		my $stores = region(preloaded($name, 'sim', @command))->{counts}{l1d_stores};
		cmp_ok($stores->{value}, '>=', $pages, "$name, sim: every store");
		is($stores->{status} . ($stores->{reason} // ''), 'simulated', "$name, sim: to the very end");
		skip('perf: the kernel counts no software events here', 1) unless can_count('software');
		ok_faults(preloaded($name, 'perf', @command), "$name, perf");
		commanded($name, @command);
	}
}
# Without cgo: a static program, which the simulator alone counts.
my $walk = <<'GO';
package main

import "fmt"

//go:noinline
func walk(of []int64) (sum int64) {
	for i := 0; i < len(of); i += 8 {
		sum += of[i]
	}
	return
}

func main() {
	of := make([]int64, 1<<20)
	for i := range of {
		of[i] = int64(i)
	}
	sum := int64(0)
	for i := 0; i < 3; i++ {
		sum += walk(of)
	}
	fmt.Println(sum)
}
GO

SKIP: {
	skip('no Go', 4) unless $go;
	my $json = scratch('static.json');
	write_file(scratch('go/walk.go'), $walk);
	my $built = run(command => ['go', 'build', '-o', scratch('go/walk'), scratch('go/walk.go')],
		env => {GO111MODULE => 'off', GOFLAGS => '', GOPROXY => 'off', CGO_ENABLED => 0,
			GOCACHE => scratch('go/cache'), HOME => scratch('go')});
	diag($built->{err}) if $built->{status};
	my $run = run(command => [cli(), 'dcache', '-m', 'cachegrind', '-o', $json, scratch('go/walk')]);
	is(status_text($run->{status}) . " $run->{out}", "exit 0 206156857344\n", 'without cgo: the program');
	my $profile = decode_json(read_file($json) // '{}');
	my ($function) = grep { $_->{function} eq 'main.walk' } @{$profile->{functions}};
	my $misses = $function ? $function->{counts}{l1d_load_misses} : 0;
	cmp_ok(abs($misses - 3 * (1 << 17)), '<=', 200, '... the misses of its function: each line of 8 MiB, three times');
	is($function->{statements}[0]{line}, 8, '... and of its line');
	like($profile->{data}[0]{name}, qr/^Mapped: walk::\S+, \d+ B/, '... and of what its heap mapped');
}

done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek dtlb --engine perf --call-paths: call chains of page faults, each of which is
# sampled, where it is known how many each function has on which path; with frame pointers
# and without any.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

need_perf();
plan(skip_all => 'registers and stacks are read on x86-64 and AArch64 only') unless `uname -m` =~ /^(?:x86_64|aarch64)$/;

my $source = write_file(scratch('chains.c'), <<'C');
#include <alloca.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define FAR __attribute__((noinline, noclone))
#define AFTER __asm__ volatile("" ::: "memory") /* no tail call */
static char *at;
static long page;
/* A function without a frame of its own: frame pointers know nothing of its caller. */
FAR void touch(long n) { char *p = __atomic_fetch_add(&at, n * page, __ATOMIC_RELAXED); while (n-- > 0) { *(volatile char *)p = 1; p += page; } }
FAR void left(void) { touch(11); AFTER; }
FAR void right(void) { touch(23); AFTER; }
FAR void down(int depth) { if (depth) down(depth - 1); else touch(7); AFTER; }
FAR void tail_to(void) { touch(5); AFTER; }
FAR void tail_from(void) { tail_to(); }
/* More of the stack than a sample has. */
FAR void wide(void) { volatile char room[65536]; room[0] = room[65535] = 1; left(); AFTER; }
/* The same, and the frame pointer is all that tells of it. */
FAR void wide_alone(void) { volatile char room[65536]; room[0] = room[65535] = 1; touch(3); AFTER; }
FAR void called_back(int (*f)(const void *, const void *), char *two) { f(two, two + 1); AFTER; }
static int compare(const void *a, const void *b) { right(); return *(const char *)a - *(const char *)b; }
FAR void backwards(void) { char two[2] = {1, 2}; called_back(compare, two); AFTER; }
FAR void warm(void) { volatile char room[80000]; for (long i = 0; i < 80000; i += 1000) room[i] = 1; AFTER; }
static void *thread(void *unused) { (void)unused; left(); return 0; }
int main(void)
{
	pthread_t other;
	page = sysconf(_SC_PAGESIZE);
	at = mmap(0, 200 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(at, 200 * page, MADV_NOHUGEPAGE);
	warm();
	left(); right(); down(5); tail_from(); wide(); wide_alone(); backwards();
	pthread_create(&other, 0, thread, 0);
	pthread_join(other, 0);
	return 0;
}
C

# {path from main or the thread on}: samples by itself, of what touches.
sub touched
{
	my ($paths) = @_;
	my (@names, %sum);
	for my $path (@$paths) {
		push @names, [@{defined $path->{parent} ? $names[$path->{parent}] : []}, $path->{function}];
		my @names = @{$names[-1]};
		next unless @names && $names[-1] eq 'touch';
		shift @names while @names && $names[0] !~ /^(?:main|thread|\[not unwound\])$/;
		$sum{join ' ', @names} += $path->{exclusive}{page_faults_sampled} // 0;
	}
	return \%sum;
}

my %inside = (
	'main left touch' => 11, 'main right touch' => 23, 'main down touch' => 7, 'main tail_to touch' => 5,
	'main backwards called_back compare right touch' => 23, 'thread left touch' => 11,
);
for my $with ('-fomit-frame-pointer', '-fno-omit-frame-pointer') {
	my ($program, $dir) = (scratch("chains$with"), scratch("run$with"));
	is(system('cc', '-O1', '-g', '-foptimize-sibling-calls', $with, '-pthread', '-o', $program, $source), 0, "$with: compiled");
	my $json = scratch("chains$with.json");
	my $run = run(command => [cli(), 'dtlb', '--engine', 'perf', '--call-paths', '-d', $dir, '-o', $json, $program]);
	is($run->{err}, '', 'nothing is said');
	my $profile = decode_json(read_file($json));
	my $paths = $profile->{call_paths}{paths};

	# With frame pointers the kernel knows who called left, of which a sample's stack has no more.
	my $above = $with =~ /no-omit/ ? 'main' : '[not unwound]';
	my %expected = (%inside, "$above wide left touch" => 11, "$above wide_alone touch" => 3);
      SKIP: {
		skip 'the kernel lost samples: the ring was full', 1 if $profile->{sampling}{page_faults}{lost};
		is_deeply(touched($paths), \%expected, "$with: each path has its faults") or diag(explain(touched($paths)));
	}
	is($paths->[0]{inclusive}{page_faults_sampled}, $profile->{counts}{page_faults_sampled}, 'all paths are all samples');
	cmp_ok(abs($paths->[0]{estimates}{page_faults}{value} - $profile->{estimates}{page_faults}{value}), '<', 1e-6,
		'and what those stand for');
	is_deeply([grep { defined $_->{calls} } @$paths], [], 'samples count no calls');
	my @threads = @{$profile->{call_paths}{threads}};
	is_deeply([map { join ' ', grep { /^thread / } keys %{touched($_->{paths})} } sort { ($a->{tid} != $a->{pid}) <=> ($b->{tid} != $b->{pid}) } @threads],
		['', 'thread left touch'], 'threads have their own');
	my $check = run(command => ['/usr/bin/python3', '-c', <<'END', source() . '/doc/cachepeek-profile-1.schema.json', $json]);
import json, sys
import jsonschema
jsonschema.Draft7Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))
print("valid")
END
	is($check->{out}, "valid\n", 'the schema holds') or diag($check->{err});
}

# ---- nothing to unwind by ----

# Neither tables nor frame pointers: who called is not known, and nobody is made up.
{
	my ($program, $json) = (scratch('bare'), scratch('bare.json'));
	is(system('cc', '-O1', '-foptimize-sibling-calls', '-fomit-frame-pointer', '-pthread', '-o', $program, $source) +
		system('objcopy', '--remove-section', '.eh_frame', '--remove-section', '.eh_frame_hdr', $program), 0, 'a program without tables');
	my $run = run(command => [cli(), 'dtlb', '--engine', 'perf', '--call-paths', '-d', scratch('run-bare'), '-o', $json, $program]);
	my $profile = decode_json(read_file($json));
      SKIP: {
		skip 'the kernel lost samples: the ring was full', 1 if $profile->{sampling}{page_faults}{lost};
		is_deeply(touched($profile->{call_paths}{paths}), {'[not unwound] touch' => 94}, 'what is not unwound is a frame of its own')
			or diag(explain(touched($profile->{call_paths}{paths})));
	}
}

# ---- nothing to sample ----

# Where no PMU samples memory, there is a report all the same, which says so.
{
	my ($json, $name) = (scratch('nothing.json'), scratch('bare'));
	my $run = run(command => [cli(), 'dcache', '--engine', 'perf', '--call-paths', '-o', $json, $name]);
	my $profile = decode_json(read_file($json) // '{}');
	my $reason = $profile->{sampling}{memory}{reason} // 'none';
      SKIP: {
		skip 'memory is sampled here', 2 if $profile->{sampling}{memory}{samples};
		is($run->{err}, '', 'dcache --call-paths without samples');
		is(scalar(grep { $_ eq "no call paths: memory_misses: $reason" } @{$profile->{warnings}}), 1, 'says why there are no paths');
	}
}

# ---- shown ----

my $kept = scratch('run-fno-omit-frame-pointer');
sub shown { return run(command => [cli(), 'dtlb', '--engine', 'perf', '-d', $kept, @_]) }

my $text = shown('--call-paths', '--cutoff', '0,100,0', '-o', '-')->{out};
like($text, qr/^ Incl% +Excl% +Est +\+-95% +Samples  Path \(\* the hottest\)$/m, 'text: estimates, with how sure they are');
like($text, qr/^ *[\d.]+ +0\.00 +23 +0\.0% +23 +right\n.* 23  *touch$/m, 'a path');
my $callers = shown('--callers', 'touch', '--cutoff', '0,100,0', '-o', '-')->{out};
my %callers = reverse $callers =~ /^ *[\d.]+ +(\d+) +[\d.]+% +\d+  [* ] +(left|right|down|tail_to|wide_alone)$/mg;
is_deeply(\%callers, {left => 33, right => 46, down => 7, tail_to => 5, wide_alone => 3}, 'callers') or diag($callers);
shown('-o', scratch('kept.folded'));
like(read_file(scratch('kept.folded')), qr/^\(program\);.*;main;backwards;called_back;compare;right;touch 23$/m, 'folded');
shown('-o', scratch('kept.callgrind'));
unlike(read_file(scratch('kept.callgrind')), qr/^calls=/m, 'callgrind\'s format has no calls that nobody counted');
my $diff = run(command => [cli(), 'diff', '--call-paths', $kept, $kept]);
is($diff->{err}, "cachepeek: diff: $kept has samples: --call-paths compares simulated runs, which count\n", 'diff: simulated runs only');

done_testing();

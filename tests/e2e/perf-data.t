#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Recordings of perf, as profiles: page faults, which each kernel samples, against perf's own
# names and counts; and samples of memory accesses, which no machine of ours has: the same
# file, with words that processors write put into what perf prints of it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;
use Time::HiRes ();

my $perf = which('perf') or plan(skip_all => 'no perf (linux-perf)');
need_perf();

my $cc = (split(' ', $ENV{CC} || 'gcc'))[0];
write_file(scratch('touch.c'), <<'C');
#include <sys/wait.h>
#include <unistd.h>
static volatile char table[4096 * 300] __attribute__((aligned(4096))), other[4096 * 100] __attribute__((aligned(4096)));
__attribute__((noinline)) static void child(void)
{
	for (int i = 0; i < 100; i++)
		other[4096 * i] = 1;
}
int main(void)
{
	for (int i = 0; i < 300; i++)
		table[4096 * i] = 1;
	if (fork() == 0) {
		child();
		_exit(0);
	}
	wait(NULL);
	return 0;
}
C
is(system($cc, '-O1', '-g', '-o', scratch('touch'), scratch('touch.c')), 0, 'a program');

# A recording, or why there is none.
sub record
{
	my ($name, @more) = @_;
	my $file = scratch($name);
	unshift(@more, '-e', 'page-faults:u') unless grep { $_ eq '-e' } @more;
	my $run = run(command => [$perf, 'record', '-q', '-c', 1, '-d', @more, '-o', $file, scratch('touch')]);
	return -s $file ? $file : plan(skip_all => "perf records nothing: $run->{err}");
}
my $recorded = record('perf.data', '-W');
# As perf does, which keeps what ran by build ID: a link is a change of the file.
Time::HiRes::sleep(0.05);
link(scratch('touch'), scratch('linked'));

sub imported
{
	my ($measurement, $file, %env) = @_;
	my $json = scratch('imported.json');
	my $run = run(command => [cli(), $measurement, '-i', $file, '-o', $json], env => \%env);
	is($run->{err}, '', "$measurement: nothing to say");
	my $text = read_file($json);
	unlink($json);
	return decode_json($text // '{}');
}
sub of { my ($rows, $key, $name) = @_; return grep { ($_->{$key} // '') eq $name } @$rows }

# ---- page faults ----

my $profile = imported('dtlb', $recorded);
my $symbols = run(command => [$perf, 'script', '-i', $recorded, '-F', 'pid,ip,sym'])->{out};
my $all = () = $symbols =~ /^ *\d+ +[0-9a-f]+ /mg;
cmp_ok($all, '>', 400, 'perf has samples');
is($profile->{sampling}{page_faults}{samples}, $all, 'all of them are here');
is($profile->{counts}{page_faults_sampled}, $all, 'and in places');
is($profile->{sampling}{page_faults}{event}, 'page-faults:u', 'of this event');
ok($profile->{sampling}{page_faults}{exact}, 'of which each one is sampled');
is($profile->{processes}, 2, 'two processes');
# Which that of Linux 7.2 keeps without arguments.
my ($recorder) = run(command => [$perf, 'report', '--header-only', '-i', $recorded])->{out} =~ /^# cmdline : (.*?) *$/m;
is($profile->{command}, $recorder, 'its command');
like($recorder, qr/perf(?: record .*touch)?$/, 'which is perf');
for my $function (qw(main child)) {
	my $expected = () = $symbols =~ /^ *\d+ +[0-9a-f]+ \Q$function\E$/mg;
	my ($row) = of($profile->{functions}, 'function', $function);
	is($row->{counts}{page_faults_sampled}, $expected, "$function: as many as perf says");
}
my %data = map { $_->{name} => $_->{counts}{page_faults_sampled} } @{$profile->{data}};
is($data{'touch::table (touch.c:4)'} // $data{'touch::table'}, 300, 'each page of a variable');
is($data{'touch::other (touch.c:4)'} // $data{'touch::other'}, 100, "and of one that the child used in its parent's memory");
is($profile->{sampling}{memory}{event}, '', 'no samples of memory');
like($profile->{sampling}{memory}{reason}, qr/perf's file has no samples/, 'with the reason');
run(command => [cli(), 'dtlb', '-o', scratch('faults.json'), '-i', $recorded]);
for my $command (['dtlb', '-i', $recorded], ['dtlb', '-v', '-i', $recorded], ['explain', scratch('faults.json')]) {
	my $screen = run(command => [cli(), $command->[0], '-o', '-', @$command[1 .. $#$command]])->{out};
	like($screen =~ s/\n +/ /gr, qr/^not looked for: no rule looks at samples: cachepeek dcache PROGRAM simulates each miss$/m, "@$command: no rule looked");
	unlike($screen, qr/no rule finds/, "@$command: which is no all-clear");
}

# ---- call chains, and events that count the same ----

# That the file has them makes no difference: a sample is where its first address is.
for my $chains (['-g'], ['--call-graph', 'dwarf,64']) {
	my $file = record('chains.data', @$chains);
	my $profile = imported('dtlb', $file);
	my $lines = run(command => [$perf, 'script', '-i', $file, '-F', 'pid,event'])->{out};
	my $samples = () = $lines =~ /page-faults/g;
	cmp_ok($samples, '>', 200, "@$chains: perf has samples");
	is($profile->{counts}{page_faults_sampled}, $samples, "@$chains: as many as perf has");
	my ($row) = of($profile->{functions}, 'function', 'main');
	cmp_ok($row->{counts}{page_faults_sampled}, '>', 100, "@$chains: in their function");
}
# Each minor fault is a fault, too: it counts once, and a line says so.
for my $events ('page-faults:u,minor-faults:u', '{page-faults:u,minor-faults:u}', 'minor-faults:u,page-faults:u') {
	my $profile = imported('dtlb', record('both.data', '-e', $events));
	my %data = map { $_->{name} =~ s/ .*//r => $_->{counts}{page_faults_sampled} } @{$profile->{data}};
	is($data{'touch::table'}, 300, "$events: each page once");
	is($profile->{sampling}{page_faults}{event}, 'page-faults:u', "$events: of all faults");
	is(scalar(grep { /^minor-faults:u: its samples are those of page-faults:u once more/ } @{$profile->{warnings}}), 1,
		"$events: said");
}
my $members = record('members.data', '-e', '{page-faults:u,minor-faults:u}:S');
is(scalar(grep { /^minor-faults:u: its samples are those of its group's first event/ }
		@{imported('dtlb', $members)->{warnings}}), 1, 'a group that is read with its first event');

# ---- samples of memory accesses ----

my ($LOAD, $HIT) = (2, 2 << 5);
sub word
{
	my ($level, $number, $snoop, $remote, $tlb) = @_;
	return $LOAD | $HIT | $level << 5 | ($snoop // 2) << 19 | ($tlb // 0x0a) << 26 | $number << 33 | ($remote ? 1 << 37 : 0);
}
# Words of processors; the first is no miss.  0x4c: hit or miss of L1 and a walk.
my @words = (['', word(0x08, 1)], ['l2_sampled', word(0x20, 2)], ['lfb_sampled', word(0x10, 12)],
	['l3_sampled', word(0x40, 3, 2, 0, 0x12)], ['c2c_sampled', word(0x40, 3, 0x10)], ['local_sampled', word(0x80, 13)],
	['hop1_sampled', word(0x100, 13, 2, 1)]);
# perf, in front of which this stands: it prints the words, a weight and the kernel's share.
mkdir(scratch('bin'));
write_file(scratch('bin/perf'), "#!/usr/bin/perl\nmy \$perf = '$perf';\nmy \@words = (" . join(', ', map { sprintf('0x%x', $_->[1]) } @words) . ");\n" . <<'P');
my $n = 0;
open(my $out, '-|', $perf, @ARGV) or die;
while (<$out>) {
	if ($ARGV[0] eq 'evlist') {
		# Newer perfs write type: 1 (software), type: 1 (PERF_TYPE_SOFTWARE).
		s/^page-faults:u: type: 1(?: \(\w+\))?,/cpu\/mem-loads,ldlat=30\/P: type: 4,/;
	} elsif (/ page-faults:u: /) {
		s/page-faults:u:/cpu\/mem-loads,ldlat=30\/P:/;
		my $word = sprintf('%x', $words[$n++ % @words]);
		s/[0-9a-f]+ (\|OP .*\|BLK  N\/A +)0 /$word $1 100 / or die "no words: $_";
		s/ 1 cpu/ 2003 cpu/;
	}
	print;
}
print "            app  1/1  12.345678901: PERF_RECORD_LOST lost 7\n" if grep { /show-lost/ } @ARGV;
print "            app  1/1  12.345678901:  2003 cpu/mem-loads,ldlat=30/P: ffff888000000000 1 |OP LOAD|BLK  N/A  5 ffffffff81000000\n"
	if grep { /show-lost/ } @ARGV;
close($out);
exit($? >> 8);
P
chmod(0755, scratch('bin/perf'));
my %env = (PATH => scratch('bin') . ":$ENV{PATH}");
$profile = imported('dcache', $recorded, %env);
my (%bucket, $missed);
for my $i (0 .. $all - 1) {
	my $name = $words[$i % @words][0] or next;
	$bucket{$name}++;
	$missed++;
}
is_deeply({map { $_ => $profile->{counts}{$_} } keys %bucket}, \%bucket, 'dcache: each in its bucket');
is($profile->{counts}{memory_sampled}, $missed, 'what hit L1 is no miss');
is($profile->{counts}{latency_sampled}, 100 * $missed, 'latencies are the weights');
is($profile->{sampling}{memory}{samples}, $all, 'all samples stand for the event');
is($profile->{sampling}{memory}{total}, 2003 * $all, 'with their periods');
is(join('', grep { /lost 7 records/ } @{$profile->{warnings}}) ne '', 1, 'what perf lost is said');
is(join('', grep { /^1 samples of the kernel/ } @{$profile->{warnings}}) ne '', 1, "and what is the kernel's");
my $walks = grep { $words[$_ % @words][0] eq 'l3_sampled' } 0 .. $all - 1;
is(imported('dtlb', $recorded, %env)->{counts}{memory_sampled}, $walks, 'dtlb: those that missed the TLB');

# ---- a program that was built anew since ----

is(system($cc, '-O0', '-g', '-o', scratch('touch'), scratch('touch.c')), 0, 'another build');
$profile = imported('dtlb', $recorded);
is(scalar(of($profile->{functions}, 'function', 'child')), 0, 'has no names for what ran');
like("@{$profile->{warnings}}", qr/touch: it is not the file that ran/, 'which is said');

# ---- what cannot be read ----

sub refused
{
	my ($status, $line, %run) = @_;
	my $run = run(%run, command => [cli(), @{$run{command}}]);
	is(status_text($run->{status}), "exit $status", "@{$run{command}}: refused");
	like($run->{err}, $line, 'in one line that says why');
	is($run->{err} =~ tr/\n//, 1, 'in one line');
}
refused(1, qr/page faults only, which are for `cachepeek dtlb -i`/, command => ['dcache', '-i', $recorded]);
refused(1, qr/samples of data, not of code/, command => ['icache', '-i', $recorded]);
refused(1, qr/No such file/, command => ['dcache', '-i', scratch('none')]);
refused(1, qr/perf cannot read/, command => ['dcache', '-i', scratch('touch.c')]);
refused(1, qr/perf is needed to read/, command => ['dcache', '-i', $recorded], env => {PATH => scratch('none')});
refused(2, qr/goes without true/, command => ['dcache', '-i', $recorded, 'true']);
refused(2, qr/goes without -d/, command => ['dcache', '-i', $recorded, '-d', scratch()]);
run(command => [$perf, 'record', '-q', '-e', 'context-switches:u', '-c', 1, '-o', scratch('plain.data'), 'true']);
refused(1, qr/no samples with addresses: make it with `perf mem record`/, command => ['dcache', '-i', scratch('plain.data')])
	if -s scratch('plain.data');
done_testing();

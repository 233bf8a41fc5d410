#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Files that somebody else may have made: what is refused is named, with the reason and
# the cure, nothing waits, and nothing of it is in a report.  As two users, of whom one
# is hostile; and what is no such file at all.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use POSIX ();
use Test::More;

need_perf();
umask(0022);
my $cannot = no_other_user();

my %base = (CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => 'perf::PAGE-FAULTS');
my @pages = (program('region_pages'), 10, 0);

# Bounded: what hangs is a failure, and not the end of the test.
sub within { return run(@_, command => ['timeout', 60, @{{@_}->{command}}]) }
sub lines { return join('', grep { /^cachepeek: / } split(/^/, $_[0]{err})) }

# ---- what is no such file ----

mkdir(scratch('records'));
my $records = scratch('records/run');
run(command => [cli(), '-d', $records, '-o', scratch('one.json'), @pages], env => \%base);
my ($record) = glob("$records/*.rec");
write_file(scratch('app.c'), "int main(void) { return 0; }\n");
system('cc', '-g', '-o', scratch('app'), scratch('app.c')) == 0 or die;
run(command => [cli(), 'dcache', '-d', scratch('profile'), '-o', scratch('profile.json'), scratch('app')]);

# Every kind of file that can be named: the command, and its exit status.
my %named = (
	'a group' => ['group', 0, sub { ('env', 'LD_PRELOAD=' . lib(), "CACHEPEEK_GROUPS=$_[0]", @pages) }],
	'a machine' => ['machine', 2, sub { (cli(), 'compare', '-m', $_[0], 'true') }],
	'a report' => ['json', 2, sub { (cli(), 'diff', $_[0], scratch('one.json')) }],
	'a profile' => ['json', 1, sub { (cli(), 'annotate', '-i', $_[0], 'app.c') }],
	'a record' => ['rec', 1, sub { (cli(), 'report', $_[0]) }],
	'a record to merge' => ['rec', 1, sub { (cli(), 'merge', $_[0]) }],
);
my %bad = (
	absent => [sub {}, qr/no such file or directory|holds no run records/i],
	empty => [sub { write_file($_[0], '') }, qr/./],
	garbage => [sub { write_file($_[0], join('', map { chr(($_ * 89) % 256) } 1 .. 5000)) }, qr/./],
	directory => [sub { mkdir($_[0]) }, qr/directory|holds no run records/],
	fifo => [sub { POSIX::mkfifo($_[0], 0600) }, qr/it is a FIFO: name a regular file/],
	device => [sub { symlink('/dev/zero', $_[0]) }, qr/it is a device or a socket: name a regular file|it is a symbolic link: left out; name what it leads to/],
	huge => [sub { open(my $file, '>', $_[0]); truncate($file, 2 ** 37) }, qr/larger than|too large|not a|no run record/],
);
for my $kind (sort keys %named) {
	my ($ending, $status, $command) = @{$named{$kind}};
	for my $how (sort keys %bad) {
		my ($make, $says) = @{$bad{$how}};
		my $file = scratch("$how-" . $kind =~ s/ /-/gr . ".$ending");
		$make->($file);
		my $run = within(command => [$command->($file)], env => $status ? {} : \%base);
		my @lines = split(/^/, lines($run));
		is(status_text($run->{status}), "exit $status", "$kind, $how: how it ends");
		is(scalar(@lines), 1, '... one line') or diag($run->{err});
		like($lines[0] // '', $says, '... the reason');
		my $base = $file =~ s/.*\///r;
		like($lines[0] // '', qr/\Q$base\E/, '... and the file');
	}
}

# ---- other users ----

my ($attacker, $other) = (65533, 65534);

my $n = 0;
sub shared_directory
{
	my $directory = scratch('shared' . ++$n);
	mkdir($directory) or die;
	chmod($_[0] // 01777, $directory);
	return $directory;
}

# A copy of the record there, of that user.
sub put
{
	my ($directory, $name, $owner, $mode) = @_;
	write_file("$directory/$name", read_file($record));
	chmod($mode // 0644, "$directory/$name");
	chown($owner, $owner, "$directory/$name");
}

SKIP: {
	skip($cannot, 1) if $cannot;
	for my $victim (0, $other) {
		my @as = as_user($victim);
		for my $reader ('report', 'merge', 'diff') {
			my $what = "$reader as user $victim";
			my $here = shared_directory();
			put($here, '10-0.rec', $victim, 0600);
			put($here, '11-0.rec', $attacker);
			put($here, '12-0.rec', $victim, 0666);
			put($here, '13-0.rec', 0) if $victim;
			symlink($record, "$here/14-0.rec") or die;
			POSIX::mkfifo("$here/15-0.rec", 0666) or die;
			my $out = "$here/out.json";
			my $run = within(command => [@as, cli(), $reader, '-o', $out, $reader eq 'diff' ? ($here, $here) : $here]);
			is(status_text($run->{status}), 'exit 0', "$what: it ends");
			my $report = eval { decode_json(read_file($out) // '') };
			ok($report, '... with a report') or diag($run->{err});
			next if $reader eq 'diff';
			my $told = join("\n", $run->{err}, @{$report->{warnings} || []});
			my $sum = value(region($report), 'perf::PAGE-FAULTS');
			my $alone = value(region(decode_json(read_file(scratch('one.json')))), 'perf::PAGE-FAULTS');
			is($sum, $alone * ($victim ? 2 : 1), '... which has the own records, and those of root');
			like($told, qr/11-0\.rec: it belongs to another user \($attacker\): left out; copy or chown it/, '... names one of another');
			like($told, qr/12-0\.rec: other users may write to it: left out; chmod go-w/, '... one that others may change');
			like($told, qr/14-0\.rec: it is a symbolic link: left out/, '... a link');
			like($told, qr/15-0\.rec: it is a FIFO/, '... a FIFO');
		}

		# The library reads the directory at the end of the program, too.
		my $here = shared_directory();
		put($here, '11-0.rec', $attacker);
		my $run = within(command => [@as, 'env', 'LD_PRELOAD=' . lib(), "CACHEPEEK_DIR=$here",
			"CACHEPEEK_OUTPUT=$here/out.json", (map { "$_=$base{$_}" } sort keys %base), program('empty')]);
		my $report = eval { decode_json(read_file("$here/out.json") // '') };
		is(scalar(@{$report->{processes} || []}), 1, "library as user $victim: only its own process");
		like($report->{command}[0] // '', qr/empty$/, '... which gives the title');
		like(join("\n", @{$report->{warnings} || []}), qr/11-0\.rec: it belongs to another user/, '... the other record is named');
	}

	# The directory is its owner's: nobody else can have put the record there.
	my $theirs = shared_directory(0755);
	chown($attacker, $attacker, $theirs);
	put($theirs, '10-0.rec', $attacker);
	my $run = within(command => [cli(), 'report', '-o', scratch('theirs.json'), $theirs]);
	my $report = eval { decode_json(read_file(scratch('theirs.json')) // '') };
	is(scalar(@{$report->{warnings} || []}), 0, 'a directory of another user, named: his records are read') or
		diag(@{$report->{warnings} || []});

	# Profiles.
	my $here = shared_directory();
	for my $file (glob(scratch('profile') . '/*')) {
		my $name = $file =~ s/.*\///r;
		write_file("$here/$name", read_file($file));
		chmod(0644, "$here/$name");
		chown($attacker, $attacker, "$here/$name") if $name =~ /profile$/;
	}
	$run = within(command => [cli(), 'dcache', '-d', $here]);
	like($run->{err}, qr/has no profile|belongs to another user/, 'a profile of another user is not read');
	isnt($run->{status}, 0, '... and the command fails');
}

# ---- maps of JIT compilers ----

my $jit = scratch('jit');
run(command => [cli(), 'dcache', '-d', $jit, '-o', scratch('jit.json'), program('profiled'), 'jit']);
my ($pid) = map { m{/(\d+)-\d+\.profile$} ? $1 : () } glob("$jit/*.profile");
my $map = "/tmp/perf-$pid.map";
unlink($map);
for my $case (
	['that is a FIFO', sub { POSIX::mkfifo($map, 0666) }, qr/it is a FIFO/],
	['that is a link to /dev/zero', sub { symlink('/dev/zero', $map) }, qr/it is a symbolic link: left out/],
	['of another user', sub { chown($attacker, $attacker, write_file($map, "0 ffffffffffffffff evil\n")) },
		qr/it belongs to another user/],
	['that others may write to', sub { chmod(0666, write_file($map, "0 ffffffffffffffff evil\n")) },
		qr/other users may write to it/],
	['of 2^37 bytes', sub { open(my $file, '>', $map); truncate($file, 2 ** 37) }, qr/larger than/],
	['of the user', sub { write_file($map, "0 ffffffffffffffff mine\n") }, undef],
) {
	my ($what, $make, $says) = @$case;
SKIP: {
	skip('only root can be two users', 2) if $what =~ /another/ && $> != 0;
	$make->();
	my $run = within(command => [cli(), 'dcache', '-d', $jit, '-o', scratch('jit.json')]);
	unlink($map);
	is(status_text($run->{status}), 'exit 0', "a map $what: holds nobody");
	my $profile = eval { decode_json(read_file(scratch('jit.json')) // '') } || {};
	my %names = map { $_->{function} => 1 } @{$profile->{functions}};
	ok(!$names{evil} && !$names{mine} == !!$says, '... its names are ' . ($says ? 'not used' : 'used'));
	like(join("\n", @{$profile->{warnings} || []}), qr/\Q$map\E: .*$says/, '... it is named, and why') if $says;
}
}

# ---- a record that costs more than it holds ----

{
	my $sparse = scratch('sparse');
	mkdir($sparse, 0700);
	put($sparse, '10-0.rec', $>);
	# Its header says that 2 GiB are used.
	open(my $file, '+<', "$sparse/10-0.rec") or die;
	truncate($file, 2 ** 31 - 4096);
	sysseek($file, 64, 0);
	syswrite($file, pack('Q', 2 ** 31 - 4096));
	close($file);
	my $run = within(command => [which('python3'), '-c', 'import resource, subprocess, sys
subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)', cli(), 'report', '-o', scratch('sparse.json'), $sparse]);
	my $report = eval { decode_json(read_file(scratch('sparse.json')) // '') };
	ok($report && @{$report->{processes}} == 1, 'a sparse record of 2 GiB: what is in it is read') or diag($run->{err});
	cmp_ok($run->{out}, '<', 100 << 10, '... in little memory');
	like(join("\n", @{$report->{warnings}}), qr/10-0\.rec: damaged/, '... and that is said');
}
done_testing();

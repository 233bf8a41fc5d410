#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Names that are meant for a terminal, files that others have put in the way,
# and who may read what we write.
use strict;
use warnings;
use Encode ();
use Fcntl qw(:mode);
use FindBin;
use lib $FindBin::Bin;
use Peek;
use POSIX ();
use Test::More;

need_perf();
my $faults = 'perf::PAGE-FAULTS';
umask(0);

sub mode { sprintf('%04o', (lstat($_[0]))[2] & 07777) }

# ---- names ----

my @arguments = ("arg\e[31m\n", "\xff", "\xe2\x80\xae");
my $run = peek(engine => 'perf', events => "$faults,ev\e[31mil", output => "stderr,\e[31mx",
	command => [program('hostile'), @arguments]);
is($run->{status}, 0, 'hostile names: the program runs');
my $text = join('', $run->{err}, @{$run->{notes}});
for my $name ('title', 'break', 'quote', '31m nel', 'desrever', 'invalid', 'del', 'evil|ev.*31mil') {
	like($text, qr/$name/, "hostile names: $name is in the text");
}
unlike($text, qr/[\x00-\x09\x0b-\x1f\x7f]/, 'hostile names: no C0 controls');
unlike($text, qr/\xc2[\x80-\x9f]/, '... nor C1');
unlike($text, qr/\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xd8\x9c/, '... nor marks that turn the text');
ok(defined eval { Encode::decode('UTF-8', "$text", Encode::FB_CROAK()) }, '... and it is UTF-8');

$run = peek(engine => 'perf', events => $faults, command => [program('hostile'), @arguments]);
my %names = map { ($_->{path}[0] // '') => 1 } @{$run->{report}{regions}};
ok($names{"\e]0;title\a\e[31mred"} && $names{"line\nbreak\r\ttab"} &&
	$names{'"quote\\ </script><b>&amp;'} && $names{"bidi \x{202e}desrever \x{2066} end"},
	'JSON has the names as they are');
unlike($run->{json}, qr/[\x00-\x09\x0b-\x1f\x7f]/, '... without control characters');
is($run->{report}{command}[1], $arguments[0], '... and the arguments');

# ---- outputs ----

my @pages = (program('region_pages'), 10, 0);
my $output = scratch('mode.json');
peek(engine => 'perf', output => $output, command => \@pages);
is(mode($output), '0644', 'an output that nobody else may write, whatever the umask');
{
	my $before = umask(077);
	unlink($output);
	peek(engine => 'perf', output => $output, command => \@pages);
	is(mode($output), '0600', '... nor read, by the umask');
	umask($before);
}

my $victim = write_file(scratch('victim'), "precious\n");

POSIX::mkfifo(scratch('fifo.json'), 0600) or die;
$run = peek(engine => 'perf', output => scratch('fifo.json'), command => \@pages);
is(status_text($run->{status}), 'exit 0', 'an output that is a FIFO without a reader holds nobody');
POSIX::mkfifo(scratch('fifo.group'), 0600) or die;
$run = peek(engine => 'perf', groups => scratch('fifo.group'), command => \@pages);
is(status_text($run->{status}), 'exit 0', 'a group file that is one, neither');

# ---- the run directory ----

my $directory = scratch('run-here');
peek(engine => 'perf', command => \@pages, env => {CACHEPEEK_DIR => $directory});
is(mode($directory), '0700', 'the run directory is for its owner only');
is_deeply([map { mode($_) } glob("$directory/*.rec")], ['0600'], '... and so is the record');

# Where a report could not be written, they stay.
mkdir(scratch($_)) or die for 'shared', 'directory.json';
for (1, 2) {
	peek(engine => 'perf', command => \@pages, output => scratch('directory.json'),
		env => {HOME => undef, XDG_CACHE_HOME => undef, TMPDIR => scratch('shared')});
}
my @made = glob(scratch('shared/*'));
is(scalar(@made), 2, 'without a home, runs are kept where temporary files are');
my %random = map { /cachepeek-\d+-\d+-\d+-([0-9a-f]{16})$/ ? ($1 => 1) : () } @made;
is(scalar(keys %random), 2, '... under names that nobody can guess');
is_deeply([map { mode($_) } @made], ['0700', '0700'], '... for their owner only');

# Somebody was there first: links and files of others are not written to.
my $trap = scratch('trap');
mkdir($trap, 0700) or die;
$run = run(command => ['sh', '-c', 'ln -s "$1" "$2/$$-0.rec"; shift 2; exec "$@"', 'sh',
	$victim, $trap, 'env', 'LD_PRELOAD=' . lib(), @pages],
	env => {CACHEPEEK_DIR => $trap, CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $faults,
		CACHEPEEK_OUTPUT => scratch('trap.json')});
is(read_file($victim), "precious\n", 'a record whose name is taken by a link: the target is untouched');
is(scalar(grep { !-l } glob("$trap/*.rec")), 1, '... and there is a record all the same');

# The same for what the simulator says, and for the record that the command corrects
# when the program has ended.
my $log = scratch('log');
mkdir($log, 0700) or die;
my @crash = ('env', 'LD_PRELOAD=' . lib(), program('ends'), 'segv');
my %sim = (CACHEPEEK_DIR => $log, CACHEPEEK_ENGINE => 'sim', CACHEPEEK_EVENTS => 'instructions',
	CACHEPEEK_OUTPUT => scratch('log.json'));
run(command => ['sh', '-c', 'ln -s "$1" "$2/$$-simulator.log"; shift 2; exec "$@"', 'sh', $victim, $log, @crash],
	env => \%sim);
is(read_file($victim), "precious\n", 'a log whose name is taken by a link: the target is untouched');
run(command => \@crash, env => \%sim);
is_deeply([map { mode($_) } grep { !-l } glob("$log/*.log")], ['0600'], '... one of ours is for its owner only');

my ($taken, $bait) = (scratch('taken'), write_file(scratch('bait'),
	my $baited = read_file(source() . '/tests/fuzz/seeds/record/perf')));
run(command => [cli(), '-E', 'perf', '-e', $faults, '-d', $taken, '-o', scratch('taken.json'),
	'sh', '-c', 'ln -s "$1" "$2/$$-1.rec"; exit 3', 'sh', $bait, $taken]);
ok(-l (glob("$taken/*-1.rec"))[0], 'a link where the next record would be');
ok(read_file($bait) eq $baited, '... the target is untouched');

# ---- readers ----

my $odd = scratch('odd');
mkdir($odd, 0700) or die;
POSIX::mkfifo("$odd/1-0.rec", 0600) or die;
symlink('/dev/zero', "$odd/2-0.rec") or die;
mkdir("$odd/3-0.rec") or die;
write_file("$odd/4-0.rec", '');
write_file("$odd/5-0.rec", 'cpeekrec' . "\xff" x 8192);
open(my $sparse, '>', "$odd/6-0.rec") or die;
truncate($sparse, 5 * 2 ** 30);
close($sparse);
my $sound = scratch('sound');
peek(engine => 'perf', command => \@pages, env => {CACHEPEEK_DIR => $sound});
my ($seed) = map { read_file($_) } glob("$sound/*.rec");
write_file("$odd/7-0.rec", $seed);
write_file("$odd/8-0.rec", substr($seed, 0, length($seed) / 2));
$run = run(command => [cli(), 'report', '-o', scratch('odd.json'), $odd]);
ok(defined $run->{status} && !($run->{status} & 127), 'a directory of odd records: the command ends by itself');
my $report = eval { Json::decode_json(read_file(scratch('odd.json')) // '') };
ok($report && (grep { $_->{exe} =~ /region_pages/ } @{$report->{processes}}), '... and reports the sound one');

# ---- programs with rights that their user has not ----

# Such a program loads what is preloaded only from the system's directories, and
# only if that is marked: one of those files is ours here, for a moment.
SKIP: {
	my ($system) = glob('/usr/lib/*/libnss_hesiod.so.2');
	my @unshare = ('unshare', '--mount', '--propagation', 'private', 'sh', '-c',
		'mount --bind "$1" "$2" && shift 2 && exec setpriv --reuid=65534 --clear-groups "$@"', 'sh');
	my ($copy, $setuid) = (scratch('copy.so'), scratch('setuid'));
	chmod(0755, scratch());
	system('cp', lib(), $copy);
	system('cp', program('region_pages'), $setuid);
	chmod(04755, $copy);
	mkdir(scratch('nobody'), 0777);
	my $out = scratch('nobody/report.json');
	my %env = (CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $faults, CACHEPEEK_OUTPUT => $out,
		CACHEPEEK_DIR => scratch('nobody/run'));
	my @command = (@unshare, $copy, $system // '', 'env', 'LD_PRELOAD=libnss_hesiod.so.2', $setuid);

	chmod(0755, $setuid);
	skip('no setuid programs can be made here', 2) if !$system || run(command => \@command, env => \%env)->{status};
	my @records = glob(scratch('nobody/run/*.rec'));
	is(scalar(@records), 1, 'preloaded from a system directory into a program of the user, it works');
	unlink($out);
	system('rm', '-rf', scratch('nobody/run'));
	chmod(04755, $setuid);
	run(command => \@command, env => \%env);
	ok(!-e $out && !-e scratch('nobody/run'), 'in a setuid program it does nothing');
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Our descriptors and the program's: neither gets the other's, and counting
# goes on whatever the program closes.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $pages = 200;
my $faults = 'perf::PAGE-FAULTS';

# Nothing that whoever runs the tests left open.
my @alone = ('perl', '-MPOSIX', '-e', 'POSIX::close($_) for 3 .. 1023; exec @ARGV or die $!');

# Where our numbers are: above the soft limit, or in the upper half of it.
my %limits = (
	'room above the soft limit' => [@alone, 'prlimit', '--nofile=256:1024'],
	'no room above the soft limit' => [@alone, 'prlimit', '--nofile=256:256'],
);

sub command { [program('close_all'), $_[0], $pages, @_[1 .. $#_]] }

# Both threads' region, to the page, on perf; that it is there at all on sim.
sub ok_counted
{
	my ($run, $engine, $what) = @_;
	my @threads = map { @{$_->{threads}} } @{$run->{report}{processes} || []};
	my @touch = map { region($_, 'touch') } @threads;
	is(scalar(@touch), 2, "$what: both threads have the region");
	return if $engine eq 'sim';
	is_deeply([map { value($_, $faults) } @touch], [$pages, $pages],
		"$what: each fault after it was counted");
}

for my $engine (qw(perf sim)) {
SKIP: {
	skip('perf: the kernel counts no software events here', 1)
		if $engine eq 'perf' && !can_count('software');
	for my $room (sort keys %limits) {
		for my $how (qw(loop closefrom range unshare walk dup2 dup3 vfork vfork-dup2 vfork-range)) {
			# The simulated PMU has descriptors that cannot be had.
			next if $engine eq 'sim' && $how =~ /unshare|dup|vfork-range/;
			my $what = "$engine, $room, $how";
			# Which has none of 256 to spare.
			my $under = [map { $engine eq 'sim' ? s/256:256/1024:1024/r : $_ } @{$limits{$room}}];
			my @command = (engine => $engine, command => command($how));
			my $plain = plain(@command, command => [@$under, @{command($how)}]);
			my $run = peek(@command, under => $under);
			is($run->{out}, $plain->{out}, "$what: the program sees no difference");
			is($run->{err}, $plain->{err}, "$what: nothing on its stderr");
			is(notes($run), 0, "$what: nothing to say") or diag(@{$run->{notes}});
			ok_counted($run, $engine, $what);
		}
	}
}
}

# Each call that makes descriptors, where few numbers are left, does what it does alone.  The
# simulator takes the last 12 where there are none above the soft limit.
{
	my @out = (program('descriptors_out'));
	my @rooms = ([256, 1024, 256], [1024, 1024, 1012]);
	for my $room (@rooms) {
		my ($soft, $hard, $left) = @$room;
		my $plain = plain(command => [@alone, 'prlimit', "--nofile=$left:$hard", @out]);
		my $run = peek(engine => 'sim', command => \@out, under => [@alone, 'prlimit', "--nofile=$soft:$hard"]);
		like($plain->{out}, qr/^accept, 1 free: 100 /m, "$left numbers: calls succeed");
		is($run->{out}, $plain->{out}, '... or fail, each in the same place');
		is($run->{status}, 0, '... and the program ends') or diag($run->{err});
	}
}

# The core's own, which are beyond the program's hard limit, and the library's, wherever they
# are, are no descriptors to any call.
for my $limit ('128:192', '1024:1024') {
	my @under = (@alone, 'prlimit', "--nofile=$limit");
	my $run = peek(engine => 'sim', under => \@under, command => [program('hidden_numbers')]);
	my $plain = plain(command => [@under, program('hidden_numbers')]);
	like($plain->{out}, qr/\A\d+ calls\n\z/, "$limit: alone nothing is there");
	is($run->{out}, $plain->{out}, '... nor is simulated what is not the program\'s');
}

# Numbers that the program takes are its own: the library's move away, or are given up.
for my $limit ('1024:4096', '1024:1024') {
	my $file = scratch("taken-$limit");
	my $run = peek(engine => 'sim', events => 'instructions', under => [@alone, 'prlimit', "--nofile=$limit"],
		command => [program('taken_numbers'), $file]);
	my ($taken, $all) = $run->{out} =~ /^(\d+) of (\d+)$/;
	ok($all && $taken >= $all - 12, "$limit: the program takes the numbers that it has") or diag($run->{out});
	is(-s $file, 0, '... and nothing of ours is written there');
	is($run->{status}, 0, '... it ends');
	ok($run->{report}, '... and is reported');
}

# Each call of the kernel that takes one is among those, and in the simulator's table.
{
	my $source = read_file(source() . "/tools/sim/system/hidden_args.c") . read_file(source() . "/tools/sim/system/hidden_memory.c") .
		read_file(source() . "/tools/sim/system/hidden.c");
	my ($table) = $source =~ /takers\[\] = \{(.*?)\n\};/s;
	my %takes = map { lc($_) => 1 } $table =~ /\[(?:SYS_)?(\w+)\] =/g;
	my %looked = (%takes, map { lc($_) => 1 } $source =~ /(?:\bcase |== )(?:SYS_)?([a-zA-Z_0-9]+)(?=[:;)])/g);
	my %tried = map { /^(\w+)/ ? ($1 => 1) : () } split(/\n/, plain(command => [program('hidden_numbers'), 'names'])->{out});
	is(join(' ', grep { !$tried{$_} } sort keys %takes), '', 'each call of the table is tried');
	my @known = plain(command => [qw(cc -dM -E -include sys/syscall.h -x c /dev/null)])->{out} =~ /define __NR_(\w+) /g;
	cmp_ok(scalar(@known), '>', 300, 'the calls that the headers of this system have');
	my %without = map { $_ => 1 } split(' ', read_file("$FindBin::Bin/without-descriptors.txt"));
	is(join(' ', grep { !$looked{$_} && !$without{$_} } sort @known), '', 'each call of the kernel is in the table, or takes none');
	is(join(' ', grep { $looked{$_} && $without{$_} } sort keys %without), '', '... and not both');
}

# A child that is not followed has none of them.
for my $engine (qw(perf sim)) {
	next if $engine eq 'perf' && !can_count('software');
	my @list = ('sh', '-c', 'env -u LD_PRELOAD ls /proc/self/fd');
	ok_same('the descriptors of children', engine => $engine, command => \@list,
		$engine eq 'sim' ? (events => 'instructions') : ());
}

SKIP: {
	skip('perf: the kernel counts no software events here', 1) unless can_count('software');

	# Every number is taken: ours give way, and it is said what that costs.
	my @limit = @{$limits{'no room above the soft limit'}};
	my $run = peek(engine => 'perf', command => command('take', 200), under => \@limit);
	unlike($run->{out}, qr/instead/, 'numbers that the program chooses are its own');
	like($run->{out}, qr/^0 files were read/m, '... and so is what is in those files');
	is(notes($run), 0, '... nothing to say');
	ok_counted($run, 'perf', 'numbers taken');
	$run = peek(engine => 'perf', command => command('vain'), under => \@limit);
	is($run->{out}, plain(command => [@limit, @{command('vain')}])->{out},
		'nothing can take no number, with all numbers in use');
	like("@{$run->{notes}}", qr/needs all of its 256 descriptors.*ulimit -n/, '... which cost the counters');
	is(notes($run), 1, '... as one line says') or diag(@{$run->{notes}});
	$run = peek(engine => 'perf', command => command('vain'), under => $limits{'room above the soft limit'});
	is(notes($run), 0, '... but not where there is room for them') or diag(@{$run->{notes}});
	ok_counted($run, 'perf', 'nothing taken');
	# Readings take long, and the number that one began with is the program's then.
	my @slow = (which('strace') || 'no strace', '-f', '-o', '/dev/null', '-e', 'inject=read:delay_enter=300');
	for my $how (qw(busy first-region)) {
	SKIP: {
		skip('no strace here', 4) unless run(command => [@slow, 'true'])->{status} == 0;
		$run = peek(engine => 'perf', command => command($how), under => [@limit, @slow]);
		like($run->{out}, qr/^0 files were read/m, "$how: no reading takes anything from the new file");
		is(notes($run), 0, "$how: nothing to say") or diag(@{$run->{notes}});
		ok_counted($run, 'perf', $how);
	}
	}
	$run = peek(engine => 'perf', command => command('take', 253), under => \@limit);
	is($run->{status}, 0, 'all numbers taken: the program runs');
	unlike($run->{out}, qr/instead/, '... and gets them');
	ok($run->{report}, '... what writes the report has numbers of its own');
	is(value(region($run->{report}, 'touch'), $faults), undef, '... no count is made up');

	# Ours above the soft limit leave what is below to the program.
	$run = peek(engine => 'perf', under => [@alone, 'prlimit', '--nofile=256:2048'],
		command => [program('many_threads'), 150, 245]);
	is($run->{out}, "150 threads, 245 files\n", 'none of 256 numbers for 150 threads');
	is(notes($run), 0, '... nothing to say') or diag(@{$run->{notes}});

	# Closed behind our back: no count is made up.
	$run = peek(engine => 'perf', command => command('raw'));
	is($run->{out}, plain(command => command('raw'))->{out}, 'raw system calls: same output');
	my ($count) = map { $_->{counts}{$faults} } grep { "@{$_->{path}}" eq 'touch' }
		@{$run->{report}{regions} || []};
	ok(!$run->{report} || !$count || $count->{status} eq 'unavailable',
		'raw system calls: no count is made up');

	# The report, when stderr was closed, is on the stderr that was.
	$run = peek(engine => 'perf', command => command('loop'), output => 'stderr');
	like($run->{err}, qr/touch/, 'the report goes where stderr was');

	# A closed stderr is not replaced by anything of ours.
	my @closed = ('sh', '-c', 'exec 2>&-; exec "$@"', 'sh', program('close_all'), 'first');
	my $first = plain(command => [@closed])->{out};
	is($first, "2\n", 'the first file is opened where stderr was');
	$run = peek(engine => 'perf', output => 'stderr', command => [@closed]);
	is($run->{out}, $first, '... with us, too');

	# The program's own numbers under a tight limit.
	my @tight = (@alone, 'prlimit', '--nofile=1024:1024');
	$run = peek(engine => 'perf', under => \@tight, command => [program('many_threads'), 2000, 500],
		events => 'perf::PAGE-FAULTS,perf::MINOR-FAULTS');
	is($run->{out}, "2000 threads, 500 files\n", '2,000 threads and 500 files of 1,024 descriptors');
	is(notes($run), 1, 'one line about it') or diag(@{$run->{notes}});
	my @threads = map { @{$_->{threads}} } @{$run->{report}{processes}};
	my @lost = grep { $_->{state} eq 'lost' } @threads;
	is(scalar(@threads), 2001, 'each thread has its row');
	ok(@lost > 0 && @lost < 2001 - 400, "one descriptor per thread, for half of them") or diag(scalar(@lost));
	my ($said) = map { /^(\d+) threads could not be counted/ } @{$run->{report}{warnings}};
	is($said, scalar(@lost), 'the report says how many are not');
	my ($root) = grep { !@{$_->{path}} } @{$run->{report}{regions}};
	isnt($root->{counts}{$faults}{status}, 'exact', 'a sum without them is not called exact');

	# The limit is raised for the moment in which a descriptor goes beyond it: no child
	# that is forked then keeps that.
	$run = peek(engine => 'perf', env => {CACHEPEEK_CHILDREN => 'ignore'}, command => [program('fork_limit'), 400]);
	is($run->{out}, "0\n", 'the limit in fork children');
	my @all = ('bash', '-c', 'ulimit -Sn $(ulimit -Hn); (ulimit -Sn; :); :');
	is(peek(engine => 'perf', command => [@all])->{out}, plain(command => [@all])->{out}, 'and one that is as high as it can be');
}
done_testing();

#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Counts by call path: paths add up to the counters' own account, for each
# counter and thread, on plain machines and others, with time and with misses by
# instruction; and the instructions and misses of a function, with all that it calls and
# without, are those that callgrind has, of the twenty functions that have most.
#	CALLGRIND_ALL=1 tests/sim/call-paths.t [PROGRAM...]	(more of them, which takes minutes)
use strict;
use warnings;
no warnings 'qw';
use Cwd 'realpath';
use File::Temp 'tempdir';
use FindBin;
use List::Util 'sum';
use lib $FindBin::Bin, "$FindBin::Bin/../e2e";
use Json;
use Programs;
use Profile;
use Sim;
use Test::More;

my ($lib) = grep { -d } qw(/usr/libexec/valgrind /usr/lib/valgrind);
my $valgrind = $lib && glob("$lib/callgrind-*-linux") ? $lib : undef;
symlink "$BUILD/libcachepeek", "$SCRATCH/lib0";
symlink $valgrind, "$SCRATCH/lib1" if $valgrind;

my $all = $ENV{CALLGRIND_ALL};
%ENV = (PATH => $ENV{PATH}, B => $ENV{B} // 'build', PERL_HASH_SEED => 0,
	PYTHONHASHSEED => 0, PYTHONDONTWRITEBYTECODE => 1);

# ---- sums ----

my @small = qw(--l1i=4,2,64 --l1d=4,2,64 --l2=16,2,64 --llc=64,4,64 --itlb=1,4 --dtlb=1,4 --stlb=4,2);
my @flex = qw(--l1i=64,4,32 --l1d=64,4,64,write-through,no-allocate,fp-bypass
	--l2=256,8,128,stream:2:8 --llc=4096,24,128,inclusive --itlb=1,32
	--dtlb=1,32 --stlb=0,0 --itlb2=1,128 --dtlb2=1,128);
my @timed = qw(--timing=12,40,200,60,7,30,10,10);
my %machines = (plain => [], small => \@small, flex => \@flex, timed => \@timed,
	'flex, timed' => [@flex, @timed], 'two cores' => ['--cores=2', @small]);
my %counted = (
	qsort => ['/usr/bin/perl', '-e', 'print join(" ", sort { $a <=> $b } map { $_ * 7919 % 1009 } 1 .. 400)'],
	threads => ["$BUILD/sim/threads", 3, 400],
	huge => ["$BUILD/sim/huge"],
);

# Where what was counted is not what the paths add up to.
sub differences {
	my ($profile, $log) = @_;
	my $sums = profile_sums(values %{$profile->{paths}});
	my (@wrong, %total);

	for my $id (sort { $a <=> $b } keys %{$profile->{threads}}) {
		my $count = $profile->{threads}{$id}{count};
		for my $what (sort keys %$count) {
			my $sum = $sums->{$id}{$what} // 0;
			$total{$what} += $count->{$what};
			push @wrong, "thread $id: $what $count->{$what}, paths $sum" if $sum != $count->{$what};
		}
	}
	while ($log =~ /process $profile->{pid} (\w+) (\d+)/g) {
		push @wrong, "process: $1 $2, threads $total{$1}" if defined $total{$1} && $total{$1} != $2;
	}
	return \@wrong;
}

for my $machine (sort keys %machines) {
	for my $name (sort keys %counted) {
		# Without misses by instruction on all machines: CALLGRIND_ALL=1.
		for my $sites ($all || $machine =~ /^(plain|two cores)$/ ? (0, 1) : 1) {
			my $dir = tempdir(CLEANUP => 1);
			my $what = "$machine, $name" . ($sites ? ', misses by instruction' : '');
			my ($status, $out, $log) = sim_run('--report=yes', @{$machines{$machine}},
				"--call-paths=$dir", $sites ? "--profile=$dir" : (), @{$counted{$name}});
			my @profiles = map { profile_read($_) } glob "$dir/*.profile";
			my $profile = $profiles[0];

			is($status, 0, "$what: runs");
			cmp_ok(scalar keys %{$profile->{paths}}, '>', 50, "$what: paths");
			is(!!@{$profile->{sites}}, !!$sites, "$what: instructions only where they are asked for");
			is_deeply([map { @{differences($_, $log)} } @profiles], [],
				"$what: all paths are all that was counted");
		}
	}
}

# ---- no room ----

{
	my $dir = tempdir(CLEANUP => 1);
	my ($status, $out, $log) = sim_run('--report=yes', "--call-paths=$dir", '--call-path-nodes=40', @{$counted{qsort}});
	my ($file) = glob "$dir/*.profile";
	my $profile = profile_read($file);
	my $folded = 0;

	$folded += $_->{folded} for values %{$profile->{paths}};
	is(scalar keys %{$profile->{paths}}, 40, 'no more nodes than there is room for');
	cmp_ok($folded, '>', 1000, 'calls that have none are known');
	is_deeply(differences($profile, $log), [], 'and what they have is their callers\'');
	my $shown = qx($BUILD/cachepeek dcache --call-paths -d $dir -o - 2>&1);
	(my $commas = $folded) =~ s/(?<=\d)(?=(?:\d{3})+$)/,/g;
	like($shown =~ s/\s+/ /gr, qr/warning: there was no room for more paths: $commas calls, with all that followed from them, are counted as their caller's own/, 'which is said');
}

# ---- stubs ----

# A stub of the PLT is no function's caller, but of those that find out where that is.
{
	my $dir = tempdir(CLEANUP => 1);
	sim_run("--call-paths=$dir", "$BUILD/tests/programs/call_paths", 'library');
	my ($file) = glob "$dir/*.profile";
	my $profile = profile_read($file);
	my $paths = $profile->{paths};
	my @behind = grep { $_->{parent} && $paths->{$_->{parent}}{passage} } values %$paths;

	cmp_ok(scalar(grep { $_->{passage} } values %$paths), '>', 3, 'stubs of the PLT are known');
	is_deeply([grep { !m{/ld-linux} } map { $profile->{modules}{$_->{module}}{path} } @behind], [],
		'and call only what resolves them');
}

# ---- callgrind ----

my @ours = qw(--pieces=yes --cache-instructions=no --l1i=64,8,64 --l1d=64,8,64 --l2=0,0,0 --llc=8192,16,64);
my @theirs = qw(--cache-sim=yes --I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64
	--compress-strings=no --compress-pos=no);

# The comparisons: {name} => [how far apart it may be, or so many; callgrind's events; ours].
my %compared = (
	instructions => [0.0005, 30, ['Ir'], ['instructions']],
	'L1D misses' => [0.005, 50, [qw(D1mr D1mw)], [qw(l1d_load_misses l1d_store_misses)]],
	'LLC misses of data' => [0.005, 50, [qw(DLmr DLmw)], [qw(llc_load_misses llc_store_misses)]],
);

# wmemset jumps into memset, and mempcpy into memcpy: callgrind stays with who jumped.
sub plain_name {
	my ($name) = @_;
	return $name =~ s/@.*//r =~ s/^_+(?:(?:libc|GI|IO)_+)?//r =~ s/^wmemset_(.*unaligned)(?:_erms)?/memset_$1_erms/r =~
		s/^mempcpy_/memcpy_/r;
}

sub add_cost {
	my ($to, $cost) = @_;
	$to->{$_} += $cost->{$_} for keys %$cost;
}

# {inclusive or exclusive}{function object}{what is compared}.
sub our_costs {
	my $dir = tempdir(CLEANUP => 1);
	my ($status, $out) = run_tool("$SCRATCH/lib0", 'cachepeek', @ours, "--call-paths=$dir", @_);
	system("$BUILD/cachepeek", 'dcache', '--call-paths', '-d', $dir, '-o', "$SCRATCH/paths.json");
	my @paths = @{decode_json(slurp("$SCRATCH/paths.json"))->{call_paths}{paths}};
	my %by;

	for my $i (1 .. $#paths) {
		my $p = $paths[$i];
		my $name = plain_name($p->{function}) . ' ' . (-e $p->{module} ? realpath($p->{module}) : $p->{module});
		my $above = $paths[$p->{parent}]{above} // {};
		$p->{above} = {%$above, $name => 1};
		for my $kind ('exclusive', $above->{$name} ? () : 'inclusive') {
			my $count = $p->{$kind};
			add_cost($by{$kind}{$name} //= {}, {map {
				my $what = $_;
				$what => sum(map { $count->{$_} // 0 } @{$compared{$what}[3]});
			} keys %compared});
		}
	}
	return (all_output($out, @_), \%by);
}

# Functions that call themselves, by others or not.
sub in_cycles {
	my ($calls) = @_;
	my @cyclic;

	for my $name (keys %$calls) {
		my (%seen, @next);
		for (@next = keys %{$calls->{$name}}; @next;) {
			my $to = shift @next;
			push @next, keys %{$calls->{$to}} unless $seen{$to}++;
		}
		push @cyclic, $name if $seen{$name};
	}
	return @cyclic;
}

# The same; inclusive none of a function that is in a cycle of calls: callgrind counts what
# it has once for each time that it is on the stack.
sub their_costs {
	my $file = "$SCRATCH/callgrind.out";
	my ($status, $out) = run_tool("$SCRATCH/lib1", 'callgrind', @theirs, "--callgrind-out-file=$file", @_);
	my (%by, %calls, @events, $ob, $cob, $fn, $cfn, $called);
	my $name_of = sub { my ($function, $object) = @_; plain_name($function) . ' ' . (-e $object ? realpath($object) : $object) };

	for (split /\n/, slurp($file)) {
		if (/^events: (.*)/) { @events = split ' ', $1 }
		elsif (/^ob=(.*)/) { $ob = $1 }
		elsif (/^fn=(.*?)(?:'\d+)?$/) { $fn = $1 } # '2: called by itself
		elsif (/^cob=(.*)/) { $cob = $1 }
		elsif (/^cfn=(.*?)(?:'\d+)?$/) { $cfn = $1 }
		elsif (/^calls=/) { $called = 1 }
		elsif (defined $fn && /^[\d+*-]\S* (\d.*)/) {
			my (%cost, @cost);
			@cost = split ' ', $1;
			@cost{@events[0 .. $#cost]} = @cost;
			my $name = $name_of->($fn, $ob);
			my $cost = {map { my $what = $_; $what => sum(map { $cost{$_} // 0 } @{$compared{$what}[2]}) } keys %compared};
			add_cost($by{inclusive}{$name} //= {}, $cost);
			add_cost($by{exclusive}{$name} //= {}, $cost) unless $called;
			$calls{$name}{$name_of->($cfn, $cob // $ob)} = 1 if $called;
			($called, $cob) = (0) if $called;
		}
	}
	delete $by{inclusive}{$_} for in_cycles(\%calls);
	return (all_output($out, @_), \%by);
}

# Does libdw, and Valgrind, find all of its functions?
my %symbols;
sub has_symbols {
	my ($path) = @_;
	my ($id) = `readelf -n $path 2>/dev/null` =~ /Build ID: ([0-9a-f]+)/;
	my $debug = $id ? '/usr/lib/debug/.build-id/' . substr($id, 0, 2) . '/' . substr($id, 2) . '.debug' : '';

	return -e $debug || `readelf -S $path 2>/dev/null` =~ /\.symtab/ ? 1 : 0;
}

# The twenty functions that have most of it.  The cold part of one is a function of its own to callgrind.
sub ok_largest {
	my ($program, $kind, $what, $ours, $theirs) = @_;
	my ($share, $least) = @{$compared{$what}};
	my @named = grep { !/^(?:0x|\?\?\?|\(below main\)|\S+\.cold )/ && m{ (/\S+)$} && ($symbols{$1} //= has_symbols($1)) } keys %$theirs;
	my @top = (sort { $theirs->{$b}{$what} <=> $theirs->{$a}{$what} || $a cmp $b } @named)[0 .. 19];

	for my $function (grep { defined } @top) {
		my ($mine, $n) = ($ours->{$function}{$what} // 0, $theirs->{$function}{$what});
		my $allowed = $n * $share > $least ? $n * $share : $least;
		ok(abs($mine - $n) <= $allowed, "$program: $function: $kind $what: $mine, callgrind $n");
	}
}

my %programs = (programs($all), 'C++ exceptions' => ["$BUILD/tests/programs/call_paths", 'exceptions']);
my @names = $all ? (qw(gzip sqlite3 xz cc1), 'C++ hash map', 'C++ exceptions') : qw(gzip sqlite3);
@names = @ARGV if @ARGV;
for my $name (@names) {
      SKIP: {
		skip 'no callgrind here', 1 unless $valgrind;
		skip "no $programs{$name}[0]", 1 unless -x $programs{$name}[0];
		my ($our_out, $ours) = our_costs(@{$programs{$name}});
		my ($their_out, $theirs) = their_costs(@{$programs{$name}});

		is($our_out, $their_out, "$name: same output");
		for my $kind (qw(exclusive inclusive)) {
			ok_largest($name, $kind, $_, $ours->{$kind}, $theirs->{$kind}) for sort keys %compared;
		}
	}
}

done_testing;

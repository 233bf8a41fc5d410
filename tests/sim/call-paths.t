#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# What was counted by call path: paths add up to the counters' own account, for each
# counter and thread, on plain machines and others, with time and with misses by
# instruction; and the instructions of a function with all that it calls are those that
# callgrind has, of the twenty functions that have most.
use strict;
use warnings;
no warnings 'qw';
use Cwd 'realpath';
use File::Temp 'tempdir';
use FindBin;
use JSON::PP;
use lib $FindBin::Bin;
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
	my $sums = profile_path_sums($profile);
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
		for my $sites (0, 1) {
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

sub plain_name {
	my ($name) = @_;
	return $name =~ s/@.*//r =~ s/^_+(?:(?:libc|GI|IO)_+)?//r;
}

# {function object}: instructions with all that it calls.
sub our_instructions {
	my $dir = tempdir(CLEANUP => 1);
	my ($status, $out) = run_tool("$SCRATCH/lib0", 'cachepeek', "--call-paths=$dir", @_);
	system("$BUILD/cachepeek", 'dcache', '--call-paths', '-d', $dir, '-o', "$SCRATCH/paths.json");
	my @paths = @{decode_json(slurp("$SCRATCH/paths.json"))->{call_paths}{paths}};
	my %by;

	for my $i (1 .. $#paths) {
		my $p = $paths[$i];
		my $name = plain_name($p->{function}) . ' ' . (-e $p->{module} ? realpath($p->{module}) : $p->{module});
		$p->{above} = {%{$paths[$p->{parent}]{above} // {}}, $name => 1};
		$by{$name} += $p->{inclusive}{instructions} // 0 unless $paths[$p->{parent}]{above}{$name};
	}
	return ($out, \%by);
}

# The same; none of a function that is in a cycle of calls: callgrind counts what it has
# once for each time that it is on the stack.
sub their_instructions {
	my $file = "$SCRATCH/callgrind.out";
	my ($status, $out) = run_tool("$SCRATCH/lib1", 'callgrind', '--compress-strings=no', '--compress-pos=no',
		"--callgrind-out-file=$file", @_);
	my (%by, %calls, $ob, $cob, $fn, $cfn, $called);

	for (split /\n/, slurp($file)) {
		if (/^ob=(.*)/) { $ob = $1 }
		elsif (/^fn=(.*?)(?:'\d+)?$/) { $fn = $1 }
		elsif (/^cob=(.*)/) { $cob = $1 }
		elsif (/^cfn=(.*?)(?:'\d+)?$/) { $cfn = $1 }
		elsif (/^calls=/) { $called = 1 }
		elsif (defined $fn && /^[\d+*-]\S* (\d+)/) {
			my $cost = $1;
			my $name = plain_name($fn) . ' ' . (-e $ob ? realpath($ob) : $ob);
			$by{$name} += $cost;
			if ($called) {
				my $to = defined $cob ? $cob : $ob;
				$calls{$name}{plain_name($cfn) . ' ' . (-e $to ? realpath($to) : $to)} = 1;
				($called, $cob) = (0);
			}
		}
	}
	for my $name (keys %by) {
		my (%seen, @next);
		for (@next = keys %{$calls{$name}}; @next;) {
			my $to = shift @next;
			push @next, keys %{$calls{$to}} unless $seen{$to}++;
		}
		delete $by{$name} if $seen{$name};
	}
	return ($out, \%by);
}

# Does libdw, and Valgrind, find all of its functions?
sub has_symbols {
	my ($path) = @_;
	my ($id) = `readelf -n $path 2>/dev/null` =~ /Build ID: ([0-9a-f]+)/;
	my $debug = $id ? '/usr/lib/debug/.build-id/' . substr($id, 0, 2) . '/' . substr($id, 2) . '.debug' : '';

	return -e $debug || `readelf -S $path 2>/dev/null` =~ /\.symtab/ ? 1 : 0;
}

my (%symbols, %programs);
%programs = programs($all);
my @names = $all ? qw(gzip sqlite3 xz cc1) : qw(gzip sqlite3);
push @names, 'C++ hash map' if $all;
for my $name (@names) {
      SKIP: {
		skip 'no callgrind here', 1 unless $valgrind;
		skip "no $programs{$name}[0]", 1 unless -x $programs{$name}[0];
		my ($our_out, $ours) = our_instructions(@{$programs{$name}});
		my ($their_out, $theirs) = their_instructions(@{$programs{$name}});
		my @named = grep { !/^(?:0x|\?\?\?|\(below main\))/ && m{ (/\S+)$} && ($symbols{$1} //= has_symbols($1)) } keys %$theirs;
		my @top = (sort { $theirs->{$b} <=> $theirs->{$a} || $a cmp $b } @named)[0 .. 19];

		is($our_out, $their_out, "$name: same output");
		for my $function (grep { defined } @top) {
			my ($mine, $n) = ($ours->{$function} // 0, $theirs->{$function});
			my $allowed = $n * 0.0005 > 30 ? $n * 0.0005 : 30;
			ok(abs($mine - $n) <= $allowed, "$name: $function: $mine, callgrind $n");
		}
	}
}

done_testing;

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The options of tools/options, of which --help and the completions are made, those that
# the commands take and those in the manual pages are the same; and so are the variables.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my %page = map { $_ => read_file(source() . "/doc/$_") }
	qw(cachepeek.1 cachepeek.3 libcachepeek.7 cachepeek-differences.7 cachepeek-environment.7 cachepeek-groups.5 cachepeek-machines.5);
my $help = run(command => [cli(), '--help'])->{out};

sub text { my ($file) = @_; return read_file(source() . "/$file") }
sub uniq { my %seen; return sort grep { !$seen{$_}++ } @_ }
sub options_in { my ($text) = @_; return uniq($text =~ /(?<![\w-])(--?[a-zA-Z][a-z-]*)(?![\w.])/g) }

# ---- pages ----

for my $name (sort keys %page) {
	my $render = run(command => ['groff', '-ww', '-man', '-Tutf8', source() . "/doc/$name"]);
	is($render->{err}, '', "$name: groff has nothing to say");
	my ($title) = $page{$name} =~ /^\.TH (\S+ \d) /m;
	is(lc($title || ''), $name =~ s/\./ /r, "$name: its title");
	for my $other ($page{$name} =~ /^\.BR (\S+ \(\d\))/mg) {
		my ($file, $section) = $other =~ /^(\S+) \((\d)\)/;
		next unless $file =~ /cachepeek/;
		ok($page{"$file.$section"}, "$name: $file($section) is there");
	}
}

# ---- options ----

# The tags of a section of cachepeek(1): '\-g, \-\-groups'.
sub tags
{
	my ($section) = @_;
	my ($text) = $page{'cachepeek.1'} =~ /^\.SS $section\n(.*?)(?=^\.S[SH] )/ms;
	$text //= '';
	my @tags = $text =~ /^\.TP\n\.\S+ (.*)$/mg;
	return options_in(join("\n", map { s/\\-/-/gr } @tags));
}

# The words left of the meanings, under "Options:".
sub help_options
{
	my ($command) = @_;
	my $text = run(command => [cli(), $command, '--help'])->{out};
	my ($options) = $text =~ /^Options:\n(.*?)^\n/ms;
	return [options_in(join("\n", ($options // '') =~ /^  (-.*?)(?:  |$)/mg))];
}
my $usage = $help;

# The table of a command: its names, and those that take the next word.
sub options_table
{
	my ($command) = @_;
	my @heads = text("tools/options/$command.options") =~ /^(-.*)$/mg;
	return [uniq(map { options_in(s/[\[ =](?!-).*//r) } @heads)];
}
my $variables = run(command => [cli(), qw(help variables)])->{out};

# The long and short options of a command that uses cp_cmd_args().
sub args_table
{
	my ($source) = @_;
	my ($rows) = $source =~ /^static const struct cp_arg args\[\] = \{(.*?)^\};/ms;
	return [uniq(map { ("--$_->[0]", $_->[1] ? "-$_->[1]" : ()) } map { [/^\s*\{"([^"]+)",\s*(?:'(.)'|0),/] } split(/(?<=\},)\n(?=\s*\{")/, $rows =~ s/\s*\{\.name = NULL\},\s*\z//r))];
}
my %table = map { $_ => options_table($_) } qw(run report compare explain annotate sharing diff gate list merge doctor);
is_deeply(args_table(text("tools/cmd_$_.c")), $table{$_}, "$_: takes what the table has")
	for qw(run report compare explain annotate sharing diff gate list doctor);
$table{$_} = options_table('profile') for qw(dcache dtlb icache);
is_deeply(args_table(text('tools/cmd_profile.c')), $table{dcache}, 'dcache: takes what the table has');
is_deeply($table{merge}, [grep { $_ ne '--forget' } @{$table{report}}], 'merge: takes what report does');
$table{help} = [];

sub completion { my ($file) = @_; return read_file(build() . "/completion/$file") }
my $bash = completion('cachepeek.bash');
my $zsh = completion('_cachepeek');
my $fish = completion('cachepeek.fish');
my ($words) = $bash =~ /^_cachepeek_options\(\)\n\{(.*?)^\}/ms;

sub zsh_options
{
	my ($command) = @_;
	my ($part) = $zsh =~ /^\t\Q$command\E\) specs=\((.*?)^\t\t\) ;;$/ms;
	return [uniq(map { options_in(s/\[.*//r =~ s/[{},'*\\]/ /gr) } ($part // '') =~ /^\t\t(\S.*)$/mg)];
}
# The options in the lines for this command.
sub fish_options
{
	my ($command) = @_;
	my @lines = grep { /-n '__cachepeek_is [a-z ]*\b$command\b[a-z ]*'/ } split(/\n/, $fish);
	return [uniq(map { my $line = s/ -[xrad] .*//r; ((map { "-$_" } $line =~ / -s (\w)\b/g), map { "--$_" } $line =~ / -l ([\w-]+)/g) } @lines)];
}
cmp_ok(scalar(@{$table{run}}), '>=', 13, 'the table of run is read');
is_deeply([sort keys %table], [uniq(text('tools/cachepeek.c') =~ /^\t\{"([a-z]+)", cp_cmd_\w+\},$/mg)],
	'every command has a table');
for my $command (sort keys %table) {
	my @table = @{$table{$command}};
	is_deeply(help_options($command), \@table, "$command: --help has what the table has");
	is_deeply([tags($command)], \@table, "$command: cachepeek(1) too")
		unless $command =~ /^(?:dtlb|icache)$/; # as dcache
	my ($line) = $words =~ /^\t$command\) (.*)$/m;
	is_deeply([options_in($line // '')], \@table, "$command: and bash's completion");
	is_deeply(zsh_options($command), \@table, "$command: and zsh's");
	is_deeply(fish_options($command), \@table, "$command: and fish's");
}
for my $option ('--help', '--version') {
	like($usage, qr/\Q$option\E/, "$option is in --help");
	like($page{'cachepeek.1'}, qr/\Q@{[$option =~ s{-}{\\-}gr]}\E/, 'in cachepeek(1)');
	like($bash, qr/\Q$option\E/, 'in the completion');
	is(status_text(run(command => [cli(), $option])->{status}), 'exit 0', 'and works');
}
like($_, qr/--color/, '--color, which each command has, is there') for $usage, $page{'cachepeek.1'} =~ s/\\-/-/gr, $bash, $zsh, $fish;
# Each option of run is taken: the program is started.
for my $option (grep { /^--/ } @{$table{run}}) {
	my %value = ('--verbose' => [], '--engine' => ['sim'], '--events' => ['instructions'],
		'--groups' => ['cache'], '--machine' => ['host'], '--output' => ['/dev/null'],
		'--dir' => [scratch('records')], '--what-if' => ['L1D.ways=8'],
		'--sweep' => ['L1D.ways=1..16'], '--passes' => [], '--call-paths' => [], '--reproducible' => [], '--json' => [], '--interval' => ['100ms'], '--repeat' => undef, '--confirm' => undef);
	next if exists $value{$option} && !$value{$option};   # makes runs: diff.t, confirm.t
	my $run = run(command => [cli(), $option, @{$value{$option} || ['1']}, 'true'],
		env => {CACHEPEEK_DISABLE => 1});
	is($run->{err}, '', "$option is taken");
	is(status_text($run->{status}), 'exit 0', 'and the program runs');
}

# ---- commands ----

my @commands = uniq(text('tools/cachepeek.c') =~ /^\t\{"([a-z]+)", cp_cmd_\w+\},$/mg);
is_deeply([uniq($usage =~ /^ {2}([a-z]+) /mg)], \@commands, 'the commands: --help');
is_deeply([uniq($page{'cachepeek.1'} =~ /^\.SS ([a-z]+)$/mg)], \@commands, 'cachepeek(1)');
is_deeply([grep { $bash !~ /^\t$_\) /m && $_ ne 'list' } @commands], [], 'completion of bash');
is_deeply([grep { $zsh !~ /'$_:/ } @commands], [], 'of zsh');
is_deeply([uniq($fish =~ /is_first -f -a (\w+) /g)], \@commands, 'of fish');
my ($of_fish) = $fish =~ /^set -g __cachepeek_commands (.*)$/m;
is_deeply([uniq(split(/ /, $of_fish))], \@commands, 'and those that it tells from programs');
my ($valued) = $fish =~ /^set -g __cachepeek_valued (.*?[^\\])$/ms;
is_deeply([grep { /-n '__cachepeek_is [^']*\b(?:run|compare|dcache|sharing)\b/ && / -[xr] / && / -l ([\w-]+)/
	&& $valued !~ /--$1\b/ } split(/\n/, $fish)], [], 'and its options with a value before a program');

# ---- variables ----

my @table_of_variables = uniq(map { "CACHEPEEK_$_" } text('base/counters/options.c') =~ /^\t\{PREFIX "([A-Z_]+)"/mg);
cmp_ok(scalar(@table_of_variables), '>=', 10, 'the table of variables is read');
is_deeply([uniq($variables =~ /^  (CACHEPEEK_[A-Z_]+)=/mg)], \@table_of_variables, 'the variables: --help');
is_deeply([uniq($page{'cachepeek-environment.7'} =~ /^\.TP\n\.B (CACHEPEEK_[A-Z_]+)$/mg)], \@table_of_variables,
	'cachepeek-environment(7)');
for my $name (sort keys %page) {
	my %known = map { $_ => 1 } @table_of_variables;
	is_deeply([grep { !$known{$_} && !/^CACHEPEEK_(_|BEGIN$|END$|SCOPE$)/ }
		uniq($page{$name} =~ /\b(CACHEPEEK_[A-Z_]+)\b/g)], [], "$name: no other is mentioned");
}

# ---- programs that behave differently ----

{
	my @entries = $page{'cachepeek-differences.7'} =~ /^\.TP\n(.*\n.*)$/mg;
	cmp_ok(scalar(@entries), '>=', 20, 'the differences are read');
	is_deeply([grep { !/^(?:\.RB ")?a program .*\n[A-Z]/ } @entries], [],
		'each has the program in one line, and then a sentence');
}

# ---- the header ----

my $header = text('regions/cachepeek.h');
my @functions = uniq($header =~ /^CACHEPEEK_INLINE_ \w+ (cachepeek_(?!api|\w+_once)\w+)\(/mg);
my ($name_line) = $page{'cachepeek.3'} =~ /^\.SH NAME\n(.*?)\\-/ms;
is_deeply([uniq(grep { /^cachepeek_/ } $name_line =~ /\w+/g)], \@functions, 'cachepeek(3): the functions');

# ---- formats ----

my ($directives) = text('output/metrics/group.c') =~ /known\[\] = \{\s*("\@group".*?)NULL/s;
is_deeply([uniq(grep { defined && $_ ne '@end' }
	$page{'cachepeek-groups.5'} =~ /^\.BI (\@\w+)|^\.BR (\@\w+)/mg)],
	[uniq($directives =~ /"(\@\w+)"/g)], 'cachepeek-groups(5): the directives');
my ($levels) = text('base/machine/machine.c') =~ /level_names\[CP_NLEVELS\] = \{(.*?)\}/s;
is_deeply([grep { $page{'cachepeek-machines.5'} !~ /\b$_\b/ } $levels =~ /"(\w+)"/g], [],
	'cachepeek-machines(5): the levels');

# ---- the page about metrics ----

{
	my %groups = map { m{([^/]+)\.group$} => read_file($_) } glob(source() . '/output/groups/*.group');
	my %metrics = map { $_ => 1 } map { /^([a-z0-9_]+) \[/mg } values %groups;
	my $metrics = text('doc/metrics.md');
	my %named = map { $_ => 1 } $metrics =~ /`([a-z0-9-]+)`/g;
	is_deeply([grep { $metrics !~ /`$_`/ } sort keys %metrics], [], 'metrics.md has every metric');
	is_deeply([grep { !$metrics{$_} } map { /`([^`]+)`/g } $metrics =~ /^\| (`[^|]*)/mg], [], 'and no other');
	is_deeply([grep { !$named{$_} } sort keys %groups], [], 'and every group');
	my %measured = map { $_ => 1 } map { read_file($_) =~ /^([a-z0-9_]+) \[/mg } glob(source() . '/output/measurements/*.measurement');
	is_deeply([sort(text('output/names/metrics.names') =~ /^([a-z]\w+) \w/mg)], [uniq(sort(keys(%metrics), keys(%measured)))],
		'pages say what each metric means');
}

# ---- completion works ----

sub complete
{
	my (@words) = @_;
	my $script = ". '" . build() . "/completion/cachepeek.bash'\n"
		. "compopt() { :; }\n"
		. 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cachepeek; printf "%s\n" "${COMPREPLY[@]}"';
	my $bin = scratch('bin');
	mkdir($bin);
	symlink(cli(), "$bin/cachepeek");
	my $run = run(command => ['bash', '-c', $script, 'bash', @words],
		env => {PATH => "$bin:$ENV{PATH}"});
	is($run->{err}, '', "completing @words: no complaint");
	return [grep { length } split(/\n/, $run->{out})];
}
is(scalar(grep { $_ eq 'doctor' } @{complete('cachepeek', 'doc')}), 1, 'a command');
is_deeply(complete('cachepeek', '--eng'), ['--engine'], 'an option');
is_deeply(complete('cachepeek', '-E', ''), [qw(auto perf sim)], 'engines');
is_deeply(complete('cachepeek', '-g', 'cache,tl'), ['cache,tlb'], 'the second of two groups');
is_deeply(complete('cachepeek', 'run', '-m', 'cacheg'), ['cachegrind'], 'machines');
is_deeply(complete('cachepeek', 'list', 'm'), ['machines'], 'lists');
is_deeply(complete('cachepeek', 'list', 'presets', 'l1d_stores'), ['l1d_stores'], 'presets');
is_deeply(complete('cachepeek', 'doctor', '-'), [qw(--verify --calibrate -o --output --json --color)], 'of doctor');
is_deeply(complete('cachepeek', 'report', '--j'), ['--json'], 'of report');
is_deeply(complete('cachepeek', 'help', 'dt'), ['dtlb'], 'of help');
is_deeply(complete('cachepeek', 'help', 'v'), ['variables'], 'and its own');
is_deeply([sort @{complete('cachepeek', '')}], [sort keys %table], 'nothing yet: the commands');
is_deeply(complete('cachepeek', $_, ''), [], "$_: files, which readline finds") for qw(report diff gate merge annotate);
is_deeply(complete('cachepeek', 'compare', '-m', 'zen3,zen4'), ['zen3,zen4'], 'the second of two machines');
SKIP: {
	my $shell = which('zsh') or skip('no zsh', 1);
	is(run(command => [$shell, '-n', build() . '/completion/_cachepeek'])->{err}, '', 'zsh parses its file');
}
SKIP: {
	my $shell = which('fish') or skip('no fish', 1);
	my $file = build() . '/completion/cachepeek.fish';
	my %env = (PATH => scratch('bin') . ":$ENV{PATH}", HOME => scratch('home'), XDG_CONFIG_HOME => scratch('home'));
	my $fishes = sub {
		my ($line) = @_;
		my $run = run(command => [$shell, '--no-config', '-c', "source '$file'; complete -C \$argv[1]", $line], env => \%env);
		is($run->{err}, '', "fish, $line: no complaint");
		return [map { s/\t.*//r } split(/\n/, $run->{out})];
	};
	mkdir(scratch('home'));
	is_deeply($fishes->(@$_[0]), $_->[1], "fish: $_->[2]") for ['cachepeek --eng', ['--engine'], 'an option'],
		['cachepeek -E ', [qw(auto perf sim)], 'engines'], ['cachepeek -g cache,tl', ['cache,tlb'], 'the second of two groups'],
		['cachepeek run -m cacheg', ['cachegrind'], 'machines'], ['cachepeek list m', ['machines'], 'lists'],
		['cachepeek list presets l1d_stores', ['l1d_stores'], 'presets'], ['cachepeek doctor --', [qw(--calibrate --color --json --output --verify)], 'of doctor'],
		['cachepeek report --js', ['--json'], 'of report'], ['cachepeek help dt', ['dtlb'], 'of help'],
		['cachepeek annotate -p d', [qw(dcache dtlb)], 'of annotate'],
		['cachepeek -g cache cachepeek --eng', ['--engine'], 'the options of the program that is run'],
		['cachepeek dcache --sort misses cachepeek list m', ['machines'], 'and its words'],
		['cachepeek -E sim cat --engi', [], 'not ours after it'];
	is_deeply([grep { $_ eq 'doctor' } @{$fishes->('cachepeek doc')}], ['doctor'], 'fish: a command');
}
done_testing();

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Runs the commands of the README, the other documents and the manuals'
# examples, in a folder that has the tree and a program to look at.
#
# A command block is an indented one (Markdown) or .EX (manuals).  Lines that
# begin with "$ " are its commands if it has any, and what follows each is its
# output: the same words, and numbers that are the same but for 3 %.  A line "..."
# stands for any output.  On the line before a block:
#	<!-- not run: why -->		.\" not run: why
#	<!-- output like this: why -->	only how each line begins is compared, and only
#					on machines without a PMU, as those of the documents
#	<!-- needs PROGRAM -->		not run where that is not installed
# And before all blocks whose numbers are those of a program that the reader compiles:
#	<!-- numbers by gcc 12 to 14 -->	by another compiler only the words are the same
#
#	tests/e2e/docs.t [doc/tutorial.md...]
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Stage;
use Test::More;

my $stage = stage();

# The folder: the tree's entries, the built things as build/, and the names that
# the documents use for what is the reader's own.
my $work = scratch('work');
{
	mkdir($work);
	opendir(my $directory, source()) or BAIL_OUT(source() . ": $!");
	for my $entry (grep { !/^(\.\.?|\.git|build.*)$/ } readdir($directory)) {
		symlink(source() . "/$entry", "$work/$entry");
	}
	symlink(build(), "$work/build");
	mkdir("$work/anywhere");
	for my $place ($work, "$work/anywhere") {
		symlink(program('region_nested'), "$place/app");
	}
	write_file("$work/app.c", read_file(source() . '/examples/regions.c'));
	write_file("$work/$_", "of no matter\n" x 1000) for qw(file demo.txt);
	for my $side (qw(before after)) {
		peek(engine => 'sim', events => 'l1d_misses', output => "$work/$side.json",
			env => {CACHEPEEK_DIR => "$work/records"}, command => [program('region_nested')]);
	}
}

# Is cc, which the documents compile with, one of these?
sub is_compiler
{
	my ($first, $last) = @_;
	return 0 if run(command => ['cc', '--version'])->{out} !~ /Free Software Foundation/;
	my ($major) = run(command => ['cc', '-dumpversion'])->{out} =~ /^(\d+)/;
	return $major >= $first && $major <= $last;
}

# Blocks of [text, why it is not run, line, how its output is compared: undef, "alike" or "words"].
sub markdown_blocks
{
	my ($text) = @_;
	my (@blocks, $why, $how, $in, $words);
	my $number = 0;
	for my $line (split(/\n/, $text)) {
		$number++;
		if ($line =~ /^ *<!-- not run: (.*\S) -->$/) {
			($in, $why) = (undef, $1);
		} elsif ($line =~ /^ *<!-- output like this: .*\S -->$/) {
			($in, $how) = (undef, 'alike');
		} elsif ($line =~ /^<!-- numbers by gcc (\d+) to (\d+) -->$/) {
			$words = is_compiler($1, $2) ? undef : 'words';
		} elsif ($line =~ /^ *<!-- needs (\S+) -->$/) {
			($in, $why) = (undef, which($1) ? undef : "$1 is not installed");
		} elsif ($line =~ /^(?: {4}|\t)(.*)$/) {
			push(@blocks, $in = ['', $why, $number, $how // $words]) unless $in;
			$in->[0] .= "$1\n";
		} elsif ($line =~ /\S/) {
			($in, $why, $how) = (undef, undef, undef);
		} elsif ($in) {
			$in->[0] .= "\n";
		}
	}
	return @blocks;
}

sub manual_blocks
{
	my ($text) = @_;
	my @blocks;
	while ($text =~ /^(?:\.\\" not run: ([^\n]*)\n)?\.EX\n(.*?)^\.EE$/msg) {
		my ($why, $block) = ($1, $2);
		my $line = 1 + (substr($text, 0, $-[2]) =~ tr/\n//);
		push(@blocks, [$block =~ s/\\-/-/gr =~ s/\\&//gr, $why, $line]);
	}
	return @blocks;
}

# [command, its output] each; without "$ " all of it is one command without any.
sub commands
{
	my ($block) = @_;
	return [$block, undef] unless $block =~ /^\$ /m;
	return map { [split(/\n/, $_, 2)] } $block =~ /^\$ (.*?\n(?:(?!\$ ).*\n?)*)/mg;
}

# Words by blanks, and the numbers taken out of them.
sub words { return map { my $w = $_; my @n = map { s/,//gr } $w =~ /(\d[\d,]*(?:\.\d+)?)/g;
	[$w =~ s/\d[\d,]*(?:\.\d+)?/#/gr, @n] } split(' ', $_[0]) }

sub near
{
	my ($one, $other, $apart) = @_;
	my $last = $one =~ /\.(\d+)$/ ? 10 ** -length($1) : 1;
	return abs($one - $other) <= $apart * $one + $last;
}

# An estimate is another one in each run, a difference of two even more so, and how sure
# it is most of all.
sub apart { return $_[0] =~ /\xc2\xb1/ ? 2 : $_[0] =~ /[-+~]#/ ? 0.15 : 0.03 }

# Signs before a number belong to it: <0.1, ~7, +2.
my $words_only;
sub same_word
{
	my ($one, $other) = @_;
	return ($one->[0] =~ s/[-+~<>]+(?=#)//r) eq ($other->[0] =~ s/[-+~<>]+(?=#)//r) if $words_only;
	return $one->[0] eq $other->[0] && !grep { !near($one->[$_], $other->[$_], apart($one->[0])) } 1 .. $#$one;
}

# How many of the words at $at of @$got are not those wanted; the first that is not.
sub first_difference
{
	my ($wanted, $got, $at) = @_;
	for my $i (0 .. $#$wanted) {
		return $i unless $got->[$at + $i] && same_word($wanted->[$i], $got->[$at + $i]);
	}
	return undef;
}

# Why the output is not the one that is written; undef if it is.
my ($version) = read_file(source() . '/Makefile') =~ /^VERSION := (.*)$/m;
sub differs
{
	my ($wanted, $got) = @_;
	$wanted =~ s/^ *cachepeek \K\d+\.\d+\.\d+(?=:)/$version/mg; # it was written with an older one
	my @got = words($got);
	my @pieces = split(/^\s*\.\.\.\s*$/m, $wanted, -1);
	my $at = 0;
	for my $i (0 .. $#pieces) {
		my @words = words($pieces[$i]) or next;
		my $anywhere = $i > 0;
		my $last = @got - @words;
		$at = $last if $i && $i == $#pieces && $last > $at;
		while (defined(my $bad = first_difference(\@words, \@got, $at))) {
			return "after '" . join(' ', map { $_->[0] } @words[0 .. $bad]) . "'"
				unless $anywhere && ++$at <= $last;
		}
		$at += @words;
	}
	return $at == @got || $pieces[-1] !~ /\S/ && @pieces > 1 ? undef : 'there is more of it';
}

# Lines that are not indented begin in the same ways.
sub unlike_this
{
	my ($wanted, $got) = @_;
	my %starts = map { $_ => 1 } $got =~ /^(\S+)/mg;
	my ($missing) = grep { !$starts{$_} && $_ ne '...' } $wanted =~ /^(\S+)/mg;
	return defined $missing ? "no line begins with '$missing'" : undef;
}

# Each command's output ends with a line of its own, so that they can be told apart.
my $mark = '---- end of a command ----';
sub execute
{
	my ($name, $block) = @_;
	my ($text, undef, $line, $how) = @$block;
	my @commands = commands($text);
	my $script = join('', map { "$_->[0]\necho '$mark'\n" } @commands);
	my $run = run(command => ['sh', '-ec', "exec 2>&1\n$script"], cwd => $work,
		env => {stage_env(), B => undef, CACHEPEEK_DIR => undef});
	my $first = (split(/\n/, $commands[0][0]))[0];
	is(status_text($run->{status}), 'exit 0', "$name:$line: $first") || diag("$script\n$run->{out}");
	my @outputs = split(/^\Q$mark\E\n/m, $run->{out});
	for my $command (@commands) {
		my $got = shift(@outputs) // '';
		next unless defined $command->[1] && $command->[1] =~ /\S/;
		if (($how // '') eq 'alike' && can_count('hardware')) {
			note("$name:$line: written where there is no PMU");
			next;
		}
		$words_only = ($how // '') eq 'words';
		my $why = ($how // '') eq 'alike' ? unlike_this($command->[1], $got) : differs($command->[1], $got);
		ok(!defined $why, "$name:$line: the output of $command->[0]") || diag("$why:\n$got");
	}
	return scalar(map { grep { /\S/ } split(/\n/, $_->[0]) } @commands);
}

# Executes our column of a table, where it is a command.
sub execute_table
{
	my ($name, $text) = @_;
	my ($count, %done) = (0);
	for my $cell ($text =~ /^\| [^|]* \| ([^|]*) \|/mg) {
		for my $command ($cell =~ /`((?:[A-Z_]+=\S+ )?cachepeek [^`]+)`/g) {
			$count += execute($name, [$command, undef, 'table']) unless $done{$command}++;
		}
	}
	return $count;
}

# Commands in running text: targets, tests and options have to be there.
my %targets = map { $_ => 1 } run(command => ['make', '-C', source(), 'help'])->{out} =~ /^([a-z-]+) /mg;
my $help = run(command => [cli(), 'help'])->{out};
sub check_inline
{
	my ($name, $text) = @_;
	$text =~ s/\n/ /g;
	for my $command ($text =~ /`([^`]+)`/g) {
		if ($command =~ /^make (?:-\S+ )*([a-z-]+)/) {
			ok($targets{$1}, "$name: `$command`: the target is there");
		} elsif ($command =~ m{^(?:prove (?:-v )?)?((?:tests|tools|doc|examples|base|preload|regions|output)/[\w./-]*\w/?)( |$)}) {
			# "output/groups/NAME.group" is any of them.
			my $file = source() . '/' . $1 =~ s/\b(?:NAME|PMU)\b/*/gr;
			ok((grep { -e } glob($file)) > 0, "$name: `$command`: the file is there");
		} elsif ($command =~ /^cachepeek ([a-z]+)(?: |$)/) {
			like($help, qr/^ *$1 /m, "$name: `$command`: the command is there");
		}
	}
}

my @documents = grep { -f source() . "/$_" } map { s{^\Q@{[source()]}\E/}{}r }
	(glob(source() . '/*.md'), glob(source() . '/doc/*'), glob(source() . '/examples/*.md'));
@documents = @ARGV if @ARGV;
my ($executed, $excused) = (0, 0);
for my $name (@documents) {
	my $text = read_file(source() . "/$name");
	my $manual = $name =~ /\.[1-8]$/;
	next unless $manual || $name =~ /\.md$/;
	for my $block ($manual ? manual_blocks($text) : markdown_blocks($text)) {
		if (defined $block->[1]) {
			note("$name:$block->[2]: not run: $block->[1]");
			ok(-e source() . "/$_", "$name:$block->[2]: $_ is there")
				for $block->[1] =~ m{((?:tests|examples)/[\w./-]*\w)}g;
			$excused++;
		} else {
			$executed += execute($name, $block);
		}
	}
	next if $manual;
	my $place = $name =~ s{[^/]*$}{}r;
	for my $link ($text =~ /\]\(([^)]+)\)/g) {
		ok(-e source() . "/$place$link", "$name: $link is there") unless $link =~ /^https:/;
	}
	$executed += execute_table($name, $text);
	check_inline($name, $text);
}
note("$executed commands ran, $excused blocks say why they do not");
cmp_ok($executed, '>=', @ARGV ? 1 : 15, 'commands were found');
done_testing();

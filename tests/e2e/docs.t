#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Runs the commands of the README, the other documents and the manuals'
# examples, in a folder that has the tree and a program to look at.
#
# A command block is an indented one (Markdown) or .EX (manuals).  Lines that
# begin with "$ " are its commands if it has any, and the rest is their output.
# What cannot run here says so in the document, on the line before:
#	<!-- not run: why -->		.\" not run: why
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
}

# Blocks of [text, why it is not run, line].
sub markdown_blocks
{
	my ($text) = @_;
	my (@blocks, $why, $in);
	my $number = 0;
	for my $line (split(/\n/, $text)) {
		$number++;
		if ($line =~ /^ *<!-- not run: (.*\S) -->$/) {
			($in, $why) = (undef, $1);
		} elsif ($line =~ /^(?: {4}|\t)(.*)$/) {
			push(@blocks, $in = ['', $why, $number]) unless $in;
			$in->[0] .= "$1\n";
		} elsif ($line =~ /\S/) {
			($in, $why) = (undef, undef);
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

# Only what stands after "$ ", if anything does.
sub commands
{
	my ($block) = @_;
	my @prompted = $block =~ /^\$ (.*)$/mg;
	return @prompted ? join("\n", @prompted) : $block;
}

sub execute
{
	my ($name, $block) = @_;
	my ($text, undef, $line) = @$block;
	my $commands = commands($text);
	my $run = run(command => ['sh', '-ec', $commands], cwd => $work,
		env => {stage_env(), B => undef, CACHEPEEK_DIR => undef});
	is(status_text($run->{status}), 'exit 0', "$name:$line: " . (split(/\n/, $commands))[0])
		|| diag("$commands\n$run->{err}$run->{out}");
	return scalar(grep { /\S/ } split(/\n/, $commands));
}

# Commands in running text: targets, tests and options have to be there.
sub check_inline
{
	my ($name, $text) = @_;
	my %targets = map { $_ => 1 } run(command => ['make', '-C', source(), 'help'])->{out} =~ /^([a-z-]+) /mg;
	my $help = run(command => [cli(), '--help'])->{out};
	$text =~ s/\n/ /g;
	for my $command ($text =~ /`([^`]+)`/g) {
		if ($command =~ /^make (?:-\S+ )*([a-z-]+)/) {
			ok($targets{$1}, "$name: `$command`: the target is there");
		} elsif ($command =~ m{^(?:prove (?:-v )?)?((?:tests|tools|doc|examples)/[\w./-]*\w/?)( |$)}) {
			ok(-e source() . "/$1", "$name: `$command`: the file is there");
		} elsif ($command =~ /^cachepeek ([a-z]+)(?: |$)/) {
			like($help, qr/cachepeek \[?$1\b/, "$name: `$command`: the command is there");
		}
	}
}

my @documents = grep { -f source() . "/$_" } map { s{^\Q@{[source()]}\E/}{}r }
	(glob(source() . '/*.md'), glob(source() . '/doc/*'), glob(source() . '/examples/*.md'));
my ($executed, $excused) = (0, 0);
for my $name (@documents) {
	my $text = read_file(source() . "/$name");
	my $manual = $name =~ /\.[1-8]$/;
	next unless $manual || $name =~ /\.md$/;
	for my $block ($manual ? manual_blocks($text) : markdown_blocks($text)) {
		if (defined $block->[1]) {
			note("$name:$block->[2]: not run: $block->[1]");
			$excused++;
		} else {
			$executed += execute($name, $block);
		}
	}
	check_inline($name, $text) unless $manual;
}
note("$executed commands ran, $excused blocks say why they do not");
cmp_ok($executed, '>=', 15, 'commands were found');
done_testing();

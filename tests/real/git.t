#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# git: children that edit argv, threads, pipes between processes.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

my $words = 'one two three four five six seven eight nine ten';

# Two hundred files that compress, and some history.
sub write_tree
{
	my ($at) = @_;
	$at->file('home/.gitconfig', '');
	for my $n (1 .. 60) {
		my @words = split(/ /, $words);
		$at->file("repo/d" . $n % 7 . "/file$n", join('', map { "$words[($n * $_) % 10] $_\n" } 1 .. 40 + $n));
	}
}

software('git', needs => ['git'],
	env => {GIT_CONFIG_NOSYSTEM => 1, (map { +"GIT_$_\_NAME" => 'A', "GIT_$_\_EMAIL" => 'a@example.org',
		"GIT_$_\_DATE" => '2020-02-02T02:02:02Z' } qw(AUTHOR COMMITTER)),
		GIT_TEST_DISALLOW_ABBREVIATED_OPTIONS => 1},
	prepare => \&write_tree,
	use => sub {
		my ($at) = @_;
		my @git = ('git', '-c', 'gc.autoDetach=false', '-c', 'init.defaultBranch=main', '-c', 'pack.threads=2');
		my $repo = $at->work('repo');
		$at->under(@git, 'init', '-q', $repo);
		$at->under(@git, '-C', $repo, 'add', '.');
		$at->under(@git, '-C', $repo, 'commit', '-q', '-m', 'first');
		for my $n (1 .. 3) {
			$at->file("repo/d$n/file$n", "changed $n\n");
			$at->native(@git, '-C', $repo, 'commit', '-q', '-a', '-m', "change $n");
		}
		$at->under(@git, '-C', $repo, 'log', '--oneline', '--stat', '-2');
		$at->under(@git, 'clone', '-q', $repo, $at->work('clone'));
		$at->under(@git, 'clone', '-q', '--no-local', '--bare', "file://$repo", $at->work('bare'));
		$at->file('repo/new', "new\n");
		$at->native(@git, '-C', $repo, 'add', 'new');
		$at->native(@git, '-C', $repo, 'commit', '-q', '-m', 'second');
		$at->under(@git, '-C', $at->work('clone'), 'fetch', '-q');
		$at->under(@git, '-C', $at->work('clone'), 'status', '-sb');
		$at->under(@git, '-C', $at->work('clone'), 'pull', '-q', '--rebase');
		$at->under(@git, '-C', $repo, 'repack', '-q', '-a', '-d', '-f');
		$at->under(@git, '-C', $at->work('clone'), 'gc', '-q', '--prune=now');
		$at->under(@git, '-C', $at->work('clone'), 'push', '-q', $at->work('bare'), 'HEAD:refs/heads/side');
		$at->under(@git, '-C', $repo, 'grep', '-c', '-e', 'seven 4', '--', 'd3');
		$at->under(@git, '-C', $repo, 'fsck', '--strict');
		$at->under('sh', '-c', "git -C $repo archive HEAD | tar -t | sort | head -n 5");
		$at->under(@git, '-C', $repo, 'checkout', '-q', 'absent');
	},
	filter => [[qr{^file: \./(repo/\.git|clone/\.git|bare)/objects/.*}, undef,
		'two threads find other deltas each time, which names the packs']],
	counted => {git => 30});
done_testing();

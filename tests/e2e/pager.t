#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# At a terminal long output goes to a pager, as git's does: which one, with what settings, and
# that none has it in a pipe or beside a file.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $script = terminal_script() or plan(skip_all => 'no script(1) (util-linux), or no terminals for it');
my $to = scratch('typescript');

# Says what it was told, and repeats what it gets.
my $pager = write_file(scratch('pager'), "#!/bin/sh\necho \"paged LESS=\$LESS LV=\$LV \$*\"\nexec cat\n");
chmod(0755, $pager);

sub on_terminal
{
	my ($env, @words) = @_;
	unlink($to);
	my $run = run(command => [$script, '-qec', join(' ', cli(), @words), $to], env => {TERM => 'xterm', LESS => undef, LV => undef, %$env});
	return ($run, (read_file($to) // '') =~ s/\r//gr);
}

for my $case (['list groups', qr/^basic: /m], ['help run', qr/^usage: cachepeek/m]) {
	my ($words, $has) = @$case;
	my ($run, $seen) = on_terminal({PAGER => $pager}, split(/ /, $words));
	like($seen, qr/^paged LESS=FRX LV=-c *$/m, "$words: the pager, set as under git");
	like($seen, $has, "$words: ... gets all of it");
	(undef, $seen) = on_terminal({PAGER => "$pager --chop", LESS => 'S'}, split(/ /, $words));
	like($seen, qr/^paged LESS=S LV=-c --chop$/m, "$words: its arguments, and the user's settings");
	for my $none ('', 'cat', '/nonexistent/pager') {
		(undef, $seen) = on_terminal({PAGER => $none}, split(/ /, $words));
		like($seen, $has, "$words: PAGER='$none'");
		unlike($seen, qr/^paged/m, '... means none');
	}
	unlike(run(command => [cli(), split(/ /, $words)], env => {PAGER => $pager})->{out}, qr/paged/, "$words: none in a pipe");
}
my ($run, $seen) = on_terminal({PAGER => $pager}, 'report', '-o', scratch('x.txt'), '/nonexistent/run');
unlike($seen, qr/^paged/m, 'none for a file');
($run, $seen) = on_terminal({PAGER => $pager}, 'list', 'nosuch');
is(status_text($run->{status}), 'exit 2', 'the status is that of the command');
($run, $seen) = on_terminal({PAGER => 'head -n 1'}, 'list', 'presets');
unlike($seen, qr/cachepeek:/, 'a pager that ends early is no error');

my $dir = scratch('run');
run(command => [cli(), '-E', 'sim', '-g', 'cache', '-d', $dir, program('region_nested')]);
(undef, $seen) = on_terminal({PAGER => $pager}, 'report', $dir);
like($seen, qr/\e\[1mserved by/, 'what is paged has the colours of a terminal');
(undef, $seen) = on_terminal({PAGER => $pager, NO_COLOR => 1}, 'report', $dir);
unlike($seen, qr/\e\[/, 'unless they are not wanted');
done_testing();

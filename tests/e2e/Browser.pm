# SPDX-License-Identifier: MIT
# Runs the scripts of tests/browser with a browser.
package Browser;
use strict;
use warnings;
use Exporter qw(import);
use Peek;
use Test::More;

our @EXPORT = qw(no_browser ok_browser);

# Why there is none; "": there is one.
sub no_browser
{
	return which('chromedriver') && which('chromium') ? '' : 'no chromium and chromedriver (chromium-driver, python3-selenium)';
}

# Each of what it finds as a test of ours; as it comes to the end there are so many.
sub ok_browser
{
	my ($least, $script, @args) = @_;
	my $check = run(command => ['/usr/bin/python3', source() . "/tests/browser/$script", @args]);
	my $plan = 0;
	for my $line (split(/\n/, $check->{out})) {
		if ($line =~ /^(not )?ok \d+ - (.*)$/) {
			ok(!$1, $2);
		} elsif ($line =~ /^1\.\.(\d+)$/) {
			$plan = $1;
		} else {
			diag($line);
		}
	}
	cmp_ok($plan, '>=', $least, 'the browser came to the end') || diag($check->{err});
}

1;

#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The plugin of pytest: each test is a region of pytest's own name, and each round of
# pytest-benchmark an execution of one inside.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $python = which('python3') or plan(skip_all => 'no python3');
sub has { return !run(command => [$python, '-c', "import $_[0]"])->{status} }
plan(skip_all => 'no pytest (python3-pytest)') unless has('pytest');
my $rounds = has('pytest_benchmark');

my $work = scratch('pytest');
mkdir($work);
write_file("$work/test_some.py", <<'PY' . ($rounds ? <<'ROUNDS' : ''));
import pytest

@pytest.fixture
def big():
    return list(range(50000))

def test_few(): sum(range(1000))
@pytest.mark.parametrize("n", [10, 20000])
def test_given(n): sum(range(n))
def test_fails(): assert 1 == 2
def test_skipped(): pytest.skip("by itself")
def test_given_a_list(big): pass
class TestIn:
    def test_method(self): pass
PY
def test_rounds(benchmark): assert benchmark.pedantic(sum, args=(range(100),), rounds=3, iterations=5) == 4950
ROUNDS

sub tests
{
	my ($how, @more) = @_;
	my @command = ($python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'cachepeek_pytest', @more, 'test_some.py');
	my %at = (cwd => $work, env => {PYTHONPATH => source() . '/regions', PYTHONDONTWRITEBYTECODE => 1, PYTHONHASHSEED => 0});
	return $how eq 'alone' ? run(command => \@command, %at)
		: peek(engine => 'sim', events => 'instructions', command => \@command, %at);
}

my ($alone, $with) = (tests('alone'), tests('with'));
is(status_text($with->{status}), status_text($alone->{status}), 'pytest ends as it does alone') or diag($with->{err});
is(status_text($alone->{status}), 'exit 1', 'with the failure of a test');
like($alone->{out}, qr/^1 failed, \d passed, 1 skipped/m, 'without the library: the tests alone');
my %calls = map { join(' > ', @{$_->{path}}) => $_->{calls} } grep { @{$_->{path}} } @{$with->{report}{regions}};
my %expected = map { ("test_some.py::$_" => 1) } qw(test_few test_given[10] test_given[20000] test_fails test_skipped
	test_given_a_list TestIn::test_method);
%expected = (%expected, 'test_some.py::test_rounds' => 1, 'test_some.py::test_rounds > benchmark' => 3) if $rounds;
is_deeply(\%calls, \%expected, 'each test, by its name') or diag(explain(\%calls));
sub instructions { return value(region($with->{report}, "test_some.py::$_[0]"), 'instructions') }
cmp_ok(instructions('test_given[20000]') - instructions('test_given[10]'), '>', 19990 * 20, 'with counts of its own');
cmp_ok(instructions('test_given_a_list'), '<', 50000 * 5, 'what makes a fixture is not counted with the test');
SKIP: {
	skip('no pytest-benchmark (python3-pytest-benchmark)', 1) unless $rounds;
	my ($all, $in) = map { value(region($with->{report}, @$_), 'instructions') } ['test_some.py::test_rounds'],
		['test_some.py::test_rounds', 'benchmark'];
	cmp_ok($in, '<', $all / 2, 'rounds without what measures them');
}
done_testing();

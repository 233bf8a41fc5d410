#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Interpreters with collectors, processes and threads of their own.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Cwd qw(abs_path);
use Test::More;

my $php = <<'PHP';
<?php
$words = [];
for ($i = 0; $i < 20000; $i++) { $words[md5((string)$i)] = $i; }
ksort($words);
echo count($words), ' ', array_key_first($words), "\n";
class Node { public $other; }
for ($i = 0; $i < 1000; $i++) { $a = new Node; $a->other = $a; }
echo 'cycles ', gc_collect_cycles() > 0 ? 'collected' : 'none', "\n";
echo shell_exec('echo from a shell; exit 3');
$pid = pcntl_fork();
if ($pid == 0) { echo "child\n"; exit(5); }
pcntl_waitpid($pid, $status);
echo 'its status ', pcntl_wexitstatus($status), "\n";
$p = proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w']], $pipes);
fwrite($pipes[0], "through cat\n"); fclose($pipes[0]);
echo stream_get_contents($pipes[1]), proc_close($p), "\n";
echo preg_replace('/(\w+) (\w+)/', '$2 $1', 'hello world'), "\n";
fwrite(STDERR, "an error\n");
register_shutdown_function(function () { echo "shutdown\n"; });
throw new Exception('thrown');
PHP

my $ruby = <<'RUBY';
words = (0...20000).map { |i| (i * 7919 % 10007).to_s }
puts words.uniq.size, words.sort.first
puts Thread.new { Thread.pass; (1..1000).sum }.value
queue = Queue.new
threads = 4.times.map { |i| Thread.new { queue << i * i } }
threads.each(&:join)
puts 4.times.map { queue.pop }.sort.inspect
pid = fork { puts 'child'; $stdout.flush; exit! 5 }
Process.wait(pid)
puts $?.exitstatus
puts `echo from a shell; exit 3`, $?.exitstatus
read, write = IO.pipe
pid = spawn('cat; echo done', in: read, close_others: true)
read.close
write.puts 'through cat'
write.close
Process.wait(pid)
begin
  exec('/nonexistent')
rescue Errno::ENOENT => e
  puts e.class
end
trap('USR1') { puts 'caught' }
Process.kill('USR1', $$)
sleep 0.01
GC.start(full_mark: true)
GC.compact if GC.respond_to?(:compact)
at_exit { puts 'at exit' }
warn 'an error'
$0 = 'another title that is longer than what was there before'
puts Process.clock_gettime(Process::CLOCK_MONOTONIC) > 0
pid = fork { abort 'aborted' }
Process.wait(pid)
puts $?.exitstatus
exit 4
RUBY

# The programs that Debian's names stand for.
sub binary { my ($name) = @_; my $path = which($name) // $name; return abs_path($path) =~ s{.*/}{}r }
my ($php_name, $ruby_name) = map { binary($_) } qw(php ruby);

software('php', needs => ['php'],
	prepare => sub { my ($at) = @_; $at->file('a.php', $php) },
	use => sub {
		my ($at) = @_;
		$at->under('php', '-n', '-d', 'display_errors=stderr', $at->work('a.php'));
		$at->under('php', '-n', '-r', 'exit(9);');
		$at->under('php', '-n', '-l', $at->work('a.php'));
	},
	counted => {$php_name => 3});

software('php-server', needs => ['php', 'curl'],
	env => {PHP_CLI_SERVER_WORKERS => 2},
	prepare => sub { my ($at) = @_; $at->file('html/index.php', '<?php echo "at ", $_GET["n"] * 2, "\n";') },
	start => sub { my ($at) = @_; return ['php', '-n', '-q', '-S', "127.0.0.1:${\$at->port}", '-t', $at->work('html')] },
	ready => sub { my ($at) = @_; $at->listens && $at->workers == 2 },
	use => sub {
		my ($at) = @_;
		$at->client('curl', '-sS', "http://127.0.0.1:${\$at->port}/?n=$_") for 1 .. 6;
		kill('INT', $at->workers);
		$at->stop('INT');
	},
	counted => {$php_name => 3},
	filter => [[qr/^2> \[.*/, undef, 'the log: times, ports of clients']]);

software('ruby', needs => ['ruby'],
	prepare => sub { my ($at) = @_; $at->file('a.rb', $ruby) },
	use => sub {
		my ($at) = @_;
		$at->under('ruby', $at->work('a.rb'));
		$at->under('ruby', '-e', 'raise "thrown"');
		$at->under('ruby', '-e', 'puts Ractor.new { 6 * 7 }.take', {env => {RUBYOPT => '-W0'}});
	},
	counted => {$ruby_name => 4});

# Valgrind 3.19 gives its code a place in the heap: any tool crashes.
software('ruby-yjit', needs => ['ruby'], engines => ['perf'],
	use => sub { my ($at) = @_; $at->under('ruby', '--yjit', '-e', 'puts (1..3000).inject(:+)') },
	counted => {$ruby_name => 1});
done_testing();

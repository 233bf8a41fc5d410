#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Runtimes that know nothing of libc, or bring their own: a JVM, Go, Rust, Erlang.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

my $java = <<'JAVA';
import java.util.*;
import java.util.concurrent.*;
public class Main {
	public static void main(String[] args) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(3);
		List<Future<Long>> sums = new ArrayList<>();
		for (int t = 0; t < 6; t++) {
			final int n = t;
			sums.add(pool.submit(() -> {
				long sum = 0;
				for (int i = 0; i < 20000; i++) sum += new int[16 + n].length * (long) i;
				return sum;
			}));
		}
		for (Future<Long> sum : sums) System.out.println(sum.get());
		pool.shutdown();
		System.gc();
		Process p = new ProcessBuilder("sh", "-c", "echo from a shell; exit 3").inheritIO().start();
		System.out.println("its status " + p.waitFor());
		try {
			Object o = args.length > 5 ? "" : null;
			System.out.println(o.toString());
		} catch (NullPointerException e) {
			System.out.println("caught");
		}
		try {
			deeper(1);
		} catch (StackOverflowError e) {
			System.out.println("the stack has an end");
		}
		Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("shutdown")));
		System.err.println("an error");
		System.exit(4);
	}
	static int deeper(int n) { return deeper(n + 1) + n; }
}
JAVA

my $go = <<'GO';
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
)

func main() {
	var group sync.WaitGroup
	sums := make([]int, 8)
	for i := range sums {
		group.Add(1)
		go func(n int) {
			defer group.Done()
			runtime.LockOSThread()
			for k := 0; k < 10000; k++ {
				sums[n] += k * (n + 1)
			}
		}(i)
	}
	group.Wait()
	fmt.Println(sums, extra(20))
	runtime.GC()
	out, err := exec.Command("sh", "-c", "echo from a shell; exit 3").Output()
	fmt.Printf("%s%v\n", out, err)
	func() {
		defer func() { fmt.Println("recovered:", recover()) }()
		var p *int
		fmt.Println(*p)
	}()
	fmt.Fprintln(os.Stderr, "an error")
	os.Exit(4)
}
GO

my $pure = "package main\n\nfunc extra(n int) int { return n * 2 }\n";
my $rust = <<'RUST';
use std::process::{exit, Command};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

struct Said(&'static str);
impl Drop for Said {
    fn drop(&mut self) {
        println!("dropped {}", self.0);
    }
}

fn main() {
    let sum = Arc::new(Mutex::new(0u64));
    let (sender, receiver) = mpsc::channel();
    let threads: Vec<_> = (0..4u64)
        .map(|n| {
            let (sum, sender) = (sum.clone(), sender.clone());
            thread::spawn(move || {
                *sum.lock().unwrap() += (0..10000u64).map(|k| k * n).sum::<u64>();
                sender.send(n).unwrap();
            })
        })
        .collect();
    for t in threads {
        t.join().unwrap();
    }
    drop(sender);
    println!("{} {}", sum.lock().unwrap(), receiver.iter().sum::<u64>());
    let status = Command::new("sh").args(["-c", "echo from a shell; exit 3"]).status().unwrap();
    println!("{}", status);
    let panicked = thread::Builder::new().name("panics".into()).spawn(|| {
        let _said = Said("in the thread");
        panic!("on purpose");
    });
    println!("{}", panicked.unwrap().join().is_err());
    let _said = Said("never");
    exit(4);
}
RUST

my $erlang = <<'ERLANG';
#!/usr/bin/env escript
%%! -noinput +S 2
-mode(compile).
found(Key, Map) ->
	case Map of #{Key := Value} -> {ok, Value}; _ -> none end.
main(_) ->
	Self = self(),
	[spawn(fun() -> Self ! {N, lists:sum([X * X rem 97 || X <- lists:seq(1, 500 * N)])} end) || N <- lists:seq(1, 8)],
	io:format("~p~n", [[receive {N, Sum} -> Sum end || N <- lists:seq(1, 8)]]),
	Map = maps:from_list([{31 * N, N} || N <- lists:seq(1, 33)]),
	io:format("~p~n", [erlang:phash2([found(N, Map) || N <- lists:seq(1, 5000)])]),
	io:format("~s", [os:cmd("echo from a shell; exit 3")]),
	timer:sleep(500),
	halt(4).
ERLANG

# Programs are compiled without the library.
my $where = scratch('compiled');
mkdir($where);
sub compiled
{
	my ($name, $command, %files) = @_;
	write_file("$where/$_", $files{$_}) for keys %files;
	my $result = `cd $where && HOME=$where $command 2>&1`;
	return $? == 0 && -e "$where/$name" ? undef : "does not compile: $result";
}

sub runs { my ($name) = @_; return sub { my ($at) = @_; $at->under(@$_) for ref $name ? @$name : [$name] } }

software('java', needs => ['java', 'javac'],
	skip => sub { compiled('Main.class', 'javac Main.java', 'Main.java' => $java) },
	use => runs([['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xss512k', '-cp', $where, 'Main'],
		['java', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', $where, 'Absent']]),
	counted => {java => 2});
software('go', needs => ['go'],
	skip => sub { compiled('static', 'CGO_ENABLED=0 GO111MODULE=off GOFLAGS= go build -o static static.go pure.go',
		'static.go' => $go, 'pure.go' => $pure) },
	use => runs("$where/static"),
	# It is never told of a library to load.
	unreported => qr/static/);
software('rust', needs => ['/usr/bin/rustc'],
	skip => sub { compiled('main', '/usr/bin/rustc -O main.rs', 'main.rs' => $rust) },
	use => runs("$where/main"),
	filter => [[qr/thread 'panics' \(\d+\)/, "thread 'panics'", 'newer versions write its number']],
	counted => {main => 1});
# Its virtual machine writes code by another mapping, and has a sigaction of its own.
# Its stack is in its heap: lookups in a large map, which test bits of a register, spoil the
# heap under Valgrind (bits_below).
software('erlang', needs => ['escript'],
	skip => sub { write_file("$where/sums.escript", $erlang); return undef },
	use => runs([['escript', "$where/sums.escript"]]),
	counted => {'beam.smp' => 1},
	# It goes when the virtual machine has gone, which has its report written before.
	ends => {'erl_child_setup running' => 1, 'erl_child_setup unknown' => 1, 'dash running' => 1,
		'inet_gethost signal 10' => 1, 'inet_gethost running' => 1});
done_testing();

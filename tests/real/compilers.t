#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Languages that compile at run time and move what they have compiled: a program of each, with
# functions made of text, collections, large integers and an error.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

my $lisp = <<'LISP';
(defun squares (n) (loop for i below n collect (* i i)))
(defstruct node left right value)
(defun tree (d)
  (if (zerop d) (make-node :value 1)
      (make-node :left (tree (1- d)) :right (tree (1- d)) :value d)))
(defun sum (n) (if n (+ (node-value n) (sum (node-left n)) (sum (node-right n))) 0))
(dotimes (k 3)
  (let ((f (compile nil `(lambda (x) (+ x ,k (reduce #'+ (squares 10)))))))
    (print (list (funcall f k) (sum (tree 10))))
    (gc :full t)
    (print (list (funcall f k) (loop for i below 2 collect i)))))
(let ((h (make-hash-table :test 'equal)))
  (dotimes (i 2000) (setf (gethash (format nil "~d" i) h) i))
  (gc)
  (print (gethash "1234" h)))
(print (handler-case (car (list-length '(1))) (error (e) (type-of e))))
(print (expt 7 200))
(terpri)
(sb-ext:exit :code 4)
LISP

my $scheme = <<'SCHEME';
(define (tree d) (if (= d 0) '() (cons (tree (- d 1)) (tree (- d 1)))))
(define (count t) (if (null? t) 1 (+ (count (car t)) (count (cdr t)))))
(do ((k 0 (+ k 1))) ((= k 3))
  (display (count (tree 12))) (newline)
  (display ((eval `(lambda (x) (+ x ,k)) (interaction-environment)) k)) (newline))
(display (call-with-current-continuation (lambda (k) (for-each (lambda (x) (if (> x 2) (k x))) '(1 2 3 4)) 0)))
(newline)
(display (expt 7 200)) (newline)
SCHEME

my $lua = <<'LUA';
local t = {}
for k = 1, 3 do
	local f = assert(loadstring("local s = 0; for i = 1, 100000 do s = s + i % " .. k + 1 .. " end return s"))
	print(f(), f())
	for i = 1, 5000 do t[i] = {i, tostring(i)} end
	collectgarbage()
end
print(#t, t[777][2], pcall(function() error("thrown") end))
print(coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b end)(1))
os.exit(4)
LUA

my $python = <<'PYTHON';
import gc, sys
class Node:
    def __init__(self, d):
        self.both = [Node(d - 1), Node(d - 1)] if d else []
    def count(self):
        return 1 + sum(n.count() for n in self.both)
for k in range(2):
    names = {}
    exec("def f(x):\n s = 0\n for i in range(5000): s += i %% (x + %d)\n return s" % (k + 1), names)
    print(names['f'](3), Node(8).count())
    gc.collect()
print(7 ** 200, sorted(str(i) for i in range(500))[123])
try:
    [][1]
except IndexError as e:
    print(e)
sys.exit(4)
PYTHON

my $ocaml = <<'OCAML';
type t = L | N of t * t
let rec tree d = if d = 0 then L else N (tree (d - 1), tree (d - 1))
let rec count = function L -> 1 | N (a, b) -> count a + count b
let () =
  for k = 1 to 3 do Printf.printf "%d\n" (count (tree (9 + k))); Gc.compact () done;
  let h = Hashtbl.create 10 in
  for i = 0 to 4999 do Hashtbl.add h (string_of_int i) i done;
  Printf.printf "%d %f\n" (Hashtbl.find h "4321") (sqrt 2.0);
  (try failwith "thrown" with Failure s -> print_endline s);
  exit 4
OCAML

my $haskell = <<'HASKELL';
import Control.Concurrent
import Control.Exception
import qualified Data.Map as M
import System.Exit
import System.Mem

main :: IO ()
main = do
  let m = M.fromList [(show i, i) | i <- [1 .. 2000 :: Integer]]
  print (M.foldr (+) 0 m)
  performGC
  print (M.lookup "1234" m, 7 ^ (200 :: Int) :: Integer)
  v <- newEmptyMVar
  _ <- forkIO (putMVar v (sum [1 .. 20000 :: Int]))
  takeMVar v >>= print
  r <- try (evaluate (1 `div` (0 :: Int))) :: IO (Either ArithException Int)
  print r
  exitWith (ExitFailure 4)
HASKELL

# Programs that are compiled before are compiled without the library.
my $where = scratch('compiled');
mkdir($where);
sub compiled
{
	my ($name, $command, $file, $text) = @_;
	write_file("$where/$file", $text);
	my $result = `cd $where && HOME=$where $command 2>&1`;
	return $? == 0 && -e "$where/$name" ? undef : "does not compile: $result";
}

for (['sbcl', $lisp, 'a.lisp', 'sbcl', '--script'],
	['guile', $scheme, 'a.scm', 'guile', '--no-auto-compile'],
	['chez', $scheme, 'a.ss', 'chezscheme', '--script'],
	['gambit', $scheme, 'a.scm', 'gsi'],
	['luajit', $lua, 'a.lua', 'luajit'],
	['pypy', $python, 'a.py', 'pypy3']) {
	my ($name, $text, $file, @command) = @$_;
	software($name, needs => [$command[0]],
		prepare => sub { my ($at) = @_; $at->file($file, $text) },
		use => sub { my ($at) = @_; $at->under(@command, $at->work($file)) });
}
# Its image saved, as a file of its own and as a program: mapped, changed by the collector.
for my $kind (['core', ''], ['program', ':executable t']) {
	my ($name, $how) = @$kind;
	my $save = "sbcl --non-interactive --no-userinit --no-sysinit --eval '(save-lisp-and-die \"lisp.$name\" $how " .
		":toplevel (lambda () (load \"$where/image.lisp\")))'";
	software("sbcl-$name", needs => ['sbcl'], skip => sub { compiled("lisp.$name", $save, 'image.lisp', $lisp) },
		use => sub { my ($at) = @_; $at->under($name eq 'core' ? ('sbcl', '--core') : (), "$where/lisp.$name") });
}
software('ocaml', needs => ['ocamlopt'], skip => sub { compiled('a', 'ocamlopt a.ml -o a', 'a.ml', $ocaml) },
	use => sub { my ($at) = @_; $at->under("$where/a") });
software('ghc', needs => ['ghc'], skip => sub { compiled('a_hs', 'ghc -O0 -threaded Main.hs -o a_hs', 'Main.hs', $haskell) },
	use => sub { my ($at) = @_; $at->under("$where/a_hs") });
done_testing();

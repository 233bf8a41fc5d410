# SPDX-License-Identifier: MIT
# Lines of Python that miss L1D known numbers of times, for tests/e2e/python-lines.t:
# `# NAME` marks a line, whose misses are WHAT says.
import os
import random
import sys
import threading
import zlib

LINES = 20000
buffer = bytearray(64 * LINES)


def walk(data):
    total = 0
    for at in range(0, len(data), 64):
        total += data[at]  # walk
    return total


def größe(data):
    return zlib.crc32(data)  # crc


class Table:
    def walk(self, data):
        return sum(data[at] for at in range(0, len(data), 64))  # method


def far(data):
    total = 0



    for at in range(0, len(data), 64): total += (



        data[  # far

            at]
    )
    return total


def both(data):
    total = 0
    for at in range(0, len(data), 256):
        total += data[at]  # one
        total += data[at + 64]  # two
    return total


def each(data):
    for at in range(0, len(data), 64):
        yield data[at]  # generator


def shuffled(numbers):
    random.Random(1).shuffle(numbers)  # library


def main():
    walk(buffer)
    größe(buffer)
    Table().walk(buffer)
    far(buffer)
    both(buffer)
    sum(each(buffer))
    shuffled([None] * 10 * LINES)
    threads = [threading.Thread(target=Table().walk, args=(buffer,)) for _ in range(2)]
    for thread in threads:
        thread.start()
        thread.join()
    exec(compile('def made(data):\n\n  return sum(data[::64])\nmade(buffer)\n', 'made.py', 'exec'), {'buffer': buffer})
    sys.stdout.flush()
    child = os.fork()
    walk(buffer)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


main()

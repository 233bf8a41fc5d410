#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""house.py: how the product's C is kept, folder by folder: files, lines, lines of functions
(median, 90th percentile, longest), functions over the limits, objects of files that
change (a struct is one), functions named with one word, and cycles of includes.  A comment
does not open with Who, What, Of, Those or Whose.  Exits with 1 where a limit is passed that
tests/house.allowed does not name."""
import os
import re
import subprocess
import sys

MOST_LINES, MOST_PARAMETERS, MOST_NESTING = 40, 6, 4
# Functions from before the limits; each line that can go should.
ALLOWED = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'house.allowed')

HEAD = re.compile(r'^(?!#|typedef|struct \w+ \{|enum|union|static const|extern|\s|\}|/|\*)[\w].*')
NAME = re.compile(r'(\w+)\s*\($')


def listed(*under):
    return subprocess.run(['git', 'ls-files', *under], capture_output=True, text=True, check=True).stdout.split()


def sources():
    return [path for path in listed('base', 'preload', 'regions', 'output', 'tools') if path.endswith(('.c', '.h'))]


def parameters(head):
    """The parameters of a definition's last parenthesis at the outermost level."""
    start = re.search(r'(\w+)\s*\(', re.sub(r'__attribute__\s*\(\(.*?\)\)', '', head))
    if not start:
        return None, 0
    text = re.sub(r'__attribute__\s*\(\(.*?\)\)', '', head)[start.end():]
    depth, count = 0, 1
    for character in text:
        if character == ')' and depth == 0:
            break
        depth += {'(': 1, ')': -1}.get(character, 0)
        count += character == ',' and depth == 0
    return start.group(1), 0 if text.strip().startswith(('void)', ')')) else count


def nesting(lines):
    """How deep the deepest block of a body is, in blocks: itself is none."""
    text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', '', '\n'.join(lines), flags=re.S)
    depth = deepest = 0
    for brace in re.findall(r'[{}]', text):
        depth += 1 if brace == '{' else -1
        deepest = max(deepest, depth)
    return deepest


CONSTANT = re.compile(r'\bconst\b(?=[^*]*$)')


def statements(text):
    """What ends with a semicolon outside of functions, with the insides of braces left out."""
    text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', ' ', text, flags=re.S)
    text = re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', '', text, flags=re.M)
    text = re.sub(r'__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)', '', text)
    depth, now = 0, ''
    for character in text:
        depth -= character == '}'
        if not depth:
            now += character
        depth += character == '{'
        if depth or character not in ';}':
            continue
        if character == ';' or re.search(r'\)\s*\{?\}$', now):
            if character == ';':
                yield ' '.join(now.split())
            now = ''


def variables(path, text):
    """How many objects of a file change: of each declaration those that are no constants.
    What a header declares without extern, and what the linker wraps, are functions of a named type."""
    found = 0
    for statement in statements(text):
        # Declared again where it is exported.
        if statement.startswith('EXPORT extern'):
            continue
        if '__real_' in statement or '__wrap_' in statement or (path.endswith('.h') and not statement.startswith('static')):
            continue
        if re.match(r'(?:typedef|extern|_Static_assert|(?:struct|union|enum) \w* ?(?:\{?\})?;)', statement):
            continue
        declared = re.sub(r'=.*?(?=,|;)', '', re.sub(r'\{?\}|\[[^]]*\]', '', statement))[:-1]
        pointer = re.search(r'\(\s*\*\s*(?:const )?\w+\s*\)\s*\(', declared)
        if pointer and '(' not in declared[:pointer.start()]:
            found += '* const' not in pointer.group() and '*const' not in pointer.group()
        elif '(' not in declared and re.search(r'\w[\w*]*[ *]+\w+', declared):
            first, *others = declared.split(',')
            found += sum(not CONSTANT.search(one) for one in [first] + (
                others if '*' in first or not CONSTANT.search(first) else []))
    return found


OPENING = r'((?:Who|What|Of|Those|Whose)\b.*)'
FRAGMENT = {
    'C': re.compile(r'/\*\s*(?:SPDX.*\n \*\n )?(?:\* )?' + OPENING),
    'scripts': re.compile(r'^(?:\s*[^#\s].*|#!.*|# SPDX.*|)\n\s*# ' + OPENING, re.M),
}


def fragments():
    """Comments that open with a word that no sentence of this project begins with."""
    for path in listed():
        kind = ('C' if path.endswith(('.c', '.h')) else
                'scripts' if path.endswith(('.t', '.pm', '.sh', '.py', '.mk', '.awk', 'Makefile')) else None)
        if kind:
            with open(path, encoding='utf-8') as text:
                for opening in FRAGMENT[kind].findall(text.read()):
                    yield '%s: a comment opens with "%s"' % (path, opening), 1


ROUNDED = re.compile(r"\bis\(sprintf\('%\.\d+[efg]'[^;]*, sprintf\('%\.\d+[efg]'")


def rounded():
    """Tests that compare two numbers as rounded text: those differ by chance (is_near of Peek.pm does not)."""
    for folder, _, names in os.walk('tests'):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(('.t', '.pm')):
                with open(path, encoding='utf-8') as text:
                    found = len(ROUNDED.findall(text.read()))
                if found:
                    yield '%s: numbers compared as rounded text' % path, found


def functions(path):
    """(name, lines, parameters, nesting) of each: from its "{" in the first column to its "}"."""
    with open(path, encoding='utf-8') as source:
        lines = source.read().split('\n')
    head, opened = [], None
    for number, line in enumerate(lines):
        if opened is None and line == '{':
            opened = number
        elif opened is not None and line == '}':
            name, count = parameters(' '.join(head))
            if name:
                yield name, number - opened - 1, count, nesting(lines[opened + 1:number])
            head, opened = [], None
        elif opened is None:
            head = [] if not line or line.startswith(('#', '/*', ' *', '}')) or line.endswith(';') else head + [line]


def unit(path):
    """A .c file with its header; NAME_parts.h and NAME_internal.h are private headers of NAME."""
    return re.sub(r'_(?:parts|internal)(?=\.h$)', '', path)[:-2]


def includes(path, known):
    with open(path, encoding='utf-8') as source:
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', source.read(), re.M):
            for place in (name, os.path.join('tools/sim', name)):
                if place in known and unit(place) != unit(path):
                    yield unit(place)


def cycles(paths):
    """Groups of units (a .c file with its header) that include each other."""
    known, graph = set(paths), {}
    for path in paths:
        graph.setdefault(unit(path), set()).update(includes(path, known))
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def allowed():
    with open(ALLOWED, encoding='utf-8') as lines:
        return {line.strip() for line in lines if line.strip() and not line.startswith('#')}


def main():
    paths, folders, broken = sources(), {}, []
    for path in paths:
        folder = folders.setdefault(os.path.dirname(path), {'files': 0, 'lines': 0, 'of': [], 'variables': 0, 'words': 0})
        folder['files'] += 1
        with open(path, encoding='utf-8') as source:
            text = source.read()
        folder['lines'] += text.count('\n')
        folder['variables'] += variables(path, text)
        for name, length, count, deep in functions(path):
            folder['of'].append(length)
            folder['words'] += '_' not in name
            if deep > MOST_NESTING:
                broken.append(('%s: %s: nesting' % (path, name), deep))
            if length > MOST_LINES:
                broken.append(('%s: %s: lines' % (path, name), length))
            if count > MOST_PARAMETERS:
                broken.append(('%s: %s: parameters' % (path, name), count))
    print('%-23s %5s %6s %9s %6s %4s %4s %4s %9s %8s' % (
        'folder', 'files', 'lines', 'functions', 'median', 'p90', 'max', '>%d' % MOST_LINES, 'variables', 'one word'))
    for name in sorted(folders):
        folder = folders[name]
        of = sorted(folder['of']) or [0]
        print('%-23s %5d %6d %9d %6d %4d %4d %4d %9d %8d' % (
            name, folder['files'], folder['lines'], len(folder['of']), of[len(of) // 2], of[len(of) * 9 // 10], of[-1],
            sum(length > MOST_LINES for length in of), folder['variables'], folder['words']))
    print('%-23s %5d %6d %9d %20s %9d %8d' % ('all', len(paths), *(
        sum(folder[what] if what != 'of' else len(folder['of']) for folder in folders.values()) if what else ''
        for what in ('lines', 'of', '', 'variables', 'words'))))
    broken += rounded()
    broken += fragments()
    circles = cycles(paths)
    for circle in circles:
        print('include each other:', ' '.join(circle))
    may = allowed()
    # Any unit of a cycle may stand for it.
    broken += [(next((name for name in named if name in may), named[0]), len(named))
               for named in (['%s: includes' % unit for unit in circle] for circle in circles)]
    new = [line for line in broken if line[0] not in may]
    gone = sorted(may - {line[0] for line in broken})
    for what, much in new:
        print('over the limit: %s: %d' % (what, much))
    for what in gone:
        print('no longer over the limit, remove it from tests/house.allowed: %s' % what)
    return 1 if new or gone else 0


if __name__ == '__main__':
    sys.exit(main())

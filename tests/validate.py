#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Are reports what their schema says?  Strictly: a key that the schema does not
# have is an error here, and not one for readers.  Prints a line per fault, and
# fails if there is one, or no report at all.  Of a directory of schemas each report
# has the one that it names ("schema": "NAME/VERSION").
#	tests/validate.py SCHEMA|DIRECTORY REPORT|DIRECTORY...
import json
import os
import re
import sys

import jsonschema


def strict(schema):
    """The schema, without room for keys that it does not name."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: strict(part) for name, part in schema.items()}
    if isinstance(made.get('properties'), dict) and 'type' in made:
        made.setdefault('additionalProperties', False)
    return made


def shape(value, key=None):
    """Equal for values that a schema cannot tell apart, so that of a thousand
    equal regions one is looked at: numbers by sign and kind, texts only where
    they may be words of the schema."""
    if isinstance(value, dict):
        free = key in ('counts', 'metrics')
        parts = {(None if free else name, shape(part, name)) for name, part in value.items()}
        return ('object', frozenset(parts))
    if isinstance(value, list):
        return ('array', len(value) > 0, frozenset(shape(part, key) for part in value))
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        integer = isinstance(value, int) or value.is_integer()
        return ('number', integer, (value > 0) - (value < 0))
    return value if key in ('status', 'state', 'how', 'flags', 'name', 'schema') else 'text'


def thinned(value, seen):
    """Lists of objects without those whose shape has been seen."""
    if isinstance(value, dict):
        return {name: thinned(part, seen) for name, part in value.items()}
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return value
    kept = []
    for part in value:
        form = shape(part)
        if form not in seen or not kept:
            seen.add(form)
            kept.append(thinned(part, seen))
    return kept


def files(places):
    for place in places:
        if os.path.isdir(place):
            yield from sorted(os.path.join(place, name) for name in os.listdir(place)
                              if name.endswith('.json'))
        else:
            yield place


def schema_of(place, report):
    """The file of its schema."""
    if not os.path.isdir(place):
        return place
    name = re.fullmatch(r'([\w-]+)/(\d+)', str(report.get('schema')))
    made = os.path.join(place, '%s-%s.schema.json' % name.groups()) if name else ''
    return made if os.path.exists(made) else None


def validator_of(file_name):
    """And the shapes of what it has looked at, which are right in that schema alone."""
    with open(file_name, encoding='utf-8') as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(strict(schema)), set()


def errors(validators, place, report):
    schema = schema_of(place, report)
    if schema is None:
        yield 'schema', f'there is no schema {report.get("schema")}'
        return
    if schema not in validators:
        validators[schema] = validator_of(schema)
    validator, seen = validators[schema]
    for error in validator.iter_errors(thinned(report, seen)):
        yield '/'.join(map(str, error.absolute_path)), error.message[:200]


def main():
    validators, count, faults = {}, 0, 0
    for name in files(sys.argv[2:]):
        with open(name, encoding='utf-8') as file:
            report = json.load(file)
        count += 1
        for where, message in errors(validators, sys.argv[1], report):
            faults += 1
            if faults <= 20:
                print(f'{name}: {where}: {message}')
    print(f'{count} reports, {faults} faults')
    return 1 if faults or not count else 0


sys.exit(main())

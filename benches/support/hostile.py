#!/usr/bin/env python3
"""Writes a log of one kind that is made to take memory, of about so many bytes.

    hostile.py                lists the kinds
    hostile.py KIND BYTES     writes the log

Each is one record, or as many as its comment says.
"""

import sys


def filled(head, part, tail, size):
    """`head`, then `part` with its number as often as it takes, commas between, then `tail`."""
    yield head
    used, number = len(head) + len(tail), 0
    while used < size:
        text = part(number) if callable(part) else part
        yield text if number == 0 else "," + text
        used += len(text) + 1
        number += 1
    yield tail


def lines(part, size):
    used, number = 0, 0
    while used < size:
        text = part(number) + "\n"
        yield text
        used += len(text)
        number += 1


NOTE = '{"jsonrpc":"2.0","method":"m","params":'


def name(number):
    """Short, and another for each number."""
    digits = ""
    for _ in range(5):
        digits, number = chr(ord("a") + number % 26) + digits, number // 26
    return digits


KINDS = {
    # A batch of what are no messages.
    "numbers": lambda size: filled("[", "1", "]\n", size),
    "empty-objects": lambda size: filled("[", "{}", "]\n", size),
    "notifications": lambda size: filled("[", '{"method":"a"}', "]\n", size),
    "requests": lambda size: filled("[", lambda n: f'{{"id":{n},"method":"a"}}', "]\n", size),
    # Broken at its end: all of it is one malformed record.
    "batch-cut-off": lambda size: filled("[", "1", "\n", size),
    # Batches of 60 kB, as many as it takes.
    "short-batches": lambda size: lines(lambda _: "[" + ",".join(["1"] * 30000) + "]", size),
    # One message.
    "payload": lambda size: filled(NOTE + "[", "1", "]}\n", size),
    "quotes": lambda size: filled(NOTE + "[", '""', "]}\n", size),
    "text": lambda size: iter([NOTE + '"', "x" * size, '"}\n']),
    "members": lambda size: filled(NOTE + "{", lambda n: f'"{name(n)}":1', "}}\n", size),
    "members-backwards": lambda size: filled(NOTE + "{", lambda n: f'"{name(11881375 - n)}":1', "}}\n", size),
    "exponents": lambda size: filled(NOTE + "[", "1e20", "]}\n", size),
    "duplicate": lambda size: filled('{"method":"a","method":"m","params":[', "1", "]}\n", size),
    "duplicates": lambda size: filled(NOTE + "{", '"a":1', "}}\n", size),
    "lone-surrogate": lambda size: filled(NOTE + '["\\ud800",', "{}", "]}\n", size),
    "escaped-names": lambda size: filled(NOTE + "{", lambda n: f'"\\u0061{name(n)}":1', "}}\n", size),
    "extra-members": lambda size: filled('{"method":"m",', lambda n: f'"{name(n)}":1', "}\n", size),
    "extra-payload": lambda size: filled('{"method":"m","x":[', "1", "]}\n", size),
    "error-data": lambda size: filled('{"id":1,"error":{"code":1,"message":"m","x":1,"data":[', "1", "]}}\n", size),
    "not-a-message": lambda size: filled('{"a":[', "[]", "]}\n", size),
    "nested": lambda size: filled(NOTE + "[", "[" * 1000 + '{"b":1,"a":2}' + "]" * 1000, "]}\n", size),
    "nested-objects": lambda size: filled(NOTE + "[", '{"b":' * 1000 + "0" + ',"a":1}' * 1000, "]}\n", size),
    "not-json": lambda size: iter(["\x01" * size, "\n"]),
    # Messages, as many as it takes.
    "open-requests": lambda size: lines(lambda n: f'{{"id":{n},"method":"a"}}', size),
    "one-id": lambda size: lines(lambda _: '{"id":1,"method":"a"}', size),
    "empty-lines-of-text": lambda size: lines(lambda _: "x", size),
}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__ if len(sys.argv) > 1 else "\n".join(KINDS))
    # Lone halves of surrogate pairs are written as escapes, so all of it is ASCII.
    out = sys.stdout
    pieces = []
    for piece in KINDS[sys.argv[1]](int(sys.argv[2])):
        pieces.append(piece)
        if len(pieces) > 10000:
            out.write("".join(pieces))
            pieces.clear()
    out.write("".join(pieces))


if __name__ == "__main__":
    try:
        if len(sys.argv) == 1:
            print("\n".join(KINDS))
        else:
            main()
    except BrokenPipeError:
        sys.exit(1)

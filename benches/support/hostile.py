#!/usr/bin/env python3
"""Writes a log of one kind, about BYTES long, that is made to take memory.

    hostile.py                lists the kinds, each with the file's name and the arguments of the command that takes it
    hostile.py KIND BYTES     writes the log

Each is one record, or as many as its comment says.
"""

import json

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


REQUEST = '{"jsonrpc":"2.0","id":1,"method":"a"}'
RESPONSE = '{"jsonrpc":"2.0","id":1,"result":1}'
QUOTED = json.dumps(REQUEST)


def times(size, *parts):
    """Each part so often that all of them have that size."""
    number = size // sum(map(len, parts))
    return (part * 1000 for part in parts for _ in range(number // 1000 + 1))


def har(member, part, size):
    """An archive whose one entry has an array of such elements, or a text."""
    return filled('{"log":{"entries":[{' + member + "[", part, "]}]}}", size)


def in_session(number, message):
    """A message from that side of a session of its own."""
    side = "s2c" if "result" in message else "c2s"
    return f'{{"session_id":"{number}","direction":"{side}","raw":{message}}}'


def failed(size):
    """A method with a name of a tenth of the size, and calls of it and others that failed."""
    yield '{"id":"x","method":"' + "m" * (size // 10) + '"}\n{"id":"x","error":{"code":1,"message":"m"}}\n'
    answer = '{{"id":{0},"error":{{"code":1,"message":"m"}}}}'
    yield from lines(lambda n: f'{{"id":{n},"method":"m"}}\n' + answer.format(n), size - size // 10)


def entities(size):
    """Entities of which each is ten times the one before."""
    yield '<!DOCTYPE r [<!ENTITY e0 "x">'
    yield from lines(lambda n: f'<!ENTITY e{n + 1} "' + f"&e{n};" * 10 + '">', size)
    yield "]><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xml:lang='&e9;'/>"


KINDS = {
    # A batch of values that are not messages.
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
    "requests-of-both": lambda size: times(size, f">> {REQUEST}\n", f"<< {REQUEST}\n", f"<< {RESPONSE}\n"),
    "requests-between": lambda size: times(size, f">> {REQUEST}\n<< {REQUEST}\n", f">> {RESPONSE}\n", f"<< {RESPONSE}\n"),
    "sessions": lambda size: lines(lambda n: in_session(n, '{"method":"a"}'), size),
    "sessions-answered": lambda size: lines(lambda n: in_session(n // 2, (REQUEST, RESPONSE)[n % 2]), size),
    "sessions-open": lambda size: lines(lambda n: in_session(n, REQUEST), size),
    # Messages of 8 and 1 MB, as many as it takes, whose every value is a triple or two.
    "under-contexts": lambda size: lines(lambda _: "".join(filled(NOTE + "[", '{"a":1}', "]}", 8_000_000)), size),
    "expanded": lambda size: lines(lambda _: "".join(filled(NOTE + "[", '{"a":1}', "]}", 1_000_000)), size // 8),
    "not-expanded": lambda size: filled(NOTE + "[", '{"a":1}', "]}\n", size),
    # Text around messages.
    "lengths-on-a-line": lambda size: iter(["x", "Content-Length: " * (size // 16), "\n"]),
    "lines-in-an-event": lambda size: iter(["data: {\n", "junk\n" * (size // 5), "data: }\n\n"]),
    "records-on-a-line": lambda size: (part.strip() for part in lines(lambda n: in_session(1, REQUEST), size)),
    "frames-of-a-socket": lambda size: har('"_webSocketMessages":', '{"type":"send","data":' + QUOTED + "}", size),
    "broken-frames": lambda size: har('"_webSocketMessages":', '{"data":oops},{"data":' + QUOTED + "}", size),
    "events": lambda size: har('"_eventSourceMessages":', '{"data":' + QUOTED + "}", size),
    "header-too-long": lambda size: iter([f"Content-Length: {size * 10}\r\n\r\n", f"Content-Length: {len(REQUEST)}\r\n\r\n{REQUEST}" * (size // 60)]),
    # Questions. A query holds the rows that it joins, 18 kB for each of these: a 32nd of the size.
    "cancelled": lambda size: lines(lambda n: f'{{"id":{n},"method":"a"}}\n{{"method":"$/cancelRequest","params":{{"id":{n}}}}}', size // 32),
    "failed": failed,
    "entities": entities,
    "deep-json-ld": lambda size: iter(['{"http://e/p":' * (size // 15), "1", "}" * (size // 15)]),
}

# The file and the command, where it is not `convert log`.
COMMANDS = {
    "requests-of-both": "log convert -f arrows",
    "requests-between": "log convert -f arrows",
    "sessions": "log convert -f mcpsnoop",
    "sessions-answered": "log convert -f mcpsnoop",
    "sessions-open": "log convert -f mcpsnoop",
    "under-contexts": "log convert -c benches/support/terms.jsonld",
    "expanded": "log convert -c benches/support/terms.jsonld -c benches/support/map.jsonld",
    "not-expanded": "log convert -c benches/support/terms.jsonld -c benches/support/map.jsonld",
    "lengths-on-a-line": "log convert -f content-length --log-lines",
    "header-too-long": "log convert -f content-length --log-lines",
    "lines-in-an-event": "log convert -f sse --log-lines",
    "records-on-a-line": "log convert -f mcpsnoop",
    "frames-of-a-socket": "log convert -f har",
    "broken-frames": "log convert -f har",
    "events": "log convert -f har",
    "cancelled": "log ask cancelled",
    "failed": "log errors",
    "entities": "graph.rdf overview",
    "deep-json-ld": "graph.jsonld overview",
}


def main():
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
            print("\n".join(f"{kind} {COMMANDS.get(kind, 'log convert')}" for kind in KINDS))
        elif len(sys.argv) == 3:
            main()
        else:
            sys.exit(__doc__)
    except BrokenPipeError:
        sys.exit(1)

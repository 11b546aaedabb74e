#!/usr/bin/env python3
"""A log that grows by a million lines while `rpcgraph timeline --follow` reads it: how long the row of a line that comes
alone takes at most, and the memory at each tenth.

    benches/follow.py [RPCGRAPH [LINES]]

It fails where a row takes a second, or where the memory at the end is a tenth more than at a fifth. Needs Linux."""

import os
import subprocess
import sys
import tempfile
import time

rpcgraph = sys.argv[1] if len(sys.argv) > 1 else "target/release/rpcgraph"
lines = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
AT_ONCE = 10_000


def exchange(number):
    """A request, never answered for one in a hundred thousand, and its answer."""
    yield f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"t{number % 7}"}}}}\n'
    if number % 100_000:
        yield f'{{"jsonrpc":"2.0","id":{number},"result":{{"text":"{number}"}}}}\n'


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "log.ndjson")
    with open(path, "w", encoding="utf-8") as log:
        command = [rpcgraph, "timeline", path, "--follow", "--quiet", "-t", "csv", "--columns", "message,content"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:

            def row_of(text):
                """Seconds until the row with that text is there."""
                start = time.monotonic()
                while text not in child.stdout.readline():
                    pass
                return time.monotonic() - start

            def memory():
                with open(f"/proc/{child.pid}/status", encoding="utf-8") as status:
                    return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) // 1024

            number, written, longest, memories = 0, 0, 0.0, []
            while written < lines:
                for _ in range(AT_ONCE // 2):
                    number += 1
                    written += log.write("".join(exchange(number))) and 2
                log.write('{"jsonrpc":"2.0","method":"all","params":["last %d"]}\n' % number)
                log.flush()
                row_of(f"last {number}")
                log.write('{"jsonrpc":"2.0","method":"one","params":["alone %d"]}\n' % number)
                log.flush()
                longest = max(longest, row_of(f"alone {number}"))
                if written % (lines // 10) < AT_ONCE:
                    memories.append(memory())
            child.terminate()
print(f"{lines} lines: a row after {longest:.2f} s at most; memory {', '.join(map(str, memories))} MiB")
sys.exit(longest >= 1 or memories[-1] > memories[1] * 1.1)

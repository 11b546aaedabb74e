#!/usr/bin/env python3
"""Checks that rules and questions grow with the log, and not with its square.

    benches/growth.py PROGRAM [N]      N is 250 where it is not given

Each rule judges its own examples, one after the other, N and 4N times in one session, with ids of their own and with the same
ids; each question is asked about the examples of each protocol, and about requests that share one id. Four times the log may
take at most seven times the processor time.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

PROGRAM, N = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 250
# Below these seconds, what the program takes to start decides.
LEAST, MOST = 0.1, 7
IN_HANDSHAKE = re.compile(r'"initialize"|"(notifications/)?initialized"|"result":\{[^\n]*"capabilities"')


def output(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True).stdout


def renumbered(line, copy):
    """A message with ids of its own."""
    return re.sub(r'("(?:id|requestId)":)(\d+)(?=[,}])', lambda found: f'{found[1]}{int(found[2]) + 100 * copy}', line)


def split(session):
    """The handshake of a session, and what follows it."""
    lines = session.strip().split('\n')
    length = next((at for at, line in enumerate(lines) if not IN_HANDSHAKE.search(line)), len(lines))
    return lines[:length], lines[length:] or lines


def seconds(log, *arguments):
    with tempfile.NamedTemporaryFile('w', suffix='.ndjson') as file:
        file.write('\n'.join(log) + '\n')
        file.flush()
        command = [PROGRAM, *arguments, '--jobs', '1', '--quiet', file.name]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        timer = threading.Timer(60, child.kill)
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        return 60.0 if child.returncode < 0 else usage.ru_utime


def grows(name, log, *arguments):
    one, four = (seconds(log(times), *arguments) for times in (N, 4 * N))
    is_bad = four > MOST * max(one, LEAST)
    if is_bad:
        print(f'{name}: {one:.2f} s, and {four:.2f} s for four times the log: grows faster than the log')
    return is_bad


def samples(rule):
    """The examples of a rule that are JSON lines, as handshakes and what follows: an entry of an archive cannot be repeated."""
    text = output('check', '--rule', rule)
    found = re.findall(r'\nThis (?:breaks|keeps) it:\n(.*?)(?=\n\nThis keeps it:|\Z)', text, re.S)
    are_lines = lambda sample: all(line.startswith(('{"sender"', '{"jsonrpc"')) for line in sample.strip().split('\n'))
    return [split(sample) for sample in found if are_lines(sample)]


def repeated(head, bodies, messages, renumber=True):
    """A session of about `messages` messages."""
    body = [line for body in bodies for line in body]
    copies = range(1 + messages // max(len(body), 1))
    return head + [renumbered(line, copy) if renumber else line for copy in copies for line in body]


def main():
    tasks, families = [], {}
    rules = [json.loads(line)['rule'] for line in output('check', '--list', '-t', 'json').splitlines()]
    for rule in rules:
        found = samples(rule)
        if not found:
            continue
        (head, _), bodies = found[0], [body for _, body in found]
        families.setdefault(rule.split('/')[0], (head, []))[1].extend(bodies)
        for ids, own in (('ids of their own', True), ('the same ids', False)):
            log = lambda times, head=head, bodies=bodies, own=own: repeated(head, bodies, 8 * times, own)
            tasks.append((f'{rule}, {ids}', log, 'check', '--fail-on', 'never', '--only', rule))
    logs = {'one id': lambda times: ['{"jsonrpc":"2.0","id":1,"method":"a"}'] * (8 * times)}
    for family, (head, bodies) in families.items():
        logs[family] = lambda times, head=head, bodies=bodies: repeated(head, bodies, 8 * times)
    questions = [line for line in output('ask').splitlines() if re.fullmatch(r'[a-z0-9-]+', line)]
    tasks += [(f'{question}, {name}', log, 'ask', question) for question in questions for name, log in logs.items()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        bad = sum(pool.map(lambda task: grows(*task), tasks))
    print(f'{len(rules)} rules and {len(questions)} questions: {bad} grow faster than the log')
    return bad > 0


sys.exit(main())

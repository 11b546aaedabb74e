#!/usr/bin/env python3
"""Checks that rules and questions grow with the log, and not with its square.

    benches/growth.py PROGRAM [N]      N is 250 where it is not given

Each rule judges its own examples, repeated N and 4N times in one session; each question is asked about the examples of each
protocol, and about requests that share one id. Four times the log may take at most seven times the processor time.
"""
import json
import re
import resource
import subprocess
import sys
import tempfile

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
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        try:
            subprocess.run([PROGRAM, *arguments, '--jobs', '1', '--quiet', file.name], capture_output=True, timeout=60)
        except subprocess.TimeoutExpired:
            return 60.0
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def grows(name, log, *arguments):
    one, four = (seconds(log(times), *arguments) for times in (N, 4 * N))
    is_bad = four > MOST * max(one, LEAST)
    if is_bad:
        print(f'{name}: {one:.2f} s, and {four:.2f} s for four times the log: grows faster than the log')
    return is_bad


def main():
    bad, families = 0, {}
    rules = [json.loads(line)['rule'] for line in output('check', '--list', '-t', 'json').splitlines()]
    for rule in rules:
        text = output('check', '--rule', rule)
        for sample in re.findall(r'\nThis (?:breaks|keeps) it:\n(.*?)(?=\n\nThis keeps it:|\Z)', text, re.S):
            # Only JSON lines: one entry of an archive cannot be repeated.
            if not all(line.startswith(('{"sender"', '{"jsonrpc"')) for line in sample.strip().split('\n')):
                continue
            head, body = split(sample)
            families.setdefault(rule.split('/')[0], []).append((head, body))
            log = lambda times: head + [renumbered(line, copy) for copy in range(times) for line in body]
            bad += grows(f'{rule}, ids of their own', log, 'check', '--fail-on', 'never', '--only', rule)
            bad += grows(f'{rule}, the same ids', lambda times: head + body * times, 'check', '--fail-on', 'never', '--only', rule)
    logs = {'one id': lambda times: ['{"jsonrpc":"2.0","id":1,"method":"a"}'] * (8 * times)}
    for family, samples in families.items():
        (head, _), bodies = samples[0], [line for _, body in samples for line in body]
        logs[family] = lambda times, head=head, bodies=bodies: head + [
            renumbered(line, copy) for copy in range(1 + 8 * times // len(bodies)) for line in bodies]
    questions = [line for line in output('ask').splitlines() if re.fullmatch(r'[a-z0-9-]+', line)]
    for question in questions:
        bad += sum(grows(f'{question}, {name}', log, 'ask', question) for name, log in logs.items())
    print(f'{len(rules)} rules and {len(questions)} questions: {bad} grow faster than the log')
    return bad > 0


sys.exit(main())

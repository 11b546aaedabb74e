"""Runs examples/lake/lake.py over logs that it makes, and says what is wrong with the tables.

Arguments: the binary of rpcgraph, an empty folder, how many small logs, how many messages each large one has. Executors of
Spark are killed, logs are bad, grow, are touched and vanish; every message has to be there once. The exit status is 1 where
it is not.
"""

import gzip
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time
from collections import Counter

binary, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
small, messages = int(sys.argv[3]), int(sys.argv[4])
LARGE = 10 if small >= 1000 else 2
PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "examples/lake/lake.py"
# Java machines that live for seconds should not spend them on making themselves fast.
os.environ["JAVA_TOOL_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
os.environ["PYTHONDONTWRITEBYTECODE"], sys.dont_write_bytecode = "1", True
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
QUIET = "--conf spark.ui.enabled=false --conf spark.driver.extraJavaOptions=-Dlog4j2.level=error"


def exchange(number, text=""):
    request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "t", "arguments": {"a": text}}}
    return f'{json.dumps(request)}\n{{"jsonrpc":"2.0","id":{number},"result":{{"n":{number}}}}}\n'


def put(name, content):
    path = folder / "logs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# Expected: the number of rows of each log, and the logs with findings.
rows, bad = Counter(), set()
for number in range(small):
    name = f"{number % 7} é#%/{number // 7} log.ndjson"  # The same names in several folders.
    put(name, exchange(number) + '{"jsonrpc":"2.0","method":"note"}\n')
    rows[name] = 3
for number in range(LARGE):
    put(f"large/{number}.ndjson", "".join(exchange(n, "x" * 200) for n in range(messages // 2)))
    rows[f"large/{number}.ndjson"] = messages // 2 * 2
put("packed.ndjson.gz", gzip.compress("".join(exchange(n, "x" * 10_000) for n in range(1000)).encode()))
rows["packed.ndjson.gz"] = 2000
put("bad/cut.ndjson", exchange(1)[:-9])
rows["bad/cut.ndjson"] = 2
put("bad/cut.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x4c")
put("bad/gone.ndjson", exchange(1))
put("bad/text.log", "hello\n")
rows["bad/text.log"] = 1
noise = random.Random(1).randbytes(1 << 20).replace(b"\n", b"").replace(b"\r", b"")
hostile = [b"[" * 200_000 + b"]" * 200_000, b'{"@id":"x","@context":{"@base":"http://e/"},"jsonrpc":"2.0","method":"m"}', b"\xff\xfe\0" + noise,
           b'{"jsonrpc":"2.0","id":1e999999999,"method":"' + b"a" * 100_000 + b'"}', b"[" + b"1," * 1000 + b"1]"]
put("bad/hostile.ndjson", b"\n".join(hostile) + b"\n")
bad.update(["bad/cut.ndjson", "bad/cut.gz", "bad/gone.ndjson", "bad/text.log", "bad/hostile.ndjson"])
rows["bad/hostile.ndjson"] = 4 + 1002

# The program that executors run: at its second run it kills its executor, and one log is gone when it is looked for.
wrapper = folder / "program" / "rpcgraph"
wrapper.parent.mkdir()
wrapper.write_text(f"""#!/bin/sh
if [ "$1" = convert ] && [ -d '{folder}/first' ] && mkdir '{folder}/killed' 2>/dev/null; then
    pid=$$
    while [ "$pid" -gt 1 ] && ! tr '\\0' ' ' <"/proc/$pid/cmdline" | grep -q CoarseGrainedExecutorBackend; do
        pid=$(sed 's/.*) . //; s/ .*//' "/proc/$pid/stat")
    done
    [ "$pid" -gt 1 ] && kill -9 "$pid" && touch '{folder}/killed/done'
fi
[ "$1" = convert ] && {{ mkdir '{folder}/first' 2>/dev/null; rm -f '{folder}/logs/bad/gone.ndjson'; }}
exec '{binary}' "$@"
""")
wrapper.chmod(0o755)


def run(logs, tables, *options, master="local[2]", conf=""):
    """Runs the job: its exit status, the last line that it said, and its standard error."""
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": f"--master {master} {QUIET} {conf} pyspark-shell"}
    sent = [] if "--files" in conf else ["--rpcgraph", str(wrapper)]
    command = [sys.executable, PROGRAM, *sent, *options, str(logs), str(tables)]
    started = time.monotonic()
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    said = (ran.stdout if ran.returncode == 0 else ran.stderr).strip().splitlines()
    if not said:
        sys.exit(f"{command} exits with {ran.returncode} and says nothing")
    print(f"{time.monotonic() - started:.1f} s: {said[-1]}", flush=True)
    return ran.returncode, said[-1], ran.stderr


def ran_well(found, expected):
    status, said, error = found
    assert status == 0 and re.fullmatch(expected, said), f"{said}\n{error[-5000:]}"


def manifests():
    return sorted((folder / "tables/manifests").iterdir())


total = small + LARGE + 6
ran_well(run(folder / "logs", folder / "tables", master="local-cluster[2,1,1024]", conf=f"--files {wrapper}"),
         rf"{total} logs: 0 as they were, {total} read, 5 of these with findings; files of messages: {LARGE + 2}")
assert (folder / "killed/done").exists(), "no executor was killed"

os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local[2] {QUIET} pyspark-shell"
sys.path.insert(0, str(PROGRAM.parent))
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as f  # noqa: E402

import lake  # noqa: E402

spark = SparkSession.builder.getOrCreate()


def judge(tables=f"file:{folder}/tables", logs=f"file:{folder}/logs"):
    """Every message once, of every log; and findings of the bad ones."""
    table = lake.read(spark, tables, "messages")
    assert table.count() == table.select("message_iri").distinct().count(), "a message is there twice"
    found = dict(table.groupBy(f.substring_index("session_iri", "#", 1)).count().collect())
    wanted = {lake.log_iri(f"{logs}/{name}"): count for name, count in rows.items()}
    assert found == wanted, sorted(set(found.items()) ^ set(wanted.items()))[:9]
    sessions = [row.session_iri for row in lake.read(spark, tables, "sessions").collect()]
    assert sorted(sessions) == sorted(wanted), "sessions differ"
    answers = table.where("kind = 'Response'").count()
    paired = table.where("responds_to IS NOT NULL AND request_tool = 't'").count()
    assert (answers, paired) == (answered, answered), (answers, paired, answered)
    findings = {row.log.removeprefix(f"{logs}/") for row in lake.read(spark, tables, "findings").collect()}
    assert findings == bad, findings ^ bad
    types = {field.name: field.dataType.simpleString() for field in table.schema}
    assert (types["time"], types["latency_s"], types["raw"]) == ("timestamp", "decimal(18,9)", "binary"), types


answered = small + LARGE * (messages // 2) + 1000
judge()
old = json.loads(manifests()[-1].read_text())

# Again: what cannot be read is tried, and is still the same; the log that is gone is not listed.
ran_well(run(folder / "logs", folder / "tables"), rf"{total - 1} logs: {total - 2} as they were, 1 read, 1 of these .*")
assert manifests()[-1].name == "00000002.json"
judge()

# Logs that grew, were repaired, are new, or were only touched; and a second job.
for name in ("0 é#%/0 log.ndjson", "large/0.ndjson"):
    with open(folder / "logs" / name, "a") as file:
        file.write(exchange(1_000_000) * 2)
    rows[name] += 4
    answered += 2
put("bad/text.log", exchange(1))
rows["bad/text.log"] = 2
bad.remove("bad/text.log")
put("new/0.ndjson", exchange(1))
rows["new/0.ndjson"] = 2
answered += 2
os.utime(folder / "logs/large/1.ndjson")
(folder / "tables/lock").write_text("a test")
status, said, _ = run(folder / "logs", folder / "tables")
assert status == 1 and "another job writes to" in said and "a test" in said, said
assert len(manifests()) == 2
os.remove(folder / "tables/lock")
ran_well(run(folder / "logs", folder / "tables"), rf"{total} logs: {total - 5} as they were, 5 read, 1 of these .*")
judge()
# Readers of the manifest before the last still find its files.
before = json.loads(manifests()[-2].read_text())
assert all((folder / "tables" / name).exists() for names in before["tables"].values() for name in names)
assert not all((folder / "tables" / name).exists() for names in old["tables"].values() for name in names)
assert not (folder / "tables/lock").exists() and not (folder / "tables/staging").exists()

# Elsewhere than on local disks, all goes through Hadoop's file systems: small logs are copied, large ones are piped.
mounts = " ".join(f"--conf spark.hadoop.fs.viewfs.mounttable.lake.link./{name}=file://{folder}/{name}" for name in ("logs", "far"))
(folder / "far").mkdir()
ran_well(run("viewfs://lake/logs", "viewfs://lake/far", "--options=--provenance", conf=mounts), rf"{total} logs: 0 as .*")
for mount in ("logs", "far"):
    spark.sparkContext._jsc.hadoopConfiguration().set(f"fs.viewfs.mounttable.lake.link./{mount}", f"file://{folder}/{mount}")
bad = {name for name in bad if name != "bad/gone.ndjson"}
judge("viewfs://lake/far", "viewfs://lake/logs")

# The command for a laptop in docs/tables.md.
laptop = folder / "laptop"
(laptop / "target/release").mkdir(parents=True)
(laptop / "target/release/rpcgraph").symlink_to(binary)
(laptop / "examples").symlink_to(PROGRAM.parents[1])
(laptop / "logs").mkdir()
(laptop / "logs/one.ndjson").write_text(exchange(1))
(laptop / "logs/two.ndjson").write_bytes((PROGRAM.parents[1] / "mcp-session.ndjson").read_bytes())
readme = iter((PROGRAM.parents[2] / "docs/tables.md").read_text().splitlines())
shown = next(line for line in readme if line.startswith("$ python examples/lake/lake.py")).split()[2:]
ran = subprocess.run([sys.executable, *shown], cwd=laptop, capture_output=True, text=True)
assert ran.stdout.strip().splitlines()[-1] == next(readme), ran.stdout + ran.stderr
print(sum(rows.values()), "messages, each once")

"""Keeps the tables of `rpcgraph convert -t parquet` for many logs, with Spark.

    spark-submit examples/lake/lake.py --rpcgraph target/release/rpcgraph LOGS... TABLES

LOGS are files, folders or globs, TABLES is a folder; both are wherever Hadoop's file systems reach: on local disks (which
all nodes have to share), `hdfs://`, `s3a://` and so on. Executors run the binary, which is sent to them; no log is ever in
memory as a whole. What is made:

    TABLES/manifests/NUMBER.json    the newest lists the valid files: `tables`, the files of each table, and `logs`
    TABLES/messages/ingested=DATE/  and sessions, problems, latencies: the columns that `rpcgraph vocab columns` explains
    TABLES/findings/                findings about logs: log, digest, status, finding, ingested

Readers take the files that the newest manifest names, as `read` below does, and so see all of a run or nothing of it. What
a run replaces is deleted at the end of the next one. A file that no manifest names does not count.

Run it again, and logs are added that are new, and the rows of those are replaced that have another digest (SHA-256), or
were converted with other options or by another version. Contents are read again where length or time of change differ, or
with --verify. Rows of a log that is gone, empty, or cannot be converted any more stay as they are. Spark lists neither
empty files nor those whose names begin with `_` or `.`.

A log of more than 8 MiB has a file of its own in each table. The smaller ones of a folder are converted together. Of these,
small files are merged, and if the rows of one log are replaced, the rows of the others are written again: by Spark, for
which every column is nullable. A log that cannot be read or converted is rows of findings, and is tried again in the next
run; it fails no job. The status is the exit status of rpcgraph, negative for a signal, null where the log was not read or
took too long.

A session's IRI is the URI of its log, percent-encoded, with `#session-KEY` if the log has several; so sessions of two
logs differ as long as logs keep to one spelling of their URIs.

One job at a time: TABLES/lock is made, and another job is refused while it is there. On S3, where files are not made
exclusively, two jobs that begin in the same second would not see each other.
"""

import argparse
import bz2
import gzip
import hashlib
import json
import lzma
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import uuid
import zlib
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timezone
from urllib.parse import quote

from py4j.protocol import Py4JJavaError
from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

TABLES = ("messages", "sessions", "problems", "latencies")
FINDINGS = "log STRING, digest STRING, status INT, finding STRING, ingested DATE"
# A larger log is converted alone; smaller ones together, up to these numbers of logs and bytes.
SMALL_LOG, BATCH_LOGS, BATCH_BYTES = 8 << 20, 1000, 256 << 20
# Parts with fewer bytes of messages are merged when a day has this many, into parts of this size.
SMALL_PART, SMALL_PARTS, MERGED_PART = 16 << 20, 8, 128 << 20


def parts_of(uri):
    """Scheme, authority and path of what Hadoop calls a path, in which nothing is encoded."""
    scheme, rest = uri.split(":", 1)
    authority, slash, path = rest[2:].partition("/") if rest.startswith("//") else ("", "", rest)
    return scheme, authority, slash + path


def folder_iri(uri):
    """The IRI that names of files are resolved against."""
    scheme, authority, path = parts_of(uri)
    return f"{scheme}://{authority}{quote(path.rpartition('/')[0])}/"


def log_iri(uri):
    """The IRI of a log, as rpcgraph makes it of the folder's and the name."""
    return folder_iri(uri) + quote(uri.rpartition("/")[2], safe="")


class Hadoop:
    """Hadoop's file systems, in a Java machine."""

    def __init__(self, jvm, configuration):
        self.jvm, self.configuration = jvm, configuration

    def path(self, uri):
        path = self.jvm.org.apache.hadoop.fs.Path(uri)
        return path.getFileSystem(self.configuration), path

    def copy_in(self, uri, local):
        """Copies to a local file or pipe; the digest of what was copied."""
        system, path = self.path(uri)
        sha256 = self.jvm.java.security.MessageDigest.getInstance("SHA-256")
        source = self.jvm.java.security.DigestInputStream(system.open(path), sha256)
        try:
            self.jvm.org.apache.hadoop.io.IOUtils.copyBytes(source, self.jvm.java.io.FileOutputStream(local), 65536, True)
        finally:
            source.close()
        return bytes(sha256.digest()).hex()

    def exists(self, uri):
        system, path = self.path(uri)
        return system.exists(path)

    def copy_out(self, local, uri):
        system, path = self.path(uri)
        system.copyFromLocalFile(False, True, self.jvm.org.apache.hadoop.fs.Path(f"file://{local}"), path)

    def create(self, uri, text):
        """Makes a file; fails if there is one."""
        system, path = self.path(uri)
        scheme, _, local = parts_of(path.makeQualified(system.getUri(), system.getWorkingDirectory()).toString())
        if scheme == "file":  # Hadoop does not make local files exclusively.
            with open(local, "x") as file:
                file.write(text)
            return
        output = system.create(path, False)
        output.write(text.encode())
        output.close()

    def text(self, uri):
        system, path = self.path(uri)
        source = system.open(path)
        try:
            return self.jvm.org.apache.commons.io.IOUtils.toString(source, "UTF-8")
        finally:
            source.close()

    def rename(self, uri, to):
        system, path = self.path(uri)
        _, to = self.path(to)
        system.mkdirs(to.getParent())
        if not system.rename(path, to):
            raise OSError(f"cannot rename {uri} to {to.toString()}")

    def delete(self, uri):
        system, path = self.path(uri)
        system.delete(path, True)

    def names(self, uri):
        """Names in a folder; none if there is no folder."""
        system, path = self.path(uri)
        return [status.getPath().getName() for status in system.listStatus(path)] if system.exists(path) else []


# On executors: Python has no file systems of Hadoop there, but for a Java machine beside each of its processes.

_hadoop = None


def hadoop_of_executor(settings):
    global _hadoop
    if _hadoop is None:
        from pyspark.java_gateway import launch_gateway

        # Packages that were sent with the job have file systems too.
        os.environ["PYSPARK_SUBMIT_ARGS"] = (
            "--master local --deploy-mode client --driver-memory 256m"
            f" --driver-class-path '{SparkFiles.getRootDirectory()}/*' pyspark-shell"
        )
        os.environ.pop("PYSPARK_GATEWAY_PORT", None)
        jvm = launch_gateway(popen_kwargs={"stdout": sys.stderr}).jvm
        configuration = jvm.org.apache.hadoop.conf.Configuration()
        for name, value in settings:
            configuration.set(name, value)
        _hadoop = Hadoop(jvm, configuration)
    return _hadoop


class Job:
    """The data that executors need."""

    def __init__(self, arguments, settings):
        self.tables, self.date = arguments.tables, datetime.now(timezone.utc).date().isoformat()
        self.options, self.timeout, self.settings = arguments.options, arguments.timeout, settings
        self.binary, self.made = os.path.basename(arguments.rpcgraph), None

    def program(self):
        return SparkFiles.get(self.binary)

    def version(self):
        return subprocess.run([self.program(), "--version"], check=True, capture_output=True, text=True).stdout.strip()

    def convert(self, batch):
        """Converts logs of one folder: what became of each, but of those that are as they were."""
        with tempfile.TemporaryDirectory(prefix="rpcgraph-") as folder:
            ready, results = [], []
            os.mkdir(f"{folder}/in")
            for log in batch:
                try:
                    self.prepare(log, folder)
                    ready.append(log)
                except (OSError, Py4JJavaError) as error:
                    results.append(self.result(log, None, [f"cannot read {log['uri']}: {reason(error)}"]))
            results += [self.result(log, log["status"], [], same=True) for log in ready if log["digest"] == log["known"]]
            ready = [log for log in ready if log["digest"] != log["known"]]
            together = [log for log in ready if not log["alone"]]
            for logs in [[log] for log in ready if log["alone"]] + ([together] if together else []):
                results += self.run(logs, folder)
            return results

    def prepare(self, log, folder):
        """Finds the local file of a log and its digest; of a large one elsewhere, a pipe, and the digest comes later."""
        scheme, _, path = parts_of(log["uri"])
        large = log["length"] > SMALL_LOG
        if scheme == "file":
            log["path"], log["digest"] = path, digest_of(path)
        else:
            log["path"], log["digest"] = f"{folder}/in/{path.rpartition('/')[2]}", None
            if large:
                os.mkfifo(log["path"])
            else:
                log["digest"] = hadoop_of_executor(self.settings).copy_in(log["uri"], log["path"])
        log["alone"] = large or expands(log["path"])

    def run(self, logs, folder):
        """Runs rpcgraph on prepared logs; on fewer of them at once, if it is not clear what is wrong with which."""
        part, names = uuid.uuid4().hex, [log["path"] for log in logs]
        base = log_iri(logs[0]["uri"]) if len(logs) == 1 else folder_iri(logs[0]["uri"])
        command = [self.program(), "convert", "-t", "parquet", "-o", f"{folder}/{part}", "--base", base, "--jobs", "1"]
        with piped(logs, self.settings) as failures:
            status, said = run(command + self.options + ["--", *names], self.timeout)
        if failures:
            said.append(f"cannot read {logs[0]['uri']}: {reason(failures[0])}")
            return [self.result(logs[0], None if status in (0, 1) else status, said)]
        made = status in (0, 1) and os.path.exists(f"{folder}/{part}/messages.parquet")
        told = {names[0]: said} if len(logs) == 1 else shared_out(said, names)
        if len(logs) > 1 and (told is None or not made):
            shutil.rmtree(f"{folder}/{part}", ignore_errors=True)
            half = len(logs) // 2
            return self.run(logs[:half], folder) + self.run(logs[half:], folder)
        if len(logs) == 1 and logs[0]["digest"] == logs[0]["known"]:  # A pipe tells so late.
            return [self.result(logs[0], logs[0]["status"], [], same=True)]
        size = self.put(f"{folder}/{part}", part) if made else 0
        # Nobody but rpcgraph has to cope with the payloads of a large log: its part is never merged.
        size = max(size, SMALL_PART) if logs[0]["alone"] else size
        place = f"ingested={self.date}/{part}.parquet" if made else None
        results = []
        for log in logs:
            findings = told.get(log["path"], [])
            # Each of several logs has its own findings.
            own = status if len(logs) == 1 else int(any(line.startswith("error:") for line in findings))
            results.append(self.result(log, own, findings, part=place, bytes=size))
        return results

    def put(self, made, part):
        """Puts new files where the tables are; nobody reads them before a manifest names them."""
        for table in TABLES:
            target = f"{self.tables}/{table}/ingested={self.date}/{part}.parquet"
            scheme, _, path = parts_of(target)
            if scheme == "file":
                os.makedirs(os.path.dirname(path), exist_ok=True)
                shutil.copy(f"{made}/{table}.parquet", path)
            else:
                hadoop_of_executor(self.settings).copy_out(f"{made}/{table}.parquet", target)
        size = os.path.getsize(f"{made}/messages.parquet")
        shutil.rmtree(made)
        return size

    def result(self, log, status, findings, same=False, part=None, bytes=0):
        kept = {name: log[name] for name in ("uri", "length", "modified", "digest")}
        findings = [line.replace(log["path"], log["uri"]) for line in findings] if "path" in log else findings
        return {**kept, "status": status, "findings": findings, "same": same, "part": part, "bytes": bytes}


def digest_of(path):
    with open(path, "rb") as file:
        sha256 = hashlib.sha256()
        while chunk := file.read(1 << 20):
            sha256.update(chunk)
    return sha256.hexdigest()


def expands(path):
    """True if a small file may hold a large log; always for zstd, which Python cannot decompress."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        beginning = file.read(4)
    known = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}
    if beginning[:2] not in known:
        return beginning == b"\x28\xb5\x2f\xfd"
    try:
        with known[beginning[:2]](path) as file:
            return bool(file.seek(SMALL_LOG) == SMALL_LOG and file.read(1))
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        return False


def reason(error):
    return error.java_exception.toString() if isinstance(error, Py4JJavaError) else str(error)


def run(command, timeout):
    """Exit status, or none after a timeout, and the lines of standard error."""
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None, [f"error: given up after {timeout} seconds"]
    said = ran.stderr.decode(errors="replace").splitlines()
    if ran.returncode < 0:
        said.append(f"error: rpcgraph was ended by {signal.Signals(-ran.returncode).name}")
    # The summary at the end is not a finding.
    end = next((number for number, line in enumerate(said) if re.match(r"[0-9]+ records? \(", line)), len(said))
    return ran.returncode, said[:end]


def shared_out(said, names):
    """The findings of each log; none if it is not clear whose they are."""
    told = defaultdict(list)
    for line in said:
        about = line.split(": ", 1)[1] if line.startswith(("error: ", "note: ")) else line
        about = about.removeprefix("cannot read ")
        of = [name for name in names if about.startswith((f"{name}:", f"{name} "))]
        if not of:
            return None
        told[max(of, key=len)].append(line)
    return told


@contextmanager
def piped(logs, settings):
    """Fills the pipe of a large log while rpcgraph reads it."""
    log, failures = logs[0], []
    if log["digest"] is not None:
        yield failures
        return
    hadoop = hadoop_of_executor(settings)

    def fill():
        try:
            log["digest"] = hadoop.copy_in(log["uri"], log["path"])
        except Exception as error:
            failures.append(error)
            # Lets the reader see an end, if it waits for a beginning.
            os.close(os.open(log["path"], os.O_RDWR | os.O_NONBLOCK))

    thread = threading.Thread(target=fill)
    thread.start()
    yield failures
    # Lets the thread see an end, if rpcgraph did not read to its own.
    if thread.is_alive():
        os.close(os.open(log["path"], os.O_RDONLY | os.O_NONBLOCK))
    thread.join()


# On the driver.


class Lake:
    """The tables, of which this job alone makes a new state."""

    def __init__(self, spark, arguments):
        self.spark, self.tables = spark, arguments.tables
        context = spark.sparkContext
        self.hadoop = Hadoop(context._jvm, context._jsc.hadoopConfiguration())
        settings = [(name[13:], value) for name, value in context.getConf().getAll() if name.startswith("spark.hadoop.")]
        self.job, self.verify = Job(arguments, settings), arguments.verify
        self.number, self.manifest = newest(self.hadoop, self.tables)

    def update(self, paths):
        """Converts what is new or changed, and makes the state that readers see next."""
        context, job = self.spark.sparkContext, self.job
        version = context.parallelize([job], 1).map(Job.version).first()
        job.made = " ".join([version, *job.options])
        listed = self.listed(paths)
        todo = [log for log in listed if self.verify or not self.is_known(log)]
        batches = batched(todo, max(20, min(BATCH_LOGS, len(todo) // (2 * context.defaultParallelism))))
        tasks = context.parallelize(batches, max(1, len(batches)))
        results = [result for found in tasks.map(job.convert).collect() for result in found]
        if results:
            self.take(results)
            self.commit()
        read = sum(not result["same"] for result in results)
        bad = sum(bool(result["findings"]) for result in results)
        print(f"{len(listed)} logs: {len(listed) - read} as they were, {read} read, {bad} of these with findings;"
              f" files of messages: {len(self.manifest['tables']['messages'])}")

    def listed(self, paths):
        """The logs, by Spark's own list of files, whose contents it does not read for that."""
        files = self.spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(paths)
        rows = files.select("path", "length", f.unix_micros("modificationTime")).collect()
        return [self.log(*row) for row in sorted(set(rows))]

    def log(self, uri, length, modified):
        known = self.manifest["logs"].get(uri, {})
        digest = known.get("digest") if self.is_done(known) else ""
        log = {"uri": uri, "length": length, "modified": modified, "digest": None}
        return {**log, "known": digest, "status": known.get("status")}

    def is_done(self, known):
        return known.get("status") in (0, 1) and known.get("made") == self.job.made

    def is_known(self, log):
        known = self.manifest["logs"].get(log["uri"], {})
        return self.is_done(known) and all(known[name] == log[name] for name in ("length", "modified"))

    def take(self, results):
        """Takes in what executors found: rows that are replaced go, and small parts are merged."""
        logs, tables = self.manifest["logs"], self.manifest["tables"]
        sizes, gone = self.manifest["sizes"], defaultdict(list)
        for result in results:
            known, uri = logs.get(result["uri"], {}), result["uri"]
            if result["part"]:
                sizes[result["part"]] = result["bytes"]
                gone[known.get("part")].append(uri)
            # A log that cannot be converted any more keeps its rows.
            part = result["part"] or known.get("part")
            entry = {name: result[name] for name in ("length", "modified", "digest", "status")}
            logs[uri] = {**entry, "made": self.job.made, "part": part}
        remaining = {log["part"] for log in logs.values()}
        for part in [part for part in sizes if part not in remaining]:
            del sizes[part]
        stale = {part: uris for part, uris in gone.items() if part in sizes}
        # One after the other, small parts would take the longer the more cores there are.
        with ThreadPoolExecutor(self.spark.sparkContext.defaultParallelism) as pool:
            merged = pool.map(lambda group: (group, self.merge(group, stale)), groups(sizes, stale))
        for group, (part, size) in merged:
            for log in logs.values():
                if log["part"] in group:
                    log["part"] = part
            for old in group:
                del sizes[old]
            sizes[part] = size
        for table in TABLES:
            tables[table] = self.written(table, sorted(sizes))
        self.find([result for result in results if not result["same"]])

    def merge(self, group, stale):
        """Writes parts of one day as one, without the rows that are replaced; its name and size."""
        part = f"{group[0].partition('/')[0]}/{uuid.uuid4().hex}.parquet"
        replaced = [(log_iri(uri),) for old in group for uri in stale.get(old, [])]
        replaced = f.broadcast(self.spark.createDataFrame(replaced, "log STRING"))
        for table in TABLES:
            rows = self.rows(table, [old for old in group if old not in stale])
            kept = self.rows(table, [old for old in group if old in stale])
            if kept is not None:
                kept = kept.join(replaced, f.substring_index("session_iri", "#", 1) == f.col("log"), "left_anti")
                rows = kept if rows is None else rows.unionByName(kept, allowMissingColumns=True)
            order = ["session_iri", "seq", f.expr("kind = 'LogLine'"), "batch_index", "line"]
            if rows is not None:
                self.write(rows, order if table == "messages" else ["session_iri"], f"{self.tables}/{table}/{part}")
        system, path = self.hadoop.path(f"{self.tables}/messages/{part}")
        return part, system.getFileStatus(path).getLen()

    def rows(self, table, parts):
        files = [f"{self.tables}/{name}" for name in self.written(table, parts)]
        return self.spark.read.option("mergeSchema", "true").parquet(*files) if files else None

    def written(self, table, parts):
        """The files of a table; parts that an earlier version wrote have none of latencies."""
        names = [f"{table}/{part}" for part in parts]
        return names if table != "latencies" else [name for name in names if self.hadoop.exists(f"{self.tables}/{name}")]

    def write(self, rows, order, target):
        """Writes rows as one file."""
        folder = f"{self.tables}/staging/{uuid.uuid4().hex}"
        rows.coalesce(1).sortWithinPartitions(*order).write.parquet(folder)
        (name,) = [name for name in self.hadoop.names(folder) if name.startswith("part-")]
        self.hadoop.rename(f"{folder}/{name}", target)

    def find(self, results):
        """Replaces the findings of logs that were read."""
        date, tables = datetime.fromisoformat(self.job.date).date(), self.manifest["tables"]
        told = [(r["uri"], r["digest"], r["status"], line, date) for r in results for line in r["findings"]]
        rows = self.spark.createDataFrame(told, FINDINGS)
        if tables["findings"]:
            read = self.spark.createDataFrame([(result["uri"],) for result in results], "log STRING")
            kept = self.spark.read.parquet(*[f"{self.tables}/{name}" for name in tables["findings"]])
            rows = rows.union(kept.join(read, "log", "left_anti").select(*rows.columns))
        tables["findings"] = [f"findings/{uuid.uuid4().hex}.parquet"]
        self.write(rows, ["log"], f"{self.tables}/{tables['findings'][0]}")

    def commit(self):
        """Makes the new state visible; then deletes what neither it nor the one before names."""
        staged = f"{self.tables}/staging/{uuid.uuid4().hex}.json"
        system, path = self.hadoop.path(staged)
        system.mkdirs(path.getParent())
        self.hadoop.create(staged, json.dumps(self.manifest))
        self.hadoop.rename(staged, f"{self.tables}/manifests/{self.number + 1:08}.json")
        needed = set()
        for number in self.hadoop.names(f"{self.tables}/manifests"):
            if int(number[:8]) < self.number:
                self.hadoop.delete(f"{self.tables}/manifests/{number}")
            else:
                manifest = json.loads(self.hadoop.text(f"{self.tables}/manifests/{number}"))
                needed.update(name for names in manifest["tables"].values() for name in names)
        days = [f"{table}/{day}" for table in TABLES for day in self.hadoop.names(f"{self.tables}/{table}")]
        for folder in ["findings", *days]:
            for name in self.hadoop.names(f"{self.tables}/{folder}"):
                if f"{folder}/{name}" not in needed:
                    self.hadoop.delete(f"{self.tables}/{folder}/{name}")
        self.hadoop.delete(f"{self.tables}/staging")


def newest(hadoop, tables):
    """The newest manifest and its number."""
    names = sorted(hadoop.names(f"{tables}/manifests"))
    if not names:
        return 0, {"tables": {table: [] for table in (*TABLES, "findings")}, "sizes": {}, "logs": {}}
    return int(names[-1][:8]), json.loads(hadoop.text(f"{tables}/manifests/{names[-1]}"))


def read(spark, tables, table):
    """A table as it is now."""
    context = spark.sparkContext
    _, manifest = newest(Hadoop(context._jvm, context._jsc.hadoopConfiguration()), tables)
    reader = spark.read.option("basePath", f"{tables}/{table}").option("mergeSchema", "true")
    return reader.parquet(*[f"{tables}/{name}" for name in manifest["tables"][table]])


def batched(logs, most):
    """Logs that one process converts: of one folder, since it tells them apart by their names."""
    batches, folder, size = [], None, 0
    for log in logs:
        of = log["uri"].rpartition("/")[0]
        alone = log["length"] > SMALL_LOG
        if alone or of != folder or len(batches[-1]) >= most or size + log["length"] > BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(log)
        size += log["length"]
        folder = None if alone else of
    return batches


def groups(sizes, stale):
    """Parts to be written as one: parts whose rows are replaced, and small parts if a day has many."""
    days, found = defaultdict(list), []
    for part in sorted(sizes):
        days[part.partition("/")[0]].append(part)
    for parts in days.values():
        small = [part for part in parts if sizes[part] < SMALL_PART]
        chosen, size = [], 0
        for part in [part for part in parts if part in stale or (len(small) > SMALL_PARTS and part in small)]:
            if chosen and size + sizes[part] > MERGED_PART:
                found.append(chosen)
                chosen, size = [], 0
            chosen.append(part)
            size += sizes[part]
        found += [chosen] if len(chosen) > 1 or any(part in stale for part in chosen) else []
    return found


@contextmanager
def locked(hadoop, tables):
    lock = f"{tables}/lock"
    system, path = hadoop.path(lock)
    system.mkdirs(path.getParent())
    try:
        hadoop.create(lock, f"{os.uname().nodename}, process {os.getpid()}, {datetime.now(timezone.utc):%FT%TZ}")
    except (FileExistsError, Py4JJavaError):
        if not system.exists(path):
            raise
        sys.exit(f"another job writes to {tables}: {hadoop.text(lock)}; if it does not run any more, delete {lock}")
    try:
        yield
    finally:
        hadoop.delete(lock)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="+", help="files, folders or globs")
    parser.add_argument("tables", help="the folder of the tables")
    parser.add_argument("--rpcgraph", default="rpcgraph", help="the binary, if it was not sent with --files")
    parser.add_argument("--options", default="", type=str.split, help="for rpcgraph convert: '--provenance --log-lines'")
    parser.add_argument("--timeout", type=float, help="seconds for a process; default: none")
    parser.add_argument("--verify", action="store_true", help="compare digests also where length and time are as they were")
    arguments = parser.parse_args()
    spark = SparkSession.builder.appName("rpcgraph lake").getOrCreate()
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    spark.conf.set("spark.sql.parquet.compression.codec", "zstd")
    context = spark.sparkContext
    if os.path.exists(arguments.rpcgraph):
        context.addFile(os.path.abspath(arguments.rpcgraph))
    context.addPyFile(os.path.abspath(__file__))
    hadoop = Hadoop(context._jvm, context._jsc.hadoopConfiguration())
    system, path = hadoop.path(arguments.tables)
    arguments.tables = path.makeQualified(system.getUri(), system.getWorkingDirectory()).toString()
    with locked(hadoop, arguments.tables):
        Lake(spark, arguments).update(arguments.logs)
    spark.stop()


if __name__ == "__main__":
    import lake  # Executors import the module, too.

    lake.main()

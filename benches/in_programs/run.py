#!/usr/bin/env python3
"""Compares the cost of reading a clock in real programs with the cost in context that `timermeter probe` predicts.

    benches/in_programs/run.py [--timermeter PATH] [--rounds 15] [--rows 1000000] [--json FILE] [PROGRAM...]

PostgreSQL reads a clock twice per row (EXPLAIN (ANALYZE, TIMING ON)), in QUERIES. SQLite reads it in a progress handler at every
instruction of its virtual machine, CPython in a profiling function in C at each call and return. Each program runs with the clocks in
MODES: the time stamp counter read in three ways, CLOCK_MONOTONIC, and clocks that read nothing, whose CPU time is subtracted. The program
goes on while the clock is switched. Each round runs all clocks in random order; the results are the median over the rounds and the range
of the middle half. A program that is not installed is skipped with a message. Needs Linux on x86-64 and a C compiler. CPU time is
compared within a round, so that other programs that run meanwhile disturb little.
"""
import argparse
import contextlib
import ctypes
import json
import mmap
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
MODES = ["nothing", "nothing-converted", "rdtsc", "rdtsc-lfence", "rdtscp", "monotonic"]
# The clock whose time is subtracted from that of each clock: the same code without the read. For the clock that reads nothing but converts
# a constant to seconds and nanoseconds, this gives the time of the conversion.
BASELINE = {"nothing-converted": "nothing", "rdtsc": "nothing-converted", "rdtsc-lfence": "nothing-converted",
        "rdtscp": "nothing-converted", "monotonic": "nothing"}
# Queries that scan a table t of integers i and k, without other nodes below them.
QUERIES = ["select count(*) from t", "select sum(i) from t where k <> 9 and i % 3 < 5",
        "select max(i * k + 3), min(i), avg(k) from t", "select k, count(*) from t group by k"]
# The user id and group id of nobody.
NOBODY = 65534


class Skipped(Exception):
    """The reason why a program is skipped."""


class Clock:
    """The compiled library, and the mode in which it reads."""

    def __init__(self, folder):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            raise Skipped("there is no C compiler (Debian: gcc)")
        self.path, mode = folder / "clock.so", folder / "mode"
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", str(HERE / "clock.c"), "-o", str(self.path), "-ldl"], check=True)
        self.path.chmod(0o755)
        mode.write_bytes(bytes(4))
        mode.chmod(0o644)
        with mode.open("r+b") as file:
            self.mode = mmap.mmap(file.fileno(), 4)
        os.environ["CLOCK_MODE"] = str(mode)
        self.select("monotonic")

    def select(self, mode):
        self.mode[:] = MODES.index(mode).to_bytes(4, sys.byteorder)


def cpu_time(clock, work):
    """The CPU time of the work by that clock, in nanoseconds; waiting for a CPU does not count."""
    start = clock()
    work()
    return clock() - start


class PostgreSQL:
    """A new database cluster and a session of its server."""

    def __init__(self, folder, clock, arguments):
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
        on_path = shutil.which("initdb")
        if not found and not on_path:
            raise Skipped("PostgreSQL is not installed (Debian: postgresql)")
        bin = (found[-1] if found else Path(on_path)).parent
        self.name = "PostgreSQL " + subprocess.run([bin / "postgres", "--version"], check=True, text=True,
                                                   stdout=subprocess.PIPE).stdout.split()[2]
        self.rows, cluster = arguments.rows, folder / "cluster"
        cluster.mkdir()
        as_nobody = []
        if os.getuid() == 0:  # The server does not run as root.
            os.chown(cluster, NOBODY, NOBODY)
            as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        subprocess.run([*as_nobody, bin / "initdb", "-D", cluster, "-A", "trust", "-U", "postgres", "--no-sync"], check=True,
                       stdout=subprocess.DEVNULL)
        settings = ["-c", f"unix_socket_directories={cluster}", "-c", "listen_addresses=", "-c", "shared_buffers=512MB",
                    "-c", "jit=off", "-c", "max_parallel_workers_per_gather=0", "-c", "fsync=off", "-c", "autovacuum=off",
                    "-c", "track_io_timing=off"]
        self.server = subprocess.Popen([*as_nobody, "env", f"LD_PRELOAD={clock.path}", bin / "postgres", "-D", cluster, *settings],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            if subprocess.run([bin / "pg_isready", "-q", "-h", cluster]).returncode == 0:
                break
            if self.server.poll() is not None:
                raise Skipped("its server does not start")
            time.sleep(0.1)
        psql = [bin / "psql", "-X", "-qAt", "-h", str(cluster), "-U", "postgres", "postgres"]
        self.psql = subprocess.Popen(psql, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.statistics = Path(f"/proc/{self.ask('select pg_backend_pid();')[0].strip()}/schedstat")
        self.ask(f"create unlogged table t as select i, i % 7 as k from generate_series(1, {self.rows}) i;")
        self.ask("vacuum analyze t;")
        self.runs = {query: lambda query=query: self.run(query) for query in QUERIES}

    def run(self, query):
        """The CPU time of the query per read of the clock, in nanoseconds."""
        return cpu_time(self.cpu, lambda: self.ask(f"explain (analyze, timing on) {query};")) / (2 * self.rows)

    def cpu(self):
        """The CPU time of the session so far, in nanoseconds."""
        return int(self.statistics.read_text().split()[0])

    def ask(self, query):
        self.psql.stdin.write(query + "\n\\echo done\n")
        self.psql.stdin.flush()
        lines = []
        for line in self.psql.stdout:
            if line == "done\n":
                return lines
            lines.append(line)
        raise Skipped("its session ended")

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()
        self.server.terminate()
        self.server.wait()


class Hooked:
    """A program that runs in this process and calls a hook."""

    def __init__(self, clock):
        self.hooks = ctypes.PyDLL(str(clock.path))
        self.hooks.calls_so_far.restype = ctypes.c_uint64
        self.runs = {"": self.run}

    def run(self):
        """The CPU time of the program per call of its hook, in nanoseconds."""
        before = self.hooks.calls_so_far()
        took = cpu_time(time.thread_time_ns, self.work)
        return took / max(self.hooks.calls_so_far() - before, 1)

    def close(self):
        pass


class SQLite(Hooked):
    QUERY = b"with recursive c(x) as (select 1 union all select x + 1 from c limit 400000) select sum(x * 3 % 7) from c;"

    def __init__(self, folder, clock, arguments):
        super().__init__(clock)
        try:
            self.library = ctypes.CDLL("libsqlite3.so.0")
        except OSError as error:
            raise Skipped("SQLite is not installed (Debian: libsqlite3-0)") from error
        self.library.sqlite3_libversion.restype = ctypes.c_char_p
        self.name = "SQLite " + self.library.sqlite3_libversion().decode()
        self.database = ctypes.c_void_p()
        self.library.sqlite3_open(b":memory:", ctypes.byref(self.database))

    def work(self):
        hook = ctypes.cast(self.hooks.on_progress, ctypes.c_void_p)
        self.library.sqlite3_progress_handler(self.database, 1, hook, None)
        self.library.sqlite3_exec(self.database, self.QUERY, None, None, None)


class CPython(Hooked):
    def __init__(self, folder, clock, arguments):
        super().__init__(clock)
        self.name = "CPython " + sys.version.split()[0]

    def work(self):
        def fibonacci(n):
            return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

        set_profile = ctypes.pythonapi.PyEval_SetProfile
        set_profile(ctypes.cast(self.hooks.on_profile, ctypes.c_void_p), None)
        fibonacci(23)
        set_profile(None, None)


PROGRAMS = {"postgresql": PostgreSQL, "sqlite": SQLite, "cpython": CPython}


def measure_clocks(run, clock, rounds):
    """For each clock the nanoseconds per read, minus those of its baseline in the same round: quartiles over the rounds."""
    found = {mode: [] for mode in MODES}
    run()
    for turn in range(rounds):
        for mode in random.Random(turn).sample(MODES, len(MODES)):
            clock.select(mode)
            found[mode].append(run())
    costs = {mode: [a - b for a, b in zip(found[mode], found[base])] for mode, base in BASELINE.items()}
    quartiles = lambda values: statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    return {mode: dict(zip(["low", "median", "high"], quartiles(values))) for mode, values in costs.items()}


def predict(timermeter):
    """What `timermeter probe` measures of each clock, in nanoseconds: what a read adds by kind of work, and the amortised cost."""
    if not timermeter:
        return {}
    clocks = [mode for mode in MODES if not mode.startswith("nothing")]
    command = [timermeter, "probe", "--quiet", "--format", "json", *clocks]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    figures = lambda row: {context: value["value"] for context, value in (row.get("adds_ns") or {}).items()}
    return {row["id"]: {**figures(row), "amortised": row["amortised_ns"]} for row in report["timers"]}


def print_table(name, found, predicted):
    print(f"\n{name}: cost of a read in ns, median over the rounds (middle half)")
    print(f"{'':18} {'measured':>22} {'ahead':>6} {'amortised':>9}")
    for mode, figures in found.items():
        measured = f"{figures['median']:.1f} ({figures['low']:.1f} to {figures['high']:.1f})"
        ahead, amortised = (predicted.get(mode, {}).get(key) for key in ["ahead", "amortised"])
        in_words = lambda value: "–" if value is None else f"{value:.1f}"
        print(f"{mode:18} {measured:>22} {in_words(ahead):>6} {in_words(amortised):>9}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--timermeter", help="the program that predicts the costs")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of PostgreSQL's table")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    unknown = set(arguments.programs) - set(PROGRAMS)
    if unknown:
        parser.error(f"unknown program: {', '.join(sorted(unknown))}; known are {', '.join(PROGRAMS)}")
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        print("skipped: this needs Linux on x86-64")
        return
    predicted, results = predict(arguments.timermeter), {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        folder.chmod(0o755)
        for id in arguments.programs or PROGRAMS:
            try:
                clock = Clock(folder)
                with contextlib.closing(PROGRAMS[id](folder, clock, arguments)) as program:
                    for part, run in program.runs.items():
                        name = ": ".join(filter(None, [program.name, part]))
                        results[name] = measure_clocks(run, clock, arguments.rounds)
                        print_table(name, results[name], predicted)
            except Skipped as why:
                print(f"skipped: {id}: {why}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"predicted": predicted, "programs": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()

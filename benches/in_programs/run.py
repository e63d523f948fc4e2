#!/usr/bin/env python3
"""Compares the cost of reading a clock in real programs with the cost in context that `timermeter probe` predicts.

    benches/in_programs/run.py [--timermeter PATH] [--pairs 13] [--rows 5000000] [--json FILE] [PROGRAM...]

PostgreSQL reads a clock twice per row: EXPLAIN (ANALYZE, TIMING ON) minus TIMING OFF. SQLite reads it in a progress handler at every
instruction of its virtual machine, CPython in a profiling function in C at each call and return. Each program runs with the clocks in
MODES: the time stamp counter read in three ways, CLOCK_MONOTONIC, and clocks that read nothing, whose CPU time is subtracted. Each round
runs all clocks in random order; the results are the median over the rounds and the range of the middle half. A program that is not
installed is skipped with a message. Needs Linux on x86-64 and a C compiler; no other programs should run meanwhile.
"""
import argparse
import ctypes
import json
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
# The clock whose time is subtracted from that of each clock: the same code without the read.
BASELINE = {"rdtsc": "nothing-converted", "rdtsc-lfence": "nothing-converted", "rdtscp": "nothing-converted",
        "monotonic": "nothing"}
# The user id and group id of nobody.
NOBODY = 65534


class Skipped(Exception):
    """The reason why a program is skipped."""


def build_libraries(folder):
    """Compiles a library for each mode and returns their paths by mode."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise Skipped("there is no C compiler (Debian: gcc)")
    libraries = {}
    for number, mode in enumerate(MODES):
        libraries[mode] = folder / f"{mode}.so"
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", f"-DMODE={number}", str(HERE / "clock.c"), "-o",
                        str(libraries[mode]), "-ldl"], check=True)
        libraries[mode].chmod(0o755)
    return libraries


def cpu_time(clock, work):
    """The CPU time of the work by that clock, in nanoseconds; waiting for a CPU does not count."""
    start = clock()
    work()
    return clock() - start


class PostgreSQL:
    """A new database cluster, whose server is started again with each clock."""

    def __init__(self, folder, libraries, arguments):
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
        on_path = shutil.which("initdb")
        if not found and not on_path:
            raise Skipped("PostgreSQL is not installed (Debian: postgresql)")
        self.bin = (found[-1] if found else Path(on_path)).parent
        self.name = "PostgreSQL " + subprocess.run([self.bin / "postgres", "--version"], check=True, text=True,
                                                   stdout=subprocess.PIPE).stdout.split()[2]
        self.folder, self.libraries, self.rows = folder / "cluster", libraries, arguments.rows
        self.folder.mkdir()
        os.chmod(folder, 0o755)
        if os.getuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
        self.run([self.bin / "initdb", "-D", self.folder, "-A", "trust", "-U", "postgres", "--no-sync"])
        with self.server(None) as session:
            session.ask(f"create unlogged table t as select i, i % 7 as k from generate_series(1, {self.rows}) i;")
            session.ask("vacuum analyze t;")

    def run(self, command):
        subprocess.run([*self.as_nobody(), *map(str, command)], check=True, stdout=subprocess.DEVNULL)

    def as_nobody(self):
        """The start of a command that runs as nobody if this user is root, because the server does not run as root."""
        if os.getuid() != 0:
            return []
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]

    def server(self, mode):
        return Server(self, mode)

    def measure(self, mode, pairs):
        """The nanoseconds per read that each pair of queries shows."""
        query = "explain (analyze, timing {}) select count(*) from t;"
        found = []
        with self.server(mode) as session:
            for _ in range(2):
                session.ask(query.format("on"))
            for pair in range(pairs):
                order = ["on", "off"] if pair % 2 else ["off", "on"]
                took = {timing: cpu_time(session.cpu, lambda: session.ask(query.format(timing))) for timing in order}
                found.append((took["on"] - took["off"]) / (2 * self.rows))
        return found


class Server:
    """A running server with one session."""

    def __init__(self, cluster, mode):
        self.cluster = cluster
        self.preload = {"LD_PRELOAD": str(cluster.libraries[mode])} if mode else {}

    def __enter__(self):
        c = self.cluster
        settings = ["-c", f"unix_socket_directories={c.folder}", "-c", "listen_addresses=", "-c", "shared_buffers=512MB",
                    "-c", "jit=off", "-c", "max_parallel_workers_per_gather=0", "-c", "fsync=off", "-c", "autovacuum=off",
                    "-c", "track_io_timing=off"]
        prefix = [*c.as_nobody(), "env", *[f"{key}={value}" for key, value in self.preload.items()]]
        self.server = subprocess.Popen([*prefix, c.bin / "postgres", "-D", c.folder, *settings],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ready = [c.bin / "pg_isready", "-q", "-h", c.folder]
        for _ in range(600):
            if subprocess.run(ready).returncode == 0:
                break
            if self.server.poll() is not None:
                raise Skipped("its server does not start")
            time.sleep(0.1)
        psql = [c.bin / "psql", "-X", "-qAt", "-h", str(c.folder), "-U", "postgres", "postgres"]
        self.psql = subprocess.Popen(psql, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.statistics = Path(f"/proc/{self.ask('select pg_backend_pid();')[0].strip()}/schedstat")
        return self

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

    def __exit__(self, *_):
        self.psql.stdin.close()
        self.psql.wait()
        self.server.terminate()
        self.server.wait()


class Hooked:
    """A program that runs in this process and calls a hook."""

    def __init__(self, libraries):
        self.hooks = {mode: ctypes.PyDLL(str(path)) for mode, path in libraries.items()}
        for hook in self.hooks.values():
            hook.calls_so_far.restype = ctypes.c_uint64

    def measure(self, mode, pairs):
        """The nanoseconds per call of the hook that each pair of runs, with and without the hook, shows."""
        found = []
        for pair in range(pairs):
            took = {}
            for hook in [mode, None] if pair % 2 else [None, mode]:
                before = self.hooks[mode].calls_so_far()
                took[hook] = cpu_time(time.thread_time_ns, lambda: self.work(hook))
                if hook:
                    calls = self.hooks[mode].calls_so_far() - before
            found.append((took[mode] - took[None]) / max(calls, 1))
        return found


class SQLite(Hooked):
    QUERY = b"with recursive c(x) as (select 1 union all select x + 1 from c limit 400000) select sum(x * 3 % 7) from c;"

    def __init__(self, folder, libraries, arguments):
        super().__init__(libraries)
        try:
            self.library = ctypes.CDLL("libsqlite3.so.0")
        except OSError as error:
            raise Skipped("SQLite is not installed (Debian: libsqlite3-0)") from error
        self.library.sqlite3_libversion.restype = ctypes.c_char_p
        self.name = "SQLite " + self.library.sqlite3_libversion().decode()
        self.database = ctypes.c_void_p()
        self.library.sqlite3_open(b":memory:", ctypes.byref(self.database))

    def work(self, mode):
        hook = ctypes.cast(self.hooks[mode].on_progress, ctypes.c_void_p) if mode else None
        self.library.sqlite3_progress_handler(self.database, 1 if mode else 0, hook, None)
        self.library.sqlite3_exec(self.database, self.QUERY, None, None, None)


class CPython(Hooked):
    def __init__(self, folder, libraries, arguments):
        super().__init__(libraries)
        self.name = "CPython " + sys.version.split()[0]

    def work(self, mode):
        def fibonacci(n):
            return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

        set_profile = ctypes.pythonapi.PyEval_SetProfile
        set_profile(ctypes.cast(self.hooks[mode].on_profile, ctypes.c_void_p) if mode else None, None)
        fibonacci(23)
        set_profile(None, None)


PROGRAMS = {"postgresql": PostgreSQL, "sqlite": SQLite, "cpython": CPython}


def measure_clocks(program, arguments):
    """For each clock the nanoseconds per read, minus those of its baseline in the same round: quartiles over the rounds."""
    found = {mode: [] for mode in MODES}
    for turn in range(arguments.rounds):
        order = random.Random(turn).sample(MODES, len(MODES))
        for mode in order:
            found[mode].append(statistics.median(program.measure(mode, arguments.pairs)))
    costs = {mode: [a - b for a, b in zip(found[mode], found[base])] for mode, base in BASELINE.items()}
    quartiles = lambda values: statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    return {mode: dict(zip(["low", "median", "high"], quartiles(values))) for mode, values in costs.items()}


def predict(timermeter):
    """The cost of a read in each context that `timermeter probe` measures, in nanoseconds, by clock."""
    if not timermeter:
        return {}
    command = [timermeter, "probe", "--quiet", "--format", "json", *BASELINE]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    adds = {row["id"]: row.get("adds_ns") or {} for row in report["timers"]}
    return {mode: {context: value["value"] for context, value in adds.get(mode, {}).items()} for mode in BASELINE}


def print_table(name, found, adds):
    print(f"\n{name}: cost of a read in ns, median over the rounds (middle half)")
    print(f"{'':14} {'measured':>22} {'predicted (ahead)':>18} {'ratio':>6}")
    for mode, figures in found.items():
        predicted = adds.get(mode, {}).get("ahead")
        ratio = f"{predicted / figures['median']:.2f}" if predicted and figures["median"] > 0 else "–"
        measured = f"{figures['median']:.1f} ({figures['low']:.1f} to {figures['high']:.1f})"
        print(f"{mode:14} {measured:>22} {f'{predicted:.1f}' if predicted else '–':>18} {ratio:>6}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--timermeter", help="the program that predicts the costs")
    parser.add_argument("--pairs", type=int, default=13, help="pairs of measurements per clock and round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows of PostgreSQL's table")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    unknown = set(arguments.programs) - set(PROGRAMS)
    if unknown:
        parser.error(f"unknown program: {', '.join(sorted(unknown))}; known are {', '.join(PROGRAMS)}")
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        print("skipped: this needs Linux on x86-64")
        return
    adds, results = predict(arguments.timermeter), {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for id in arguments.programs or PROGRAMS:
            try:
                program = PROGRAMS[id](folder, build_libraries(folder), arguments)
                results[program.name] = measure_clocks(program, arguments)
                print_table(program.name, results[program.name], adds)
            except Skipped as why:
                print(f"skipped: {id}: {why}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"predicted": adds, "programs": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()

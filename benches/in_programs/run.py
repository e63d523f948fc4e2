#!/usr/bin/env python3
"""What a read of a clock costs inside real programs, beside what `timermeter probe` says that it adds.

    benches/in_programs/run.py [--timermeter PATH] [--pairs 13] [--rows 5000000] [--json FILE] [PROGRAM...]

PostgreSQL: EXPLAIN (ANALYZE, TIMING ON) less TIMING OFF, two reads a row. SQLite: a progress handler at every instruction of its
machine. CPython: the profiling function of each call and return, in C. Each with the clock replaced by one that reads nothing, and
by the counter in three ways; what the clock that reads nothing takes is taken off. All by the CPU time that they use. All are tried in turn, in rounds; told are the
median and the range of the middle half. What is not installed is skipped, aloud. Needs Linux on x86-64, a C compiler, and to be quiet.
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
# What is taken off each: the same without a read.
BASE = {"rdtsc": "nothing-converted", "rdtsc-lfence": "nothing-converted", "rdtscp": "nothing-converted",
        "monotonic": "nothing"}
NOBODY = 65534


class Skipped(Exception):
    """Why a program is not tried."""


def built(folder):
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


def used(clock, what):
    """CPU time that it takes by that clock, in nanoseconds: who waits for a CPU uses none."""
    begin = clock()
    what()
    return clock() - begin


class PostgreSQL:
    """A cluster of its own, whose server is started anew with each clock."""

    def __init__(self, folder, libraries, arguments):
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
        named = shutil.which("initdb")
        if not found and not named:
            raise Skipped("PostgreSQL is not installed (Debian: postgresql)")
        self.bin = (found[-1] if found else Path(named)).parent
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
        subprocess.run([*self.user(), *map(str, command)], check=True, stdout=subprocess.DEVNULL)

    def user(self):
        # The server refuses to be root.
        if os.getuid() != 0:
            return []
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]

    def server(self, mode):
        return Server(self, mode)

    def measure(self, mode, pairs):
        """Nanoseconds a read, of each pair."""
        query = "explain (analyze, timing {}) select count(*) from t;"
        found = []
        with self.server(mode) as session:
            for _ in range(2):
                session.ask(query.format("on"))
            for pair in range(pairs):
                order = ["on", "off"] if pair % 2 else ["off", "on"]
                took = {timing: used(session.cpu, lambda: session.ask(query.format(timing))) for timing in order}
                found.append((took["on"] - took["off"]) / (2 * self.rows))
        return found


class Server:
    """A server and one session of it."""

    def __init__(self, cluster, mode):
        self.cluster = cluster
        self.preload = {"LD_PRELOAD": str(cluster.libraries[mode])} if mode else {}

    def __enter__(self):
        c = self.cluster
        settings = ["-c", f"unix_socket_directories={c.folder}", "-c", "listen_addresses=", "-c", "shared_buffers=512MB",
                    "-c", "jit=off", "-c", "max_parallel_workers_per_gather=0", "-c", "fsync=off", "-c", "autovacuum=off",
                    "-c", "track_io_timing=off"]
        words = [*c.user(), "env", *[f"{key}={value}" for key, value in self.preload.items()]]
        self.server = subprocess.Popen([*words, c.bin / "postgres", "-D", c.folder, *settings],
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
        return int(self.statistics.read_text().split()[0])

    def ask(self, query):
        self.psql.stdin.write(query + "\n\\echo done\n")
        self.psql.stdin.flush()
        said = []
        for line in self.psql.stdout:
            if line == "done\n":
                return said
            said.append(line)
        raise Skipped("its session ended")

    def __exit__(self, *_):
        self.psql.stdin.close()
        self.psql.wait()
        self.server.terminate()
        self.server.wait()


class Hooked:
    """A program that calls a hook, in this process."""

    def __init__(self, libraries):
        self.hooks = {mode: ctypes.PyDLL(str(path)) for mode, path in libraries.items()}
        for hook in self.hooks.values():
            hook.calls_so_far.restype = ctypes.c_uint64

    def measure(self, mode, pairs):
        """Nanoseconds a call of the hook, beside the same without one."""
        found = []
        for pair in range(pairs):
            both = {}
            for which in [mode, None] if pair % 2 else [None, mode]:
                before = self.hooks[mode].calls_so_far()
                both[which] = used(time.thread_time_ns, lambda: self.work(which))
                if which:
                    calls = self.hooks[mode].calls_so_far() - before
            found.append((both[mode] - both[None]) / max(calls, 1))
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


def tried(program, arguments):
    """For each clock its figures less those of the clock that reads nothing, round by round."""
    found = {mode: [] for mode in MODES}
    for turn in range(arguments.rounds):
        order = random.Random(turn).sample(MODES, len(MODES))
        for mode in order:
            found[mode].append(statistics.median(program.measure(mode, arguments.pairs)))
    less = {mode: [a - b for a, b in zip(found[mode], found[base])] for mode, base in BASE.items()}
    quarter = lambda values: statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    return {mode: dict(zip(["low", "median", "high"], quarter(values))) for mode, values in less.items()}


def predicted(timermeter):
    """What a read adds to code that the core runs far ahead in."""
    if not timermeter:
        return {}
    command = [timermeter, "probe", "--quiet", "--format", "json", *BASE]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    adds = {row["id"]: row.get("adds_ns") or {} for row in report["timers"]}
    return {mode: {kind: value["value"] for kind, value in adds.get(mode, {}).items()} for mode in BASE}


def table(name, found, adds):
    print(f"\n{name}: ns that a read takes there, median of rounds (middle half)")
    print(f"{'':14} {'measured':>22} {'predicted (ahead)':>18} {'ratio':>6}")
    for mode, figures in found.items():
        says = adds.get(mode, {}).get("ahead")
        ratio = f"{says / figures['median']:.2f}" if says and figures["median"] > 0 else "–"
        middle = f"{figures['median']:.1f} ({figures['low']:.1f} to {figures['high']:.1f})"
        print(f"{mode:14} {middle:>22} {f'{says:.1f}' if says else '–':>18} {ratio:>6}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--timermeter", help="the program whose prediction is tried")
    parser.add_argument("--pairs", type=int, default=13, help="pairs a clock and round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows of PostgreSQL's table")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    unknown = set(arguments.programs) - set(PROGRAMS)
    if unknown:
        parser.error(f"there is no program {', '.join(sorted(unknown))}; there are {', '.join(PROGRAMS)}")
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        print("skipped: this needs Linux on x86-64")
        return
    adds, results = predicted(arguments.timermeter), {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for id in arguments.programs or PROGRAMS:
            try:
                program = PROGRAMS[id](folder, built(folder), arguments)
                results[program.name] = tried(program, arguments)
                table(program.name, results[program.name], adds)
            except Skipped as why:
                print(f"skipped: {id}: {why}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"predicted": adds, "programs": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()

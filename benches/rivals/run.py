#!/usr/bin/env python3
"""What other programs say of CLOCK_MONOTONIC on this machine, beside what `timermeter probe` says, and how long each took.

    benches/rivals/run.py --timermeter target/release/timermeter [--clockperf PATH] [--vdsotest PATH] [--jmh CLASSPATH] [--rounds 3]

Prints a table in Markdown. A program that is not here is said aloud and left out. The programs are asked in turn, round by round, while nothing
else should run; each figure is the median over rounds, with the least and the most. `clockperf` is https://github.com/tycho/clockperf,
`vdsotest` https://github.com/nlynch-mentor/vdsotest, both built by hand; JMH (https://github.com/openjdk/jmh) too:
CLASSPATH has its core, what that needs, and `NanoTimerBench` of its jmh-core-benchmarks. google/benchmark is compiled here against its library.
"""

import argparse
import csv
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def first(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise ValueError(f"no {pattern!r} in what it said")
    return float(found.group(1))


def timermeter(program):
    report = json.loads(output(program, "probe", "--quiet", "--format", "json"))
    row = next(row for row in report["timers"] if row["id"] == "monotonic")
    clocks = sum(1 for row in report["timers"] if row["status"] == "ok")
    return row["cost_ns"]["value"], row["resolution_ns"]["value"], clocks


def clockperf(program):
    said = output(program)
    rows = re.findall(r"^(\w+)\s+[\d.]+\s+[\d.]+%", said, re.MULTILINE)
    # It prints no resolution where each read differs from the one before.
    step = re.search(r"^monotonic\s+\S+\s+\S+%\s+(\S+)", said, re.MULTILINE).group(1).replace("----", "–")
    return first(r"^monotonic\s+([\d.]+)\s+[\d.]+%", said), step, len(rows)


def vdsotest(program):
    return first(r"vdso: (\d+) nsec", output(program, "clock-gettime-monotonic", "bench")), None, 1


def pg_test_timing(program):
    said = output(program, "-d", "3")
    # Its histogram begins at a microsecond, or, since version 19, tells the smallest difference that it saw.
    return first(r"(?:Per loop time including overhead|Average loop time including overhead): ([\d.]+) ns", said), None, 1


def google_benchmark(folder):
    program = Path(folder) / "google_benchmark"
    output("g++", "-O2", str(HERE / "google_benchmark.cc"), "-o", str(program), "-lbenchmark", "-lpthread")

    def ask():
        said = json.loads(output(str(program), "--benchmark_format=json"))
        return said["benchmarks"][0]["real_time"], None, 1

    return ask


def jmh(classpath, folder):
    """Its own benchmark of System.nanoTime(), which is CLOCK_MONOTONIC: a call, and what it calls granularity."""
    said = Path(folder) / "jmh.csv"
    output("java", "-cp", classpath, "org.openjdk.jmh.Main", "NanoTimerBench", "-f", "1", "-rf", "csv", "-rff", str(said))
    rows = csv.DictReader(said.read_text().splitlines())
    scores = {row["Benchmark"].rpartition(".")[2]: float(row["Score"]) for row in rows}
    return scores["latency"], scores["granularity"], 1


def granularity(folder):
    """What harnesses call granularity, JMH among them: reads until the value changes, and the mean of how far it moved."""
    program = Path(folder) / "granularity"
    output("cc", "-O2", "-o", str(program), str(HERE / "granularity.c"))
    return lambda: (None, float(output(str(program))), 1)


def pyperf(program):
    code = "clock = __import__('time').clock_gettime_ns; which = __import__('time').CLOCK_MONOTONIC"
    command = [program, "-m", "pyperf", "timeit", "--quiet", "--fast", "-s", code, "clock(which)"]
    found = re.search(r"([\d.]+) (ns|us)", output(*command))
    return float(found.group(1)) * (1 if found.group(2) == "ns" else 1e3), None, 1


def contenders(arguments, folder):
    def found(name, path, ask):
        program = path or shutil.which(name)
        if program is None:
            print(f"skipped: {name} is not here", file=sys.stderr)
            return {}
        return {name: lambda: ask(program)}

    rivals = found("timermeter", arguments.timermeter, timermeter)
    rivals |= found("clockperf", arguments.clockperf, clockperf)
    rivals |= found("vdsotest", arguments.vdsotest, vdsotest)
    rivals |= found("pg_test_timing", arguments.pg_test_timing, pg_test_timing)
    if arguments.jmh:
        rivals["JMH"] = lambda: jmh(arguments.jmh, folder)
    else:
        print("skipped: JMH is not here", file=sys.stderr)
    for name, prepared in [("google/benchmark", google_benchmark), ("granularity", granularity)]:
        try:
            rivals[name] = prepared(folder)
        except (subprocess.CalledProcessError, FileNotFoundError) as why:
            print(f"skipped: {name} cannot be compiled: {why}", file=sys.stderr)
    try:
        output(sys.executable, "-c", "import pyperf")
        rivals["pyperf"] = lambda: pyperf(sys.executable)
    except subprocess.CalledProcessError:
        print("skipped: pyperf is not here", file=sys.stderr)
    return rivals


def told(values, digits=3):
    values = [value for value in values if value is not None]
    if not values:
        return "–"
    if any(isinstance(value, str) for value in values):
        return values[0]
    middle = statistics.median(values)
    return f"{middle:.{digits}g} ({min(values):.{digits}g}–{max(values):.{digits}g})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--timermeter", default="target/release/timermeter")
    parser.add_argument("--clockperf")
    parser.add_argument("--vdsotest")
    parser.add_argument("--pg-test-timing")
    parser.add_argument("--jmh")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rivals = contenders(arguments, folder)
        seen = {name: [] for name in rivals}
        for _ in range(arguments.rounds):
            for name, ask in rivals.items():
                began = time.monotonic()
                try:
                    cost, step, clocks = ask()
                except (subprocess.CalledProcessError, ValueError) as why:
                    print(f"skipped: {name}: {why}", file=sys.stderr)
                    continue
                seen[name].append((cost, step, (time.monotonic() - began) / clocks))
    print("| program | a read costs, ns | it moves in, ns | seconds a clock |\n|---|--:|--:|--:|")
    for name, rows in seen.items():
        if rows:
            cost, step, took = zip(*rows)
            print(f"| {name} | {told(cost, 4)} | {told(step)} | {told(took, 2)} |")


if __name__ == "__main__":
    main()

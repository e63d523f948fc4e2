#!/usr/bin/env python3
"""Compares the results of `timermeter probe` for CLOCK_MONOTONIC with those of other programs on this machine, and how long each takes.

    benches/rivals/run.py --timermeter target/release/timermeter [--clockperf PATH] [--vdsotest PATH] [--jmh CLASSPATH] [--rounds 3]

Prints a table in Markdown. A program that is not installed is skipped with a message. Each round runs all programs; no other programs should
run meanwhile. Each result is the median over the rounds, with the smallest and the largest value. Build these by hand: `clockperf`
(https://github.com/tycho/clockperf), `vdsotest` (https://github.com/nlynch-mentor/vdsotest) and JMH (https://github.com/openjdk/jmh), whose
CLASSPATH needs jmh-core, its dependencies, and `NanoTimerBench` of jmh-core-benchmarks. For google/benchmark, this script compiles a program.

Each function that measures returns the cost of a read in ns, the resolution in ns, and how many clocks the program measured.
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


def run(*command):
    """Runs a command and returns what it prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def find_number(pattern, text):
    """The number that the first group of the pattern matches in the text."""
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise ValueError(f"its output does not contain {pattern!r}")
    return float(found.group(1))


def timermeter(program):
    report = json.loads(run(program, "probe", "--quiet", "--format", "json"))
    row = next(row for row in report["timers"] if row["id"] == "monotonic")
    clocks = sum(1 for row in report["timers"] if row["status"] == "ok")
    return row["cost_ns"]["value"], row["resolution_ns"]["value"], clocks


def clockperf(program):
    text = run(program)
    rows = re.findall(r"^(\w+)\s+[\d.]+\s+[\d.]+%", text, re.MULTILINE)
    # It prints ---- instead of a resolution if each read differs from the one before.
    step = re.search(r"^monotonic\s+\S+\s+\S+%\s+(\S+)", text, re.MULTILINE).group(1).replace("----", "–")
    return find_number(r"^monotonic\s+([\d.]+)\s+[\d.]+%", text), step, len(rows)


def vdsotest(program):
    return find_number(r"vdso: (\d+) nsec", run(program, "clock-gettime-monotonic", "bench")), None, 1


def pg_test_timing(program):
    text = run(program, "-d", "3")
    # Its histogram is no resolution: it begins at 1 µs, or since version 19 at the smallest observed difference.
    return find_number(r"(?:Per loop time including overhead|Average loop time including overhead): ([\d.]+) ns", text), None, 1


def google_benchmark(folder):
    program = Path(folder) / "google_benchmark"
    run("g++", "-O2", str(HERE / "google_benchmark.cc"), "-o", str(program), "-lbenchmark", "-lpthread")

    def measure():
        results = json.loads(run(str(program), "--benchmark_format=json"))
        return results["benchmarks"][0]["real_time"], None, 1

    return measure


def jmh(classpath, folder):
    """Runs the benchmarks of JMH for System.nanoTime(), which reads CLOCK_MONOTONIC: latency and granularity."""
    csv_file = Path(folder) / "jmh.csv"
    run("java", "-cp", classpath, "org.openjdk.jmh.Main", "NanoTimerBench", "-f", "1", "-rf", "csv", "-rff", str(csv_file))
    rows = csv.DictReader(csv_file.read_text().splitlines())
    scores = {row["Benchmark"].rpartition(".")[2]: float(row["Score"]) for row in rows}
    return scores["latency"], scores["granularity"], 1


def granularity(folder):
    """Measures what JMH and others call granularity: the mean difference between successive different readings."""
    program = Path(folder) / "granularity"
    run("cc", "-O2", "-o", str(program), str(HERE / "granularity.c"))
    return lambda: (None, float(run(str(program))), 1)


def pyperf(program):
    setup = "clock = __import__('time').clock_gettime_ns; which = __import__('time').CLOCK_MONOTONIC"
    command = [program, "-m", "pyperf", "timeit", "--quiet", "--fast", "-s", setup, "clock(which)"]
    found = re.search(r"([\d.]+) (ns|us)", run(*command))
    return float(found.group(1)) * (1 if found.group(2) == "ns" else 1e3), None, 1


def available_programs(arguments, folder):
    """For each program that can run, by name, a function that measures with it."""
    def find(name, path, measure):
        program = path or shutil.which(name)
        if program is None:
            print(f"skipped: {name} is not installed", file=sys.stderr)
            return {}
        return {name: lambda: measure(program)}

    programs = find("timermeter", arguments.timermeter, timermeter)
    programs |= find("clockperf", arguments.clockperf, clockperf)
    programs |= find("vdsotest", arguments.vdsotest, vdsotest)
    programs |= find("pg_test_timing", arguments.pg_test_timing, pg_test_timing)
    if arguments.jmh:
        programs["JMH"] = lambda: jmh(arguments.jmh, folder)
    else:
        print("skipped: --jmh is not given", file=sys.stderr)
    for name, prepare in [("google/benchmark", google_benchmark), ("granularity", granularity)]:
        try:
            programs[name] = prepare(folder)
        except (subprocess.CalledProcessError, FileNotFoundError) as why:
            print(f"skipped: {name} cannot be compiled: {why}", file=sys.stderr)
    try:
        run(sys.executable, "-c", "import pyperf")
        programs["pyperf"] = lambda: pyperf(sys.executable)
    except subprocess.CalledProcessError:
        print("skipped: pyperf is not installed", file=sys.stderr)
    return programs


def summarise(values, digits=3):
    """Formats the median of the values with their range."""
    values = [value for value in values if value is not None]
    if not values:
        return "–"
    if any(isinstance(value, str) for value in values):
        return values[0]
    median = statistics.median(values)
    return f"{median:.{digits}g} ({min(values):.{digits}g}–{max(values):.{digits}g})"


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
        programs = available_programs(arguments, folder)
        results = {name: [] for name in programs}
        for _ in range(arguments.rounds):
            for name, measure in programs.items():
                start = time.monotonic()
                try:
                    cost, step, clocks = measure()
                except (subprocess.CalledProcessError, ValueError) as why:
                    print(f"skipped: {name}: {why}", file=sys.stderr)
                    continue
                results[name].append((cost, step, (time.monotonic() - start) / clocks))
    print("| program | cost of a read, ns | resolution, ns | seconds per clock |\n|---|--:|--:|--:|")
    for name, rows in results.items():
        if rows:
            cost, step, seconds = zip(*rows)
            print(f"| {name} | {summarise(cost, 4)} | {summarise(step)} | {summarise(seconds, 2)} |")


if __name__ == "__main__":
    main()

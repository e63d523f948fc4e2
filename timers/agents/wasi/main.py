"""Runs the loops of agent.wat by wasmtime, in words: each line of standard input is a question, each line of standard output its answer."""
import random
import struct
import sys
from importlib.metadata import version

from wasmtime import Engine, Linker, Module, Store, WasiConfig

engine = Engine()
store = Store(engine)
store.set_wasi(WasiConfig())
linker = Linker(engine)
linker.define_wasi()
with open(sys.argv[1], encoding="utf-8") as source:
    instance = linker.instantiate(store, Module(engine, source.read()))
exports = instance.exports(store)
memory = exports["memory"]
IDS = [
    # each clock:
    "«id»",
    # end each
]


def run(name, *amounts):
    return exports[name](store, *amounts)


def told(count, start=1024):
    return struct.unpack(f"<{count}q", memory.read(store, start, start + 8 * count))


def now():
    return run("read0")


def compute(ns):
    end = now() + ns
    while now() < end:
        pass


def sleep(ns):
    end = now() + ns
    if ns > 200e3:
        run("wait0", int(ns - 200e3))
    compute(end - now())


def advance(which, during, ms):
    clock = f"read{which}"
    # The first reads of both find cold caches.
    now(), run(clock)
    start_reference, start = now(), run(clock)
    if during == 0:
        compute(ms * 1e6)
    else:
        run("wait0", ms * 1000000)
    end_reference, end = now(), run(clock)
    return [end - start, end_reference - start_reference]


def waits(which, late, most, repeat, *lengths):
    all_told = []
    for turn in range(repeat * len(lengths)):
        ns = lengths[turn % len(lengths)]
        sleep(random.random() * most)
        run(f"wait{which}", ns)
        before, after = told(2)
        all_told += [before, after]
        if late >= 0 and after - before > ns + late:
            break
    return all_told


def periods(which, period, count, *stalls):
    all_told = []
    for at in range(count):
        run(f"wait{which}", period)
        all_told.append(now())
        if at in stalls:
            compute(3.5 * period)
    return all_told


def answer(op, which, *amounts):
    if op == "intervals":
        all_told = []
        for work in amounts[1:]:
            run(f"intervals{which}", work, amounts[0])
            all_told += told(amounts[0])
        return all_told
    if op == "batches":
        run(f"batches{which}", amounts[0], amounts[1])
        return told(amounts[1])
    if op == "readings":
        run(f"readings{which}", amounts[0])
        return told(amounts[0])
    if op == "comparisons":
        run(f"comparisons{which}", amounts[0], amounts[1])
        return told(3 * amounts[1])
    others = {"advance": advance, "waits": waits, "periods": periods}
    if op in others:
        return others[op](which, *amounts)
    raise ValueError("this agent does not know that")


def hello():
    said = ["WASI of wasmtime", f"{version('wasmtime')}, by Python {sys.version.split()[0]}"]
    for at, name in enumerate(IDS):
        clock = run(f"id{at}")
        if clock < 0:
            continue
        try:
            error = run("error", clock)
            why = f"clock_time_get fails with error {error} of WASI"
        except Exception as trap:  # What a host traps at it cannot do.
            error, why = 1, str(trap).strip().splitlines()[-1].strip()
        if error:
            said.append(f"{name}!{why}")
        elif run("resolution", clock) == 0:
            said.append(f"{name}={told(1, 0)[0]}")
    return "\t".join(said)


for line in sys.stdin:
    words = line.split()
    try:
        if words[:1] == ["hello"]:
            text = hello()
        else:
            text = " ".join(map(str, answer(words[0], *map(int, words[1:]))))
    except Exception as why:  # Whatever it is, the next question is answered.
        text = "!" + " ".join(str(why).split())
    print(text, flush=True)

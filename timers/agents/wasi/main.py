"""Runs the loops of agent.wat by wasmtime over the agent protocol, version 1."""
import json
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
WAITERS = [
    # each waiter:
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
        all_told += [turn % len(lengths), before, after, -1, -1]
        if late >= 0 and after - before > ns + late:
            break
    return all_told


def periods(which, period, count, *stalls):
    all_told = []
    for at in range(count):
        run(f"wait{which}", period)
        all_told += [now(), 1]
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
        run(f"comparisons{which}", amounts[0], amounts[1] * amounts[2])
        return told(3 * amounts[1] * amounts[2])
    others = {"advance": advance, "waits": waits, "periods": periods}
    if op in others:
        return others[op](which, *amounts)
    raise ValueError("this agent does not know that")


def hello():
    timers, unavailable = [], []
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
            unavailable.append({"id": name, "reason": why})
        elif run("resolution", clock) == 0:
            timers.append({"id": name, "resolution_ns": told(1, 0)[0]})
    runtime = {"name": "WASI of wasmtime", "version": f"{version('wasmtime')}, by Python {sys.version.split()[0]}"}
    return {"protocol": 1, "runtime": runtime, "timers": timers, "unavailable": unavailable, "ops": []}


def reply(asked):
    op = asked.pop("op")
    if op == "hello":
        return hello()
    timer = asked.pop("timer", None) or asked.pop("timers")[0]
    if asked.pop("reference", IDS[0]) != IDS[0]:
        raise ValueError("this agent times by one clock only")
    if "during" in asked:
        asked = {"during": {"spin": 0, "sleep": 1}[asked.pop("during")], **asked}
    amounts = []
    for value in asked.values():
        amounts += value if isinstance(value, list) else [value]
    which = (WAITERS if op in ("waits", "periods") else IDS).index(timer)
    return {"values": list(answer(op, which, *amounts))}


for line in sys.stdin:
    try:
        text = json.dumps(reply(json.loads(line)))
    except Exception as why:  # Whatever it is, the next question is answered.
        text = json.dumps({"error": repr(why)})
    print(text, flush=True)

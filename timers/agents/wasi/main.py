"""Answers questions about the clocks of WASI in the agent protocol, version 1, by the loops of agent.wat in wasmtime."""
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


def stored(count, start=1024):
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
    # The first read of each clock is dropped, because it finds cold caches.
    now(), run(clock)
    start_reference, start = now(), run(clock)
    if during == 0:
        compute(ms * 1e6)
    else:
        run("wait0", ms * 1000000)
    end_reference, end = now(), run(clock)
    return [end - start, end_reference - start_reference]


def waits(which, late, most, repeat, *lengths):
    values = []
    for turn in range(repeat * len(lengths)):
        ns = lengths[turn % len(lengths)]
        sleep(random.random() * most)
        run(f"wait{which}", ns)
        before, after = stored(2)
        values += [turn % len(lengths), before, after, -1, -1]
        if late >= 0 and after - before > ns + late:
            break
    return values


def periods(which, period, count, *stalls):
    values = []
    for at in range(count):
        run(f"wait{which}", period)
        values += [now(), 1]
        if at in stalls:
            compute(3.5 * period)
    return values


def answer(op, which, *amounts):
    if op == "intervals":
        values = []
        for work in amounts[1:]:
            run(f"intervals{which}", work, amounts[0])
            values += stored(amounts[0])
        return values
    if op == "batches":
        run(f"batches{which}", amounts[0], amounts[1])
        return stored(amounts[1])
    if op == "readings":
        run(f"readings{which}", amounts[0])
        return stored(amounts[0])
    if op == "comparisons":
        run(f"comparisons{which}", amounts[0], amounts[1] * amounts[2])
        return stored(3 * amounts[1] * amounts[2])
    others = {"advance": advance, "waits": waits, "periods": periods}
    if op in others:
        return others[op](which, *amounts)
    raise ValueError("this agent does not know the question")


def hello():
    timers, unavailable = [], []
    for at, name in enumerate(IDS):
        clock = run(f"id{at}")
        if clock < 0:
            continue
        try:
            error = run("error", clock)
            why = f"clock_time_get fails with error {error} of WASI"
        except Exception as trap:  # The host has no such clock.
            error, why = 1, str(trap).strip().splitlines()[-1].strip()
        if error:
            unavailable.append({"id": name, "reason": why})
        elif run("resolution", clock) == 0:
            timers.append({"id": name, "resolution_ns": stored(1, 0)[0]})
    runtime = {"name": "WASI of wasmtime", "version": f"{version('wasmtime')}, by Python {sys.version.split()[0]}"}
    return {"protocol": 1, "runtime": runtime, "timers": timers, "unavailable": unavailable, "ops": []}


def reply(asked):
    op = asked.pop("op")
    if op == "hello":
        return hello()
    timer = asked.pop("timer", None) or asked.pop("timers")[0]
    if asked.pop("reference", IDS[0]) != IDS[0]:
        raise ValueError("this agent has one reference only")
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
    except Exception as why:  # After any error the next question is answered.
        text = json.dumps({"error": repr(why)})
    print(text, flush=True)

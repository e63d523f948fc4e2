"""An agent whose clocks the processor of a device reads, and one that a CPU reads. The first argument lists what the device
declares: `cycles`, `hertz`, `places`; and the faults of its cycles: `long-ticks`, `random-cycles`."""
import json, random, sys, time

DECLARED = {"cycles": "cycles", "hertz": 2e9, "places": 5}
GIVEN = sys.argv[1].split(",")
CLOCKS = {"global": lambda: time.perf_counter_ns() // 32 * 32, "cycles": lambda: 2 * time.perf_counter_ns(),
          "event": time.perf_counter_ns, "null": lambda: 0}
if "random-cycles" in GIVEN:
    CLOCKS["cycles"] = lambda: random.getrandbits(63)
TICKS = {"null": None, "cycles": 1e12 if "long-ticks" in GIVEN else None}

def between(read, call, times):
    first, _ = read(), [call() for _ in range(times)]
    return read() - first

def compare(reference, timer):
    return [CLOCKS[reference](), CLOCKS[timer](), CLOCKS[reference]()]

def advance(timer, reference, ms):
    first = [CLOCKS[timer](), CLOCKS[reference]()]
    time.sleep(ms / 1e3)
    return [CLOCKS[timer]() - first[0], CLOCKS[reference]() - first[1]]

def hand_over(timer, cpus, count):
    if timer == "event" or any(place >= DECLARED["places"] for pair in cpus for place in pair):
        raise ValueError("no such place")
    return [CLOCKS[timer]() for _ in range(2 * count * max(1, len(cpus)))]

def answer(op, timer=None, reference=None, timers=(), repeat=1, **q):
    if op == "hello":
        device = {"name": "Test 5000", **{key: DECLARED[key] for key in GIVEN if key in DECLARED}}
        clocks = [{"id": id, "label": id, "ns_per_tick": TICKS.get(id, 1.0), "counts": "wall",
                   "family": "cpu-counter" if id == "cycles" else "system-clock", "reference": id == "global",
                   "host": id == "event"} for id in CLOCKS]
        return {"protocol": 1, "runtime": {"name": "gpu", "version": "1"}, "device": device, "timers": clocks,
                "ops": ["intervals", "batches", "readings", "handoffs", "comparisons", "advance"]}
    values = {"readings": lambda: [CLOCKS[timer]() for _ in range(q["count"])],
              "intervals": lambda: [between(CLOCKS[timer], int, work) for work in q["work"] for _ in range(repeat)],
              "batches": lambda: [between(CLOCKS[reference], CLOCKS[timer], q["calls"]) for _ in range(repeat)],
              "handoffs": lambda: hand_over(timer, q["cpus"], q["count"]),
              "comparisons": lambda: [value for _ in range(q["count"] * repeat) for value in compare(reference, timers[0])],
              "advance": lambda: advance(timers[0], reference, q["ms"])}
    return {"values": values[op]()}

for line in sys.stdin:
    try:
        reply = answer(**json.loads(line))
    except Exception as error:
        reply = {"error": repr(error)}
    print(json.dumps(reply), flush=True)

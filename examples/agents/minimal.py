"""A complete agent: offers two clocks and a sleep primitive of Python to timermeter over version 1 of the agent protocol.

timermeter probe --agent 'python3 examples/agents/minimal.py' 'cpython:*'
"""
import json, platform, sys, time

CLOCKS = {"perf_counter_ns": time.perf_counter_ns, "time_ns": time.time_ns, "null": lambda: 0}
WAITERS = {"sleep": time.sleep}

def interval(read, work):
    first = read()
    state = 1
    for _ in range(work):
        state = state * 5 & 255
    return read() - first

def batch(read, reference, calls):
    first = reference()
    for _ in range(calls):
        read()
    return reference() - first

def wait(sleep, reference, index, length_ns):
    cpu = time.thread_time_ns()
    first = reference()
    sleep(length_ns / 1e9)
    return [index, first, reference(), time.thread_time_ns() - cpu, -1]

def hello():
    runtime = {"name": platform.python_implementation(), "version": platform.python_version()}
    timers = [{"id": name, "label": f"time.{name}()", "ns_per_tick": None if name == "null" else 1.0,
               "reference": name == "perf_counter_ns"} for name in CLOCKS]
    waiters = [{"id": name, "label": f"time.{name}(s)", "ops": ["waits"]} for name in WAITERS]
    ops = ["intervals", "batches", "readings", "waits"]
    return {"protocol": 1, "runtime": runtime, "timers": timers, "ops": ops, "waiters": waiters}

def answer(request):
    if request["op"] == "hello":
        return hello()
    if request["op"] == "waits":
        sleep, reference = WAITERS[request["timer"]], CLOCKS[request["reference"]]
        waits = [wait(sleep, reference, index, length_ns)
                 for _ in range(request["repeat"]) for index, length_ns in enumerate(request["request_ns"])]
        return {"values": [value for values in waits for value in values]}
    read = CLOCKS[request["timer"]]
    if request["op"] == "readings":
        return {"values": [read() for _ in range(request["count"])]}
    repeat = range(request["repeat"])
    if request["op"] == "intervals":
        return {"values": [interval(read, work) for work in request["work"] for _ in repeat]}
    if request["op"] == "batches":
        return {"values": [batch(read, CLOCKS[request["reference"]], request["calls"]) for _ in repeat]}
    raise ValueError("unknown request: " + request["op"])

for line in sys.stdin:
    try:
        reply = answer(json.loads(line))
    except Exception as error:
        reply = {"error": repr(error)}
    print(json.dumps(reply), flush=True)

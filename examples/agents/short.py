"""A clock of one's own in Python: timermeter probe --agent 'python3 examples/agents/short.py' 'python:*'"""
import json, sys, time
CLOCKS = {"perf_counter_ns": (time.perf_counter_ns, 1.0), "my_clock": (lambda: int(time.time() * 1000), 1e6), "null": (lambda: 0, None)}
TIMERS = [{"id": id, "label": id, "ns_per_tick": ns, "reference": id == "perf_counter_ns"} for id, (_, ns) in CLOCKS.items()]
HELLO = {"protocol": 1, "runtime": {"name": "Python", "version": "3"}, "timers": TIMERS, "ops": ["intervals", "batches", "readings"]}
def between(read, call, times):
    first, _ = read(), [call() for _ in range(times)]
    return read() - first
ANSWERS = {"readings": lambda timer, count: [CLOCKS[timer][0]() for _ in range(count)],
           "intervals": lambda timer, repeat, work: [between(CLOCKS[timer][0], int, w) for w in work for _ in range(repeat)],
           "batches": lambda timer, reference, calls, repeat: [between(CLOCKS[reference][0], CLOCKS[timer][0], calls) for _ in range(repeat)]}
for line in sys.stdin:
    try: q = json.loads(line); op = q.pop("op"); reply = HELLO if op == "hello" else {"values": ANSWERS[op](**q)}
    except Exception as error: reply = {"error": repr(error)}
    print(json.dumps(reply), flush=True)

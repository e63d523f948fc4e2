"""An agent that tells the truth but for one thing that cannot be, which is named by its argument."""
import json, sys, time

LIE = sys.argv[1]
WRAP = (1 << 28) - 1


def clock():
    now = time.monotonic_ns()
    return now & WRAP if LIE == "wraps" else now


def spin(amount):
    for _ in range(amount):
        pass


def interval(amount):
    start = clock()
    spin(amount)
    return clock() - start


def batch(calls):
    if LIE == "cheap":
        # A nanosecond a call, and what stands around them.
        return calls + 200 + time.monotonic_ns() % 3
    start = clock()
    for _ in range(calls):
        clock()
    return clock() - start


def compare(work):
    spin(work)
    return [clock(), clock(), clock()]


def wait(length):
    cpu, first = time.thread_time_ns(), clock()
    time.sleep(length / 1e9)
    last, cpu = clock(), time.thread_time_ns() - cpu
    last = {"ends-first": first - 100_000}.get(LIE, last)
    cpu = {"no-cpu": -5, "much-cpu": 10**12, "more-cpu": 10**7 + 20 * (last - first)}.get(LIE, cpu)
    return [first, last, cpu, -1]


def flat(rows):
    return [value for row in rows for value in row]


def wakeups(period, count, stalls):
    if LIE == "alike":
        now = clock()
        return [[now, 1]] * count
    told = []
    for number in range(count):
        time.sleep(period / 1e9 * (4.5 if number in stalls else 1))
        told.append([clock(), 1])
    if LIE == "backwards" and count > 20:
        told.reverse()
    if LIE == "missed":
        told[-1][1] = 2**63 - 1
    return told


def answer(request):
    op = request["op"]
    if op == "hello":
        timers = [{"id": "clock", "label": "clock()", "ns_per_tick": 1.0, "reference": True}]
        waiters = [{"id": "sleep", "label": "sleep(s)", "ops": ["waits", "periods"]}]
        return {"protocol": 1, "runtime": {"name": "odd", "version": "1"}, "timers": timers, "waiters": waiters,
                "ops": ["intervals", "batches", "readings", "comparisons", "waits", "periods"]}
    if op == "waits":
        return {"values": flat([at, *wait(length)] for _ in range(request["repeat"]) for at, length in enumerate(request["request_ns"]))}
    if op == "periods":
        return {"values": flat(wakeups(request["period_ns"], request["count"], request["stalls"]))}
    if op == "intervals":
        return {"values": [interval(amount) for amount in request["work"] for _ in range(request["repeat"])]}
    if op == "batches":
        return {"values": [batch(request["calls"]) for _ in range(request["repeat"])]}
    if op == "comparisons":
        return {"values": flat(compare(request["work"]) for _ in range(request["count"] * request["repeat"]))}
    return {"values": [clock() for _ in range(request["count"])]}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)

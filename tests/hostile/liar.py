"""An agent that gives correct answers except for one, which its argument selects."""
import json, sys, time

LIE = sys.argv[1]
WRAP = (1 << 28) - 1
UNIT = {"too-short": 1e-3, "too-long": 1e9, "double": 2.0}.get(LIE, 1.0)
AHEAD = 0
LAST = 0


def clock():
    now = time.monotonic_ns() + AHEAD
    return now & WRAP if LIE == "wraps" else now


def grown():
    """A clock whose value grows by at least 0.1 ms with each call."""
    global LAST
    LAST = max(clock(), LAST + 100_000)
    return LAST


READ = clock


def spin(amount):
    for _ in range(amount):
        pass


def interval(amount):
    start = READ()
    spin(amount)
    return READ() - start


def batch(calls):
    start = clock()
    for _ in range(calls):
        READ()
    return clock() - start


def compare(work):
    spin(work)
    return [clock(), clock(), clock()]


def wait(length):
    global AHEAD
    first = clock()
    time.sleep(length / 1e9)
    AHEAD = 5_000_000 - AHEAD if LIE == "jumps" else 0
    return [first, first - 100_000 if LIE == "ends-first" else clock(), -1, -1]


def wakeups(period, count):
    times = []
    for _ in range(count):
        time.sleep(period / 1e9)
        times.append([clock(), 1])
    return times[::-1] if LIE == "backwards" and count > 20 else times


def flat(rows):
    return [value for row in rows for value in row]


def answer(request):
    global READ
    op = request["op"]
    READ = grown if request.get("timer") == "grown" else clock
    if op == "hello":
        many = 100_000 if LIE == "crowd" else 0
        timers = [{"id": "clock", "label": "clock()", "ns_per_tick": UNIT, "reference": True}]
        timers += [{"id": "grown", "label": "", "ns_per_tick": 1.0}] if LIE == "grows" else []
        timers += [{"id": f"t{number}", "label": "", "ns_per_tick": 1.0} for number in range(many)]
        waiters = [{"id": "sleep", "label": "sleep(s)", "ops": ["waits", "periods"]}]
        return {"protocol": 1, "runtime": {"name": "liar", "version": "1"}, "timers": timers, "waiters": waiters,
                "ops": ["intervals", "batches", "readings", "comparisons", "waits", "periods"]}
    if op == "waits":
        return {"values": flat([at, *wait(length)] for _ in range(request["repeat"]) for at, length in enumerate(request["request_ns"]))}
    if op == "periods":
        return {"values": flat(wakeups(request["period_ns"], request["count"]))}
    if op == "intervals":
        return {"values": [interval(amount) for amount in request["work"] for _ in range(request["repeat"])]}
    if op == "batches":
        return {"values": [batch(request["calls"]) for _ in range(request["repeat"])]}
    if op == "comparisons":
        return {"values": flat(compare(request["work"]) for _ in range(request["count"] * request["repeat"]))}
    return {"values": [READ() for _ in range(request["count"])]}


for line in sys.stdin:
    request = json.loads(line)
    if LIE == "endless" and request["op"] == "intervals":
        sys.stdout.write('{"values":[')
        while True:
            sys.stdout.write("1," * 10_000)
    print(json.dumps(answer(request)), flush=True)

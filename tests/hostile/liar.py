"""An agent that tells the truth but for one lie, which is named by its argument."""
import json, sys, time

LIE = sys.argv[1]
clock = time.monotonic_ns
UNIT = {"too-short": 1e-3, "too-long": 1e9, "double": 2.0}.get(LIE, 1.0)
SIGN = -1 if LIE == "backwards" else 1


def spin(amount):
    for _ in range(amount):
        pass


def interval(amount):
    start = clock()
    spin(amount)
    return SIGN * (clock() - start)


def batch(calls):
    start = clock()
    for _ in range(calls):
        clock()
    return SIGN * (clock() - start)


def answer(request):
    op = request["op"]
    if op == "hello":
        many = 100_000 if LIE == "crowd" else 0
        timers = [{"id": "clock", "label": "clock()", "ns_per_tick": UNIT, "reference": True}]
        timers += [{"id": f"t{number}", "label": "", "ns_per_tick": 1.0} for number in range(many)]
        return {"protocol": 1, "runtime": {"name": "liar", "version": "1"}, "timers": timers,
                "ops": ["intervals", "batches", "readings"]}
    if op == "intervals":
        return {"values": [interval(amount) for amount in request["work"] for _ in range(request["repeat"])]}
    if op == "batches":
        return {"values": [batch(request["calls"]) for _ in range(request["repeat"])]}
    return {"values": [SIGN * clock() for _ in range(request["count"])]}


def endless(op, unit):
    out = sys.stdout
    out.write('{"' + op + '":[')
    while True:
        out.write(unit * 10_000)


for line in sys.stdin:
    request = json.loads(line)
    if LIE == "endless" and request["op"] == "intervals":
        endless("values", "1,")
    if LIE == "wordy" and request["op"] == "intervals":
        endless("disturbed", '"gc",')
    print(json.dumps(answer(request)), flush=True)

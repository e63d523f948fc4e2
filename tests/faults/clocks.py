"""An agent with clocks that count virtual time and have one fault each. It reads no real clock. The arguments are questions that the
agent does not offer."""
import json, os, random, sys

# Nanoseconds per unit of work, and of a handover from one thread to another.
WORK_NS, HANDOVER_NS = 2.0, 90.0
FAULTS = ["sound", "backstep", "behind", "drift", "freeze"]

class World:
    now, reads = 1e12, 0
    random = random.Random(1)

    def cost(self, fault):
        return 40.0 if fault == "reference" else 60.0

    def read(self, fault, cpu=None):
        """Returns the value of a clock in the middle of its call."""
        self.now += self.cost(fault) / 2 + self.random.random()
        value = self.now
        if fault == "backstep":
            self.reads += 1
            # One of 100 000 readings is 5 µs too low.
            value -= 5_000.0 if self.reads % 100_000 == 0 else 0.0
        elif fault == "behind":
            if cpu is None:
                # The campaign may have pinned this process to one CPU.
                allowed = os.sched_getaffinity(0)
                cpu = min(allowed) if len(allowed) == 1 else 0
            value -= 500.0 if cpu == last_cpu else 0.0
        elif fault == "drift":
            value *= 1.05
        elif fault == "freeze":
            # The clock stands still during the first 20 of each 25 ms.
            phase = self.now % 25e6
            value -= phase if phase < 20e6 else 0.0
        self.now += self.cost(fault) / 2
        return int(value)

    def work(self, amount):
        self.now += WORK_NS * amount + 3.0 * self.random.random()

cpus = sorted(os.sched_getaffinity(0))
try:
    with open("/sys/devices/system/cpu/online") as online:
        last_cpu = int(online.read().strip().replace(",", "-").split("-")[-1])
except OSError:
    last_cpu = max(cpus)
world = World()

def hello(_):
    timers = [{"id": fault, "label": f"a clock with the fault: {fault}", "ns_per_tick": 1.0, "reference": False,
               "counts": "wall"} for fault in FAULTS]
    timers.append({"id": "reference", "label": "a sound clock", "ns_per_tick": 1.0, "reference": True})
    timers.append({"id": "null", "label": "nothing", "ns_per_tick": None, "reference": False})
    ops = ["intervals", "batches", "readings", "handoffs", "comparisons", "advance"]
    return {"protocol": 1, "runtime": {"name": "faulty", "version": "1"}, "timers": timers, "ops": ops}

def read(timer, cpu=None):
    return 0 if timer == "null" else world.read(timer, cpu)

def interval(timer, work):
    first = read(timer)
    world.work(work)
    return read(timer) - first

def batch(timer, reference, calls):
    first = read(reference)
    for _ in range(calls):
        read(timer)
        world.now += 0.4
    return read(reference) - first

def handoff(timer, pair, number):
    giver, taker = pair if number % 2 == 0 else pair[::-1]
    first = read(timer, giver)
    world.now += HANDOVER_NS + 20.0 * world.random.random()
    return [first, read(timer, taker)]

def compare(timer, reference, work):
    triple = [read(reference), read(timer), read(reference)]
    world.work(work)
    return triple

def advance(request):
    [id] = request["timers"]
    timer, reference = read(id), read(request["reference"])
    world.now += request["ms"] * 1e6
    return {"values": [read(id) - timer, read(request["reference"]) - reference]}

def flat(rows):
    return {"values": [value for row in rows for value in row]}

def answer(request):
    op, timer = request["op"], request.get("timer") or request.get("timers", [None])[0]
    repeat = range(request.get("repeat", 0))
    count = range(request.get("count", 0))
    if op == "hello":
        return hello(request)
    if timer not in FAULTS + ["reference", "null"]:
        raise ValueError(f"no such timer: {timer}")
    if op == "intervals":
        return flat([interval(timer, work) for _ in repeat] for work in request["work"])
    if op == "batches":
        return {"values": [batch(timer, request["reference"], request["calls"]) for _ in repeat]}
    if op == "readings":
        return {"values": [read(timer) for _ in count]}
    if op == "handoffs":
        pairs = request["cpus"] or [[cpus[0], cpus[-1]]]
        return flat(handoff(timer, pair, number) for pair in pairs for number in count)
    if op == "comparisons":
        return flat(compare(timer, request["reference"], request["work"]) for _ in range(len(count) * len(repeat)))
    if op == "advance":
        return advance(request)
    raise ValueError(f"no such question: {op}")

for line in sys.stdin:
    try:
        reply = answer(json.loads(line))
    except Exception as error:
        reply = {"error": repr(error)}
    print(json.dumps(reply), flush=True)

"""The clocks of Python over the agent protocol, version 1.

Arguments are ids of clocks that will be asked for: their loops are warm before the first answer.
"""
import gc
import json
import math
import os
import platform
import sys
import threading
import time
from datetime import datetime
from itertools import repeat

# An isolated interpreter does not look beside the script.
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import waits
MOST_VALUES = 1_000_000
OPS = ["intervals", "batches", "readings", "handoffs", "comparisons", "advance", "waits", "periods"]
REFERENCE = "perf_counter_ns"
FLOOR = "null"

# The loops, written out for each pair of a clock and a reference: the interpreter adapts each place of its code to the
# one function that is called there. CALL is the call, or nothing at all for the floor. Values are kept as they come
# and become integers afterwards.
LOOPS = """
def intervals(amount, first, second, call=call):
    state = 1
    for at in range(len(first)):
        turns = repeat(None, amount)
        first[at] = CALL
        for _ in turns:
            state = state * 5 & 255
        second[at] = CALL

def batches(calls, first, second, call=call, reference=reference):
    for at in range(len(first)):
        turns = repeat(None, calls)
        first[at] = reference()
        for _ in turns:
            CALL
        second[at] = reference()

def readings(first, call=call):
    for at in range(len(first)):
        first[at] = CALL

def comparisons(amount, before, first, after, call=call, reference=reference):
    state = 1
    for at in range(len(first)):
        before[at] = reference()
        first[at] = CALL
        after[at] = reference()
        for _ in repeat(None, amount):
            state = state * 5 & 255
"""


def whole(reading):
    return reading


def on_linux(**declared):
    """What lies beneath is known of Linux."""
    return declared if sys.platform == "linux" else {}


WALL = {"family": "system-clock", "counts": "wall", "needs_fence": False}
STEADY = {**WALL, "settable": False, **on_linux(slewed=True, runs_in_suspend=False)}
CALENDAR = {**WALL, "settable": True, **on_linux(slewed=True, runs_in_suspend=True)}
CPU_TIME = {"family": "cpu-time", "settable": False, "needs_fence": False,
            **on_linux(slewed=False, runs_in_suspend=False, reads_by="system-call")}
PROCESS, THREAD = {**CPU_TIME, "counts": "process-cpu"}, {**CPU_TIME, "counts": "thread-cpu"}


class Clock:
    """A clock: its call, how what it returns becomes ticks, and what it is by its documentation."""

    def __init__(self, call, label, ns_per_tick, ticks=whole, declared=CALENDAR):
        self.call, self.label, self.ns_per_tick, self.ticks = call, label, ns_per_tick, ticks
        self.declared = declared


def of_floats(name, declared):
    """A clock that returns seconds as a float. What it says is carried exactly: as nanoseconds where the float is the
    one nearest to a whole number of them, which can be had back from it; else in steps of its mantissa."""
    call = getattr(time, name)
    digits = 53 - math.frexp(call())[1]

    def nanoseconds(reading):
        ticks = round(reading * 1e9)
        if ticks / 1e9 != reading:
            raise ValueError(f"{reading!r} s is no whole number of nanoseconds")
        return ticks

    def steps(reading):
        ticks = reading * 2.0**digits
        if not ticks.is_integer() or abs(ticks) >= 2**63:
            raise ValueError(f"{reading!r} s is no whole number of steps of 2^-{digits} s")
        return int(ticks)

    try:
        if 2.0**-digits < 0.5e-9:
            for _ in range(100):
                nanoseconds(call())
            return Clock(call, f"time.{name}()", 1.0, nanoseconds, declared)
    except ValueError:
        pass
    return Clock(call, f"time.{name}()", 1e9 / 2.0**digits, steps, declared)


def of_integers(name, declared):
    return Clock(getattr(time, name), f"time.{name}()", 1.0, whole, declared)


def of_dates():
    start = datetime(1970, 1, 1)

    def microseconds(reading):
        passed = reading - start
        return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds

    return Clock(datetime.now, "datetime.now()", 1e3, microseconds)


DECLARED = {"time": CALENDAR, "perf_counter": STEADY, "monotonic": STEADY, "process_time": PROCESS, "thread_time": THREAD}
OPENERS = {REFERENCE: lambda: of_integers(REFERENCE, STEADY)}
for _name, _declared in DECLARED.items():
    OPENERS[_name] = lambda name=_name, declared=_declared: of_floats(name, declared)
    OPENERS.setdefault(_name + "_ns", lambda name=_name + "_ns", declared=_declared: of_integers(name, declared))
OPENERS["datetime.now"] = of_dates
OPENERS[FLOOR] = lambda: Clock(None, "reads nothing", None, declared={})

opened, loops, collections = {}, {}, [0]
served, waiters = list(OPENERS), list(waits.WAITERS)


def count_collection(phase, _info):
    collections[0] += phase == "start"


gc.callbacks.append(count_collection)


def clock(name):
    if name not in OPENERS:
        raise ValueError(f"there is no timer `{name}` here")
    if name not in opened:
        opened[name] = OPENERS[name]()
    return opened[name]


def pair(name, reference=REFERENCE):
    """The loops of a clock and a reference, warm."""
    if (name, reference) not in loops:
        call = clock(name).call
        made = {"repeat": repeat, "call": call, "reference": clock(reference).call}
        exec(LOOPS.replace("CALL", "0" if call is None else "call()"), made)
        for turn in range(20):
            few = [0] * 100
            made["batches"](turn % 5, few, few)
            made["intervals"](turn % 5, few, few)
            made["readings"](few)
        loops[name, reference] = made
    return loops[name, reference]


def measure(loop, arguments):
    """Runs the loop with each of these arguments, and tells when garbage was collected meanwhile."""
    before = collections[0]
    for these in arguments:
        loop(*these)
    return {} if collections[0] == before else {"disturbed": ["gc"]}


def differences(ticks, first, second):
    return [ticks(end) - ticks(start) for start, end in zip(first, second)]


def fitting(readings):
    if any(abs(reading) >= 2**63 for reading in readings):
        raise ValueError("a reading does not fit 63 bits")
    return readings


def handoffs(asked, count):
    """Two threads take turns: one reads and hands over, the other one reads. The roles alternate."""
    if asked.declared is THREAD or asked.call is None:
        raise ValueError(f"readings of {asked.label} by two threads cannot be compared")
    places, turn = [0] * (2 * count), [0]

    def take(thread):
        for at in range(len(places)):
            if (at + 1) // 2 % 2 == thread:
                while turn[0] != at:
                    time.sleep(0)
                places[at] = asked.call()
                turn[0] = at + 1

    other = threading.Thread(target=take, args=(1,))
    other.start()
    take(0)
    other.join()
    return {"values": fitting([asked.ticks(reading) for reading in places])}


def spin(is_over):
    while not is_over():
        pass


def advance(asked, timed_by, during, ms):
    over = threading.Event()
    other = threading.Thread(target=spin, args=(over.is_set,))
    if during not in ("spin", "sleep", "other-spin"):
        raise ValueError(f"`{during}` is none of spin, sleep, other-spin")
    if during == "other-spin":
        other.start()
    # The first reads of both find cold caches.
    timed_by.call(), asked.call()
    start_reference, start = timed_by.call(), asked.call()
    if during == "spin":
        end_of_spin = time.perf_counter_ns() + ms * 1_000_000
        spin(lambda: time.perf_counter_ns() >= end_of_spin)
    else:
        time.sleep(ms / 1e3)
    end_reference, end = timed_by.call(), asked.call()
    over.set()
    if during == "other-spin":
        other.join()
    return {"values": [asked.ticks(end) - asked.ticks(start), timed_by.ticks(end_reference) - timed_by.ticks(start_reference)]}


def resolution(name):
    """What Python itself says of a clock."""
    name = name[: -len("_ns")] if name.endswith("_ns") else name
    return {"resolution_ns": time.get_clock_info(name).resolution * 1e9} if name in DECLARED else {}


def hello(protocol):
    if protocol != 1:
        raise ValueError(f"this agent speaks protocol 1, not {protocol}")
    timers, missing = [], []
    for name in served:
        try:
            shown = clock(name)
        except Exception as why:
            missing.append({"id": name, "label": f"time.{name}()", "reason": words(why)})
            continue
        timers.append({"id": name, "label": shown.label, "ns_per_tick": shown.ns_per_tick,
                       "reference": name == REFERENCE, **shown.declared, **resolution(name)})
    runtime = {"name": platform.python_implementation(), "version": platform.python_version()}
    return {"protocol": 1, "runtime": runtime, "timers": timers, "unavailable": missing, "ops": OPS,
            "waiters": [waits.hello(name) for name in waiters]}


def amount(number):
    if type(number) is not int or not 0 <= number < 2**63:
        raise ValueError(f"{number!r} is no amount")
    return number


def only(names):
    if len(names) != 1:
        raise ValueError("this agent answers for one timer at once")
    return names[0]


def affordable(values):
    if values > MOST_VALUES:
        raise ValueError(f"{values} values are too many for one answer: at most {MOST_VALUES}")
    return values


def answer(request):
    op = request["op"]
    if op == "hello":
        return hello(request["protocol"])
    if op not in OPS:
        raise ValueError(f"this agent does not know `{op}`")
    name = only(request["timers"]) if op in ("comparisons", "advance") else request["timer"]
    if op == "waits":
        lengths, count = [amount(length) for length in request["request_ns"]], amount(request["repeat"])
        affordable(5 * len(lengths) * count)
        return waits.waits(name, clock(request["reference"]), lengths, count, amount(request["pause_ns"]), request["break_ns"])
    if op == "periods":
        count, stalls = affordable(amount(request["count"])), [amount(at) for at in request["stalls"]]
        return waits.periods(name, clock(request["reference"]), amount(request["period_ns"]), count, stalls)
    asked = clock(name)
    if op == "intervals":
        work, count = [amount(units) for units in request["work"]], amount(request["repeat"])
        affordable(len(work) * count)
        # Lists are made before and after, so that a collection they cause falls between the loops.
        rows = [(units, [0] * count, [0] * count) for units in work]
        disturbed = measure(pair(name)["intervals"], rows)
        return {"values": [d for _, first, second in rows for d in differences(asked.ticks, first, second)], **disturbed}
    if op == "batches":
        count = affordable(amount(request["repeat"]))
        first, second = [0] * count, [0] * count
        timed_by = clock(request["reference"])
        batches = pair(name, request["reference"])["batches"]
        disturbed = measure(batches, [(amount(request["calls"]), first, second)])
        return {"values": differences(timed_by.ticks, first, second), **disturbed}
    if op == "readings":
        first = [0] * affordable(amount(request["count"]))
        disturbed = measure(pair(name)["readings"], [(first,)])
        return {"values": fitting([asked.ticks(reading) for reading in first]), **disturbed}
    if op == "handoffs":
        if request["cpus"]:
            raise ValueError("Python chooses no CPUs for its threads")
        return handoffs(asked, affordable(amount(request["count"])))
    timed_by = clock(request["reference"])
    if op == "comparisons":
        count = amount(request["count"]) * amount(request["repeat"])
        affordable(3 * count)
        before, first, after = [0] * count, [0] * count, [0] * count
        pair(name, request["reference"])["comparisons"](amount(request["work"]), before, first, after)
        rows = zip(map(timed_by.ticks, before), map(asked.ticks, first), map(timed_by.ticks, after))
        return {"values": fitting([reading for row in rows for reading in row])}
    return advance(asked, timed_by, request["during"], amount(request["ms"]))


def words(why):
    if isinstance(why, KeyError):
        return f"the request has no `{why.args[0]}`"
    return str(why) if type(why) is ValueError else repr(why)


def main(names):
    asked_to_wait = [name for name in names if name in waits.WAITERS]
    names = [name for name in names if name not in asked_to_wait]
    for name in asked_to_wait:
        waits.loop(name)
    for name in names:
        for wanted in (name, FLOOR):
            try:
                pair(wanted)
            except Exception:
                pass  # Who asks for it will hear why.
    if names or asked_to_wait:
        served[:] = dict.fromkeys([*names, REFERENCE, FLOOR])
        waiters[:] = dict.fromkeys([*asked_to_wait, waits.FLOOR])
    for line in sys.stdin.buffer:
        try:
            reply = answer(json.loads(line))
        except Exception as why:
            reply = {"error": words(why)}
        sys.stdout.write(json.dumps(reply, separators=(",", ":")) + "\n")
        sys.stdout.flush()


main(sys.argv[1:])

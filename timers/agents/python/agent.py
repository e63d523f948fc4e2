"""Answers questions about the clocks of Python in the agent protocol, version 1 (docs/agents.md).

The arguments are ids of clocks; their loops are warmed up before the first answer.
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

# An isolated interpreter does not search the folder of the script for modules.
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import waits
MAX_VALUES = 1_000_000
OPS = ["intervals", "batches", "readings", "handoffs", "comparisons", "advance", "waits", "periods"]
REFERENCE = "perf_counter_ns"
FLOOR = "null"

# The loops, compiled for each pair of a clock and a reference, because the interpreter specialises each instruction for
# the function that it calls. CALL is replaced by the call, or by 0 for the clock that reads nothing. The results of calls
# are stored unchanged and converted to integers after the loop.
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


def unchanged(reading):
    return reading


def on_linux(**declared):
    """Properties of the clocks of Linux; none on other systems."""
    return declared if sys.platform == "linux" else {}


WALL = {"family": "system-clock", "counts": "wall", "needs_fence": False}
STEADY = {**WALL, "settable": False, **on_linux(slewed=True, runs_in_suspend=False)}
CALENDAR = {**WALL, "settable": True, **on_linux(slewed=True, runs_in_suspend=True)}
CPU_TIME = {"family": "cpu-time", "settable": False, "needs_fence": False,
            **on_linux(slewed=False, runs_in_suspend=False, reads_by="system-call")}
PROCESS, THREAD = {**CPU_TIME, "counts": "process-cpu"}, {**CPU_TIME, "counts": "thread-cpu"}


class Clock:
    """A clock: its call, the conversion of a reading to ticks, and its documented properties."""

    def __init__(self, call, label, ns_per_tick, ticks=unchanged, declared=CALENDAR):
        self.call, self.label, self.ns_per_tick, self.ticks = call, label, ns_per_tick, ticks
        self.declared = declared


def of_floats(name, declared):
    """A clock that returns seconds as a float. The ticks are exact: nanoseconds if each reading is the float nearest to
    a whole number of nanoseconds, otherwise steps of the mantissa."""
    call = getattr(time, name)
    digits = 53 - math.frexp(call())[1]

    def nanoseconds(reading):
        ticks = round(reading * 1e9)
        if ticks / 1e9 != reading:
            raise ValueError(f"{reading!r} s is not a whole number of nanoseconds")
        return ticks

    def steps(reading):
        ticks = reading * 2.0**digits
        if not ticks.is_integer() or abs(ticks) >= 2**63:
            raise ValueError(f"{reading!r} s is not a whole number of steps of 2^-{digits} s")
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
    return Clock(getattr(time, name), f"time.{name}()", 1.0, unchanged, declared)


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


def warm_loops(name, reference=REFERENCE):
    """The loops of a clock and a reference, warmed up."""
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
    """Runs the loop with each element of `arguments`. The answer says whether garbage was collected meanwhile."""
    before = collections[0]
    for row in arguments:
        loop(*row)
    return {} if collections[0] == before else {"disturbed": ["gc"]}


def differences(ticks, first, second):
    return [ticks(end) - ticks(start) for start, end in zip(first, second)]


def check_range(readings):
    if any(abs(reading) >= 2**63 for reading in readings):
        raise ValueError("a reading does not fit 63 bits")
    return readings


def handoffs(asked, count):
    """Two threads read in turn: one reads and hands over, then the other reads. The roles alternate."""
    if asked.declared is THREAD or asked.call is None:
        raise ValueError(f"readings of {asked.label} by two threads cannot be compared")
    readings, turn = [0] * (2 * count), [0]

    def take(thread):
        for at in range(len(readings)):
            if (at + 1) // 2 % 2 == thread:
                while turn[0] != at:
                    time.sleep(0)
                readings[at] = asked.call()
                turn[0] = at + 1

    other = threading.Thread(target=take, args=(1,))
    other.start()
    take(0)
    other.join()
    return {"values": check_range([asked.ticks(reading) for reading in readings])}


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
    # The first read of each clock is dropped, because it finds cold caches.
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
    """The resolution that Python declares for a clock."""
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


def check_amount(number):
    if type(number) is not int or not 0 <= number < 2**63:
        raise ValueError(f"{number!r} is not a non-negative integer of 63 bits")
    return number


def only_name(names):
    if len(names) != 1:
        raise ValueError("this agent answers for one timer per question")
    return names[0]


def check_count(values):
    if values > MAX_VALUES:
        raise ValueError(f"{values} values do not fit one answer, which has at most {MAX_VALUES}")
    return values


def answer(request):
    op = request["op"]
    if op == "hello":
        return hello(request["protocol"])
    if op not in OPS:
        raise ValueError(f"this agent does not know `{op}`")
    name = only_name(request["timers"]) if op in ("comparisons", "advance") else request["timer"]
    if op == "waits":
        lengths, count = [check_amount(length) for length in request["request_ns"]], check_amount(request["repeat"])
        check_count(5 * len(lengths) * count)
        return waits.waits(name, clock(request["reference"]), lengths, count, check_amount(request["pause_ns"]))
    if op == "periods":
        count = check_count(check_amount(request["count"]))
        return waits.periods(name, clock(request["reference"]), check_amount(request["period_ns"]), count)
    asked = clock(name)
    if op == "intervals":
        work, count = [check_amount(units) for units in request["work"]], check_amount(request["repeat"])
        check_count(len(work) * count)
        # Lists are created before and after the loops, so that garbage collections that they cause are not measured.
        rows = [(units, [0] * count, [0] * count) for units in work]
        disturbed = measure(warm_loops(name)["intervals"], rows)
        return {"values": [d for _, first, second in rows for d in differences(asked.ticks, first, second)], **disturbed}
    if op == "batches":
        count = check_count(check_amount(request["repeat"]))
        first, second = [0] * count, [0] * count
        timed_by = clock(request["reference"])
        batches = warm_loops(name, request["reference"])["batches"]
        disturbed = measure(batches, [(check_amount(request["calls"]), first, second)])
        return {"values": differences(timed_by.ticks, first, second), **disturbed}
    if op == "readings":
        first = [0] * check_count(check_amount(request["count"]))
        disturbed = measure(warm_loops(name)["readings"], [(first,)])
        return {"values": check_range([asked.ticks(reading) for reading in first]), **disturbed}
    if op == "handoffs":
        if request["cpus"]:
            raise ValueError("Python cannot choose the CPUs of its threads")
        return handoffs(asked, check_count(check_amount(request["count"])))
    timed_by = clock(request["reference"])
    if op == "comparisons":
        count = check_amount(request["count"]) * check_amount(request["repeat"])
        check_count(3 * count)
        before, first, after = [0] * count, [0] * count, [0] * count
        warm_loops(name, request["reference"])["comparisons"](check_amount(request["work"]), before, first, after)
        rows = zip(map(timed_by.ticks, before), map(asked.ticks, first), map(timed_by.ticks, after))
        return {"values": check_range([reading for row in rows for reading in row])}
    return advance(asked, timed_by, request["during"], check_amount(request["ms"]))


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
                warm_loops(wanted)
            except Exception:
                pass  # A request for this timer reports the reason.
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

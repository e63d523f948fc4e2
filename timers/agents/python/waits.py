"""The sleep primitives and periodic timers of Python."""
import sys
import time

# The loops around a wait, written out for each. All are coroutines, so that one text serves: a wait that blocks, blocks the event
# loop as well.
LOOPS = """
from random import random

async def waits(lengths, kept, pause_ns, is_late, reference, cpu_time):
    for length in lengths:
        pause(random() * pause_ns)
        seconds = length / 1e9
        cpu = cpu_time()
        before = reference()
        WAIT
        after = reference()
        kept.append((before, after, cpu_time() - cpu))
        if is_late(before, after, length):
            return

async def periods(period_ns, count, stalls, reference):
    seconds, wakeups = period_ns / 1e9, []
    for at in range(count):
        WAIT
        wakeups.append(reference())
        if at in stalls:
            compute(3.5 * period_ns)
    return wakeups
"""
# What is around a wait.
FLOOR = "nothing"
# By id: the call, what has to be there before, and the wait. Python has no periodic timers, so that loops of these stand for them.
WAITERS = {
    "time.sleep": ("time.sleep(s)", "import time", "time.sleep(seconds)"),
    "Event.wait": ("threading.Event.wait(s)", "import threading; event = threading.Event()", "event.wait(seconds)"),
    "asyncio.sleep": ("asyncio.sleep(s)", "import asyncio", "await asyncio.sleep(seconds)"),
    FLOOR: ("waits for nothing", "", "pass"),
}
# The kernel's timer slack is known of Linux.
DECLARED = {"means": "blocks", **({"slack": True} if sys.platform == "linux" else {})}
# The end of a pause.
COMPUTED_NS = 200_000
LONGEST_NS = 3_600 * 10**9
loops = {}


def compute(ns):
    end = time.perf_counter_ns() + ns
    while time.perf_counter_ns() < end:
        pass


def pause(ns):
    """Sleeps, but for the end, as sleeping ends late."""
    end = time.perf_counter_ns() + ns
    if ns > COMPUTED_NS:
        time.sleep((ns - COMPUTED_NS) / 1e9)
    compute(end - time.perf_counter_ns())


def loop(name):
    """The loops of a timer, warm."""
    if name not in WAITERS:
        raise ValueError(f"there is no timer `{name}` that waits here")
    if name not in loops:
        _, prepare, wait = WAITERS[name]
        loops[name] = {"pause": pause, "compute": compute}
        exec(prepare + LOOPS.replace("WAIT", wait), loops[name])
        run(loops[name]["waits"]([0, 1] * 10, [], 0, lambda *_: False, time.perf_counter_ns, time.perf_counter_ns))
    return loops[name]


def cpu_clock():
    """The clock that tells the CPU time of this thread, unless its steps are as long as a wait."""
    fine = hasattr(time, "thread_time_ns") and time.get_clock_info("thread_time").resolution < 1e-5
    return time.thread_time_ns if fine else None


def waits(name, reference, lengths, count, pause_ns, break_ns):
    soon((sum(lengths) + len(lengths) * pause_ns) * count)
    cpu, kept = cpu_clock(), []

    def is_late(before, after, length):
        if break_ns < 0 or reference.ns_per_tick is None:
            return False
        return (reference.ticks(after) - reference.ticks(before)) * reference.ns_per_tick > length + break_ns

    run(loop(name)["waits"](lengths * count, kept, pause_ns, is_late, reference.call, cpu or reference.call))
    values = []
    for turn, (before, after, used) in enumerate(kept):
        values += [turn % len(lengths), reference.ticks(before), reference.ticks(after), used if cpu else -1, -1]
    return {"values": values}


def periods(name, reference, period_ns, count, stalls):
    if name == FLOOR:
        raise ValueError("what waits for nothing has no period")
    if period_ns == 0:
        raise ValueError("a period of 0 is none")
    soon(period_ns * (count + 4 * len(stalls)))
    wakeups = run(loop(name)["periods"](period_ns, count, set(stalls), reference.call))
    return {"values": [value for at in wakeups for value in (reference.ticks(at), 1)]}


def run(coroutine):
    # It takes longer to load than all else, and is not needed for clocks.
    import asyncio
    return asyncio.run(coroutine)


def soon(ns):
    if ns > LONGEST_NS:
        raise ValueError(f"{ns / 1e9:.0f} s are too many: at most {LONGEST_NS // 10**9}")


def hello(name):
    """As an introduction tells it."""
    return {"id": name, "label": WAITERS[name][0], **DECLARED, "ops": ["waits"] if name == FLOOR else ["waits", "periods"]}

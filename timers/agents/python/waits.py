"""The sleep primitives and periodic timers of Python."""
import time

# The loops around a wait, compiled for each sleep primitive. All are coroutines, so that one text serves for all: a wait that
# blocks the thread also blocks the event loop.
LOOPS = """
from random import random

async def waits(lengths, kept, pause_ns, reference, cpu_time):
    for length in lengths:
        pause(random() * pause_ns)
        seconds = length / 1e9
        cpu = cpu_time()
        before = reference()
        WAIT
        after = reference()
        kept.append((before, after, cpu_time() - cpu))

async def periods(period_ns, count, reference):
    seconds, wakeups = period_ns / 1e9, []
    for _ in range(count):
        WAIT
        wakeups.append(reference())
    return wakeups
"""
# The id of the entry that does not wait, which measures the overhead of the loop.
FLOOR = "nothing"
# By id: the call, its preparation, and the wait. Python has no periodic timers; a loop of waits takes their place.
WAITERS = {
    "time.sleep": ("time.sleep(s)", "import time", "time.sleep(seconds)"),
    "Event.wait": ("threading.Event.wait(s)", "import threading; event = threading.Event()", "event.wait(seconds)"),
    "asyncio.sleep": ("asyncio.sleep(s)", "import asyncio", "await asyncio.sleep(seconds)"),
    FLOOR: ("does not wait", "", "pass"),
}
# The length of the busy loop at the end of a pause.
COMPUTED_NS = 200_000
MAX_QUESTION_NS = 3_600 * 10**9
loops = {}


def compute(ns):
    end = time.perf_counter_ns() + ns
    while time.perf_counter_ns() < end:
        pass


def pause(ns):
    """Sleeps, then computes until the end of the pause, because sleeping ends late."""
    end = time.perf_counter_ns() + ns
    if ns > COMPUTED_NS:
        time.sleep((ns - COMPUTED_NS) / 1e9)
    compute(end - time.perf_counter_ns())


def loop(name):
    """The loops of a sleep primitive, warmed up."""
    if name not in WAITERS:
        raise ValueError(f"this agent has no sleep primitive `{name}`")
    if name not in loops:
        _, prepare, wait = WAITERS[name]
        loops[name] = {"pause": pause}
        exec(prepare + LOOPS.replace("WAIT", wait), loops[name])
        run(loops[name]["waits"]([0, 1] * 10, [], 0, time.perf_counter_ns, time.perf_counter_ns))
    return loops[name]


def cpu_clock():
    """The clock of the CPU time of this thread; None if its steps are as long as a wait."""
    fine = hasattr(time, "thread_time_ns") and time.get_clock_info("thread_time").resolution < 1e-5
    return time.thread_time_ns if fine else None


def waits(name, reference, lengths, count, pause_ns):
    check_length((sum(lengths) + len(lengths) * pause_ns) * count)
    cpu, kept = cpu_clock(), []
    run(loop(name)["waits"](lengths * count, kept, pause_ns, reference.call, cpu or reference.call))
    values = []
    for turn, (before, after, used) in enumerate(kept):
        values += [turn % len(lengths), reference.ticks(before), reference.ticks(after), used if cpu else -1, -1]
    return {"values": values}


def periods(name, reference, period_ns, count):
    if name == FLOOR:
        raise ValueError("an entry that does not wait has no period")
    if period_ns == 0:
        raise ValueError("the period must not be 0")
    check_length(period_ns * count)
    wakeups = run(loop(name)["periods"](period_ns, count, reference.call))
    return {"start": None, "values": [value for at in wakeups for value in (reference.ticks(at), 1)]}


def run(coroutine):
    # Imported here, because it takes longer to load than all other modules and clocks do not need it.
    import asyncio
    return asyncio.run(coroutine)


def check_length(ns):
    if ns > MAX_QUESTION_NS:
        raise ValueError(f"{ns / 1e9:.0f} s are too long for one question, which takes at most {MAX_QUESTION_NS // 10**9} s")


def hello(name):
    """The entry of a sleep primitive in the answer to `hello`."""
    return {"id": name, "label": WAITERS[name][0], "means": "blocks", "ops": ["waits"] if name == FLOOR else ["waits", "periods"]}

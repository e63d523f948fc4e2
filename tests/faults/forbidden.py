"""An agent that forbids itself to read the time stamp counter and then reads a clock that is based on the counter."""
import ctypes, json, sys, time

PR_SET_TSC, PR_TSC_SIGSEGV = 26, 2
TIMER = {"label": "time.perf_counter_ns()", "ns_per_tick": 1.0, "reference": True}

def readings(count):
    if ctypes.CDLL(None).prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0:
        raise OSError("the kernel cannot forbid reading the counter")
    return {"values": [time.perf_counter_ns() for _ in range(count)]}

for line in sys.stdin:
    request = json.loads(line)
    op = request["op"]
    clock = time.perf_counter_ns
    try:
        if op == "hello":
            reply = {"protocol": 1, "runtime": {"name": "test", "version": "1"}, "timers": [
                {"id": "clock", **TIMER}], "unavailable": [], "ops": ["intervals", "batches", "readings"]}
        elif op == "intervals":
            reply = {"values": [-(clock() - clock() - amount) for amount in request["work"] for _ in range(request["repeat"])]}
        elif op == "batches":
            reply = {"values": [-(clock() - clock()) for _ in range(request["repeat"])]}
        else:
            reply = readings(request["count"])
    except OSError as why:
        reply = {"error": str(why)}
    print(json.dumps(reply), flush=True)

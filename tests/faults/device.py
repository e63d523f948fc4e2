"""An agent with a clock on a device. Its driver allows 125 reads in any second, as Amazon's network card does, and fails
beyond that. The first argument is a file, to which each read of the device appends its time in seconds; a second argument
makes each read fail after that many reads."""
import json, sys, time

log, limit = open(sys.argv[1], "a"), int(sys.argv[2]) if len(sys.argv) > 2 else None
reads = 0

def read(timer):
    global reads
    now = time.perf_counter_ns()
    if timer != "phc":
        return now
    reads += 1
    log.write(f"{time.monotonic()}\n")
    log.flush()
    if limit is not None and reads > limit:
        raise OSError(22, "Invalid argument")
    time.sleep(20e-6)
    return time.time_ns()

def answer(request):
    op, timer = request["op"], request.get("timer") or request.get("timers", [None])[0]
    repeat = range(request.get("repeat", 0))
    if op == "hello":
        declared = {"ns_per_tick": 1.0, "counts": "wall"}
        timers = [{"id": "phc", "label": "a device", "family": "device-clock", "reference": False, **declared},
                  {"id": "clock", "label": "perf_counter_ns()", "reference": True, **declared}]
        return {"protocol": 1, "runtime": {"name": "device", "version": "1"}, "timers": timers,
                "ops": ["intervals", "batches", "readings", "comparisons", "advance"]}
    def between(read_between):
        first = read(request["reference"])
        read_between()
        return read(request["reference"]) - first
    if op == "batches":
        return {"values": [between(lambda: [read(timer) for _ in range(request["calls"])]) for _ in repeat]}
    if op == "readings":
        return {"values": [read(timer) for _ in range(request["count"])]}
    if op == "intervals":
        def interval(work):
            first = read(timer)
            sum(range(work))
            return read(timer) - first
        return {"values": [interval(work) for work in request["work"] for _ in repeat]}
    if op == "comparisons":
        triples = [[read(request["reference"]), read(timer), read(request["reference"])]
                   for _ in range(request.get("count", 1) * max(1, len(repeat)))]
        return {"values": [value for triple in triples for value in triple]}
    if op == "advance":
        first = [read(timer), read(request["reference"])]
        time.sleep(request["ms"] / 1e3)
        return {"values": [read(timer) - first[0], read(request["reference"]) - first[1]]}
    raise ValueError(f"no such question: {op}")

for line in sys.stdin:
    try:
        reply = answer(json.loads(line))
    except Exception as error:
        reply = {"error": repr(error)}
    print(json.dumps(reply), flush=True)

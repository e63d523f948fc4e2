"""Offset and drift between a clock of the device and CLOCK_REALTIME, with bounds: python3 offset.py ./cuda-agent [ROUNDS]"""
import json, subprocess, sys

ROUNDS, REPEAT = int(sys.argv[2]) if len(sys.argv) > 2 else 20, 200
question = {"op": "comparisons", "timers": ["globaltimer"], "reference": "realtime", "work": 50_000_000, "count": ROUNDS, "repeat": REPEAT}
answer = subprocess.run([sys.argv[1]], input=json.dumps(question, separators=(",", ":")) + "\n", stdout=subprocess.PIPE, text=True)
answer = json.loads(answer.stdout)
if "error" in answer:
    sys.exit(answer["error"])
values = iter(answer["values"])
comparisons = list(zip(values, values, values))
rounds = []
for first in range(0, len(comparisons), REPEAT):
    # The device read between the two readings of the host, so its clock was ahead by `least` to `most`.
    before, device, after = min(comparisons[first:first + REPEAT], key=lambda one: one[2] - one[0])
    rounds.append((before, device - after, device - before))
    print(f"{(before - rounds[0][0]) / 1e9:8.3f} s  globaltimer - realtime = {device - after} to {device - before} ns")
# A constant rate passes through all bounds.
pairs = [(one, other) for at, one in enumerate(rounds) for other in rounds[at + 1:]]
if pairs:
    low = max((other[1] - one[2]) / (other[0] - one[0]) for one, other in pairs)
    high = min((other[2] - one[1]) / (other[0] - one[0]) for one, other in pairs)
    print(f"drift {1e6 * low:.3f} to {1e6 * high:.3f} ppm" if low <= high else "the drift was not constant")

// Answers questions about the clocks of WASI in the agent protocol, version 1 (docs/agents.md), by the loops of agent.wasm in Node.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { WASI } from 'node:wasi';

const wasi = new WASI({ version: 'preview1' });
const module = await WebAssembly.compile(readFileSync(process.argv[2]));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
wasi.initialize(instance);
const loops = instance.exports;
const ids = [
// each clock:
  '«id»',
// end each
];
const waiters = [
// each waiter:
  '«id»',
// end each
];

const stored = (count, from = 1024) => Array.from(new BigInt64Array(loops.memory.buffer, from, count));
const now = () => Number(loops.read0());

function compute(ns) {
  for (const end = now() + ns; now() < end;);
}

function sleep(ns) {
  const end = now() + ns;
  if (ns > 200e3) loops.wait0(BigInt(Math.round(ns - 200e3)));
  compute(end - now());
}

function advance(which, during, ms) {
  const clock = loops[`read${which}`];
  // The first read of each clock is dropped, because it finds cold caches.
  loops.read0();
  clock();
  const [startReference, start] = [loops.read0(), clock()];
  if (during === 0) compute(ms * 1e6);
  else loops.wait0(BigInt(ms) * 1000000n);
  const [endReference, end] = [loops.read0(), clock()];
  return [end - start, endReference - startReference];
}

function waits(which, late, most, repeat, lengths) {
  const all = [];
  for (let turn = 0; turn < repeat * lengths.length; turn++) {
    const ns = lengths[turn % lengths.length];
    sleep(Math.random() * most);
    loops[`wait${which}`](BigInt(ns));
    const [before, after] = stored(2);
    all.push(turn % lengths.length, before, after, -1, -1);
    if (late >= 0 && Number(after - before) > ns + late) break;
  }
  return all;
}

function periods(which, period, count, stalls) {
  const all = [];
  for (let at = 0; at < count; at++) {
    loops[`wait${which}`](BigInt(period));
    all.push(loops.read0(), 1);
    if (stalls.includes(at)) compute(3.5 * period);
  }
  return all;
}

function answer(op, which, amounts) {
  switch (op) {
    case 'intervals':
      return amounts.slice(1).flatMap((work) => {
        loops[`intervals${which}`](BigInt(work), amounts[0]);
        return stored(amounts[0]);
      });
    case 'batches':
      loops[`batches${which}`](BigInt(amounts[0]), amounts[1]);
      return stored(amounts[1]);
    case 'readings':
      loops[`readings${which}`](amounts[0]);
      return stored(amounts[0]);
    case 'comparisons':
      loops[`comparisons${which}`](BigInt(amounts[0]), amounts[1] * amounts[2]);
      return stored(3 * amounts[1] * amounts[2]);
    case 'advance': return advance(which, ...amounts);
    case 'waits': return waits(which, amounts[0], amounts[1], amounts[2], amounts.slice(3));
    case 'periods': return periods(which, amounts[0], amounts[1], amounts.slice(2));
    default: throw new Error('this agent does not know the question');
  }
}

function hello() {
  const [timers, unavailable] = [[], []];
  ids.forEach((id, at) => {
    const wasi = loops[`id${at}`]();
    if (wasi < 0) return;
    const error = loops.error(wasi);
    if (error !== 0) unavailable.push({ id, reason: `clock_time_get fails with error ${error} of WASI` });
    else if (loops.resolution(wasi) === 0) timers.push({ id, resolution_ns: Number(stored(1, 0)[0]) });
  });
  const version = `${process.versions.node}, uvwasi ${process.versions.uvwasi ?? '?'}`;
  return JSON.stringify({ protocol: 1, runtime: { name: 'WASI of Node', version }, timers, unavailable, ops: [] });
}

function reply(line) {
  const { op, timer, timers = [timer], reference, during, ...rest } = JSON.parse(line);
  if (op === 'hello') return hello();
  if (reference && reference !== ids[0]) throw new Error('this agent has one reference only');
  if (during === 'other-spin') throw new Error('this agent has no second thread');
  const which = (op === 'waits' || op === 'periods' ? waiters : ids).indexOf(timers[0]);
  if (which < 0) throw new Error('this agent has no such timer');
  const amounts = Object.values(rest).flat();
  return `{"values":[${answer(op, which, during ? [during === 'spin' ? 0 : 1, ...amounts] : amounts)}]}`;
}

for await (const line of createInterface({ input: process.stdin })) {
  let text;
  try {
    text = reply(line);
  } catch (why) {
    text = JSON.stringify({ error: String(why.message || why) });
  }
  process.stdout.write(`${text}\n`);
}

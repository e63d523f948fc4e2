// Runs the loops of agent.wasm by Node, in words: each line of standard input is a question, each line of standard output its answer.
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

const told = (count, from = 1024) => Array.from(new BigInt64Array(loops.memory.buffer, from, count));
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
  // The first reads of both find cold caches.
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
    const [before, after] = told(2);
    all.push(before, after);
    if (late >= 0 && Number(after - before) > ns + late) break;
  }
  return all;
}

function periods(which, period, count, stalls) {
  const all = [];
  for (let at = 0; at < count; at++) {
    loops[`wait${which}`](BigInt(period));
    all.push(loops.read0());
    if (stalls.includes(at)) compute(3.5 * period);
  }
  return all;
}

function answer(op, [which, ...amounts]) {
  switch (op) {
    case 'intervals':
      return amounts.slice(1).flatMap((work) => {
        loops[`intervals${which}`](BigInt(work), amounts[0]);
        return told(amounts[0]);
      });
    case 'batches':
      loops[`batches${which}`](BigInt(amounts[0]), amounts[1]);
      return told(amounts[1]);
    case 'readings':
      loops[`readings${which}`](amounts[0]);
      return told(amounts[0]);
    case 'comparisons':
      loops[`comparisons${which}`](BigInt(amounts[0]), amounts[1]);
      return told(3 * amounts[1]);
    case 'advance': return advance(which, ...amounts);
    case 'waits': return waits(which, amounts[0], amounts[1], amounts[2], amounts.slice(3));
    case 'periods': return periods(which, amounts[0], amounts[1], amounts.slice(2));
    default: throw new Error('this agent does not know that');
  }
}

function hello() {
  const said = ids.map((id, at) => {
    const wasi = loops[`id${at}`]();
    if (wasi < 0) return '';
    const error = loops.error(wasi);
    if (error !== 0) return `${id}!clock_time_get fails with error ${error} of WASI`;
    return loops.resolution(wasi) === 0 ? `${id}=${told(1, 0)[0]}` : '';
  });
  const runtime = `${process.versions.node}, uvwasi ${process.versions.uvwasi ?? '?'}`;
  return ['WASI of Node', runtime, ...said.filter((one) => one !== '')].join('\t');
}

for await (const line of createInterface({ input: process.stdin })) {
  let text;
  try {
    const [op, ...words] = line.trim().split(' ');
    text = op === 'hello' ? hello() : answer(op, words.filter((word) => word !== '').map(Number)).join(' ');
  } catch (why) {
    text = `!${String(why.message || why).replaceAll('\n', ' ')}`;
  }
  process.stdout.write(`${text}\n`);
}

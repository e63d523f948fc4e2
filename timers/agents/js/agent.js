// Answers questions about the clocks of JavaScript engines in the agent protocol, version 1 (docs/agents.md): `answer` takes a question
// and returns a promise of the answer, each a line of JSON. Deno, Bun and browsers share this text; each has its own clocks.json, from
// which the words in angle quotes are filled in.
'use strict';
const clocks = [];
const waiters = {};

// Returns the exact conversion of readings, doubles of milliseconds, to integers: nanoseconds if each reading is a whole number of
// nanoseconds except for the rounding of doubles, otherwise steps of the mantissa.
function ofDouble(read) {
  const isWhole = (value) => Math.abs(value * 1e6 - Math.round(value * 1e6)) < 0.05;
  const value = read();
  const digits = 52 - Math.floor(Math.log2(Math.max(value, 1)));
  let nanoseconds = 2 ** -digits < 0.2e-6;
  for (let turn = 0; turn < 100; turn++) nanoseconds = isWhole(read()) && nanoseconds;
  if (!nanoseconds) return { ns: 1e6 / 2 ** digits, ticks: (v) => v * 2 ** digits };
  const ticks = (v) => {
    if (!isWhole(v)) throw new Error(`${v} ms is not a whole number of nanoseconds`);
    return Math.round(v * 1e6);
  };
  return { ns: 1, ticks };
}

// The conversion of readings that are integers already.
function ofUnit() { return { ns: null, ticks: (v) => v }; }

// each clock:
clocks[«n»] = (() => {
  let kept;
  let state = 1;
  const { ns, ticks } = «ticks»(() => «call»);
  return {
    id: '«id»', ns, ticks, kept: () => kept,
    read: () => «call»,
    intervals(work, first, second) {
      let worked = state;
      for (let at = 0; at < first.length; at++) {
        const start = «call»;
        for (let left = work; left > 0; left--) worked = Math.imul(worked, 1664525) + left | 0;
        const end = «call»;
        first[at] = start;
        second[at] = end;
      }
      state = worked;
    },
    batches(calls, first, second) {
      for (let at = 0; at < first.length; at++) {
        const start = «reference»;
        for (let left = calls; left > 0; left--) kept = «call»;
        const end = «reference»;
        first[at] = start;
        second[at] = end;
      }
    },
    readings(first) {
      for (let at = 0; at < first.length; at++) first[at] = «call»;
    },
    comparisons(work, before, first, after) {
      let worked = state;
      for (let at = 0; at < first.length; at++) {
        before[at] = «reference»;
        first[at] = «call»;
        after[at] = «reference»;
        for (let left = work; left > 0; left--) worked = Math.imul(worked, 1664525) + left | 0;
      }
      state = worked;
    },
  };
})();
// end each
// each waiter:
waiters['«id»'] = (ms, done) => { «wait»; };
// end each

const reference = clocks[0];
const now = () => reference.ticks(reference.read()) * reference.ns;
const blank = (count) => new Array(count).fill(undefined);
const differences = ({ ticks }, first, second) => first.map((start, at) => ticks(second[at]) - ticks(start));

function compute(ns) {
  for (const end = now() + ns; now() < end;);
}

const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const wait = (id, ns) => new Promise((resolve) => { waiters[id](ns / 1e6, resolve); });

// Sleeps, but for the end, as sleeping ends late; the next wait begins in a new turn of
// the event loop, because a timer counts from the time at which its turn began.
async function pause(ns) {
  const end = now() + ns;
  await sleep(Math.max(0, Math.floor(ns / 1e6) - 2));
  compute(end - now());
}

async function advance(clock, during, ms) {
  // The first read of each clock is dropped, because it finds cold caches.
  reference.read();
  clock.read();
  const [startReference, start] = [reference.read(), clock.read()];
  if (during === 0) compute(ms * 1e6);
  else await sleep(ms);
  const [endReference, end] = [reference.read(), clock.read()];
  return [clock.ticks(end) - clock.ticks(start), reference.ticks(endReference) - reference.ticks(startReference)];
}

async function waits(id, most, repeat, lengths) {
  const values = [];
  for (let turn = 0; turn < repeat * lengths.length; turn++) {
    const ns = lengths[turn % lengths.length];
    await pause(Math.random() * most);
    const [before, after] = await new Promise((resolve) => {
      const before = reference.read();
      waiters[id](ns / 1e6, () => { resolve([before, reference.read()]); });
    });
    values.push(turn % lengths.length, reference.ticks(before), reference.ticks(after), -1, -1);
  }
  return values;
}

async function periods(id, period, count) {
  const values = [];
  for (let at = 0; at < count; at++) {
    await wait(id, period);
    values.push(reference.ticks(reference.read()), 1);
  }
  return values;
}

async function values(op, id, amounts) {
  const known = Object.hasOwn(waiters, id);
  if (known && op === 'waits') return waits(id, amounts[0], amounts[1], amounts.slice(2));
  if (known && op === 'periods') return periods(id, amounts[0], amounts[1]);
  const clock = clocks.find((one) => one.id === id);
  if (!clock || amounts.length === 0) throw new Error('this agent does not know the question');
  if (op === 'advance') return advance(clock, ...amounts);
  const count = op === 'comparisons' ? amounts[1] * amounts[2] : amounts[op === 'intervals' || op === 'readings' ? 0 : 1];
  const [first, second, third] = [blank(count), blank(count), blank(count)];
  switch (op) {
    case 'intervals':
      return amounts.slice(1).flatMap((work) => {
        clock.intervals(work, first, second);
        return differences(clock, first, second);
      });
    case 'batches':
      clock.batches(amounts[0], first, second);
      return differences(reference, first, second);
    case 'readings':
      clock.readings(first);
      return first.map(clock.ticks);
    case 'comparisons':
      clock.comparisons(amounts[0], first, second, third);
      return first.flatMap((before, at) => [reference.ticks(before), clock.ticks(second[at]), reference.ticks(third[at])]);
    default: throw new Error('this agent does not know the question');
  }
}

// The answer to `hello`: name and version of the engine, and the nanoseconds per tick of each clock.
function hello() {
  const browser = typeof navigator === 'object' && /(Firefox|Chrome)\/([\d.]+)/.exec(navigator.userAgent);
  const [name, version] = typeof Deno === 'object' ? ['Deno', Deno.version.deno]
    : typeof Bun === 'object' ? ['Bun', Bun.version]
    : browser ? [browser[1] === 'Chrome' ? 'Chromium' : browser[1], browser[2]] : ['JavaScript', '?'];
  const timers = clocks.map(({ id, ns }) => ({ id, ns_per_tick: ns }));
  // The resolution in nanoseconds that the specification grants to a page that is not isolated (High Resolution Time, *coarsen time*).
  if (browser) timers[0].resolution_ns = 100000;
  return { protocol: 1, runtime: { name, version }, timers, ops: [] };
}

async function reply(question) {
  if (question.op === 'hello') return JSON.stringify(hello());
  if (question.reference && question.reference !== reference.id) throw new Error('this agent has one reference only');
  if (question.during === 'other-spin') throw new Error('this agent has no second thread');
  const { op, timer, timers = [timer], reference: _, during, ...amounts } = question;
  const all = Object.values(amounts).flat();
  const answer = await values(op, timers[0], during ? [during === 'spin' ? 0 : 1, ...all] : all);
  // `JSON.stringify` refuses BigInts, which some clocks return.
  // All periods are those of loops of waits.
  const start = op === 'periods' ? '"start":null,' : '';
  return `{${start}"values":[${answer.join(',')}]}`;
}

globalThis.answer = async (line) => {
  try {
    return await reply(JSON.parse(line));
  } catch (why) {
    return JSON.stringify({ error: String(why.message || why) });
  }
};

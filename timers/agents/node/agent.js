// Answers questions about the clocks of Node in the agent protocol, version 1 (docs/agents.md). Needs --allow-natives-syntax;
// --expose-gc and a large young generation make garbage collections rare.
//
// The arguments are ids of clocks; their loops are compiled before the first answer.
'use strict';
const { performance, PerformanceObserver } = require('perf_hooks');
const readline = require('readline');
const { Worker } = require('worker_threads');
const waiting = require('./waits.js');

const MAX_VALUES = 1000000;
const OPS = ['intervals', 'batches', 'readings', 'handoffs', 'comparisons', 'advance', 'waits', 'periods'];
const REFERENCE = 'hrtime.bigint';
const FLOOR = 'null';

// Returns the exact conversion of a clock's readings, doubles of milliseconds, to integers: nanoseconds if each reading is the
// double nearest to a whole number of nanoseconds, otherwise steps of the mantissa. Readings are converted after the loop.
function fromDouble(read) {
  const digits = 52 - Math.floor(Math.log2(read()));
  const nanoseconds = (value) => {
    const ticks = Math.round(value * 1e6);
    if (ticks / 1e6 !== value) throw new Refusal(`${value} ms is not a whole number of nanoseconds`);
    return BigInt(ticks);
  };
  const steps = (value) => {
    const ticks = value * 2 ** digits;
    if (!Number.isInteger(ticks)) throw new Refusal(`${value} ms is not a whole number of steps of 2^-${digits} ms`);
    return BigInt(ticks);
  };
  if (2 ** -digits < 0.5e-6) {
    try {
      for (let turn = 0; turn < 100; turn++) nanoseconds(read());
      return { ns: 1, ticks: nanoseconds };
    } catch (why) { /* The readings are finer than nanoseconds, so that steps of the mantissa are used. */ }
  }
  return { ns: 1e6 / 2 ** digits, ticks: steps };
}

// The documented properties of clocks; some are known on Linux only.
const onLinux = (declared) => (process.platform === 'linux' ? declared : {});
const WALL = { family: 'system-clock', counts: 'wall', needs_fence: false };
const STEADY = { ...WALL, settable: false, ...onLinux({ slewed: true, runs_in_suspend: false }) };
const CALENDAR = { ...WALL, settable: true, ...onLinux({ slewed: true, runs_in_suspend: true }) };
const PROCESS = { family: 'cpu-time', counts: 'process-cpu', settable: false, needs_fence: false,
  ...onLinux({ slewed: false, runs_in_suspend: false, reads_by: 'system-call' }) };

// For each clock: its declared properties (`is`), whether it counts from the start of the thread (`ofThread`), the call as text,
// which is compiled into each loop, the nanoseconds per tick, and the conversion of a reading to ticks.
const CLOCKS = {
  'hrtime.bigint': { is: STEADY, call: 'process.hrtime.bigint()', ns: 1, ticks: (value) => value },
  'performance.now': { is: STEADY, ofThread: true, call: 'performance.now()', ...fromDouble(() => performance.now()) },
  hrtime: { is: STEADY, call: 'process.hrtime()', ns: 1, ticks: ([s, ns]) => BigInt(s) * 1000000000n + BigInt(ns) },
  'Date.now': { is: CALENDAR, call: 'Date.now()', ns: 1e6, ticks: (value) => BigInt(value) },
  cpuUsage: { is: PROCESS, call: 'process.cpuUsage()', ns: 1e3, ticks: ({ user, system }) => BigInt(user + system) },
  null: { call: '0', ns: null, ticks: BigInt },
};

// The results of calls are stored in `kept`, so that the calls are not removed. A loop is one function, so that the compiler
// optimises it as a whole.
const LOOPS = `
  let state = 1;
  let kept;
  return {
    kept: () => kept,
    intervals(work, first, second) {
      let worked = state;
      for (let at = 0; at < first.length; at++) {
        const start = CALL;
        for (let left = work; left > 0; left--) worked = Math.imul(worked, 1664525) + left | 0;
        const end = CALL;
        first[at] = start;
        second[at] = end;
      }
      state = worked;
    },
    batches(calls, first, second) {
      for (let at = 0; at < first.length; at++) {
        const start = REFERENCE;
        for (let left = calls; left > 0; left--) kept = CALL;
        const end = REFERENCE;
        first[at] = start;
        second[at] = end;
      }
    },
    readings(first) {
      for (let at = 0; at < first.length; at++) first[at] = CALL;
    },
    comparisons(work, before, first, after) {
      let worked = state;
      for (let at = 0; at < first.length; at++) {
        before[at] = REFERENCE;
        first[at] = CALL;
        after[at] = REFERENCE;
        for (let left = work; left > 0; left--) worked = Math.imul(worked, 1664525) + left | 0;
      }
      state = worked;
    },
  };`;

// Functions of the engine that request the compilation of a function and report whether its compiled code still exists.
const optimise = new Function('f', '%OptimizeFunctionOnNextCall(f)');
const prepare = new Function('f', '%PrepareFunctionForOptimization(f)');
const isCompiled = new Function('f', 'return (%GetOptimizationStatus(f) & 16) !== 0');

class Refusal extends Error {}

function clock(id) {
  if (typeof id !== 'string' || !Object.hasOwn(CLOCKS, id)) throw new Refusal(`there is no timer \`${id}\` here`);
  return CLOCKS[id];
}

const warm = new Map();

// An array for readings of any type: an array of numbers would change its representation at the first reading that is not a
// number, and the compiled code would be discarded.
function blank(length) {
  return new Array(length).fill(undefined);
}

function compiledLoops(id, reference = REFERENCE) {
  const key = `${id}/${reference}`;
  if (!warm.has(key)) {
    const text = LOOPS.replaceAll('CALL', clock(id).call).replaceAll('REFERENCE', clock(reference).call);
    const loops = new Function('performance', text)(performance);
    warm.set(key, loops);
    compile(loops);
  }
  return warm.get(key);
}

// Compiles the loops after running them with various amounts, so that no amount is new to the compiled code.
function compile(loops) {
  const all = [loops.intervals, loops.batches, loops.readings];
  const run = (turns, length) => {
    for (let turn = 0; turn < turns; turn++) {
      loops.intervals(turn % 5 * 10, blank(length), blank(length));
      loops.batches(turn % 7, blank(length), blank(length));
      loops.readings(blank(length));
    }
  };
  all.forEach((loop) => prepare(loop));
  for (let attempt = 0; attempt < 5 && !all.every((loop) => isCompiled(loop)); attempt++) {
    run(50, 20);
    all.forEach((loop) => optimise(loop));
    run(7, 20);
  }
}

// Runs a loop. If its compiled code was discarded before or meanwhile, the answer is marked as disturbed.
function measure(loops, name, disturbed, ...args) {
  const before = isCompiled(loops[name]);
  loops[name](...args);
  if (!before || !isCompiled(loops[name])) {
    disturbed.add('compilation');
    compile(loops);
  }
}

function intervals(request, disturbed) {
  const { ticks } = clock(request.timer);
  const repeat = amount(request, 'repeat');
  if (!Array.isArray(request.work)) throw new Refusal('the request has no list `work`');
  checkCount(request.work.length * repeat);
  const loops = compiledLoops(request.timer);
  const rows = request.work.map((work) => {
    if (!Number.isSafeInteger(work) || work < 0) throw new Refusal(`\`${work}\` is not a non-negative integer of 53 bits`);
    const [first, second] = [blank(repeat), blank(repeat)];
    measure(loops, 'intervals', disturbed, work, first, second);
    return [first, second];
  });
  return { values: rows.flatMap(([first, second]) => differences(ticks, first, second)) };
}

function batches(request, disturbed) {
  const { ticks } = clock(request.reference);
  const [calls, repeat] = [amount(request, 'calls'), checkCount(amount(request, 'repeat'))];
  const loops = compiledLoops(request.timer, request.reference);
  const [first, second] = [blank(repeat), blank(repeat)];
  measure(loops, 'batches', disturbed, calls, first, second);
  return { values: differences(ticks, first, second) };
}

function readings(request, disturbed) {
  const { ticks } = clock(request.timer);
  const first = blank(checkCount(amount(request, 'count')));
  measure(compiledLoops(request.timer), 'readings', disturbed, first);
  return { values: first.map(ticks) };
}

// Not compiled beforehand, because both readings of the reference show how long the read between them took.
function comparisons(request) {
  const id = onlyTimer(request);
  const [timer, reference] = [clock(id), clock(request.reference)];
  const [work, count] = [amount(request, 'work'), amount(request, 'count') * amount(request, 'repeat')];
  checkCount(3 * count);
  const [before, first, after] = [blank(count), blank(count), blank(count)];
  compiledLoops(id, request.reference).comparisons(work, before, first, after);
  return { values: first.flatMap((value, at) => [reference.ticks(before[at]), timer.ticks(value), reference.ticks(after[at])]) };
}

// Two threads read in turn: one reads and hands over, then the other reads. The roles alternate: thread 0 makes the readings 0, 3,
// 4, 7 ...
const TAKE = `({ turn, places }, thread) => {
  for (let at = 0; at < places.length; at++) {
    if ((at + 1 >> 1) % 2 !== thread) continue;
    for (let spins = 0, seen; (seen = Atomics.load(turn, 0)) !== at; spins++) {
      // On one CPU the other thread runs only after a yield.
      if (spins > 1000) Atomics.wait(turn, 0, seen, 1);
    }
    const value = CALL;
    places[at] = (TICKS)(value);
    Atomics.store(turn, 0, at + 1);
    Atomics.notify(turn, 0);
  }
}`;

function handoffs(request) {
  const { call, ticks, ofThread } = clock(request.timer);
  if (ofThread) throw new Refusal(`${call} counts from the start of its thread: readings of two threads cannot be compared`);
  if (amounts(request, 'cpus').length > 0) throw new Refusal('Node cannot choose the CPUs of its threads');
  const count = checkCount(amount(request, 'count'));
  const shared = { turn: new Int32Array(new SharedArrayBuffer(4)), places: new BigInt64Array(new SharedArrayBuffer(16 * count)) };
  const take = TAKE.replace('CALL', call).replace('TICKS', String(ticks));
  thread(`(${take})(workerData, 1)`, shared);
  new Function(`return ${take}`)()(shared, 0);
  for (let seen; (seen = Atomics.load(shared.turn, 0)) < shared.places.length;) Atomics.wait(shared.turn, 0, seen, 1);
  return { values: Array.from(shared.places) };
}

function thread(text, workerData) {
  return new Worker(`const { workerData } = require('worker_threads'); ${text}`, { eval: true, workerData });
}

// Starts a thread that computes; returns when it runs.
function busyThread() {
  const state = new Int32Array(new SharedArrayBuffer(8));
  thread('Atomics.store(workerData, 0, 1); Atomics.notify(workerData, 0); while (Atomics.load(workerData, 1) === 0);', state);
  Atomics.wait(state, 0, 0);
  return { end: () => Atomics.store(state, 1, 1) };
}

function reader(id) {
  return new Function('performance', `return () => ${clock(id).call}`)(performance);
}

function advance(request) {
  const [timer, reference] = [onlyTimer(request), request.reference].map((id) => {
    const read = reader(id);
    return () => clock(id).ticks(read());
  });
  const ms = amount(request, 'ms');
  if (!['spin', 'sleep', 'other-spin'].includes(request.during)) throw new Refusal(`\`${request.during}\` is none of spin, sleep, other-spin`);
  const busy = request.during === 'other-spin' ? busyThread() : { end: () => {} };
  reference();
  timer();
  const [startReference, start] = [reference(), timer()];
  if (request.during === 'spin') {
    for (const end = performance.now() + ms; performance.now() < end;);
  } else {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  }
  const [endReference, end] = [reference(), timer()];
  busy.end();
  return { values: [end - start, endReference - startReference] };
}

function differences(ticks, first, second) {
  return first.map((start, at) => ticks(second[at]) - ticks(start));
}

function hello(request) {
  if (request.protocol !== 1) throw new Refusal(`this agent speaks protocol 1, not ${request.protocol}`);
  const timers = served.filter((id) => Object.hasOwn(CLOCKS, id)).map((id) => (
    { id, label: id === FLOOR ? 'reads nothing' : CLOCKS[id].call, ns_per_tick: CLOCKS[id].ns, reference: id === REFERENCE,
      ...CLOCKS[id].is }));
  return { protocol: 1, runtime: { name: 'Node.js', version: process.versions.node }, timers, ops: OPS, ...waiting.hello(waiters) };
}

function onlyTimer({ timers }) {
  if (!Array.isArray(timers) || timers.length !== 1) throw new Refusal('this agent answers for one timer per question');
  return timers[0];
}

function amounts(request, key) {
  if (!Array.isArray(request[key])) throw new Refusal(`the request has no list \`${key}\``);
  return request[key].map((_, at) => amount(request[key], at));
}

function amount(request, key) {
  const number = request[key];
  if (number === undefined) throw new Refusal(`the request has no \`${key}\``);
  if (!Number.isSafeInteger(number) || number < 0) throw new Refusal(`\`${number}\` is not a non-negative integer of 53 bits`);
  return number;
}

function checkCount(values) {
  if (values > MAX_VALUES) throw new Refusal(`${values} values do not fit one answer, which has at most ${MAX_VALUES}`);
  return values;
}

const { waiter, ...ofWaiters } = waiting.answers({ Refusal, clock, reader, amount, amounts, checkCount });
const ANSWERS = { hello, intervals, batches, readings, handoffs, comparisons, advance, ...ofWaiters };

async function answer(line, disturbed) {
  try {
    const request = JSON.parse(line);
    if (request === null || typeof request !== 'object' || !Object.hasOwn(ANSWERS, request.op)) {
      throw new Refusal(`this agent does not know \`${request && request.op}\``);
    }
    return await ANSWERS[request.op](request, disturbed);
  } catch (why) {
    return { error: why instanceof Refusal ? why.message : String(why) };
  }
}

// Converts a value to JSON, with integers of any size.
function json(value) {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(json)}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${json(inner)}`)}}`;
}

const wanted = process.argv.slice(2);
const served = wanted.length === 0 ? Object.keys(CLOCKS) : [...new Set([...wanted, REFERENCE, FLOOR])];
const waiters = Object.keys(waiting.WAITERS).filter((id) => wanted.length === 0 || wanted.includes(id) || id === waiting.FLOOR);
for (const id of [...wanted, ...(wanted.length === 0 ? [] : [FLOOR])]) {
  if (Object.hasOwn(CLOCKS, id)) compiledLoops(id);
}

let collections = [];
new PerformanceObserver((list) => collections.push(...list.getEntries())).observe({ entryTypes: ['gc'] });
const turn = () => new Promise((resolve) => setImmediate(resolve));

async function serve() {
  for (const id of waiters.filter((one) => wanted.includes(one))) await waiter(id, waiting.WAITERS[id].ops[0]).catch(() => {});
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const disturbed = new Set();
    // Garbage is collected now, so that it is seldom collected during the measurement.
    if (globalThis.gc) globalThis.gc({ type: 'minor' });
    const start = performance.now();
    const reply = await answer(line, disturbed);
    const end = performance.now();
    // The engine reports garbage collections a few turns of the event loop later.
    for (let turns = 0; turns < 4; turns++) await turn();
    if (collections.some((one) => one.startTime <= end && one.startTime + one.duration >= start)) disturbed.add('gc');
    collections = [];
    if (disturbed.size > 0) reply.disturbed = [...disturbed];
    process.stdout.write(json(reply) + '\n');
  }
}

serve();

// The sleep primitives and periodic timers of Node.
'use strict';
const { performance } = require('perf_hooks');
const promises = require('timers/promises');

const BLOCKING = { ops: ['waits'], means: 'blocks', unit_ns: 1e6 };

const FLOOR = 'nothing';

// By id. `wait` calls `done` after the given number of milliseconds; the other members are declared properties.
const WAITERS = {
  setTimeout: { ...BLOCKING, label: 'setTimeout(f, ms)', wait: setTimeout },
  'promises.setTimeout': { ...BLOCKING, label: 'timers/promises setTimeout(ms)',
    wait: async (done, ms) => { await promises.setTimeout(ms); done(); } },
  'scheduler.wait': { ...BLOCKING, label: 'timers/promises scheduler.wait(ms)',
    missing: promises.scheduler ? undefined : 'this Node does not have it; 16.14 and later do',
    wait: async (done, ms) => { await promises.scheduler.wait(ms); done(); } },
  setImmediate: { ops: ['waits'], means: 'spins', label: 'setImmediate(f) until the time has passed',
    wait: (done, ms) => {
      const end = performance.now() + ms;
      const turn = () => (performance.now() < end ? setImmediate(turn) : done());
      setImmediate(turn);
    } },
  // The entry that does not wait, which shows the overhead of the measuring loop.
  [FLOOR]: { ops: ['waits'], means: 'blocks', label: 'does not wait', wait: (done) => done() },
  setInterval: { ...BLOCKING, label: 'setInterval(f, ms)', ops: ['periods'] },
};
// The length of the busy loop at the end of a pause.
const COMPUTED_MS = 0.2;
const MAX_QUESTION_NS = 3600e9;

function compute(ms) {
  for (const end = performance.now() + ms; performance.now() < end;);
}

// Waits for a pause. Its end is computed, because sleeping ends late. The next wait begins in a new turn of the event
// loop, because a timer counts from the time at which its turn began.
async function pause(ms) {
  const end = performance.now() + ms;
  if (ms > COMPUTED_MS) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms - COMPUTED_MS);
  compute(end - performance.now());
  await promises.setImmediate();
}

// Returns for each wait the index of its length, the readings before and after, and the CPU time in nanoseconds.
async function waitEach({ wait }, read, lengths, repeat, pauseNs) {
  const waits = [];
  for (let turn = 0; turn < repeat * lengths.length; turn++) {
    const length = lengths[turn % lengths.length];
    await pause(Math.random() * pauseNs / 1e6);
    const one = await new Promise((resolve) => {
      const start = process.cpuUsage();
      const before = read();
      wait(() => {
        const after = read();
        const { user, system } = process.cpuUsage(start);
        resolve([turn % lengths.length, before, after, (user + system) * 1000]);
      }, length / 1e6);
    });
    waits.push(one);
  }
  return waits;
}

function tick(read, periodNs, count) {
  const wakeups = [];
  return new Promise((resolve) => {
    const before = read();
    if (count === 0) return resolve({ start: [before, before], wakeups });
    const timer = setInterval(() => {
      wakeups.push(read());
      if (wakeups.length === count) {
        clearInterval(timer);
        resolve({ start: [before, after], wakeups });
      }
    }, periodNs / 1e6);
    const after = read();
  });
}

// The members `waiters` and `unavailable` of the answer to `hello`.
function hello(ids) {
  const [waiters, unavailable] = [[], []];
  for (const id of ids) {
    const { label, ops, means, unit_ns, missing } = WAITERS[id];
    if (missing) unavailable.push({ id, label, ops, reason: missing });
    else waiters.push({ id, label, ops, means, unit_ns });
  }
  return { waiters, unavailable };
}

// The functions that answer the questions, given functions of the agent.
function answers({ Refusal, clock, reader, amount, amounts, checkCount }) {
  const warm = new Set();

  // The sleep primitive or periodic timer with this id, warmed up.
  async function waiter(timer, op) {
    if (typeof timer !== 'string' || !Object.hasOwn(WAITERS, timer)) throw new Refusal(`this agent has no sleep primitive or periodic timer \`${timer}\``);
    const found = WAITERS[timer];
    if (found.missing) throw new Refusal(found.missing);
    if (!found.ops.includes(op)) throw new Refusal(`${timer} does not support \`${op}\``);
    if (!warm.has(found)) {
      warm.add(found);
      const read = () => performance.now();
      await (found.wait ? waitEach(found, read, [0, 1e6], 20, 0) : tick(read, 1e6, 20, [0]));
    }
    return found;
  }

  function checkLength(ns) {
    if (ns > MAX_QUESTION_NS) throw new Refusal(`${Math.round(ns / 1e9)} s are too long for one question, which takes at most ${MAX_QUESTION_NS / 1e9} s`);
  }

  return {
    waiter,

    async waits(request) {
      const [found, { ticks }, read] = [await waiter(request.timer, request.op), clock(request.reference), reader(request.reference)];
      const [lengths, repeat] = [amounts(request, 'request_ns'), amount(request, 'repeat')];
      const pauseNs = amount(request, 'pause_ns');
      checkCount(5 * lengths.length * repeat);
      checkLength(repeat * lengths.reduce((sum, length) => sum + length + pauseNs, 0));
      const waits = await waitEach(found, read, lengths, repeat, pauseNs);
      return { values: waits.flatMap(([at, before, after, cpu]) => [at, ticks(before), ticks(after), cpu, -1]) };
    },

    async periods(request) {
      await waiter(request.timer, request.op);
      const period = amount(request, 'period_ns');
      const count = checkCount(amount(request, 'count'));
      if (period === 0) throw new Refusal('the period must not be 0');
      checkLength(period * count);
      const { start, wakeups } = await tick(reader(request.reference), period, count);
      const { ticks } = clock(request.reference);
      return { start: start.map(ticks), values: wakeups.flatMap((at) => [ticks(at), 1]) };
    },
  };
}

module.exports = { FLOOR, WAITERS, hello, answers };

// The sleep primitives and periodic timers of Node.
'use strict';
const { performance } = require('perf_hooks');
const promises = require('timers/promises');

const ONE = { ops: ['waits'], means: 'blocks', unit_ns: 1e6 };
// The kernel's timer slack is known of Linux.
const SLACK = process.platform === 'linux' ? { slack: true } : {};

const FLOOR = 'nothing';

// `wait` calls `done` after so many milliseconds. `ONE` and `SLACK` are what it is.
const WAITERS = {
  setTimeout: { ...ONE, ...SLACK, label: 'setTimeout(f, ms)', ops: ['waits', 'arms'], wait: setTimeout },
  'promises.setTimeout': { ...ONE, ...SLACK, label: 'timers/promises setTimeout(ms)',
    wait: async (done, ms) => { await promises.setTimeout(ms); done(); } },
  'scheduler.wait': { ...ONE, ...SLACK, label: 'timers/promises scheduler.wait(ms)',
    missing: promises.scheduler ? undefined : 'this Node does not have it; 16.14 and later do',
    wait: async (done, ms) => { await promises.scheduler.wait(ms); done(); } },
  setImmediate: { ops: ['waits'], means: 'spins', slack: false, label: 'setImmediate(f) until the time has come',
    wait: (done, ms) => {
      const end = performance.now() + ms;
      const turn = () => (performance.now() < end ? setImmediate(turn) : done());
      setImmediate(turn);
    } },
  // What is around a wait.
  [FLOOR]: { ops: ['waits'], means: 'blocks', label: 'waits for nothing', wait: (done) => done() },
  setInterval: { ...ONE, ...SLACK, label: 'setInterval(f, ms)', ops: ['periods'] },
};
// The end of a pause.
const COMPUTED_MS = 0.2;
const LONGEST_NS = 3600e9;

function compute(ms) {
  for (const end = performance.now() + ms; performance.now() < end;);
}

// Sleeps, but for the end, as sleeping ends late. What waits then begins in a new turn of the event loop, whose time is fresh: a
// timer counts from the time at which its turn began.
async function pause(ms) {
  const end = performance.now() + ms;
  if (ms > COMPUTED_MS) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms - COMPUTED_MS);
  compute(end - performance.now());
  await promises.setImmediate();
}

// The place of its length, and when it began and ended, of each wait. `isLate` gets each wait and its length.
async function waitEach({ wait }, read, lengths, repeat, pauseNs, isLate) {
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
    if (isLate(one, length)) break;
  }
  return waits;
}

function tick(read, periodNs, count, stalls) {
  const [wakeups, stalled] = [[], new Set(stalls)];
  return new Promise((resolve) => {
    if (count === 0) return resolve(wakeups);
    const timer = setInterval(() => {
      wakeups.push(read());
      if (wakeups.length === count) {
        clearInterval(timer);
        resolve(wakeups);
      } else if (stalled.has(wakeups.length - 1)) compute(3.5 * periodNs / 1e6);
    }, periodNs / 1e6);
  });
}

// What an introduction says of them.
function hello(ids) {
  const [waiters, unavailable] = [[], []];
  for (const id of ids) {
    const { label, ops, means, unit_ns, slack, missing } = WAITERS[id];
    if (missing) unavailable.push({ id, label, ops, reason: missing });
    else waiters.push({ id, label, ops, means, unit_ns, slack });
  }
  return { waiters, unavailable };
}

// The questions, answered with what the agent knows of clocks and numbers.
function answers({ Refusal, clock, reader, amount, amounts, affordable }) {
  const warm = new Set();

  // Warm.
  async function waiter(timer, op) {
    if (typeof timer !== 'string' || !Object.hasOwn(WAITERS, timer)) throw new Refusal(`there is no timer \`${timer}\` that waits here`);
    const found = WAITERS[timer];
    if (found.missing) throw new Refusal(found.missing);
    if (!found.ops.includes(op)) throw new Refusal(`${timer} does not answer \`${op}\``);
    if (!warm.has(found)) {
      warm.add(found);
      const read = () => performance.now();
      await (found.wait ? waitEach(found, read, [0, 1e6], 20, 0, () => false) : tick(read, 1e6, 20, [0]));
    }
    return found;
  }

  function soon(ns) {
    if (ns > LONGEST_NS) throw new Refusal(`${Math.round(ns / 1e9)} s are too many: at most ${LONGEST_NS / 1e9}`);
  }

  return {
    waiter,

    async waits(request) {
      const [found, { ticks, ns }, read] = [await waiter(request.timer, request.op), clock(request.reference), reader(request.reference)];
      const [lengths, repeat] = [amounts(request, 'request_ns'), amount(request, 'repeat')];
      const pauseNs = amount(request, 'pause_ns');
      const mostNs = request.break_ns < 0 || ns === null ? Infinity : amount(request, 'break_ns');
      affordable(5 * lengths.length * repeat);
      soon(repeat * lengths.reduce((sum, length) => sum + length + pauseNs, 0));
      const isLate = ([, before, after], length) => Number(ticks(after) - ticks(before)) * ns - length > mostNs;
      const waits = await waitEach(found, read, lengths, repeat, pauseNs, isLate);
      return { values: waits.flatMap(([at, before, after, cpu]) => [at, ticks(before), ticks(after), cpu, -1]) };
    },

    async arms(request) {
      await waiter(request.timer, request.op);
      const [read, { ticks }] = [reader(request.reference), clock(request.reference)];
      const values = new Array(affordable(amount(request, 'repeat'))).fill(0n);
      for (let at = 0; at < values.length; at++) {
        const before = read();
        clearTimeout(setTimeout(() => {}, LONGEST_NS / 1e6));
        const after = read();
        values[at] = ticks(after) - ticks(before);
      }
      return { values };
    },

    async periods(request) {
      await waiter(request.timer, request.op);
      const [period, stalls] = [amount(request, 'period_ns'), amounts(request, 'stalls')];
      const count = affordable(amount(request, 'count'));
      if (period === 0) throw new Refusal('a period of 0 is none');
      soon(period * (count + 4 * stalls.length));
      const wakeups = await tick(reader(request.reference), period, count, stalls);
      return { values: wakeups.flatMap((at) => [clock(request.reference).ticks(at), 1]) };
    },
  };
}

module.exports = { FLOOR, WAITERS, hello, answers };

// Readings of clocks, by a loop that knows nothing of the agent: a line each, the id, nanoseconds in a unit, and readings.
const all = Array.from({ length: 20000 }, () => performance.now());
console.log(`performance.now 1 ${all.map((one) => Math.round(one * 1e6)).join(' ')}`);

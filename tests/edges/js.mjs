// Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings.
import process from 'node:process';

const show = (id, unit, all) => console.log(`${id} ${unit} ${all.join(' ')}`);
const all = Array.from({ length: 20000 }, () => performance.now());
show('performance.now', 1, all.map((one) => Math.round(one * 1e6)));
show('hrtime.bigint', 1, Array.from({ length: 20000 }, () => process.hrtime.bigint()));
if (typeof Deno !== 'object' && typeof Bun !== 'object') show('hrtime', 1, Array.from({ length: 20000 }, () => process.hrtime()).map(([s, ns]) => s * 1e9 + ns));
// Reads each time until the clock has moved.
let last = 0;
show('Date.now', 1e6, Array.from({ length: 100 }, () => {
  while (Date.now() === last);
  return last = Date.now();
}));

// Runs wasi.wat by Node and prints its readings. Each line has the id, the nanoseconds per unit, and readings.
import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';

const wasi = new WASI({ version: 'preview1' });
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), wasi.getImportObject());
wasi.initialize(instance);
instance.exports.run();
['monotonic', 'realtime'].forEach((id, at) => console.log(`${id} 1 ${new BigInt64Array(instance.exports.memory.buffer, at * 160000, 20000).join(' ')}`));

// Reads questions from standard input and writes the answers to standard output, for engines that have both.
import process from 'node:process';
import { createInterface } from 'node:readline';
import './agent.js';

for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${await globalThis.answer(line)}\n`);

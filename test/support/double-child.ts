/**
 * The provider double as a process of its own: `node double-child.ts SCRIPT.json`. Prints where it listens; at the end of its stdin,
 * or when it is told to end, prints its bill and ends.
 */
import { readFileSync } from 'node:fs';
import { openDouble } from './double/double.ts';
import { isScript } from './double/script.ts';

const script: unknown = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
if (!isScript(script)) throw new Error('this is no script of the double');
const double = await openDouble(script);
console.log(JSON.stringify({ url: double.url }));

function end(): void {
  console.log(JSON.stringify({ bill: double.bill(), prefixFaults: double.prefixFaults() }));
  void double.close().then(() => process.exit());
}
process.once('SIGTERM', end);
process.stdin.once('end', end).resume();

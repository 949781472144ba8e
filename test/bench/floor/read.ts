/** Floor of all that looks at a long log: its file, read once from front to back. */
import { readSync, openSync } from 'node:fs';

const file = openSync(process.argv[2] ?? '', 'r');
const piece = Buffer.allocUnsafe(1024 * 1024);
let bytes = 0;
for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) bytes += read;
process.stdout.write(`${bytes}\n`);

/**
 * Reads these files again and again until SIGTERM. Then prints what it has ever seen of them, each once: the first letter and the length of a
 * content, or the code of the error. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { codeOf } from '../../src/domain/result.ts';

const seen = new Set<string>();
let isOver = false;

/** Only the beginning, so that it looks as often as it can. */
function glance(file: string): string {
  const handle = openSync(file, 'r');
  const first = Buffer.alloc(1);
  const read = readSync(handle, first);
  const { size } = fstatSync(handle);
  closeSync(handle);
  return `${first.toString('latin1', 0, read)} ${size}`;
}

function look(): void {
  for (const file of process.argv.slice(2)) {
    try {
      seen.add(glance(file));
    } catch (error) {
      seen.add(codeOf(error));
    }
  }
  if (isOver) process.stdout.write(JSON.stringify([...seen].toSorted()));
  else setImmediate(look);
}

process.on('SIGTERM', () => (isOver = true));
look();
process.stdout.write('reading\n');

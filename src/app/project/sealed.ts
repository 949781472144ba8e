/**
 * Values that one process hands to another by a file, enciphered: the other is told the file and its key, reads it once and
 * removes it. What a process that was killed in between leaves can't be read by anybody.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CIPHER = 'aes-256-gcm';
const [KEY_BYTES, START_BYTES, TAG_BYTES] = [32, 12, 16];
/** Milliseconds after which nobody comes for a file any more. */
const ABANDONED = 60_000;

/** Writes them below `folder`, and gives what the other process has to be told. Throws where that can't be written. */
export function sealed(folder: string, values: Readonly<Record<string, string>>): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  sweep(folder);
  const [key, start] = [randomBytes(KEY_BYTES), randomBytes(START_BYTES)];
  const cipher = createCipheriv(CIPHER, key, start);
  const body = Buffer.concat([cipher.update(JSON.stringify(values), 'utf8'), cipher.final()]);
  const file = join(folder, randomBytes(8).toString('hex'));
  writeFileSync(file, Buffer.concat([start, cipher.getAuthTag(), body]), { mode: 0o600, flag: 'wx' });
  return `${key.toString('hex')}:${file}`;
}

/** The values, once; null where there are none for it. */
export function unsealed(told: string): Readonly<Record<string, string>> | null {
  const at = KEY_BYTES * 2;
  const file = told.slice(at + 1);
  try {
    const bytes = readFileSync(file);
    const [start, tag, body] = [
      bytes.subarray(0, START_BYTES),
      bytes.subarray(START_BYTES, START_BYTES + TAG_BYTES),
      bytes.subarray(START_BYTES + TAG_BYTES),
    ];
    const cipher = createDecipheriv(CIPHER, Buffer.from(told.slice(0, at), 'hex'), start, { authTagLength: TAG_BYTES });
    cipher.setAuthTag(tag);
    const values: unknown = JSON.parse(Buffer.concat([cipher.update(body), cipher.final()]).toString('utf8'));
    rmSync(file, { force: true });
    return Object.fromEntries(
      Object.entries(values ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch {
    return null;
  }
}

function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat !== undefined && Date.now() - stat.mtimeMs > ABANDONED) rmSync(file, { force: true });
  }
}

/** The double in a process of its own: what it streams then costs the one that is measured nothing. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Bill } from './bill.ts';
import { isFields, parsed, textAt } from './json.ts';
import type { Script } from './script.ts';

export interface DoubleProcess {
  readonly url: string;
  /** Ends it; its bill, and the faults of prefixes that it saw. Can be called once. */
  close(): Promise<LastWords>;
}

/** What the process prints when it ends. */
export interface LastWords {
  readonly bill: Bill;
  readonly prefixFaults: readonly string[];
}

const CHILD = new URL('../double-child.ts', import.meta.url).pathname;

/** Starts one. Rejects when it doesn't come up. */
export async function openDoubleProcess(script: Script): Promise<DoubleProcess> {
  const folder = mkdtempSync(path.join(tmpdir(), 'mimir-double-'));
  const file = path.join(folder, 'script.json');
  writeFileSync(file, JSON.stringify(script));
  // Its stdin is a pipe of ours: should we die, it ends with us.
  const child = spawn(process.execPath, [CHILD, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdout.setEncoding('utf8');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const first = await lines.next();
  rmSync(folder, { recursive: true });
  const url = textAt(parsed(first.done === true ? '' : first.value), 'url');
  if (url === '') throw new Error('the double did not start');
  return {
    url,
    close: async () => {
      child.stdin.end();
      const last = await lines.next();
      const words = parsed(last.done === true ? '' : last.value);
      if (!isLastWords(words)) throw new Error('the double ended without a bill');
      return words;
    },
  };
}

const isLastWords = (value: unknown): value is LastWords => isFields(value) && isFields(value['bill']);

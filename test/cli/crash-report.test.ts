import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { crashReport } from '../../src/cli/crash-report.ts';
import { freshFolder } from '../support/folder.ts';

it('has a file of its own for each, also where many end in the same moment', () => {
  const state = freshFolder();
  const files = Array.from({ length: 50 }, (_, n) => crashReport(state, new Error(`bug ${n}`), {}));
  expect(new Set(files).size).toBe(50);
  expect(files.map((file) => file !== null && readFileSync(file, 'utf8').split('\n')[0])).toEqual(
    files.map((_, n) => `Error: bug ${n}`),
  );
});

/**
 * A setup file of Vitest that records which functions of the sources each test file calls, so that a fault is shown only to tests
 * that reach it. What a test starts as another process is not seen.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';
import { z } from 'zod';
import { CALLS, type Calls } from './callers.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** Of the profiler's answer, what is used of it. */
const Coverage = z.object({
  result: z.array(
    z.object({
      url: z.string(),
      functions: z.array(z.object({ functionName: z.string(), ranges: z.array(z.object({ count: z.number() })) })),
    }),
  ),
});

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
taken();

afterAll(() => {
  const test = relative(ROOT, expect.getState().testPath ?? '');
  const calls: Calls = { test, functions: calledIn(taken()) };
  session.disconnect();
  mkdirSync(join(ROOT, CALLS), { recursive: true });
  writeFileSync(join(ROOT, CALLS, `${test.replaceAll('/', '+')}.json`), JSON.stringify(calls));
});

/** What was called since the last time. */
function taken(): z.infer<typeof Coverage>['result'] {
  let answer: unknown;
  session.post('Profiler.takePreciseCoverage', (_, coverage) => {
    answer = coverage;
  });
  return Coverage.parse(answer).result;
}

function calledIn(scripts: z.infer<typeof Coverage>['result']): Calls['functions'] {
  const functions: Record<string, string[]> = {};
  for (const script of scripts) {
    const file = relative(ROOT, script.url.startsWith('file:') ? fileURLToPath(script.url) : script.url);
    if (!file.startsWith('src/')) continue;
    const names = script.functions
      .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
      .map(({ functionName }) => functionName);
    functions[file] = [...new Set([...(functions[file] ?? []), ...names])];
  }
  return functions;
}

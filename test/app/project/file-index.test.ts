import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listProject, checkRoot } from '../../../src/tools/index.ts';
import { indexOf, openProjectFiles } from '../../../src/app/project/file-index.ts';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder, makeRepository } from '../../support/repos.ts';

const FILES = [
  'README.md',
  'docs/plan.md',
  'src/agents.ts',
  'src/index.ts',
  'src/plan/index.ts',
  'src/plan/schedule.ts',
  'test/plan/schedule.test.ts',
  '文档/计划.md',
];

describe('the files behind an @', () => {
  it('shows what lies at the top first, folders before files', async () => {
    const index = await indexOf(FILES);
    expect(index.find('', 10)).toEqual(['docs/', 'src/', 'test/', '文档/', 'README.md']);
  });

  it('shows what lies in a folder whose name was written out', async () => {
    const index = await indexOf(FILES);
    expect(index.find('src/', 10)).toEqual(['src/plan/', 'src/agents.ts', 'src/index.ts']);
  });

  it('finds by name before path, by letters left out, and wide names', async () => {
    const index = await indexOf(FILES);
    expect(index.find('sched', 2)).toEqual(['src/plan/schedule.ts', 'test/plan/schedule.test.ts']);
    expect(index.find('srcsched', 1)).toEqual(['src/plan/schedule.ts']);
    expect(index.find('计划', 1)).toEqual(['文档/计划.md']);
    expect(index.find('zzzz', 5)).toEqual([]);
  });

  it('leaves out names that can not be written into a line', async () => {
    const index = await indexOf(['a\nb.ts', 'a\u202eb.ts', 'ab.ts']);
    expect(index.find('', 5)).toEqual(['ab.ts']);
  });

  it('gives at most its task, each once, whatever is looked for', async () => {
    const index = await indexOf(FILES);
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 0, max: 9 }), (query, most) => {
        const found = index.find(query, most);
        expect(found.length).toBeLessThanOrEqual(most);
        expect(new Set(found).size).toBe(found.length);
      }),
    );
  });

  it('answers among 50,000 files within 20 ms', async () => {
    const many = Array.from(
      { length: 50_000 },
      (_, at) => `packages/part-${at % 83}/src/plan-${at % 997}/agent-${at}.ts`,
    );
    const index = await indexOf(many);
    const took = ['agent', 'plan', 'part-7/', 'pa12', 'agent-4999'].map((query) => {
      const times = Array.from({ length: 4 }, () => {
        const start = process.cpuUsage();
        index.find(query, 20);
        return process.cpuUsage(start).user / 1000;
      });
      // The least: other programs take the caches of the processor too.
      return Math.min(...times);
    });
    expect(took.toSorted((a, b) => a - b)[2]).toBeLessThan(20);
  });
});

describe('the list of files', () => {
  it('is made once for many questions, and made anew in the background when it has grown old', async () => {
    let now = 0;
    const lists = [['a.ts'], ['a.ts', 'b.ts']];
    let made = 0;
    const files = openProjectFiles(() => Promise.resolve(lists[made++] ?? []), { elapsed: () => now });
    expect(await Promise.all([files.find('', 9), files.find('a', 9)])).toEqual([['a.ts'], ['a.ts']]);
    expect(made).toBe(1);
    now = 60_000;
    expect(await files.find('', 9)).toEqual(['a.ts']);
    await expect.poll(() => files.find('', 9), { timeout: 30_000 }).toEqual(['a.ts', 'b.ts']);
    expect(made).toBe(2);
  });

  it('is empty where it can not be made', async () => {
    const files = openProjectFiles(() => Promise.reject(new Error('gone')), { elapsed: () => 0 });
    expect(await files.find('a', 9)).toEqual([]);
  });

  it('holds what git would show, and nothing that a link leads to', async () => {
    const root = makeRepository({ 'a.ts': '', 'out/b.js': '', '.gitignore': 'out/\n', '.env': 'KEY=1' });
    const outside = freshFolder();
    writeFileSync(join(outside, 'secret.txt'), '');
    symlinkSync(outside, join(root, 'away'));
    const checked = checkRoot(root, { home: '/nowhere', state: '/nowhere/state' });
    const listed = checked.ok ? await listProject(checked.value, 100, new AbortController().signal) : null;
    expect(listed).toEqual({ files: ['.gitignore', 'a.ts'], more: false });
  });
});

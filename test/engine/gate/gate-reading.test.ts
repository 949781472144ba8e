/** Commands that only read, from the agent's call to the box: real tools, real bubblewrap, mode confirm (D39). */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openSandbox, openTools } from '../../../src/tools/index.ts';
import { freshFolder } from '../../support/folder.ts';
import { needs } from '../../support/needs.ts';
import { outputs } from '../../support/run-looks.ts';
import { AGENT, planOf, says, testRun } from '../../support/run.ts';

needs('bubblewrap');

const S1 = AGENT('ROOT::S1');

async function runOf(root: string, commands: readonly string[], changes: Partial<Parameters<typeof testRun>[0]> = {}) {
  const place = { root, home: '/nowhere/home', stateDir: freshFolder() };
  const sandbox = await openSandbox(place);
  const tools = openTools({ ...place, sandbox });
  if (!tools.ok) throw new Error(tools.fault);
  const calls = commands.map((command) => ({ tool: 'bash', input: { command } }));
  const run = testRun({
    plan: planOf(['o']),
    port: tools.value,
    cwd: root,
    script: says({ [S1]: [{ text: '', calls }] }),
    ...changes,
  });
  const asked: string[] = [];
  for await (const event of run.controls.events(0)) {
    if (event.type !== 'approval.requested') continue;
    asked.push(`${event.request.exact} — ${event.request.because}`);
    await run.tell({ do: 'answer', approval: event.approval, allow: true, scope: 'once' });
  }
  await run.result;
  return { run, asked, texts: outputs(run).map(([, text]) => text.split('\n').slice(1).join('\n')) };
}

it('runs a command that only reads without a question, and asks for one that may do more', async () => {
  const root = freshFolder();
  writeFileSync(path.join(root, 'a.txt'), 'one\n');
  writeFileSync(path.join(root, '.env'), 'SECRET\n');
  const { run, asked, texts } = await runOf(root, ['cat a.txt .env', 'touch made', 'ls | cat']);
  expect(asked).toEqual(['touch made — mode confirm: shell needs approval (default)']);
  expect(texts).toEqual([expect.stringContaining('one'), '', 'a.txt\nmade']);
  expect(texts.join('')).not.toContain('SECRET');
  const rules = run.events().flatMap((event) => (event.type === 'tool.started' ? [[event.label, event.rule]] : []));
  expect(rules).toEqual([
    ['cat a.txt .env', 'mode confirm: reads only'],
    ['touch made', undefined],
    ['ls | cat', 'mode confirm: reads only'],
  ]);
});

it('needs nobody for it', async () => {
  const root = freshFolder();
  writeFileSync(path.join(root, 'a.txt'), 'one\n');
  const { texts } = await runOf(root, ['cat a.txt', 'touch made'], { person: false });
  expect(texts[0]).toBe('one');
  expect(existsSync(path.join(root, 'made'))).toBe(false);
});

it('says why one that only reads asks all the same', async () => {
  const root = freshFolder();
  const git =
    'mode confirm: shell needs approval: it only reads, but this folder is not the top of a git repository (default)';
  expect((await runOf(root, ['git status'])).asked).toEqual([`git status — ${git}`]);
});

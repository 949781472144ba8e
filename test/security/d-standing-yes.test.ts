/** Group D: a yes for the session is for what the command was, not for what it has become. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSandbox, openTools } from '../../src/tools/index.ts';
import { freshFolder } from '../support/folder.ts';
import { needs } from '../support/needs.ts';
import { outputs } from '../support/run-looks.ts';
import { AGENT, planOf, says, testRun } from '../support/run.ts';

needs('bubblewrap');

const S1 = AGENT('ROOT::S1');
const bash = (...commands: readonly string[]) => ({
  text: '',
  calls: commands.map((command) => ({ tool: 'bash', input: { command } })),
});

it('D14: a standing yes to a command ends when a file changes that it reads, and the question says which', async () => {
  const root = freshFolder();
  const place = { root, home: '/nowhere/home', stateDir: freshFolder() };
  const sandbox = await openSandbox(place);
  expect(sandbox.state.is).toBe('bubblewrap');
  const tools = openTools({ ...place, sandbox });
  if (!tools.ok) throw new Error(tools.fault);
  writeFileSync(join(root, 'x.sh'), 'echo first\n');
  const script = says({ [S1]: [bash('sh x.sh'), bash('sh x.sh', 'echo "echo second" > x.sh', 'sh x.sh')] });
  const run = testRun({ plan: planOf(['o']), port: tools.value, cwd: root, script });
  const asked: string[] = [];
  for await (const event of run.controls.events(0)) {
    if (event.type !== 'approval.requested') continue;
    asked.push(`${event.request.exact} — ${event.request.because}`);
    await run.tell({ do: 'answer', approval: event.approval, allow: true, scope: 'session' });
  }
  await run.result;
  expect(asked).toEqual([
    'sh x.sh — mode confirm: shell needs approval (default)',
    'echo "echo second" > x.sh — mode confirm: shell needs approval (default)',
    'sh x.sh — allowed before, but changed since: x.sh; mode confirm: shell needs approval (default)',
  ]);
  expect(outputs(run).map(([, text]) => text.split('\n').at(-1))).toEqual([
    'first',
    'first',
    expect.anything(),
    'second',
  ]);
});

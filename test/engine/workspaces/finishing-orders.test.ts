/** Whoever of three agents with trees of their own finishes first, the project ends up the same: real git, a real sandbox. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { AgentId } from '../../../src/domain/ids.ts';
import { openSandbox, openTools } from '../../../src/tools/index.ts';
import { needs } from '../../support/needs.ts';
import { freshFolder, makeRepository } from '../../support/repos.ts';
import { AGENT, draftOf, testRun } from '../../support/run.ts';

needs('git', 'bubblewrap');

const [S1, S2, S3] = [AGENT('ROOT::S1'), AGENT('ROOT::S2'), AGENT('ROOT::S3')];
const LINES = Array.from({ length: 9 }, (_, at) => `line ${at}\n`).join('');

/** The first two go together, and the third changes a line that the first one changes as well. */
const COMMANDS = new Map([
  [S1, "sed -i 's/line 1/by one/' a.txt; mv old.txt moved.txt; printf '\\0one' > one.bin"],
  [S2, "sed -i 's/line 5/by two/' a.txt; rm gone.txt; chmod +x run.sh; echo two > two.txt"],
  [S3, "sed -i 's/line 1/by three/' a.txt; echo three > three.txt"],
]);

const ORDERS = [S1, S2, S3].flatMap((first) =>
  [S1, S2, S3].filter((id) => id !== first).map((second): readonly AgentId[] => [first, second]),
);

async function finishedIn(order: readonly AgentId[]): Promise<object> {
  const root = makeRepository({ 'a.txt': LINES, 'old.txt': 'old\n', 'gone.txt': 'g\n', 'run.sh': 'echo\n' });
  const place = { root, home: '/nowhere/home', stateDir: freshFolder() };
  const tools = openTools({ ...place, sandbox: await openSandbox(place) });
  if (!tools.ok) throw new Error(tools.fault);
  const gates = new Map([S1, S2, S3].map((id) => [id, Promise.withResolvers<void>()]));
  const task = (id: string): object => ({ id, description: `do ${id}`, role: 'oracle', writes: ['**'], tree: 'own' });
  const run = testRun({
    file: { draft: draftOf({ tasks: ['one', 'two', 'three'].map(task) }), from: 'plan.yml' },
    port: tools.value,
    workspaces: tools.value.workspaces,
    cwd: root,
    mode: 'yolo',
    person: false,
    toolsOf: () => ['bash'],
    script: async ({ agent, purpose }, n) => {
      const command = COMMANDS.get(agent);
      if (purpose.is !== 'work' || command === undefined) return undefined;
      if (n === 0) return { text: '', calls: [{ tool: 'bash', input: { command } }] };
      await gates.get(agent)?.promise;
      return { text: 'Done.' };
    },
  });
  const answers = (agent: AgentId): number =>
    run.events().filter((event) => event.type === 'model.finished' && event.agent === agent).length;
  for (const agent of [...order, ...[S1, S2, S3].filter((id) => !order.includes(id))]) {
    await run.until(() => answers(agent) === 1);
    gates.get(agent)?.resolve();
    await run.until(() => answers(agent) === 2);
  }
  await run.result;
  const names = readdirSync(root).filter((name) => name !== '.git');
  return {
    ends: run.events().flatMap((event) => (event.type === 'merge.finished' ? [[event.agent, event.is]] : [])),
    files: Object.fromEntries(
      names.toSorted().map((name) => {
        const file = path.join(root, name);
        return [name, `${lstatSync(file).mode.toString(8)} ${readFileSync(file, 'latin1')}`];
      }),
    ),
  };
}

it.each(ORDERS)('the project ends up the same where %s finishes first and %s second', async (...order) => {
  expect(await finishedIn(order)).toEqual({
    ends: [
      [S1, 'merged'],
      [S2, 'merged'],
      [S3, 'unmerged'],
    ],
    files: {
      'a.txt': `100644 ${LINES.replace('line 1', 'by one').replace('line 5', 'by two')}`,
      'moved.txt': '100644 old\n',
      'one.bin': '100644 \0one',
      'run.sh': '100755 echo\n',
      'two.txt': '100644 two\n',
    },
  });
});

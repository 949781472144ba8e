/** Children by every way at once: the verb, the tool Task, the words of the text protocol. None goes round what binds the others. */
import { describe, expect, it } from 'vitest';
import { acting, LED, spawned } from '../support/children.ts';
import { outputs } from '../support/run-looks.ts';
import { calling, filed, RULES } from '../support/run.ts';
import type { Setting, TestRun } from '../support/run.ts';
import { ends, resultsOf, runs, saying, spawns, wordRun } from '../support/words.ts';

const S1 = 'ROOT::S1';
const CHILD = 'ROOT::S1::S1';
const GRANDCHILD = 'ROOT::S1::S1::S1';

/** By words; before `asker` says its turn `at`, it asks for a child by the verb: what came of it is kept. */
function wording(
  replies: Parameters<typeof saying>[0],
  { asker, at, said, ...setting }: Setting & { readonly asker: string; readonly at: number; readonly said: string[] },
): TestRun {
  const made: { run: TestRun | null } = { run: null };
  const script = saying(replies);
  made.run = wordRun({
    ...setting,
    script: async (request, n) => {
      const turn = request.turns.filter(({ by }) => by === 'model').length;
      if (made.run !== null && request.agent === asker && request.purpose.is === 'work' && turn === at)
        said.push(await spawned(made.run, asker, { role: 'code' }, asker));
      return script(request, n);
    },
  });
  return made.run;
}

describe('children by verb, tool and words', () => {
  it('I02: are as deep as the limit in any mixture, and not deeper', async () => {
    const said: string[] = [];
    const run = wording(
      {
        [S1]: [spawns('one'), ends('done')],
        [CHILD]: [spawns('two'), ends('done')],
        [GRANDCHILD]: [spawns('three'), ends('x')],
      },
      { asker: GRANDCHILD, at: 0, said },
    );
    await run.result;
    // Room for three levels: who is on the third has nobody below, by no way.
    expect([said[0], resultsOf(run, GRANDCHILD)[0]]).toEqual([
      expect.stringMatching(/^Denied: Max nesting depth \(3\) exceeded/),
      'No child was made: role code cannot spawn children here.',
    ]);
    expect(run.state().agents.size).toBe(4);
  });

  it('H009: of an agent that works by words may be asked for by the verb as well, where there is room', async () => {
    const said: string[] = [];
    const run = wording(
      { [S1]: [spawns('one'), ends('done')], [CHILD]: [runs('true'), ends('done')] },
      { asker: CHILD, at: 1, said },
    );
    await run.result;
    expect(said).toEqual([GRANDCHILD]);
  });

  it('I02: are counted together', async () => {
    const said: string[] = [];
    const run = wording(
      { [S1]: [spawns('one'), ends('done')], [CHILD]: [runs('true'), spawns('two'), ends('done')] },
      {
        asker: CHILD,
        at: 1,
        said,
        rules: {
          ...RULES,
          maxNestingDepth: { ...RULES.maxNestingDepth, value: 3 },
          maxAgentsPerRun: { ...RULES.maxAgentsPerRun, value: 3 },
        },
      },
    );
    await run.result;
    expect([said, resultsOf(run, CHILD)[1]]).toEqual([
      [GRANDCHILD],
      expect.stringContaining('the run already has 3 agents'),
    ]);
  });

  it('T024: of the tool Task have none, by the verb neither', async () => {
    const said: string[] = [];
    const run = acting(
      {
        [S1]: [
          () => ({
            text: '',
            calls: [{ tool: 'Task', input: { description: 'x', prompt: 'x', subagent_type: 'leader' } }],
          }),
        ],
        [CHILD]: [async (of) => (said.push(await spawned(of, CHILD, {}, CHILD)), calling('Task x'))],
      },
      { plan: LED, rules: { ...RULES, maxNestingDepth: { ...RULES.maxNestingDepth, value: 8 } } },
    );
    await run.result;
    expect([said, outputs(run)[0]]).toEqual([
      ['Denied: spawning needs "spawn", which this agent does not have (default)'],
      [false, 'Tool not found: Task'],
    ]);
  });

  it('I03: never write nor run commands below one that only reads, whatever role and way', async () => {
    const run = acting(
      {
        [S1]: [
          async (of) => (
            await spawned(of, S1, { role: 'oracle' }, S1),
            await spawned(of, S1, { role: 'leader', name: 'b' }, S1),
            undefined
          ),
        ],
      },
      filed({ reason: '', tasks: [{ id: 'a', description: 'a', role: 'finder', maySpawn: true }] }),
    );
    await run.result;
    const below = [...run.state().agents.values()].filter(({ id }) => id.startsWith(`${S1}::`));
    expect(
      below.map(({ role, tools }) => [role, tools.filter((tool) => ['write', 'bash', 'Task'].includes(tool))]),
    ).toEqual([
      ['oracle', []],
      ['leader', []],
    ]);
  });
});

/** Children that an agent has by a command: who they are, what they see, what comes back, and where there are none. */
import { describe, expect, it } from 'vitest';
import { RoleName } from '../../../../src/domain/ids.ts';
import type { Role } from '../../../../src/domain/agents/role.ts';
import type { ModelRequest } from '../../../../src/ports/model.ts';
import { AGENT, RULES } from '../../../support/run.ts';
import {
  ends,
  outcomes,
  resultsOf,
  runs,
  saying,
  spawns,
  WORD_ROLES,
  wordPlan,
  wordRun,
} from '../../../support/words.ts';

const S1 = AGENT('ROOT::S1');
const CHILD = AGENT('ROOT::S1::S1');
const SECOND = AGENT('ROOT::S1::S2');
const GRANDCHILD = AGENT('ROOT::S1::S1::S1');

const role = (name: string): Role => {
  const coder = WORD_ROLES.find((one) => one.protocol === 'text');
  if (coder === undefined) throw new Error('there is no role of that kind');
  return { ...coder, name: RoleName.parse(name) };
};

const ofWork = (requests: readonly ModelRequest[], agent: string): readonly ModelRequest[] =>
  requests.filter((request) => request.agent === agent && request.purpose.is === 'work');

describe('children by a command', () => {
  it('have children themselves, each ends by its marker, and each output is the result of a command (H001 to H009, H021 to H025)', async () => {
    const requests: ModelRequest[] = [];
    const run = wordRun({
      files: { 'a.txt': 'one\n' },
      script: saying({
        [S1]: [
          spawns('Count the lines of a.txt.\n\nHave it done by somebody.'),
          runs('cat made.txt'),
          ends('all in all: 1 line'),
        ],
        [CHILD]: [
          runs('echo "MINI_SWE_AGENT_SPAWN_CHILD\\nRun wc on a.txt\\nand write made.txt"'),
          ends('it has\n\n1 line'),
        ],
        [GRANDCHILD]: [runs('wc -l < a.txt > made.txt'), runs("echo 'MINI_SWE_AGENT_FINAL_OUTPUT\nlines: 1'")],
      }),
      record: (request) => void requests.push(request),
    });
    expect((await run.result).success).toBe(true);
    expect(outcomes(run)).toEqual([
      'ROOT completed',
      'ROOT::S1 completed',
      'ROOT::S1::S1 completed',
      'ROOT::S1::S1::S1 completed',
    ]);
    // A fresh context, with the task and nothing of the parent's history; the same protocol.
    expect(ofWork(requests, CHILD)[0]?.turns).toEqual([
      { by: 'user', text: 'Count the lines of a.txt.\n\nHave it done by somebody.' },
    ]);
    expect(ofWork(requests, GRANDCHILD)[0]?.turns).toEqual([
      { by: 'user', text: 'Run wc on a.txt\nand write made.txt' },
    ]);
    expect(requests.filter(({ purpose }) => purpose.is === 'work').flatMap(({ tools }) => tools)).toEqual([]);
    // At the deepest level there is no word of children.
    expect(ofWork(requests, CHILD)[0]?.system).toContain('MIMIR_SPAWN_CHILD');
    expect(ofWork(requests, GRANDCHILD)[0]?.system).not.toContain('MIMIR_SPAWN_CHILD');
    expect(resultsOf(run, CHILD)[0]).toBe('lines: 1');
    // The folder is shared: what the grandchild wrote is there.
    expect(resultsOf(run, S1).slice(0, 2)).toEqual(['it has\n\n1 line', 'exit code 0 after T\n1']);
    const child = run.state().agents.get(CHILD);
    expect([child?.role, child?.name]).toEqual(['code', 'Count the lines of a.txt.']);
    expect(run.state().agents.get(S1)?.summary).toBe('all in all: 1 line');
  });

  it('are numbered by a counter of each parent: S1::S2 is the second child of S1 (D15, H010, H011)', async () => {
    const run = wordRun({
      script: saying({
        [S1]: [spawns('the first'), spawns('the second', 'runner up'), ends('both are done')],
        [CHILD]: [spawns('below the first'), ends('one')],
        [SECOND]: [ends('two')],
        [GRANDCHILD]: [ends('three')],
      }),
    });
    await run.result;
    const made = run
      .events()
      .flatMap((event) => (event.type === 'agent.created' ? [[event.agent, event.name, event.task]] : []));
    expect(made.slice(1)).toEqual([
      [S1, expect.anything(), 'do t'],
      [CHILD, 'the first', 'the first'],
      [GRANDCHILD, 'below the first', 'below the first'],
      [SECOND, 'runner up', 'the second'],
    ]);
  });

  it('have the role that their name is, and never more than their parent', async () => {
    const reader: Role = { ...role('reader'), capabilities: ['read', 'shell'] };
    const run = wordRun({
      roles: [...WORD_ROLES, reader],
      plan: wordPlan('reader'),
      script: saying({
        [S1]: [spawns('look around', 'oracle'), spawns('look around', 'Ada'), ends('done')],
        [CHILD]: [ends('x')],
        [SECOND]: [ends('y')],
      }),
    });
    await run.result;
    const made = [CHILD, SECOND].map((id) => run.state().agents.get(id));
    expect(made.map((one) => [one?.role, one?.name])).toEqual([
      ['oracle', 'oracle'],
      ['code', 'Ada'],
    ]);
    expect(made.flatMap((one) => one?.tools ?? []).filter((tool) => tool === 'write')).toEqual([]);
  });

  it('are made only where that is allowed: by plan, depth, mode and person, with words for the agent (D1, D35)', async () => {
    const denied = async (setting: Parameters<typeof wordRun>[0]): Promise<string | undefined> => {
      const run = wordRun({ ...setting, script: saying({ [S1]: [spawns('do it'), ends('done')] }) });
      await run.result;
      expect(run.state().agents.size).toBe(2);
      return resultsOf(run, S1)[0];
    };
    expect(await denied({ plan: wordPlan('coder', false) })).toBe(
      'No child was made: role coder cannot spawn children here.',
    );
    const rules = { ...RULES, maxNestingDepth: { ...RULES.maxNestingDepth, value: 1 } };
    expect(await denied({ rules })).toContain('Max nesting depth (1) exceeded');
    const run = wordRun({
      mode: 'confirm',
      script: saying({ [S1]: [spawns('do it'), { text: 'I could not.\n[DONE]' }] }),
    });
    for (const [action, allow] of [
      ['shell', true],
      ['spawn', false],
    ] as const) {
      const { approvals } = await run.until((state) =>
        state.approvals.some(({ request }) => request.action === action),
      );
      const approval = approvals.find(({ request }) => request.action === action)?.id ?? '';
      await run.tell({ do: 'answer', approval, allow, scope: 'once' });
    }
    await run.result;
    expect(resultsOf(run, S1)[0]).toBe('The person denied this. Do not try it in another way.');
  });

  it('need a task: a marker alone makes none', async () => {
    const run = wordRun({ script: saying({ [S1]: [runs('echo MIMIR_SPAWN_CHILD'), ends('done')] }) });
    await run.result;
    expect(resultsOf(run, S1)[0]).toBe('No child was made: there is no task below the marker.');
  });

  it('that fail are an error result for their parent, which goes on', async () => {
    const run = wordRun({
      script: saying({
        [S1]: [spawns('do it'), ends('done without')],
        [CHILD]: [{ text: 'a' }, { text: 'b' }, { text: 'c' }],
      }),
    });
    await run.result;
    expect(resultsOf(run, S1)[0]).toMatch(/^The child ROOT::S1::S1 did not complete \(The last 3 replies/);
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
  });
});

describe('children by a command of a planned agent', () => {
  const TWO = {
    reason: '',
    tasks: [
      { id: 'a', description: 'do a', role: 'coder', maySpawn: true, writes: ['a/**'] },
      { id: 'b', description: 'do b', role: 'coder', maySpawn: true, writes: ['b/**'] },
    ],
  };
  const B = AGENT('ROOT::S2');
  const OF_B = AGENT('ROOT::S2::S1');
  const made = (run: ReturnType<typeof wordRun>): readonly unknown[] =>
    run.events().flatMap((event) => (event.type === 'agent.created' ? [[event.agent, event.role]] : []));

  it('work for each of several in a plan, and each gets the answer of its own child (D23)', async () => {
    const run = wordRun({
      plan: TWO,
      script: saying({
        [S1]: [spawns('look at a'), ends('a: done')],
        [CHILD]: [ends('a is there')],
        [B]: [spawns('look at b'), ends('b: done')],
        [OF_B]: [ends('b is there')],
      }),
    });
    await run.result;
    expect([resultsOf(run, S1)[0], resultsOf(run, B)[0]]).toEqual(['a is there', 'b is there']);
    expect(outcomes(run)).toEqual(expect.arrayContaining([`${CHILD} completed`, `${OF_B} completed`]));
  });

  it('are made in mode confirm by the answer of the person to the child itself, and without it where the child only reads (D23, D35)', async () => {
    const run = wordRun({
      mode: 'confirm',
      plan: wordPlan(),
      roles: WORD_ROLES.map((one) => (one.name === 'explore' ? { ...one, capabilities: ['read', 'shell'] } : one)),
      script: saying({
        [S1]: [spawns('look there', 'explore'), spawns('write it'), ends('done')],
        [CHILD]: [runs('ls'), ends('seen')],
        [SECOND]: [ends('written')],
      }),
    });
    const asked: string[] = [];
    const answers = async (): Promise<void> => {
      for await (const event of run.controls.events(0)) {
        if (event.type === 'session.finished') return;
        if (event.type !== 'approval.requested') continue;
        asked.push(`${event.agent} ${event.request.action}`);
        await run.tell({ do: 'answer', approval: event.approval, allow: true, scope: 'once' });
      }
    };
    await Promise.all([answers(), run.result]);
    expect(made(run)).toEqual([
      ['ROOT', 'main'],
      [S1, 'coder'],
      [CHILD, 'explore'],
      [SECOND, 'code'],
    ]);
    expect(asked.filter((one) => one.endsWith(' spawn'))).toEqual([`${S1} spawn`]);
    expect(resultsOf(run, S1).slice(0, 2)).toEqual(['seen', 'written']);
  });
});

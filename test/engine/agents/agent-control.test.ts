import { describe, expect, it } from 'vitest';
import type { AgentId } from '../../../src/domain/ids.ts';
import type { Command } from '../../../src/ports/controls.ts';
import { AGENT, calling, planOf, RULES, says, type TestRun, testRun } from '../../support/run.ts';
import { fault } from '../../support/faulty.ts';
import { settled } from '../../support/fake-run.ts';

const ROOT = AGENT('ROOT');
const S = (number: number): AgentId => AGENT(`ROOT::S${number}`);
const never = new Promise<undefined>(() => {});

const ACTS = ['interrupt', 'resume', 'kill', 'retry', 'skip'] as const;
type Act = (typeof ACTS)[number];

/** In each of these states stands one agent of the run that `inAllStates` makes. */
const STATES = {
  running: S(1),
  'waiting for a person': S(2),
  interrupted: S(3),
  pending: S(4),
  completed: S(6),
  failed: S(7),
  killed: S(8),
  skipped: S(9),
  main: ROOT,
} as const;
type State = keyof typeof STATES;

async function inAllStates(): Promise<TestRun> {
  const run = testRun({
    plan: planOf(['a'], ['o2'], ['c'], ['d', 'a'], ['e'], ['f'], ['g'], ['h'], ['i', 'a']),
    rules: { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value: 8 } },
    script: (request, n) => {
      if (request.agent === S(7)) return fault('refused');
      if ([S(1), S(3), S(8)].includes(request.agent)) return never;
      return says({ [S(2)]: [calling('write x')] })(request, n);
    },
  });
  await run.until(({ agents }) => [1, 3, 8].every((number) => agents.get(S(number))?.open.length === 1));
  await run.until(({ agents }) => [6, 7].every((number) => agents.get(S(number))?.outcome !== null));
  await run.until(({ approvals }) => approvals.length === 1);
  await run.tell({ do: 'interrupt', agent: S(3) });
  await run.tell({ do: 'kill', agent: S(8) });
  await run.tell({ do: 'skip', agent: S(9) });
  await run.until(({ agents }) => agents.get(S(3))?.status === 'interrupted' && agents.get(S(8))?.outcome === 'killed');
  await settled();
  return run;
}

const ENDED = {
  interrupt: 'refused: NAME has ended already',
  resume: 'refused: NAME has ended: retry it where it failed',
  kill: 'refused: NAME has ended already',
  skip: 'refused: NAME has ended already',
} as const;
const AT_WORK = {
  interrupt: 'NAME interrupted; resume continues it',
  resume: 'refused: NAME is not interrupted',
  kill: 'NAME killed',
  retry: 'refused: NAME has not failed: it is still working',
  skip: 'refused: NAME has started already: kill it instead',
} as const;

const SAID: Readonly<Record<State, readonly [name: string, Readonly<Record<Act, string>>]>> = {
  running: ['finder 1', { ...AT_WORK, kill: 'NAME killed; finder 3 needs it: you are asked' }],
  'waiting for a person': ['oracle', AT_WORK],
  interrupted: [
    'finder 2',
    {
      ...AT_WORK,
      interrupt: 'refused: NAME is not running',
      resume: 'NAME resumed',
    },
  ],
  pending: [
    'finder 3',
    {
      interrupt: 'refused: NAME has not begun: skip it, or change it in the plan',
      resume: 'refused: NAME is not interrupted',
      kill: 'NAME skipped',
      retry: 'refused: NAME has not failed: it has not begun',
      skip: 'NAME skipped',
    },
  ],
  completed: ['finder 5', { ...ENDED, retry: 'refused: NAME has completed: there is nothing to retry' }],
  failed: ['finder 6', { ...ENDED, retry: 'NAME runs again from the start' }],
  killed: ['finder 7', { ...ENDED, retry: 'NAME runs again from the start' }],
  skipped: ['finder 8', { ...ENDED, retry: 'refused: NAME never ran: add its task to the plan again' }],
  main: [
    'main',
    {
      interrupt: 'refused: NAME plans and reports: interrupt its agents, or stop the run',
      resume: 'refused: NAME is never interrupted: resume its agents',
      kill: 'refused: NAME ends with the run: stop the run instead',
      retry: 'refused: NAME cannot be retried: retry the agents that failed',
      skip: 'refused: NAME cannot be skipped: skip its agents',
    },
  ],
};

const cells = Object.entries(SAID).flatMap(([state, [name, words]]) =>
  ACTS.map((act) => [act, state, words[act].replaceAll('NAME', name)] as const),
);
const isState = (text: string): text is State => Object.hasOwn(STATES, text);
const agentIn = (state: string): AgentId => (isState(state) ? STATES[state] : ROOT);

describe('steering an agent', () => {
  it.each(cells)('by %s while it is %s says: %s', async (act, state, words) => {
    const run = await inAllStates();
    expect(await run.tell({ do: act, agent: agentIn(state) })).toBe(words);
    run.stop('enough');
    await run.result;
  });

  it('names those that are left out with one that is skipped', async () => {
    const run = testRun({
      plan: planOf(['a'], ['b', 'a'], ['c', 'b'], ['d', 'c']),
      script: ({ agent }) => (agent === S(1) ? never : undefined),
    });
    await run.until(({ agents }) => agents.get(S(1))?.open.length === 1);
    expect(await run.tell({ do: 'skip', agent: S(2) })).toBe('finder 2 skipped, also skipped: finder 3, finder 4');
    run.stop('enough');
    await run.result;
  });

  it.each([
    ['retry', 'retried once'],
    ['skip', 'skipped'],
    ['stop', 'the run stops'],
  ] as const)('says what the rule %s makes of those that wait for one that is killed', async (value, what) => {
    const run = testRun({
      plan: planOf(['a'], ['b', 'a']),
      rules: { ...RULES, onFailure: { ...RULES.onFailure, value } },
      script: ({ agent }) => (agent === S(1) ? never : undefined),
    });
    await run.until(({ agents }) => agents.get(S(1))?.open.length === 1);
    expect(await run.tell({ do: 'kill', agent: S(1) })).toBe(`finder 1 killed; finder 2 needs it: ${what}`);
    await run.until(({ agents }) => agents.get(S(1))?.outcome !== null || agents.get(S(1))?.iterations === 2);
    run.stop('enough');
    await run.result;
  });

  it('is refused while the run is being stopped, and when it has ended', async () => {
    const run = await inAllStates();
    run.stop('enough');
    for (const act of ACTS) {
      const command: Command = { do: act, agent: S(1) };
      expect(await run.refused(command)).toBe(
        'refused: finder 1 is being stopped with the run; `mimir resume` continues it',
      );
    }
    await run.result;
    expect(await run.refused({ do: 'retry', agent: S(7) })).toBe('refused: the run has ended');
  });
});

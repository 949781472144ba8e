import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../../src/ports/model.ts';
import {
  type Act,
  acting,
  gate,
  has,
  inTurn,
  notices,
  outcomes,
  rulesWith,
  says,
  send,
  spawned,
  statusesOf,
  waits,
} from '../../support/children.ts';
import { toldTo } from '../../support/run-looks.ts';
import { AGENT, calling, planOf, ROLES, RULES } from '../../support/run.ts';

const S1 = 'ROOT::S1';
const S2 = 'ROOT::S2';
const S3 = 'ROOT::S3';
const CHILD = 'ROOT::S1::S1';

const LETTER = 'Message from the person who runs you:\nmore';

describe('a message to an agent that has ended', () => {
  it('lets a child go on with its whole conversation, again and again (S061, S130, S131, S133)', async () => {
    const go = gate();
    const seen: ModelRequest[] = [];
    const run = acting(
      { [S1]: [waits(go)], [S2]: [says('first answer'), says('second answer'), says('third answer')] },
      { record: (request) => void (request.agent === S2 && seen.push(request)) },
    );
    await inTurn(run, S1, 1);
    await spawned(run, 'ROOT', { name: 'Ada' });
    await has(run, S2, 'completed');
    expect(await send(run, S2, undefined, 'sequential')).toBe('resumed');
    await run.until(
      ({ agents }) => agents.get(AGENT(S2))?.iterations === 2 && agents.get(AGENT(S2))?.outcome === 'completed',
    );
    expect(await send(run, S2)).toBe('resumed');
    go.resolve();
    await run.result;
    expect(seen.at(-1)?.turns.map((turn) => (turn.by === 'tools' ? '' : turn.text))).toEqual([
      'look there',
      'first answer',
      LETTER,
      'second answer',
      LETTER,
    ]);
    const child = run.state().agents.get(AGENT(S2));
    expect(child?.summary).toBe('first answer\n\nsecond answer\n\nthird answer');
    expect(statusesOf(run, S2)).toEqual([1, 2, 3].flatMap(() => ['initializing', 'running', 'completed']));
    const calls = run.events().filter((event) => event.type === 'model.finished' && event.agent === S2);
    expect(child?.cost).toBeCloseTo(
      calls.reduce((sum, event) => sum + (event.type === 'model.finished' ? event.cost : 0), 0),
      9,
    );
  });

  it('is told of with what it has said since, once for each end (S076)', async () => {
    const go = gate();
    const run = acting({ [S1]: [waits(go)], [S2]: [says('first answer'), says('second answer')] });
    await inTurn(run, S1, 1);
    await spawned(run, 'ROOT', { name: 'Ada' });
    await has(run, S2, 'completed');
    await send(run, S2);
    go.resolve();
    await run.result;
    expect(notices(run)).toEqual([
      `ROOT < ${S2} completed: Child Ada completed: first answer`,
      `ROOT < ${S2} completed: Child Ada completed: second answer`,
    ]);
  });

  it('lets an agent of the plan go on, and who needs it waits for that', async () => {
    const [go, more] = [gate(), gate()];
    const run = acting(
      { [S1]: [says('answer'), waits(more)], [S2]: [waits(go)] },
      { plan: planOf(['a'], ['c'], ['b', 'a', 'c']) },
    );
    await has(run, S1, 'completed');
    await inTurn(run, S2, 1);
    expect(await send(run, S1)).toBe('resumed');
    go.resolve();
    await has(run, S2, 'completed');
    expect(statusesOf(run, S3)).toEqual([]);
    more.resolve();
    expect((await run.result).success).toBe(true);
    expect(toldTo(run, S3)[0]).toContain(`answer\n\n${S1} is done`);
  });

  it('lets one that failed go on: what was asked because of it is asked no more', async () => {
    const run = acting(
      { [S1]: [() => ({ text: 'no', stopReason: 'refused' }), says('after all')] },
      { plan: planOf(['a'], ['b', 'a']) },
    );
    const { approvals } = await run.until((state) => state.approvals.length === 1);
    expect(approvals[0]?.request.action).toBe('failure');
    expect(await send(run, S1)).toBe('resumed');
    expect((await run.result).success).toBe(true);
    expect(outcomes(run)).toEqual([`${S1} completed`, `${S2} completed`]);
    expect(run.events().flatMap((event) => (event.type === 'approval.answered' ? [event.answer] : []))).toEqual([
      'withdrawn',
    ]);
  });

  it('lets nobody go on who was killed, abandoned, left out, judges, or has answered a call (S132)', async () => {
    const go = gate();
    const run = acting(
      {
        [S1]: [
          () => ({
            text: '',
            calls: [{ tool: 'Task', input: { description: 'look', prompt: 'x', subagent_type: 'explore' } }],
          }),
          waits(go),
        ],
        [S2]: [waits(go)],
      },
      {
        plan: {
          reason: '',
          tasks: [
            { id: 'a', description: 'a', role: 'leader', maySpawn: true },
            { id: 'b', description: 'b', role: 'finder' },
            { id: 'c', description: 'c', role: 'finder', dependsOn: ['b'] },
          ],
        },
        rules: { ...RULES, onFailure: { ...RULES.onFailure, value: 'skip' } },
      },
    );
    await inTurn(run, S1, 2);
    await inTurn(run, S2, 1);
    await run.tell({ do: 'kill', agent: AGENT(S2) });
    await has(run, S3, 'skipped');
    expect(await send(run, S2)).toBe('finder 1 was killed and no longer reads messages');
    expect(await send(run, S3)).toBe('finder 2 was skipped and no longer reads messages');
    expect(await send(run, CHILD)).toBe('look has finished and no longer reads messages');
    go.resolve();
    await run.result;
    expect(run.state().messages).toEqual([]);
  });

  it('is refused where children are closed with their turn (S103)', async () => {
    const go = gate();
    const run = acting({ [S1]: [waits(go)] }, { rules: rulesWith({ killOnComplete: true }) });
    await inTurn(run, S1, 1);
    await spawned(run, 'ROOT', { name: 'Ada' });
    await has(run, S2, 'completed');
    expect(await send(run, S2)).toMatch(/^Ada was closed with its turn/);
    go.resolve();
    await run.result;
  });

  it('is refused where the rules of now forbid its role', async () => {
    const go = gate();
    let off = false;
    const disabled = [{ role: 'explore', from: RULES.enabled.from }];
    const policyWatcher = {
      now: () => ({ ok: true as const, value: off ? { ...RULES, disabledRoles: disabled } : RULES }),
    };
    const run = acting({ [S1]: [waits(go)] }, { policyWatcher });
    await inTurn(run, S1, 1);
    await spawned(run, 'ROOT', { name: 'Ada' });
    await has(run, S2, 'completed');
    off = true;
    expect(await send(run, S2)).toBe("Ada cannot continue: Role 'explore' is disabled: the test (default)");
    go.resolve();
    await run.result;
  });

  it('gives it as many turns as it had at first', async () => {
    const go = gate();
    const roles = ROLES.map((role) => ({ ...role, iterations: role.name === 'explore' ? 3 : role.iterations }));
    const acts: Act[] = [() => calling('read a'), says('first'), () => calling('read b'), says('second')];
    const run = acting({ [S1]: [waits(go)], [S2]: acts }, { roles });
    await inTurn(run, S1, 1);
    await spawned(run, 'ROOT');
    await has(run, S2, 'completed');
    await send(run, S2);
    go.resolve();
    await run.result;
    expect(run.state().agents.get(AGENT(S2))?.summary).toBe('first\n\nsecond');
  });
});

/** Moments at which a gate could open by itself, or stay closed for nothing: ends of agents, of looks, of reviews. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SessionId } from '../../../src/domain/ids.ts';
import { fail, ok } from '../../../src/domain/result.ts';
import type { ScriptedReply } from '../../support/scripted.ts';
import type { Tool, ToolPort } from '../../../src/ports/tool.ts';
import type { TreePort } from '../../../src/ports/tree.ts';
import { giveVerdictTool } from '../../../src/tools/tools.ts';
import { forcedRun, forcing, gatesOf, reviewers, SECURITY, verdict } from '../../support/forced.ts';
import { cutLog } from '../../support/log.ts';
import { AGENT, filed, planOf, ROLES, RULES, says, type Script, type TestRun } from '../../support/run.ts';

const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');

/** A project in memory: a number that each write raises, until nobody can tell it any more. */
function project(): { readonly trees: TreePort; readonly write: () => void; readonly hide: () => void } {
  let [tree, hidden] = [0, false];
  return {
    write: () => void (tree += 1),
    hide: () => void (hidden = true),
    trees: {
      now: () => Promise.resolve(hidden ? fail('the disk is gone') : ok(`tree-${tree}`)),
      changes: () => Promise.resolve(ok({ files: ['a'], patch: '+a' })),
    },
  };
}

/** Reviewers pass; `at` is told of every request at work. */
const passing =
  (at: (agent: string) => void): Script =>
  ({ agent, purpose, turns }) => {
    if (purpose.is !== 'work' || turns.some((turn) => turn.by === 'tools')) return undefined;
    at(agent);
    return purpose.role === 'security' ? verdict(true) : undefined;
  };

describe('at the end of a run', () => {
  it('a look that fails keeps the gate closed: nobody knows what came after the last review', async () => {
    const { trees, write, hide } = project();
    const run = forcedRun({
      trees,
      script: passing((agent) => {
        if (agent === S1) write();
        if (agent === S2) hide();
      }),
    });
    expect((await run.result).status).toBe('failed');
    expect(gatesOf(run)).toEqual([
      [S1, 'on-write', true, 'passed: nothing found'],
      ['ROOT', 'on-write', false, 'the disk is gone'],
    ]);
  });

  it('what changes while all is judged is judged again; what never holds still does not pass', async () => {
    for (const [changes, status, reviews] of [
      [1, 'completed', 2],
      [9, 'failed', 3],
    ] as const) {
      const { trees, write } = project();
      let left: number = changes;
      const run = forcedRun({
        trees,
        forced: [forcing(['always'])],
        plan: planOf(['a']),
        script: passing((agent) => {
          if (agent === S1 || left === 0) return;
          left -= 1;
          write();
        }),
      });
      expect((await run.result).status).toBe(status);
      expect(reviewers(run)).toHaveLength(reviews);
    }
  });

  it('what is left over is judged by an agent whose rule became wider meanwhile', async () => {
    const { trees, write } = project();
    const later = { now: false };
    const wide = { ...RULES, forcedAgents: [forcing(['always', 'on-write'])] };
    const run = forcedRun({
      trees,
      forced: [forcing(['manual'])],
      policyWatcher: { now: () => ok(later.now ? wide : { ...RULES, forcedAgents: [forcing(['manual'])] }) },
      script: passing((agent) => {
        if (agent === S1) later.now = true;
        if (agent === S2) write();
      }),
    });
    expect((await run.result).status).toBe('completed');
    expect(gatesOf(run)).toContainEqual(['ROOT', 'on-write', true, 'passed: nothing found']);
  });
});

describe('an agent that did not come to a good end', () => {
  const failing: Script = ({ agent, purpose, turns }) => {
    if (purpose.is !== 'work' || turns.some((turn) => turn.by === 'tools')) return undefined;
    if (purpose.role === 'security') return verdict(false, 'a: bad');
    return agent === S1 ? { fault: { is: 'refused', message: 'no' } } : undefined;
  };
  const cutBehind = async (write: () => void, trees: TreePort): Promise<ReturnType<typeof cutLog>> => {
    const whole = forcedRun({
      trees,
      plan: planOf(['o1'], ['b']),
      script: (request, n) => {
        if (request.agent === S1) write();
        return failing(request, n);
      },
    });
    await whole.result;
    const events = whole.events();
    const ended = events.findIndex((event) => event.type === 'agent.finished' && event.agent === S1);
    return cutLog(SessionId.parse('test-session'), events.slice(0, ended + 1));
  };

  it('is judged like one that did: what it wrote is in the project', async () => {
    const { trees, write } = project();
    const log = await cutBehind(write, trees);
    expect(log.read(SessionId.parse('test-session')).at(-1)).toMatchObject({ agent: S1, outcome: 'failed' });
    // Cut off before its work was judged, and never run again.
    const run = forcedRun({ trees, log, script: failing });
    expect((await run.result).status).toBe('failed');
    expect(run.state().gates).toMatchObject([{ agent: 'ROOT', trigger: 'on-write', open: false }]);
    expect(run.state().finished?.summary).toContain('a: bad');
  });
});

describe('an agent that is stopped while its commit is judged', () => {
  const commit: Tool = {
    name: 'commit',
    description: 'commits',
    input: z.strictObject({}),
    capability: 'git-write',
    repeat: 'never',
    label: () => 'commit',
    propose: () => Promise.resolve(ok({ tree: 'tree-1', from: 'head', files: ['a'], patch: '+a' })),
    run: () => Promise.resolve({ ok: true, text: 'committed' }),
  };
  const give: Tool = {
    ...giveVerdictTool,
    label: () => 'verdict',
    run: (given, context) => giveVerdictTool.run(giveVerdictTool.input.parse(given), context),
  };
  const port: ToolPort = { tools: [commit, give], sandbox: { is: 'none', because: 'a test' } };
  const committing = { text: '', calls: [{ tool: 'commit', input: {} }] };
  const roles = [
    ...ROLES.map((role) => (role.name === 'oracle' ? { ...role, capabilities: ['git-write'] as const } : role)),
    SECURITY,
  ];
  const never = new Promise<undefined>(() => {});
  /** Reviewers say `judging`, one reply after the other; undefined never comes, and after the last none does. */
  const held = (plan: unknown, judging: readonly (ScriptedReply | undefined)[] = []): TestRun => {
    const replies = [...judging];
    return forcedRun({
      trees: project().trees,
      port,
      roles,
      person: true,
      rules: { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value: 3 } },
      forced: [forcing(['on-commit'])],
      toolsOf: (capabilities) => (capabilities.includes('git-write') ? ['commit'] : []),
      ...filed(plan),
      script: (request, n) => {
        if (request.purpose.is === 'work' && request.purpose.role === 'security') return replies.shift() ?? never;
        return says({ [S1]: [committing], [S2]: [committing] })(request, n);
      },
    });
  };

  it('leaves no gate behind: when it is told something else and commits nothing, the run is whole', async () => {
    const run = held(planOf(['o1']));
    await run.until(({ agents }) => agents.get(S2)?.open.length === 1);
    await run.tell({ do: 'message', to: S1, text: 'leave that', delivery: 'urgent' });
    expect((await run.result).status).toBe('completed');
    expect(gatesOf(run)).toEqual([]);
  });

  it('is judged anew when it goes on with it', async () => {
    const run = held(planOf(['o1']), [undefined, verdict(true), { text: 'said' }]);
    await run.until(({ agents }) => agents.get(S2)?.open.length === 1);
    await run.tell({ do: 'interrupt', agent: S1 });
    await run.until(({ agents }) => agents.get(S1)?.status === 'interrupted');
    await run.tell({ do: 'resume', agent: S1 });
    expect((await run.result).status).toBe('completed');
    expect(gatesOf(run)).toEqual([[S1, 'on-commit', true, 'passed: nothing found']]);
  });

  it('is judged anew for the same content on top of another commit: what would go in is not the same', async () => {
    let on = 0;
    const moving: Tool = {
      ...commit,
      propose: () => Promise.resolve(ok({ tree: 'tree-1', from: `head-${(on += 1)}`, files: ['a'], patch: '+a' })),
    };
    const run = forcedRun({
      trees: project().trees,
      port: { ...port, tools: [moving, give] },
      roles,
      forced: [forcing(['on-commit'])],
      toolsOf: (capabilities) => (capabilities.includes('git-write') ? ['commit'] : []),
      ...filed(planOf(['o1'])),
      script: (request, n) =>
        request.purpose.is === 'work' && request.purpose.role === 'security' && n === 0
          ? verdict(true)
          : says({ [S1]: [committing, committing] })(request, n),
    });
    expect((await run.result).status).toBe('completed');
    expect(reviewers(run)).toHaveLength(2);
  });

  it('ends at once, though the review of another is before its own', async () => {
    const run = held(planOf(['o1'], ['o2']));
    const waits = (id: string): Promise<unknown> =>
      run.until(({ agents }) => agents.get(AGENT(id))?.reason === 'its commit is judged');
    await Promise.all([waits(S1), waits(S2)]);
    await run.until(({ agents }) =>
      [...agents.values()].some(({ forced, open }) => forced !== null && open.length > 0),
    );
    await run.tell({ do: 'kill', agent: S2 });
    await run.until(({ agents }) => agents.get(S2)?.outcome === 'killed');
    run.stop('end of the test');
    expect((await run.result).status).toBe('stopped');
  });
});

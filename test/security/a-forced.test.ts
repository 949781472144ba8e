/** Forced agents: nobody but the rules starts, stops or omits them, and nothing goes past them. */
import { toolsFor } from '../../src/domain/agents/tool-facts.ts';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkPlan, readDraft } from '../../src/domain/plan/check-plan.ts';
import { planDigest } from '../../src/domain/digest.ts';
import { RoleName } from '../../src/domain/ids.ts';
import { toPersonForm, toPlannerForm, totalsOf } from '../../src/domain/plan/plan-view.ts';
import type { Capability, Role } from '../../src/domain/agents/role.ts';
import { choicesOf } from '../../src/engine/planning/context.ts';
import { forcedNodes } from '../../src/engine/reviews/review-plan.ts';
import { planContextOf } from '../../src/engine/planning/context.ts';
import { spentOf } from '../../src/events/queries.ts';
import type { ScriptedReply } from '../support/scripted.ts';
import { checkRoot, openTools } from '../../src/tools/index.ts';
import { ends, forcedRun, forcing, gatesOf, reviewers, SECURITY, verdict, writing } from '../support/forced.ts';
import { freshFolder, makeRepository } from '../support/repos.ts';
import { AGENT, draftOf, filed, planOf, ROLES, RULES, testRun, type Script, type TestRun } from '../support/run.ts';
import { reservedForReviews } from '../../src/events/reviews.ts';

const listed = (...names: readonly string[]) =>
  [
    {
      value: names,
      from: { rule: 'enforcement.allowedSubAgents', layer: 'managed', file: '/etc/mimir/policy.yml', line: 2 },
    },
  ] as const;

const S1 = AGENT('ROOT::S1');

describe('rules that make an agent run', () => {
  it('A10 O137: refuse the start where its pinned model is not allowed: there is no stand-in', async () => {
    const from = {
      rule: 'enforcement.deniedModels: [slow]',
      layer: 'managed',
      file: '/etc/mimir/policy.yml',
      line: 9,
    } as const;
    const run = forcedRun({
      forced: [forcing(['on-write'], { model: 'slow' })],
      rules: { ...RULES, deniedModels: [{ written: 'slow', pattern: 'scripted/slow', from }] },
    });
    const result = await run.result;
    expect(result).toMatchObject({ status: 'failed', errorIs: 'denied' });
    expect(result.error).toContain('security must run, but cannot: its model slow cannot be used');
    expect(result.error).toContain('/etc/mimir/policy.yml:3');
    expect(run.events()).toEqual([]);
  });

  it('refuse the start where there is no such agent', async () => {
    const result = await forcedRun({ forced: [forcing(['always'], { name: 'nobody' })] }).result;
    expect(result.error).toContain('requires the agent "nobody"');
  });

  it('A10: leave a pinned model without a stand-in while it runs too: the gate stays closed', async () => {
    const models: string[] = [];
    const run = forcedRun({
      forced: [forcing(['on-write'], { model: 'slow' })],
      record: ({ agent, model }) => void (agent === AGENT('ROOT::S3') && models.push(model)),
      script: ({ agent, purpose }, n) => {
        if (agent === AGENT('ROOT::S3')) return { fault: { is: 'unauthorised', message: 'no key' } };
        return agent === S1 && purpose.is === 'work' && n === 0 ? writing('a.ts', 'x') : undefined;
      },
    });
    expect((await run.result).status).not.toBe('completed');
    expect([...new Set(models)]).toEqual(['scripted/slow']);
    expect(ends(run)['b']).not.toBe('completed');
  });

  it('A14: a plan that names the forced role is invalid where the role is not allowed; the agent runs all the same', async () => {
    const run = forcedRun({
      rules: { ...RULES, allowedSubAgents: [...listed('finder', 'oracle')] },
      script: judged([verdict(true)]),
    });
    await run.result;
    expect(gatesOf(run)).toEqual([[S1, 'on-write', true, 'passed: nothing found']]);
    const context = planContextOf(run.options, choicesOf(run.options));
    const named = checkPlan(draftOf({ reason: '', tasks: [{ id: 'a', description: 'x', role: 'security' }] }), context);
    expect(named).toMatchObject({ ok: false });
    expect(JSON.stringify(named)).toContain(
      "Sub-agent role 'security' is not allowed by enterprise policy; policy starts it, so a plan cannot contain it",
    );
  });

  it('O136: put it into each plan, which can neither name nor omit it; the digest covers it, and what is printed reads back', () => {
    const { options } = testRun({
      roles: [...ROLES, SECURITY],
      approval: 'nobody',
      rules: { ...RULES, forcedAgents: [forcing(['on-write', 'always'])] },
    });
    const context = planContextOf(options, choicesOf(options));
    const plan = checkPlan(draftOf(planOf(['o1'], ['b', 'o1'])), context);
    if (!plan.ok) throw new Error('not sound');
    expect(plan.value.forced).toMatchObject([{ role: 'security', after: ['o1'], runs: 2, onFailure: 'block' }]);
    const without = { reason: plan.value.reason, tasks: plan.value.tasks };
    expect(planDigest(without)).not.toBe(planDigest(plan.value));
    for (const printed of [
      toPersonForm(plan.value),
      toPlannerForm(plan.value),
      { ...toPersonForm(plan.value), forced: [] },
    ]) {
      const read = readDraft(JSON.parse(JSON.stringify(printed)));
      expect(read.ok && checkPlan(read.value, context)).toEqual(plan);
    }
    const [node] = plan.value.forced ?? [];
    if (node === undefined) throw new Error('no node');
    const [bare, all] = [totalsOf(without, 4), totalsOf(plan.value, 4)];
    expect(all.tokens).toBe(bare.tokens + 2 * node.estimatedTokens);
    expect(all.seconds).toBe(bare.seconds + 2 * node.estimatedSeconds);
  });

  it('O136: keep an edit from taking it out', async () => {
    const run = forcedRun({ approval: 'person', person: true });
    const proposed = await run.until(({ phase }) => phase === 'approving');
    const { plan } = proposed;
    if (plan === null) throw new Error('no plan');
    const { forced: _, ...stripped } = plan;
    await run.tell({ do: 'edit plan', edit: { is: 'replace', plan: stripped } });
    expect(run.state().plan).toEqual(plan);
    expect(run.state().planDigest).toBe(proposed.planDigest);
    await run.tell({ do: 'reject plan' });
    await run.result;
  });
});

/** S1 writes once; reviewers say what comes next. */
const judged =
  (judging: readonly ScriptedReply[]): Script =>
  ({ agent, purpose }, n) => {
    if (purpose.is !== 'work') return undefined;
    if (purpose.role === 'security') return judging[n] ?? { text: 'ended' };
    return agent === S1 && n === 0 ? writing('a.ts', 'bad') : undefined;
  };

describe('the budget of forced agents', () => {
  it('G08: what they spend stands in the total of the run', async () => {
    const run = forcedRun({ script: judged([verdict(true)]) });
    const result = await run.result;
    const state = run.state();
    const [review] = reviewers(run);
    const one = state.agents.get(AGENT(review ?? ''));
    expect(one?.cost).toBeGreaterThan(0);
    const sum = [...state.agents.values()].reduce((all, { cost }) => all + cost, 0);
    expect(result.metadata.totalCost).toBeCloseTo(sum, 9);
    expect(spentOf(state).cost).toBeCloseTo(sum, 9);
  });

  it('is kept back from everybody else until they have judged, and never from themselves', async () => {
    const seen: unknown[] = [];
    const run: TestRun = forcedRun({
      runBudget: { maxTokens: 2_000_000 },
      script: (request, n) => {
        if (request.purpose.is === 'work' && n === 0)
          seen.push([request.agent, reservedForReviews(run.state(), request.agent)]);
        return judged([verdict(true)])(request, n);
      },
    });
    await run.result;
    expect(seen).toEqual([
      [S1, { maxTokens: 400_000, maxCost: 0.72 }],
      [AGENT('ROOT::S3'), {}],
      [AGENT('ROOT::S2'), {}],
    ]);
  });

  it('is made smaller where the run has little, and the plan is refused where it has not enough', () => {
    const options = (maxTokens: number) =>
      testRun({
        roles: [...ROLES, SECURITY],
        approval: 'nobody',
        runBudget: { maxTokens },
        rules: { ...RULES, forcedAgents: [forcing(['on-write'])] },
      }).options;
    const tasks = (of: ReturnType<typeof options>) => {
      const plan = checkPlan(draftOf(planOf(['o1'], ['o2'])), {
        ...planContextOf(of, choicesOf(of)),
        forced: () => ({ ok: true, value: [] }),
      });
      return plan.ok ? plan.value.tasks : [];
    };
    const budgetAt = (maxTokens: number): unknown => {
      const nodes = forcedNodes(options(maxTokens), tasks(options(maxTokens)));
      return nodes.ok ? nodes.value[0]?.budget.maxTokens : nodes.fault;
    };
    expect(budgetAt(2_000_000)).toBe(400_000);
    expect(budgetAt(400_000)).toBe(100_000);
    expect(budgetAt(100_000)).toBe(40_000);
    expect(budgetAt(70_000)).toContain(
      'the 2 reviews that rules prescribe for this plan need about 80000 tokens, and the run may use 70000',
    );
  });

  it('runs out: the gate stays closed', async () => {
    const run = forcedRun({
      rules: {
        ...RULES,
        roleBudgets: [
          {
            role: 'security',
            budget: { value: { maxTokens: 10 }, from: { rule: '', layer: 'default', file: null, line: null } },
          },
        ],
      },
      script: judged([verdict(true)]),
    });
    expect((await run.result).status).toBe('failed');
    expect(ends(run)).toEqual({ o1: 'completed', b: 'skipped' });
  });
});

const able = (...capabilities: readonly Capability[]): Role => {
  const [first] = ROLES;
  if (first === undefined) throw new Error('no roles');
  return { ...first, name: RoleName.parse('oracle'), capabilities, planned: true };
};

/** A run with the real tools in a real repository: one agent writes a file and commits it. */
function committing(
  judging: readonly ScriptedReply[],
  more: Parameters<typeof forcedRun>[0] = {},
): { readonly run: TestRun; readonly root: string } {
  const root = makeRepository();
  gitIn(root, 'config', 'user.name', 'A. Person');
  gitIn(root, 'config', 'user.email', 'a@example.org');
  const [home, stateDir] = [freshFolder(), freshFolder()];
  const port = openTools({ root, home, stateDir });
  if (!port.ok || !checkRoot(root, { home, state: stateDir }).ok) throw new Error('no tools');
  const run = forcedRun({
    root,
    stateDir,
    port: port.value,
    toolsOf: toolsFor,
    ...filed(planOf(['o1'])),
    roles: [...ROLES.filter(({ name }) => name !== 'oracle'), able('read', 'write', 'git-read', 'git-write'), SECURITY],
    // One slot for all: who waits for its commit lends it to who judges that.
    rules: { ...RULES, maxParallelAgents: { value: 1, from: { rule: '', layer: 'default', file: null, line: null } } },
    forced: [forcing(['on-commit'])],
    script: ({ agent, purpose }, n) => {
      if (purpose.is !== 'work') return undefined;
      if (purpose.role === 'security') return judging[n] ?? { text: 'ended' };
      if (agent !== S1) return undefined;
      if (n === 0)
        return { text: '', calls: [{ tool: 'write_file', input: { path: 'a.ts', content: 'export {};\n' } }] };
      return n === 1 ? { text: '', calls: [{ tool: 'git_commit', input: { message: 'Add a' } }] } : { text: 'done' };
    },
    ...more,
  });
  return { run, root };
}

const gitIn = (root: string, ...words: readonly string[]): string =>
  execFileSync('git', ['-C', root, ...words], { encoding: 'utf8' }).trim();

describe('A12: a commit', () => {
  it('A12: is made when exactly its tree was let pass', async () => {
    const { run, root } = committing([verdict(true)]);
    expect((await run.result).status).toBe('completed');
    expect(gitIn(root, 'log', '--format=%s')).toBe('Add a\nBegin');
    expect(run.state().verdicts.map(({ tree }) => tree)).toEqual([gitIn(root, 'rev-parse', 'HEAD^{tree}')]);
    expect(gatesOf(run)).toEqual([[S1, 'on-commit', true, 'passed: nothing found']]);
  });

  it('A12: is not made without a pass for its tree, and the agent reads why', async () => {
    const { run, root } = committing([verdict(false, 'a.ts:1: no tests')]);
    const before = gitIn(root, 'rev-list', '--all');
    expect((await run.result).status).toBe('failed');
    expect(gitIn(root, 'rev-list', '--all')).toBe(before);
    expect(existsSync(path.join(root, 'a.ts'))).toBe(true);
    const answer = run.events().find((event) => event.type === 'tool.finished' && event.tool === 'git_commit');
    expect(answer).toMatchObject({ ok: false });
    expect(JSON.stringify(answer)).toContain('a.ts:1: no tests');
  });

  it('A13: is not made for words that say pass', async () => {
    const { run, root } = committing([{ text: 'PASS, all fine' }]);
    await run.result;
    expect(gitIn(root, 'log', '--format=%s')).toBe('Begin');
  });

  it('is made where the rule only warns', async () => {
    const { run, root } = committing([verdict(false, 'hm')], {
      forced: [forcing(['on-commit'], { onFailure: 'warn' })],
    });
    expect((await run.result).status).toBe('completed');
    expect(gitIn(root, 'log', '--format=%s')).toBe('Add a\nBegin');
  });
});

describe('a person', () => {
  it('O138: starts one whose trigger is manual, and only such a one', async () => {
    const hold = Promise.withResolvers<undefined>();
    const run = forcedRun({
      forced: [forcing(['manual'])],
      script: async (request, n) => {
        if (request.agent === AGENT('ROOT::S2')) await hold.promise;
        return judged([verdict(false, 'x')])(request, n);
      },
    });
    await run.until((state) => state.agents.get(AGENT('ROOT::S2'))?.status === 'running');
    expect(await run.refused({ do: 'review', role: RoleName.parse('finder') })).toContain('no rule defines finder');
    expect(await run.tell({ do: 'review', role: SECURITY.name })).toBe('security is reviewing the changes');
    await run.until(({ verdicts }) => verdicts.length > 0);
    hold.resolve(undefined);
    expect((await run.result).status).toBe('completed');
    expect(run.state().gates).toEqual([]);
  });

  it('is asked about work that did not pass though nobody waits for it, and may have it tried again', async () => {
    let reviews = 0;
    const run = forcedRun({
      person: true,
      ...filed(planOf(['o1'])),
      script: ({ agent, purpose, turns }) => {
        if (purpose.is !== 'work' || turns.some(({ by }) => by === 'tools')) return undefined;
        if (purpose.role === 'security') return verdict((reviews += 1) > 1, 'a.ts:1: bad');
        return agent === S1 ? writing('a.ts', `try ${reviews}`) : undefined;
      },
    });
    const { approvals } = await run.until((state) => state.approvals.length > 0);
    expect(approvals[0]?.request.title).toBe('security review of oracle did not pass');
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once', text: 'retry' });
    expect((await run.result).status).toBe('completed');
    expect(reviews).toBe(2);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fail } from '../../../src/domain/result.ts';
import { commitAll, makeRepository } from '../../support/repos.ts';
import type { ScriptedReply } from '../../support/scripted.ts';
import { AGENT, filed, planOf, ROLES, says, type Script } from '../../support/run.ts';
import {
  ends,
  forcedRun,
  forcing,
  gatesOf,
  type MemoryProject,
  memoryProject,
  reviewers,
  SECURITY,
  verdict,
  writing,
} from '../../support/forced.ts';

/** The first task writes; every forced agent says what comes next of `judging`, and then that it is done. */
const story =
  (judging: readonly ScriptedReply[], work: Readonly<Record<string, readonly ScriptedReply[]>> = {}): Script =>
  (request, n) => {
    if (request.purpose.is !== 'work') return undefined;
    if (request.purpose.role === 'security') return n < judging.length ? judging[n] : { text: 'PASS, all fine.' };
    return says({ 'ROOT::S1': [writing('a.ts', 'bad')], ...work })(request, n);
  };

const readingAgain: ScriptedReply = { text: '', calls: [{ tool: 'read', input: { text: 'a.ts' } }] };

describe('a forced agent after work that changed files', () => {
  it('A11 O138: lets what needs the work begin after its pass only, is told the diff as data, and leaves the files alone', async () => {
    const root = makeRepository();
    const told: string[] = [];
    const run = forcedRun({
      root,
      script: story([verdict(true)]),
      record: ({ agent, turns }) => {
        const [first] = turns;
        if (agent === AGENT('ROOT::S3') && first?.by === 'user') told.push(first.text);
      },
    });
    expect(await run.result).toMatchObject({ status: 'completed' });
    expect(gatesOf(run)).toEqual([['ROOT::S1', 'on-write', true, 'passed: nothing found']]);
    const order = run.events().flatMap((event) => {
      if (event.type === 'forced.gate') return ['gate'];
      return event.type === 'agent.status' && event.status === 'running' && event.agent !== 'ROOT' ? [event.agent] : [];
    });
    expect(order).toEqual(['ROOT::S1', 'ROOT::S3', 'gate', 'ROOT::S2']);
    expect(told[0]).toContain('+bad');
    expect(told[0]).toContain('not instructions');
    expect(readFileSync(`${root}/a.ts`, 'utf8')).toBe('bad');
    commitAll(root, 'whole');
  });

  it('A11: judges what a shell or git apply wrote like what a file tool wrote: the tree counts', async () => {
    const run = forcedRun({
      root: makeRepository(),
      script: story([verdict(true)], {
        'ROOT::S1': [writing('a.ts', 'x', 'shell'), writing('b.ts', 'y'), writing('c.ts', 'z', 'patch')],
      }),
    });
    await run.result;
    expect(reviewers(run)).toEqual(['ROOT::S3']);
    expect(run.state().agents.get(AGENT('ROOT::S3'))?.task).toBe('review the work of oracle (on-write, 3 files)');
  });

  it('judges what an agent hid by a list of ignored files that it wrote itself, and the list (D46)', async () => {
    const run = forcedRun({
      root: makeRepository(),
      script: story([verdict(false, 'x.ts:1: evil')], {
        'ROOT::S1': [writing('.gitignore', '*'), writing('x.ts', 'evil()')],
      }),
    });
    expect((await run.result).status).toBe('failed');
    expect(run.state().agents.get(AGENT('ROOT::S3'))?.task).toBe('review the work of oracle (on-write, 2 files)');
    expect(gatesOf(run)).toMatchObject([['ROOT::S1', 'on-write', false, 'did not pass: not safe']]);
  });

  it('is not started for work that changed nothing', async () => {
    const run = forcedRun({ script: says({}) });
    expect(await run.result).toMatchObject({ status: 'completed' });
    expect(reviewers(run)).toEqual([]);
  });

  it('O137: keeps the gate closed after a verdict against it; what needs the work is left out, and the run has failed', async () => {
    const run = forcedRun({ script: story([verdict(false, 'a.ts:1: a secret')]) });
    expect(await run.result).toMatchObject({ status: 'failed', error: null });
    expect(ends(run)).toEqual({ o1: 'completed', b: 'skipped' });
    expect(run.state().agents.get(AGENT('ROOT::S2'))?.error).toBe('skipped: the review of oracle did not pass');
    expect(run.state().finished?.summary).toContain('a.ts:1: a secret');
  });

  it.each<readonly [string, readonly ScriptedReply[], string]>([
    ['A13: words without a call', [{ text: 'PASS, all fine' }], 'it ended without a verdict, even after a reminder'],
    [
      'a verdict in the wrong form',
      [{ text: '', calls: [{ tool: 'give_verdict', input: { pass: 'yes' } }] }],
      'even after a reminder',
    ],
    ['a model that fails', [{ fault: { is: 'refused', message: 'no' } }], 'it did not finish (failed'],
    ['a pass that was taken back', [verdict(true), verdict(false)], 'did not pass'],
    [
      'a model that fails after its pass',
      [verdict(true), { fault: { is: 'refused', message: 'no' } }],
      'did not finish',
    ],
  ])('keeps the gate closed for %s', async (_, replies, why) => {
    const run = forcedRun({ script: story(replies) });
    expect((await run.result).status).toBe('failed');
    expect(ends(run)).toEqual({ o1: 'completed', b: 'skipped' });
    expect(run.state().gates[0]).toMatchObject({ open: false });
    expect(run.state().gates[0]?.why).toContain(why);
  });

  it('is reminded once when it answers in words, and its verdict then counts', async () => {
    const run = forcedRun({ script: story([{ text: 'PASS, all fine' }, verdict(true)]) });
    expect(await run.result).toMatchObject({ status: 'completed' });
    expect(gatesOf(run)).toEqual([['ROOT::S1', 'on-write', true, 'passed: nothing found']]);
    const told = run
      .events()
      .flatMap((event) => (event.type === 'agent.told' && event.agent === 'ROOT::S3' ? [event] : []));
    expect(told.slice(1).map(({ text }) => text)).toEqual([
      'You ended without a verdict. Only a call of `give_verdict` counts: make it now, with `pass`, `summary` and `findings`. This is the only reminder.',
    ]);
  });

  it.each<readonly [what: string, replies: readonly ScriptedReply[], gate: unknown]>([
    ['in its last turn', [readingAgain, verdict(true)], ['ROOT::S1', 'on-write', true, 'passed: nothing found']],
    ['before it', [verdict(true)], ['ROOT::S1', 'on-write', true, 'passed: nothing found']],
    [
      'when it is asked for it once more',
      [readingAgain, { text: 'PASS, all fine.' }, verdict(true)],
      ['ROOT::S1', 'on-write', true, 'passed: nothing found'],
    ],
    [
      'not at all, and no other call is carried out',
      [readingAgain, readingAgain, { text: 'PASS' }],
      ['ROOT::S1', 'on-write', false, 'it did not finish (partial: Max iterations reached)'],
    ],
  ])('with two turns can give its verdict %s', async (_, replies, gate) => {
    const choices: unknown[] = [];
    const run = forcedRun({
      roles: [...ROLES, { ...SECURITY, iterations: 2 }],
      script: story(replies),
      record: ({ agent, toolChoice, tools }) => {
        if (agent === AGENT('ROOT::S3'))
          choices.push([toolChoice ?? 'any', tools.some(({ name }) => name === 'give_verdict')]);
      },
    });
    await run.result;
    expect(gatesOf(run)).toEqual([gate]);
    expect(new Set(choices.map((one) => JSON.stringify(one)))).toEqual(new Set(['["any",true]']));
  });

  it('goes on where the rule only warns, and says so', async () => {
    const run = forcedRun({
      forced: [forcing(['on-write'], { onFailure: 'warn' })],
      script: story([verdict(false, 'a.ts:1: hm')]),
    });
    expect(await run.result).toMatchObject({ status: 'completed' });
    expect(ends(run)).toEqual({ o1: 'completed', b: 'completed' });
    expect(run.state().finished?.summary).toContain('warning only');
  });

  it('keeps the gate closed where nothing can tell what changed', async () => {
    const run = forcedRun({
      trees: { now: () => Promise.resolve(fail('there is no git')), changes: () => Promise.resolve(fail('no')) },
      script: story([verdict(true)]),
    });
    expect((await run.result).status).toBe('failed');
    expect(reviewers(run)).toEqual([]);
    expect(gatesOf(run)).toEqual([['ROOT::S1', 'on-write', false, 'there is no git']]);
    expect(ends(run)).toEqual({ o1: 'completed', b: 'skipped' });
  });

  it('is killed: the gate stays closed', async () => {
    let held = (): void => {};
    const hold = new Promise<undefined>((resolve) => (held = () => resolve(undefined)));
    const run = forcedRun({
      script: (request, n) => (request.agent === AGENT('ROOT::S3') ? hold : story([])(request, n)),
    });
    await run.until((state) => state.agents.get(AGENT('ROOT::S3'))?.status === 'running');
    await run.tell({ do: 'kill', agent: AGENT('ROOT::S3') });
    held();
    expect((await run.result).status).toBe('failed');
    expect(ends(run)).toEqual({ o1: 'completed', b: 'skipped' });
  });

  it('tells the findings to the agent that tries again, and judges all since the last pass', async () => {
    const told: string[] = [];
    let reviews = 0;
    const run = forcedRun({
      person: true,
      script: (request, n) => {
        if (request.purpose.is !== 'work') return undefined;
        const [first] = request.turns;
        if (request.turns.length === 1 && first?.by === 'user') told.push(first.text);
        if (request.purpose.role === 'security')
          return n > 0 ? { text: 'done' } : verdict((reviews += 1) > 1, 'a.ts:1: bad');
        if (request.agent !== AGENT('ROOT::S1')) return undefined;
        return request.turns.length === 1 ? writing('a.ts', reviews === 0 ? 'bad' : 'good') : { text: 'written' };
      },
    });
    const asked = await run.until(({ approvals }) => approvals.length > 0);
    const [question] = asked.approvals;
    expect(question?.request.title).toBe('security review of oracle did not pass; finder needs it');
    expect(question?.request.exact).toContain('a.ts:1: bad');
    await run.tell({ do: 'answer', approval: question?.id ?? '', allow: true, scope: 'once', text: 'retry' });
    expect((await run.result).status).toBe('completed');
    expect(told[2]).toContain('a.ts:1: bad');
    expect(told[3]).toContain('+good');
    expect(told[3]).not.toContain('bad');
  });
});

describe('what else changes while a run goes on', () => {
  const editing =
    (by: string, project: MemoryProject): Script =>
    (request, n) => {
      // Somebody else at work in the same folder, after the last review.
      if (request.agent === AGENT(by) && request.purpose.is === 'work') project.write('other.ts', 'by hand');
      return story([verdict(true)])(request, n);
    };

  it('is judged at the end where tasks may write: what came after the last review as well', async () => {
    const project = memoryProject();
    const run = forcedRun({ project, script: editing('ROOT::S2', project) });
    expect((await run.result).status).toBe('completed');
    expect(gatesOf(run)).toEqual([
      ['ROOT::S1', 'on-write', true, 'passed: nothing found'],
      ['ROOT', 'on-write', true, 'passed: nothing found'],
    ]);
  });

  it('is not looked at in a run that only reads', async () => {
    const project = memoryProject();
    const run = forcedRun({ project, ...filed(planOf(['a'])), script: editing('ROOT::S1', project) });
    expect((await run.result).status).toBe('completed');
    expect(gatesOf(run)).toEqual([]);
  });
});

describe('a forced agent at the end of each run', () => {
  it('O138: judges the whole run before its report; without a pass the run has failed', async () => {
    const forced = [forcing(['always'])];
    const run = forcedRun({ forced, plan: planOf(['a']), script: says({ 'ROOT::S2': [verdict(true)] }) });
    expect((await run.result).status).toBe('completed');
    expect(gatesOf(run)).toEqual([['ROOT', 'always', true, 'passed: nothing found']]);
    const bad = forcedRun({ forced, plan: planOf(['o1']), script: story([verdict(false, 'a.ts:1: bad')]) });
    const result = await bad.result;
    expect(result.status).toBe('failed');
    expect(bad.state().finished?.summary).toContain('CLOSED');
  });

  it('does not ask twice about one tree', async () => {
    const run = forcedRun({ forced: [forcing(['always', 'on-write'])], script: story([verdict(true)]) });
    expect((await run.result).status).toBe('completed');
    expect(reviewers(run)).toHaveLength(1);
  });
});

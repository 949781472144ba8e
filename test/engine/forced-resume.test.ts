import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { fail, ok } from '../../src/domain/result.ts';
import type { ForcedRule } from '../../src/policy/rules.ts';
import type { Law } from '../../src/ports/law.ts';
import type { TreePort } from '../../src/ports/tree.ts';
import type { ScriptedReply } from '../../src/models/scripted.ts';
import { cutLog } from '../support/log.ts';
import { freshFolder, makeRepository } from '../support/repos.ts';
import { AGENT, planOf, RULES, type Script, type TestRun } from '../support/run.ts';
import { ends, forcedRun, forcing, reviewers, verdict, writing } from '../support/forced.ts';

const SESSION = SessionId.parse('test-session');
const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');

/** S1 writes once; reviewers say `judging`, one each. */
const story =
  (judging: () => ScriptedReply): Script =>
  ({ agent, purpose, turns }) => {
    if (purpose.is !== 'work') return undefined;
    if (turns.some((turn) => turn.by === 'tools')) return { text: 'done' };
    if (purpose.role === 'security') return judging();
    return agent === S1 ? writing('a.ts', 'bad') : undefined;
  };

const startsOf = (events: readonly MimirEvent[], agent: string): number =>
  events.filter((event) => event.type === 'agent.status' && event.agent === agent && event.status === 'running').length;

describe('a run with a forced agent that was cut off', () => {
  it('never starts what needs the work without a pass, wherever it was cut, and asks about a tree once', async () => {
    const root = makeRepository();
    const stateDir = freshFolder();
    const whole = forcedRun({ root, stateDir, script: story(() => verdict(false, 'a.ts:1: bad')) });
    await whole.result;
    const events = whole.events().filter(({ type }) => type !== 'session.finished');
    const at = (type: MimirEvent['type']): number => events.findIndex((event) => event.type === type);
    const cuts = [
      at('forced.began') + 1,
      at('agent.finished'),
      at('agent.finished') + 1,
      at('forced.verdict'),
      at('forced.verdict') + 1,
      at('forced.gate'),
      at('forced.gate') + 1,
    ];
    for (const length of cuts) {
      let asked = 0;
      const script = story(() => {
        asked += 1;
        return verdict(false, 'a.ts:1: bad');
      });
      const run = forcedRun({ root, stateDir, log: cutLog(SESSION, events.slice(0, length)), script });
      expect((await run.result).status).toBe('failed');
      expect(ends(run)).toEqual({ o1: 'completed', b: 'skipped' });
      expect(startsOf(run.events(), S2)).toBe(0);
      // A verdict that its agent ended with is in the log.
      expect(asked).toBe(length >= at('forced.gate') ? 0 : 1);
    }
  });

  it('judges the work of an agent that had ended, without running it again, and then goes on', async () => {
    const root = makeRepository();
    const stateDir = freshFolder();
    const whole = forcedRun({ root, stateDir, script: story(() => verdict(true)) });
    await whole.result;
    const all = whole.events();
    const ended = all.findIndex((event) => event.type === 'agent.finished' && event.agent === S1) + 1;
    const run = forcedRun({
      root,
      stateDir,
      log: cutLog(SESSION, all.slice(0, ended)),
      script: story(() => verdict(true)),
    });
    expect((await run.result).status).toBe('completed');
    expect(startsOf(run.events(), S1)).toBe(1);
    expect(reviewers(run)).toHaveLength(1);
    expect(ends(run)).toEqual({ o1: 'completed', b: 'completed' });
  });
});

/** A project in memory: a number that each write raises. */
function countedTrees(): { readonly trees: TreePort; write(): void } {
  let tree = 0;
  return {
    write: () => void (tree += 1),
    trees: {
      now: () => Promise.resolve(ok(`tree-${tree}`)),
      changes: (from, to) => Promise.resolve(from === to ? fail('no change') : ok({ files: ['a'], patch: '+a' })),
    },
  };
}

const END = fc.constantFrom<'pass' | 'fail' | 'words' | 'crash' | 'changed mind'>(
  'pass',
  'fail',
  'words',
  'crash',
  'changed mind',
);
const RIGHT: Readonly<Record<string, readonly ScriptedReply[]>> = {
  pass: [verdict(true)],
  fail: [verdict(false, 'x')],
  words: [{ text: 'PASS' }],
  crash: [{ fault: { is: 'refused', message: 'no' } }],
  'changed mind': [verdict(true), verdict(false, 'x')],
};

describe('A11: whatever forced agents do', () => {
  it('no task begins while the gate of one that it needs is not open', async () => {
    const one = fc.asyncProperty(
      fc.array(END, { minLength: 4, maxLength: 4 }),
      fc.boolean(),
      async (endings, retry) => {
        const project = countedTrees();
        const begun: string[] = [];
        const run: TestRun = forcedRun({
          trees: project.trees,
          forced: [forcing(['on-write', 'always'])],
          plan: planOf(['o1'], ['o2', 'o1'], ['o3'], ['b', 'o2', 'o3']),
          rules: {
            ...RULES,
            onFailure: {
              value: retry ? 'retry' : 'skip',
              from: { rule: '', layer: 'default', file: null, line: null },
            },
          },
          script: ({ agent, purpose, turns }) => {
            if (purpose.is !== 'work') return undefined;
            const said = turns.filter(({ by }) => by === 'model').length;
            if (purpose.role === 'security') {
              if (!begun.includes(agent)) begun.push(agent);
              return RIGHT[endings[begun.indexOf(agent)] ?? 'pass']?.[said] ?? { text: 'ended' };
            }
            if (said === 0) project.write();
            return { text: 'done' };
          },
        });
        const result = await run.result;
        const open = new Map<string, boolean>();
        for (const event of run.events()) {
          if (event.type === 'forced.gate') open.set(event.agent, event.open);
          if (event.type !== 'agent.status' || event.status !== 'running') continue;
          const needs = run.state().agents.get(event.agent)?.dependsOn ?? [];
          expect(needs.filter((need) => need !== 'ROOT::S4' && open.get(need) !== true)).toEqual([]);
        }
        const closed = run.state().gates.filter(({ open: is }) => !is);
        expect(result.status === 'completed').toBe(closed.length === 0);
      },
    );
    await fc.assert(one, { numRuns: 40 });
  });
});

describe('rules that become tighter during a run', () => {
  const law = (after: readonly ForcedRule[], when: () => boolean): Law => ({
    now: () => ok({ ...RULES, forcedAgents: when() ? after : [forcing(['manual'])] }),
  });
  const tightened = (after: readonly ForcedRule[]): TestRun => {
    const later = { now: false };
    return forcedRun({
      forced: [forcing(['manual'])],
      law: law(after, () => later.now),
      script: (request) => {
        if (request.agent === S1) later.now = true;
        return story(() => verdict(true))(request, 0);
      },
    });
  };

  it('hold from that moment on, though the approved plan knows nothing of them', async () => {
    const run = tightened([forcing(['on-write'])]);
    expect((await run.result).status).toBe('completed');
    expect(run.state().gates).toMatchObject([{ agent: S1, trigger: 'on-write', open: true }]);
  });

  it('stop the run where they ask for what can not be done', async () => {
    const run = tightened([forcing(['on-write'], { name: 'nobody' })]);
    expect(await run.result).toMatchObject({ status: 'stopped', errorIs: 'denied' });
    expect(run.state().agents.get(S2)?.outcome).toBeNull();
  });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SessionId } from '../../../src/domain/ids.ts';
import type { MimirEvent } from '../../../src/events/event.ts';
import { fail, ok } from '../../../src/domain/result.ts';
import type { ReviewRule } from '../../../src/policy/rules.ts';
import type { PolicyWatcher } from '../../../src/ports/policy-watcher.ts';
import type { Tool, ToolPort } from '../../../src/ports/tool.ts';
import type { TreePort } from '../../../src/ports/tree.ts';
import type { ScriptedReply } from '../../support/scripted.ts';
import { giveVerdictTool } from '../../../src/tools/tools.ts';
import { cutLog } from '../../support/log.ts';
import { freshFolder, makeRepository } from '../../support/repos.ts';
import { AGENT, planOf, ROLES, RULES, type Script, type TestRun } from '../../support/run.ts';
import {
  ends,
  forcedRun,
  forcing,
  memoryProject,
  reviewers,
  SECURITY,
  verdict,
  writing,
} from '../../support/forced.ts';

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
    const project = memoryProject();
    const whole = forcedRun({ project, script: story(() => verdict(false, 'a.ts:1: bad')) });
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
      const run = forcedRun({ project, log: cutLog(SESSION, events.slice(0, length)), script });
      expect((await run.result).status).toBe('failed');
      expect(ends(run)).toEqual({ o1: 'completed', b: 'skipped' });
      expect(startsOf(run.events(), S2)).toBe(0);
      // What it has said stands in the log: it goes on behind that.
      expect(asked).toBe(length >= at('forced.verdict') ? 0 : 1);
      expect(reviewers(run)).toHaveLength(1);
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

/** Each reviewer ends as the next of `endings` says, those after the last with a pass; writers write first. */
const ending = (endings: readonly string[], write: () => void): Script => {
  const begun: string[] = [];
  return ({ agent, purpose, turns }) => {
    if (purpose.is !== 'work') return undefined;
    const said = turns.filter(({ by }) => by === 'model').length;
    if (purpose.role !== 'security') {
      if (said === 0) write();
      return { text: 'done' };
    }
    if (!begun.includes(agent)) begun.push(agent);
    return RIGHT[endings[begun.indexOf(agent)] ?? 'pass']?.[said] ?? { text: 'ended' };
  };
};

/** Tasks that ran while the gate of one that they need was not open: `b needs o1`. */
function tooEarly(run: TestRun): readonly string[] {
  const open = new Map<string, boolean>();
  const { agents } = run.state();
  const writer = (id: string): boolean => [...agents.values()].some((one) => one.id === id && one.role === 'oracle');
  return run.events().flatMap((event) => {
    if (event.type === 'forced.gate') open.set(event.agent, event.open);
    if (event.type !== 'agent.status' || event.status !== 'running') return [];
    const needs = agents.get(event.agent)?.dependsOn ?? [];
    return needs
      .filter((need) => writer(need) && open.get(need) !== true)
      .map((need) => `${event.agent} needs ${need}`);
  });
}

const FROM = { rule: '', layer: 'default', file: null, line: null } as const;

describe('A11: whatever forced agents do', () => {
  it('no task begins while the gate of one that it needs is not open, also after a crash anywhere', async () => {
    const endings = fc.array(END, { minLength: 4, maxLength: 4 });
    const one = fc.asyncProperty(
      endings,
      endings,
      fc.boolean(),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (first, then, retry, at) => {
        const project = countedTrees();
        const setting = {
          trees: project.trees,
          forced: [forcing(['on-write', 'always'])],
          plan: planOf(['o1'], ['o2', 'o1'], ['o3'], ['b', 'o2', 'o3']),
          rules: { ...RULES, onFailure: { value: retry ? 'retry' : 'skip', from: FROM } },
        } as const;
        const run = forcedRun({ ...setting, script: ending(first, () => project.write()) });
        const result = await run.result;
        expect(tooEarly(run)).toEqual([]);
        expect(result.status === 'completed').toBe(run.state().gates.every(({ open }) => open));
        const events = run.events();
        const log = cutLog(SESSION, events.slice(0, 1 + Math.floor(at * (events.length - 2))));
        const again = forcedRun({ ...setting, log, script: ending(then, () => project.write()) });
        const resumed = await again.result;
        expect(tooEarly(again)).toEqual([]);
        if (resumed.status === 'completed') expect(again.state().gates.every(({ open }) => open)).toBe(true);
      },
    );
    await fc.assert(one, { numRuns: 60 });
  });

  it('A12: nothing is committed without a pass for exactly its tree', async () => {
    const all: string[] = [];
    const one = fc.asyncProperty(fc.array(END, { minLength: 3, maxLength: 3 }), fc.boolean(), async (endings, both) => {
      const project = countedTrees();
      const committed: string[] = [];
      const port = committer(project.trees, committed);
      const reviewing = ending(endings, () => project.write());
      const run = forcedRun({
        trees: project.trees,
        port,
        toolsOf: (capabilities) => (capabilities.includes('git-write') ? ['commit'] : []),
        roles: [
          ...ROLES.map((role) =>
            role.name === 'oracle' ? { ...role, capabilities: ['write', 'git-write'] as const } : role,
          ),
          SECURITY,
        ],
        forced: [forcing(both ? ['on-commit', 'on-write'] : ['on-commit'])],
        plan: planOf(['o1'], ['o2'], ['o3']),
        script: (request, n) => {
          const reply = reviewing(request, n);
          const said = request.turns.filter(({ by }) => by === 'model').length;
          if (request.purpose.is !== 'work' || request.purpose.role === 'security') return reply;
          return said < 2 ? { text: '', calls: [{ tool: 'commit', input: { n: said } }] } : { text: 'done' };
        },
      });
      await run.result;
      const { verdicts, agents } = run.state();
      const passed = verdicts.filter((each) => {
        const last = verdicts.findLast(({ agent }) => agent === each.agent);
        return last === each && each.pass && agents.get(each.agent)?.outcome === 'completed';
      });
      all.push(...committed);
      expect(committed.filter((tree) => !passed.some((each) => each.tree === tree))).toEqual([]);
    });
    await fc.assert(one, { numRuns: 40 });
    expect(all.length).toBeGreaterThan(0);
  });
});

/** Commits the tree that it proposed, which is the project as it is. */
function committer(trees: TreePort, committed: string[]): ToolPort {
  const input = z.strictObject({ n: z.number() });
  const signal = new AbortController().signal;
  const commit: Tool = {
    name: 'commit',
    description: 'commits',
    input,
    capability: 'git-write',
    repeat: 'never',
    label: () => 'commit',
    async propose() {
      const tree = await trees.now(signal);
      return tree.ok ? ok({ tree: tree.value, from: 'head', files: ['a'], patch: '+a' }) : tree;
    },
    run: (_, { tree }) => {
      committed.push(tree ?? 'nothing proposed');
      return Promise.resolve({ ok: true, text: 'committed' });
    },
  };
  const give: Tool = {
    ...giveVerdictTool,
    label: () => 'verdict',
    run: (given, context) => giveVerdictTool.run(giveVerdictTool.input.parse(given), context),
  };
  return { tools: [commit, give], sandbox: { is: 'none', because: 'a test' } };
}

describe('rules that become tighter during a run', () => {
  const policyWatcher = (after: readonly ReviewRule[], when: () => boolean): PolicyWatcher => ({
    now: () => ok({ ...RULES, forcedAgents: when() ? after : [forcing(['manual'])] }),
  });
  const tightened = (after: readonly ReviewRule[]): TestRun => {
    const later = { now: false };
    return forcedRun({
      forced: [forcing(['manual'])],
      policyWatcher: policyWatcher(after, () => later.now),
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

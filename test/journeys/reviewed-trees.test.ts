/** Trees of their own under a mandatory review, by the real program: whatever reaches the project is judged first. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonLines } from '../support/cli.ts';
import type { Rule } from '../support/double/script.ts';
import { LEDGER, type Machine } from '../support/journey.ts';
import { holding } from '../support/like.ts';
import { needs } from '../support/needs.ts';
import { saysDone, namesCache, ownTask, runsFirst } from '../support/own-tree-plans.ts';
import { of, ownModel, runOn } from '../support/on-the-wire.ts';

needs('git', 'bubblewrap');

const REVIEW = 'enforcement:\n  forcedSubAgents:\n    security: { enabled: true, trigger: on-write }\n';
const verdict = (pass: boolean, times?: number): Rule => ({
  when: { first: '# Judge this change', turn: 1, ...(times === undefined ? {} : { times }) },
  answer: { calls: [{ tool: 'give_verdict', input: { pass, summary: pass ? 'fine' : 'not yet', findings: [] } }] },
});

async function ran(tasks: readonly object[], rules: readonly Rule[], config = REVIEW) {
  const { machine } = await ownModel('anthropic', { script: { rules: [...rules] }, files: LEDGER, config });
  const plan = path.join(machine.home, 'plan.json');
  writeFileSync(plan, JSON.stringify({ reason: '', tasks }));
  return { machine, ...(await runOn(machine, 'Name it', '--plan', plan, '--allow', 'edits,commands')) };
}

const fileOf = (machine: Machine, name: string): string => readFileSync(path.join(machine.project, name), 'utf8');

describe.concurrent('the work of an agent in a tree of its own', () => {
  it('that did not pass its review is tried again in a new tree, never in the project', async () => {
    const rules = [
      verdict(false, 1),
      verdict(true),
      runsFirst('The previous attempt', 'echo "// again" >> src/parse.js'),
      runsFirst('^Log the cache', 'echo "// first" >> src/parse.js'),
      saysDone,
    ];
    const config = `${REVIEW}agentOrchestration: { onFailure: retry }\n`;
    const { machine, code, events } = await ran([ownTask('one', 'Log the cache')], rules, config);
    const names = of(events, 'tree.made').map(({ tree }) => String(tree).split('.').slice(1).join('.'));
    expect([code, names]).toEqual([0, ['S1.1', 'S1.2']]);
    expect(of(events, 'merge.finished').map(({ is }) => is)).toEqual(['merged', 'merged']);
    expect(fileOf(machine, 'src/parse.js')).toContain('// first\n// again\n');
  });

  it.each(['always', 'on-write'])(
    'is reviewed again, by a review %s, where changes are undone after it has passed; nothing is published before',
    async (trigger) => {
      const config = REVIEW.replace('on-write', trigger);
      const rules = [verdict(true), runsFirst('^Log the cache', 'echo "// first" >> src/parse.js'), saysDone];
      const { machine, code, events } = await ran([ownTask('one', 'Log the cache')], rules, config);
      expect([code, of(events, 'forced.verdict').length]).toEqual([0, 1]);
      const session = String(of(events, 'session.started')[0]?.['session']);
      expect((await machine.mimir('resume', session)).err).toContain('has completed');
      writeFileSync(path.join(machine.project, 'src/parse.js'), `${fileOf(machine, 'src/parse.js')}// mine\n`);
      expect(await machine.mimir('undo', 'code', '--yes')).toMatchObject({
        code: 0,
        out: holding('undid the changes of'),
      });
      expect((await machine.mimir('pr', '--preview')).err).toContain('the review security, which blocks, did not pass');
      const again = await machine.mimir('resume', session, '--json');
      expect([again.code, of(jsonLines(again.out), 'forced.verdict').length]).toEqual([0, 2]);
      expect((await machine.mimir('pr', '--preview')).err).not.toContain('did not pass');
    },
  );

  it('is not merged by hand after the run, where nobody would judge it: its patch is kept', async () => {
    const rules = [
      verdict(true),
      runsFirst('^Name the cache', namesCache('one')),
      runsFirst('^Log the cache', namesCache('two')),
      saysDone,
    ];
    const { machine, code } = await ran([ownTask('one', 'Name the cache'), ownTask('two', 'Log the cache')], rules);
    expect([code, fileOf(machine, 'src/cache.js')]).toEqual([1, expect.stringContaining('const one = 1;')]);
    const refused = await machine.mimir('merge', 'two', '--theirs');
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('the security review has to judge what agents change, and a merge by hand has none');
    expect(fileOf(machine, 'src/cache.js')).toContain('const one = 1;');
    expect((await machine.mimir('merge', 'two', '--patch')).out).toContain('its changes are kept in');
  });

  it('is merged by hand after the run where a review looks at the whole, which then looks again', async () => {
    const config = REVIEW.replace('on-write', 'always');
    const rules = [
      verdict(true),
      runsFirst('^Name the cache', namesCache('one')),
      runsFirst('^Log the cache', namesCache('two')),
      saysDone,
    ];
    const tasks = [ownTask('one', 'Name the cache'), ownTask('two', 'Log the cache')];
    const { machine, code, events } = await ran(tasks, rules, config);
    expect([code, of(events, 'forced.verdict').length]).toEqual([1, 1]);
    const session = String(of(events, 'session.started')[0]?.['session']);
    expect(await machine.mimir('merge', 'two', '--theirs')).toMatchObject({ code: 0, out: holding('merged') });
    expect(fileOf(machine, 'src/cache.js')).toContain('const two = 1;');
    expect((await machine.mimir('pr', '--preview')).err).toContain('the review security, which blocks, did not pass');
    const again = await machine.mimir('resume', session, '--json');
    expect([again.code, of(jsonLines(again.out), 'forced.verdict').length]).toEqual([0, 2]);
    expect((await machine.mimir('pr', '--preview')).err).not.toContain('did not pass');
  });
});

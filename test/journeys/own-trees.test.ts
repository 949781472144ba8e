/** Two agents that write the same folder at the same time, each in a tree of its own, by the real program: merged in plan order. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { LEDGER } from '../support/journey.ts';
import { needs } from '../support/needs.ts';
import { namesCache, ownTask, runsFirst, saysDone, TWO } from '../support/own-tree-plans.ts';
import { git } from '../support/repos.ts';
import { ownModel, runOn } from '../support/on-the-wire.ts';

needs('git', 'bubblewrap');

describe('trees of their own', () => {
  it('are merged in plan order, whoever ends first, beside what the person has not committed', async () => {
    const rules = [
      runsFirst('^Name the cache', 'sleep 2; sed -i s/cache.set/memory.set/ src/cache.js; pwd'),
      runsFirst('^Log the cache', 'echo "// logged" >> src/parse.js; mkdir -p src/log; echo x > src/log/a.js'),
      saysDone,
    ];
    const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER });
    writeFileSync(path.join(machine.project, 'plan.json'), JSON.stringify(TWO));
    writeFileSync(path.join(machine.project, 'README.md'), '# Mine\n');
    const before = git(machine.project, 'rev-parse', 'HEAD');
    const { code, events } = await runOn(
      machine,
      'Name and log the cache',
      '--plan',
      'plan.json',
      '--allow',
      'edits,commands',
    );
    const trail = events.flatMap((event) =>
      ['tree.made', 'merge.started', 'merge.finished'].includes(String(event['type']))
        ? [`${String(event['type'])} ${String(event['agent'])}`]
        : [],
    );
    expect(trail).toEqual([
      'tree.made ROOT::S1',
      'tree.made ROOT::S2',
      'merge.started ROOT::S1',
      'merge.finished ROOT::S1',
      'merge.started ROOT::S2',
      'merge.finished ROOT::S2',
    ]);
    expect(readFileSync(path.join(machine.project, 'src/cache.js'), 'utf8')).toContain('memory.set');
    expect(readFileSync(path.join(machine.project, 'src/parse.js'), 'utf8')).toContain('// logged');
    expect([code, git(machine.project, 'rev-parse', 'HEAD')]).toEqual([0, before]);
    expect(git(machine.project, 'status', '--short')).toBe(
      ' M README.md\n M src/cache.js\n M src/parse.js\n?? plan.json\n?? src/log/\n',
    );
    const { out } = await machine.mimir('report', '--format', 'json');
    const report: unknown = JSON.parse(out);
    expect(report).toMatchObject({
      files: [
        { path: 'src/cache.js', added: 1, removed: 1, by: ['code 1'] },
        { path: 'src/log/a.js', added: 1, made: true, by: ['code 2'] },
        { path: 'src/parse.js', added: 1, by: ['code 2'] },
      ],
    });
  });

  it('are what a planner may propose for two that write the same folder, which then wait for nobody', async () => {
    const proposed = (id: string, description: string): object => ({
      id,
      description,
      recommendedRole: 'code',
      estimatedTokens: 8000,
      dependencies: [],
      writes: ['src/**'],
      tree: 'own',
    });
    const plan = { reason: 'Two.', tasks: [proposed('task-1', 'Name the cache'), proposed('task-2', 'Log the cache')] };
    const rules = [
      { when: { first: '# Roles' }, answer: { text: JSON.stringify(plan) } },
      runsFirst('^Name the cache', 'sed -i s/cache.set/memory.set/ src/cache.js'),
      runsFirst('^Log the cache', 'echo "// logged" >> src/parse.js'),
      saysDone,
    ];
    const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER });
    const { code, events } = await runOn(machine, 'Name and log the cache', '--allow', 'edits,commands');
    const planned = events.find((event) => event['type'] === 'plan.approved' || event['type'] === 'plan.proposed');
    expect([code, events.filter((event) => event['type'] === 'tree.made').length]).toEqual([0, 2]);
    expect(planned).toMatchObject({ plan: { tasks: [{ tree: 'own' }, { tree: 'own' }] } });
    expect(JSON.stringify(planned)).not.toContain('"after"');
    expect(git(machine.project, 'status', '--short')).toBe(' M src/cache.js\n M src/parse.js\n');
  });

  it('stay while their agent is interrupted and can go on, and can be looked at', async () => {
    const rules = [runsFirst('^Name the cache', 'sleep 60'), saysDone];
    const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER });
    const plan = path.join(machine.home, 'plan.json');
    writeFileSync(plan, JSON.stringify({ reason: '', tasks: [ownTask('one', 'Name the cache')] }));
    const start = ['run', 'Name it', '--yes', '--allow', 'edits,commands', '--plan', plan];
    const person = machine.opens(start, { cols: 120, rows: 60 });
    await person.sees('sleep 60');
    person.terminal.kill();
    await person.terminal.exit;
    expect((await machine.mimir('trees', 'clean')).out).toBe('removed 0 trees; kept: 1\n');
    expect((await machine.mimir('trees')).out).toMatch(/^live +code /);
    const shown = await machine.mimir('merge', 'one', '--preview');
    expect([shown.code, shown.out, shown.err]).toEqual([0, 'nothing to merge\n', '']);
    const refused = await machine.mimir('merge', 'one');
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('is still at work: its run merges it')]);
  });

  it('keep what nobody could decide, until it is merged by hand; then they are removed', async () => {
    const rules = [
      runsFirst('^Name the cache', namesCache('one')),
      runsFirst('^Log the cache', namesCache('two')),
      saysDone,
    ];
    const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER });
    writeFileSync(path.join(machine.home, 'plan.json'), JSON.stringify(TWO));
    const plan = path.join(machine.home, 'plan.json');
    const { code, events } = await runOn(machine, 'Name it', '--plan', plan, '--allow', 'edits,commands');
    const ends = events.flatMap((event) => (event['type'] === 'merge.finished' ? [event['is']] : []));
    const cache = (): string => readFileSync(path.join(machine.project, 'src/cache.js'), 'utf8');
    expect([code, ends, cache().includes('const one = 1;')]).toEqual([1, ['merged', 'unmerged'], true]);
    const reported: unknown = JSON.parse((await machine.mimir('report', '--format', 'json')).out);
    // What is not merged is its agent's, and not yet the project's.
    expect(reported).toMatchObject({
      files: [{ path: 'src/cache.js', added: 1, removed: 1, by: ['code 1'] }],
      agents: [
        { name: 'code 1', files: [{ path: 'src/cache.js', added: 1, removed: 1 }] },
        { name: 'code 2', files: [{ path: 'src/cache.js', added: 1, removed: 1 }] },
      ],
    });
    const listed = (await machine.mimir('trees')).out.trim().split('\n');
    expect(listed.map((each) => each.split(/\s+/).slice(0, 3).join(' ')).toSorted()).toEqual([
      'merged code 1',
      'unmerged code 2',
    ]);
    const shown = await machine.mimir('merge', '--preview');
    expect(shown.out).toContain(
      '! src/cache.js: changed on both sides (contents)\nmine is -, theirs is +:\n    --- a/src/cache.js\n',
    );
    expect(shown.out).toContain('    -const one = 1;\n    +const two = 1;\n');
    const patch = await machine.mimir('diff', 'code 2');
    expect([patch.code, patch.err, patch.out]).toEqual([0, '', expect.stringContaining('\n+const two = 1;\n')]);
    const refused = await machine.mimir('merge', 'two');
    expect([refused.code, cache().includes('const one = 1;')]).toEqual([1, true]);
    const merged = await machine.mimir('merge', 'two', '--theirs');
    expect([merged.code, merged.out, cache().includes('const two = 1;')]).toEqual([
      0,
      expect.stringContaining('1 file'),
      true,
    ]);
    expect((await machine.mimir('trees', 'clean')).out).toContain('removed 2 trees');
    expect((await machine.mimir('trees')).out).toContain('No agent has left a tree of its own here.');
  });
});

/** The command that prepares trees, by the real program: once in each tree, under the rules for commands. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tried } from '../../src/domain/result.ts';
import { toolProcessesBelow } from '../support/invariants.ts';
import { LEDGER } from '../support/journey.ts';
import { needs } from '../support/needs.ts';
import { runsFirst, saysDone } from '../support/own-tree-plans.ts';
import { of, ownModel, runOn } from '../support/on-the-wire.ts';
import { until } from '../support/until.ts';

needs('git', 'bubblewrap');

const task = (id: string, tree?: 'own'): object => ({
  id,
  description: `Do ${id}`,
  role: 'code',
  writes: ['src/**'],
  ...(tree === undefined ? {} : { tree }),
});
const PLAN = { reason: '', tasks: [task('one', 'own'), task('two', 'own'), task('three')] };
const RULES = [runsFirst('^Do', 'cat made/by-setup >> src/parse.js; true'), saysDone];
/** Nothing of what it makes is merged: git ignores it. */
const FILES = { ...LEDGER, '.gitignore': 'made/\n' };

async function ran(setup: string, plan: object, ...flags: readonly string[]) {
  const config = `trees: { setup: ${JSON.stringify(setup)} }\n`;
  const { machine, double } = await ownModel('anthropic', { script: { rules: RULES }, files: FILES, config });
  const file = path.join(machine.home, 'plan.json');
  writeFileSync(file, JSON.stringify(plan));
  return { machine, double, ...(await runOn(machine, 'Do it', '--plan', file, ...flags)) };
}

describe.concurrent('the command that prepares trees', () => {
  it('runs once in each tree of an agent, before its work, and never in the project', async () => {
    const setup = 'mkdir made && echo "// prepared" > made/by-setup';
    const { machine, code, events } = await ran(setup, PLAN, '--allow', 'edits,commands');
    expect(code).toBe(0);
    expect(
      of(events, 'check.finished')
        .map(({ agent, run, passed }) => [agent, run, passed])
        .toSorted((a, b) => String(a[0]).localeCompare(String(b[0]))),
    ).toEqual([
      ['ROOT::S1', setup, true],
      ['ROOT::S2', setup, true],
    ]);
    expect(existsSync(path.join(machine.project, 'made'))).toBe(false);
    expect((await machine.mimir('events')).out).toContain(`prepares its tree: ${setup}`);
    expect(readFileSync(path.join(machine.project, 'src/parse.js'), 'utf8')).toContain('// prepared');
  });

  it.each([
    ['fails', 'echo broken; exit 3', ['--allow', 'edits,commands'], 'exit code 3\nbroken'],
    ['is denied by a rule or since nobody can be asked', 'touch x', ['--allow', 'edits'], 'touch x'],
  ])('that %s ends its agent with the reason, before any call of a model', async (_, setup, flags, why) => {
    const { code, events, double } = await ran(setup, { reason: '', tasks: [task('one', 'own')] }, ...flags);
    expect([code, double.asked.filter(({ first }) => first.startsWith('Do one'))]).toEqual([1, []]);
    const [ended] = of(events, 'agent.finished');
    expect(ended).toMatchObject({ agent: 'ROOT::S1', outcome: 'failed' });
    expect(String(ended?.['error'])).toContain('its own tree could not be used: ');
    expect(String(ended?.['error'])).toContain(why);
  });

  it('runs for each role that the configuration gives trees of their own, except where the plan says otherwise', async () => {
    const setup = 'mkdir made && echo "// prepared" > made/by-setup';
    const config = `trees: { setup: ${JSON.stringify(setup)}, own: [code] }\n`;
    const { machine } = await ownModel('anthropic', { script: { rules: RULES }, files: FILES, config });
    const file = path.join(machine.home, 'plan.json');
    const shared = { ...task('two'), tree: 'shared' };
    writeFileSync(file, JSON.stringify({ reason: '', tasks: [task('one'), shared] }));
    const { code, events } = await runOn(machine, 'Do it', '--plan', file, '--allow', 'edits,commands');
    expect([code, of(events, 'check.finished').map(({ agent }) => agent)]).toEqual([0, ['ROOT::S1']]);
  });

  it('runs in the tree of a spawned child as well', async () => {
    const setup = 'mkdir made && echo "// prepared" > made/by-setup';
    const config = `mode: { default: yolo }\ntrees: { setup: ${JSON.stringify(setup)} }\n`;
    const { machine } = await ownModel('anthropic', { script: { rules: RULES }, files: FILES, config });
    const roles = path.join(machine.home, 'config/mimir/agents');
    mkdirSync(roles, { recursive: true });
    const role =
      '---\nname: mender\ndescription: mends\ntools: [bash, edit_file]\nisolation: worktree\n---\nMend it.\n';
    writeFileSync(path.join(roles, 'mender.md'), role);
    const { code, err } = await machine.mimir('spawn', 'mender', 'Do it');
    expect([code, err]).toEqual([0, '']);
    const changed = path.join(machine.project, 'src/parse.js');
    // The file is replaced by the merge, and missing for a moment.
    await until(() => tried(() => readFileSync(changed, 'utf8'), '').includes('// prepared'));
    const { out } = await machine.mimir('events');
    expect(out).toContain(`prepares its tree: ${setup}`);
    const [run = ''] = /\w{6}(?=\s)/.exec((await machine.mimir('sessions')).out) ?? [];
    expect((await machine.mimir('kill', run)).code).toBe(0);
  });

  it('is ended with its agent by a kill, and told as its work until then', async () => {
    const config = 'trees: { setup: "touch begun; sleep 300" }\n';
    const { machine } = await ownModel('anthropic', { script: { rules: RULES }, files: FILES, config });
    const file = path.join(machine.home, 'plan.json');
    writeFileSync(file, JSON.stringify({ reason: '', tasks: [task('one', 'own'), task('two')] }));
    const person = machine.opens(['run', 'Do it', '--plan', file, '--yes', '--allow', 'edits,commands']);
    await person.sees('prepares its tree: touch begun');
    const { out } = await machine.mimir('status', '--json');
    const id = /"session_id":"(\w{6})"[^}]*?"agent":"ROOT::S1"/.exec(out)?.[1] ?? '';
    expect(out).toMatch(/"agent":"ROOT::S1"[^}]*"status":"starting"/);
    expect((await machine.mimir('kill', id)).out).toBe(`Session ${id} terminated\n`);
    await person.terminal.exit;
    const { out: log } = await machine.mimir('events');
    expect(log).toMatch(/ROOT::S1 +killed/);
    expect(toolProcessesBelow(machine.project)).toEqual([]);
  });
});

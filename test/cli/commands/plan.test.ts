import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Home } from '../../support/cli.ts';
import { jsonLines, openHome, SMALL } from '../../support/cli.ts';
import { among, holding, like, part } from '../../support/like.ts';

const TASK = 'Find where add is defined and give an overview of this repository';

let home: Home;
beforeAll(() => {
  home = openHome(SMALL);
});
afterAll(() => {
  home.remove();
});

/** Writes a plan file and runs it; the error that comes, or the run. */
async function runPlan(text: string, ...flags: readonly string[]): ReturnType<Home['run']> {
  writeFileSync(join(home.project, 'plan.yml'), text);
  return home.run(['run', 'the task', '--plan', 'plan.yml', '--yes', ...flags]);
}

describe('mimir plan', () => {
  it('prints the plan for a person, and nothing runs', async () => {
    const { code, out, err } = await home.run(['plan', TASK]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^\nMulti-Agent Execution Plan\n/);
    expect(out).not.toContain('not approved');
  });

  it('prints with --json what a model is asked for (INTERFACE, "Plans")', async () => {
    const { code, out } = await home.run(['plan', TASK, '--json']);
    expect(code).toBe(0);
    const plan: unknown = JSON.parse(out);
    expect(plan).toMatchObject({
      reason: holding('offline analyst'),
      tasks: among(
        part({
          id: 'task-1',
          description: like(/./),
          recommendedRole: 'finder',
          recommendedModel: 'haiku-4.5',
          usedModel: 'offline/analyst',
          dependencies: [],
        }),
      ),
    });
  });

  it('goes into a file, is edited there, and runs as it was edited', async () => {
    expect(await home.run(['plan', TASK, '--yaml', '-o', 'mine.yml'])).toMatchObject({ code: 0, out: '', err: '' });
    const file = join(home.project, 'mine.yml');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/description: .*(?:\n {6,}.*)*/, 'description: Find `add` and nothing else'));
    const { code, out } = await home.run(['run', '--plan', 'mine.yml', '--yes', '--json']);
    expect(code).toBe(0);
    const events = jsonLines(out);
    // The file holds what the plan is for.
    expect(events[0]).toMatchObject({ type: 'session.started', task: TASK });
    expect(events.find(({ type }) => type === 'plan.proposed')).toMatchObject({ by: 'mine.yml' });
    expect(events.filter(({ type }) => type === 'agent.created').map(({ task }) => task)).toContain(
      'Find `add` and nothing else',
    );
  });

  it('is the same plan in both spellings', async () => {
    const [yaml, json] = await Promise.all([
      home.run(['plan', TASK, '--yaml', '-o', '../a.yml']),
      home.run(['plan', TASK, '--json', '--output', '../a.json']),
    ]);
    expect([yaml.code, json.code]).toEqual([0, 0]);
    const digests = await Promise.all(
      ['../a.yml', '../a.json'].map(async (file) => {
        const { out } = await home.run(['run', TASK, '--plan', file, '--json']);
        return jsonLines(out).find(({ type }) => type === 'plan.proposed')?.['digest'];
      }),
    );
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(digests[1]).toBe(digests[0]);
  });

  it('says in words why a file cannot be written', async () => {
    expect(await home.run(['plan', TASK, '-o', 'no/such/folder/plan.yml'])).toMatchObject({
      code: 2,
      err: 'mimir: no/such/folder/plan.yml: cannot be written: there is no such file or directory\n',
    });
    expect(await home.run(['plan', TASK, '-o', 'src'])).toMatchObject({
      code: 2,
      err: 'mimir: src: cannot be written: it is a directory\n',
    });
  });

  it('ends with 5 when not even the planner fits into the budget', async () => {
    expect(await home.run(['plan', TASK, '--max-tokens', '100'])).toMatchObject({
      code: 5,
      out: '',
      err: like(/^mimir: Budget exceeded: .*\n$/),
    });
  });
});

describe('a plan file', () => {
  it('that is no YAML is refused with file, line and column', async () => {
    const { code, err } = await runPlan('reason: x\ntasks: [\n  - {');
    expect(code).toBe(2);
    expect(err).toMatch(/^mimir: plan\.yml:\d+:\d+: .* — .*\n$/);
  });

  it('that is missing, or a folder, is refused in words', async () => {
    expect(await home.run(['run', 'x', '--plan', 'none.yml', '--yes'])).toEqual({
      code: 2,
      signal: null,
      out: '',
      err: 'mimir: none.yml: cannot be read: there is no such file or directory\n',
    });
    expect(await home.run(['run', 'x', '--plan', 'src', '--yes'])).toMatchObject({
      code: 2,
      err: 'mimir: src: cannot be read: it is a directory\n',
    });
  });

  it('that lacks what a plan needs says what, and for which task', async () => {
    const { code, err } = await runPlan('tasks:\n  - id: one\n    description: 7\n');
    expect(code).toBe(2);
    expect(err).toMatch(/^mimir: plan\.yml is not a plan:\n {2}one: tasks\.0\.description: .*\n/);
  });

  it('with an unknown key (2), an unknown role or a circle (3) is refused, and nothing runs (O057)', async () => {
    const of = (more: string): string => `reason: x\ntasks:\n  - { id: a, description: d, ${more} }\n`;
    const faults = [
      await runPlan(of('role: finder, colour: red')),
      await runPlan(of('role: findr')),
      await runPlan(of('role: finder, dependsOn: [a]')),
      await runPlan(of('role: finder, dependsOn: [b]')),
    ];
    expect(faults.map(({ err }) => err)).toEqual([
      holding('colour'),
      holding('findr'),
      holding('Circular dependency detected in agent graph: a -> a'),
      like(/"?b"?/),
    ]);
    expect(faults.map(({ out }) => /- done|agent\.created.*S1/.test(out))).toEqual([false, false, false, false]);
    expect(faults.map(({ code }) => code)).toEqual([2, 3, 3, 3]);
  });

  it('whose agent has no tokens left to begin with fails that agent, and the run ends with 1 (D17)', async () => {
    const { code, out } = await runPlan(
      'reason: x\ntasks:\n  - { id: a, description: Find add, role: finder, budget: { maxTokens: 0 } }\n',
    );
    expect(code).toBe(1);
    expect(out).toMatch(/^\[finder\] \w+, Budget exceeded.* \(0 tools, \d\.\ds\)$/m);
    expect(out).toMatch(/^failed: 1 agent · /m);
  });

  it('whose first task fails skips what needs it, does the rest, and says so line by line (D16)', async () => {
    const { code, out } = await runPlan(`reason: x
tasks:
  - { id: a, description: Find add, role: finder, budget: { maxTokens: 0 } }
  - { id: b, description: Review it, role: reviewer, dependsOn: [a] }
  - { id: c, description: Read the manifest, role: librarian }
`);
    expect(code).toBe(1);
    const lines = out.split('\n').filter((line) => /^\[\w+\] .*(?:done|partial|skipped|blocked)/.test(line));
    expect(lines.map((line) => line.replace(/ \(\d+ tools, .*$/, '')).sort((a, b) => (a < b ? -1 : 1))).toEqual([
      "[finder] partial, Budget exceeded: the agent's tokens (0 tokens of 0 tokens used, and the next step does not fit); the plan's task or budgets.agent.maxTokens sets it",
      '[librarian] done',
      '[reviewer] pending: blocked by #1 finder',
      '[reviewer] skipped: finder did not complete',
    ]);
  });
});

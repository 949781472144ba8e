/** An administrator follows the page of policy, makes mistakes, and a developer works under that policy: the real program, a policy at /etc/mimir. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CHECKOUT, isRoot, jsonLines, openHome, SMALL } from '../support/cli.ts';
import type { Home, Ran } from '../support/cli.ts';
import { holding, part } from '../support/like.ts';
import { managed } from '../support/managed.ts';
import { startTerminal } from '../support/pty.ts';
import { skipWithout } from '../support/needs.ts';

/** These tests mount a policy in a namespace of their user, where bubblewrap belongs to nobody that can be relied on. */
const NO_BOX_WITHIN = 'needs root: an ordinary user has no sandbox within the one that shows a policy';

let home: Home;
beforeEach(() => {
  home = openHome({ ...SMALL, 'plan.yml': 'tasks:\n  - { id: a, role: librarian, description: Look around }\n' });
});
afterEach(() => {
  home.remove();
});

/** The first YAML of a page below docs, as people copy it. Throws where there is none. */
function example(page: string): string {
  const text = readFileSync(join(CHECKOUT, 'docs', page), 'utf8');
  const yaml = /```yaml\n(.*?)```/s.exec(text)?.[1];
  if (yaml === undefined) throw new Error(`docs/${page} has no example`);
  return yaml;
}

const under = (policy: string, ...args: readonly string[]): Promise<Ran> =>
  home.run(args, managed(home, { files: { 'policy.yml': policy } }));

describe('the examples of the pages', () => {
  it.each([
    ['policy.md', 'managed'],
    ['models.md', 'user'],
  ])('%s: is a valid %s file as it stands', async (page, as) => {
    const file = join(home.root, 'example.yml');
    writeFileSync(file, example(page));
    const { code, out } = await home.run(['policy', 'check', file, '--as', as, '--json']);
    expect({ code, said: jsonLines(out) }).toEqual({ code: 0, said: [part({ as, valid: true, faults: [] })] });
  });

  it('policy.md: rules as it stands, every line of it', async () => {
    const [said] = jsonLines((await under(example('policy.md'), 'policy', 'show', '--json')).out);
    const keys = [
      'approvals.answerWithin',
      'budgets.day.maxCost',
      'mode.max',
      'sandbox.required',
      'sandbox.fs.denyRead',
    ];
    const place = { layer: 'managed', file: '/etc/mimir/policy.yml' };
    for (const key of keys) expect(said?.['rules']).toContainEqual(part({ key, ...place }));
    expect(said?.['forced']).toEqual([part({ name: 'security', triggers: ['on-write'], onFailure: 'block' })]);
  });
});

describe('a developer under a policy', () => {
  const APPROVE = 'agentOrchestration: { promptForApproval: true }\n';
  const RULE = 'agentOrchestration.promptForApproval: true (managed, /etc/mimir/policy.yml:1)';

  it('can’t approve beforehand what the administrator wants a person to look at (D5)', async () => {
    const before = await under(APPROVE, 'run', 'Find balanceOf', '--yes', '--model', 'offline');
    expect(before).toMatchObject({ code: 4, out: '', err: holding(`--yes is refused: ${RULE}`) });
    const nobody = await under(APPROVE, 'run', 'Find balanceOf', '--model', 'offline');
    expect(nobody).toMatchObject({ code: 4, err: holding(`a person has to approve the plan: ${RULE}`) });
    expect(nobody.err).not.toContain('--yes');
  });

  it('can’t have main begin by --direct what the administrator wants a person to look at (D5)', async () => {
    const task = ['run', 'Find balanceOf', '--direct', '--model', 'offline'];
    expect(await under(APPROVE, ...task)).toMatchObject({
      code: 4,
      out: '',
      err: holding(`--direct is refused: ${RULE}`),
    });
  });

  it.each([
    ['of --direct', ['run', 'Find balanceOf', '--direct'], []],
    ['that Ctrl-X asks for', [], ['What do you want to do?', 'Find balanceOf', 'ctrl-x']],
  ])('is shown the plan %s first in a terminal, and their own Enter approves it (D5)', async (_what, words, before) => {
    const how = managed(home, { files: { 'policy.yml': APPROVE } });
    const planned = async (): Promise<readonly string[]> => {
      const { out } = await home.run(['events', '--json'], how);
      const words = jsonLines(out).map(({ type, by }) => [type, by].filter(Boolean).join(' by '));
      return [...new Set(words)].filter((one) => /^(?:plan\.|model\.started)/.test(one));
    };
    const [command, ...first] = [...how.program, ...words, '--model', 'offline'];
    const terminal = startTerminal(command, first, { cols: 120, rows: 40, cwd: home.project, env: home.env });
    const [start, task, key] = before;
    if (start !== undefined && task !== undefined && key !== undefined) {
      await terminal.waitFor(start);
      terminal.type(task);
      await terminal.waitFor(task);
      terminal.press(key);
    }
    await terminal.waitFor(/Proceed\?|⏎ accept/);
    expect(await planned()).toEqual(['plan.proposed by you']);
    terminal.press('enter');
    await terminal.waitFor(/Result ›|completed: 1 agent/);
    expect(await planned()).toEqual(['plan.proposed by you', 'plan.approved by person', 'model.started']);
    terminal.kill();
  });

  it('may still approve beforehand where only they themselves want to look, and skips no look by a project’s word (D5)', async () => {
    writeFileSync(join(home.config, 'config.yml'), APPROVE);
    expect((await home.run(['run', 'Find balanceOf', '--yes', '--model', 'offline'])).code).toBe(0);
    const direct = await home.run(['run', 'Find balanceOf', '--direct', '--model', 'offline']);
    expect([direct.code, direct.out]).toEqual([0, holding('Plan approved (person (main was asked directly)).')]);
  });

  it('is told the rule with file and line for a mode, a model, a role and an amount that it doesn’t allow', async () => {
    const policy = [
      'mode: { max: confirm }',
      'enforcement: { allowedSubAgents: [finder], deniedModels: [offline] }',
      'budgets: { run: { maxCost: 2 } }',
      '',
    ].join('\n');
    const task = ['run', 'Find balanceOf', '--yes'];
    const [mode, model] = [await under(policy, ...task, '--mode', 'yolo'), await under(policy, ...task)];
    expect(mode).toMatchObject({ code: 3, err: holding('mode.max: confirm allows (/etc/mimir/policy.yml:1)') });
    expect(model.code).toBeGreaterThan(0);
    expect(model.err).toContain('enforcement.deniedModels: [offline] (managed, /etc/mimir/policy.yml:2)');
    const freely = policy.replace(', deniedModels: [offline]', '');
    const role = await under(freely, ...task, '--plan', 'plan.yml');
    expect(role).toMatchObject({
      code: 3,
      err: holding('allowedSubAgents: [finder] (managed, /etc/mimir/policy.yml:2)'),
    });
    const cost = await under(freely, ...task, '--max-cost', '50');
    expect(`${cost.out}${cost.err}`).toContain('budgets.run.maxCost: 2 (managed, /etc/mimir/policy.yml:3) is tighter');
  });
});

describe('paths that leave no sandbox', () => {
  it('refuse the run with the rule, instead of running commands without one', async ({ skip }) => {
    if (!isRoot) skip(NO_BOX_WITHIN);
    const policy = 'sandbox:\n  fs: { denyRead: [/usr] }\n';
    const ran = await under(policy, 'run', 'Find balanceOf', '--yes', '--model', 'offline');
    expect(ran).toMatchObject({ code: 3, out: '', err: holding('no sandbox works with the paths of these rules') });
    expect(ran.err).toContain('sandbox.fs.denyRead: /usr (managed, /etc/mimir/policy.yml:2)');
    const doctor = await under(policy, 'doctor');
    expect(doctor).toMatchObject({
      code: 3,
      out: holding('✗ sandbox   no sandbox works with the paths of these rules'),
    });
  });

  it('below a file are no bug: nothing can be made there', async ({ skip }) => {
    if (!isRoot) skip(NO_BOX_WITHIN);
    const ran = await under('sandbox: { fs: { denyWrite: [plan.yml/b/c] } }\n', 'doctor');
    expect(ran).toMatchObject({ code: 0, err: '', out: holding('✓ sandbox') });
  });
});

describe('mistakes of an administrator', () => {
  it.each(['Policy.yml', 'policy.YML', 'policy.yaml', 'config.yml', 'policy.d/10-a.yaml', 'policy.d/10-a.YML'])(
    '%s is refused instead of being passed over',
    async (name) => {
      const ran = await home.run(['run', 'x', '--yes'], managed(home, { files: { [name]: 'mode: { max: human }\n' } }));
      expect(ran).toMatchObject({ code: 3, err: holding(`/etc/mimir/${name}: is not read under this name — `) });
    },
  );

  it('copies of editors and packages beside a policy are passed over', async () => {
    const others = ['policy.yml~', '.policy.yml.swp', 'policy.yml.bak', 'policy.d/10-a.yml.dpkg-dist', '#policy.yml#'];
    const files = Object.fromEntries(others.map((name) => [name, 'not: [yaml']));
    const ran = await home.run(['policy', 'show', '--json'], managed(home, { files }));
    expect(jsonLines(ran.out)).toEqual([part({ managed: [] })]);
  });

  it('a file that only root can read says what the administrator has to do', async ({ skip }) => {
    skipWithout('root', skip);
    const how = managed(home, {
      files: { 'policy.yml': { text: 'mode: { max: human }\n', mode: 0o600 } },
      as: 'ordinary',
    });
    const ran = await home.run(['run', 'x', '--yes'], how);
    expect(ran).toMatchObject({
      code: 3,
      err: holding('make it readable for everyone: chmod a+r /etc/mimir/policy.yml'),
    });
  });

  it('a forced role that nobody has described says where to describe it', async () => {
    const policy = 'enforcement: { forcedSubAgents: { licences: { enabled: true } } }\n';
    const refused = await under(policy, 'doctor');
    expect(refused).toMatchObject({ code: 3, out: holding('or define it in /etc/mimir/agents/licences.md') });
    const role = '---\ndescription: Looks at licences.\ntools: [file_search]\n---\nLook.\n';
    const files = { 'policy.yml': policy, 'agents/licences.md': role };
    const described = await home.run(['doctor'], managed(home, { files }));
    expect(described.out).toContain('forced    licences runs on-write (managed, /etc/mimir/policy.yml:1)');
  });

  it('a policy that is gone shows in doctor and in policy show, not only when something should run', async () => {
    expect((await under('mode: { max: confirm }\n', 'run', 'Find balanceOf', '--yes')).code).toBe(0);
    const gone = managed(home, { files: {} });
    const asked = [['doctor'], ['policy', 'show'], ['policy', 'show', '--json']];
    const [doctor, show, json] = await Promise.all(asked.map((args) => home.run(args, gone)));
    expect(doctor).toMatchObject({
      code: 3,
      out: holding('✗ policy    /etc/mimir/policy.yml: applied here before and is missing'),
    });
    expect(show?.out).toContain('/etc/mimir/policy.yml: applied here before and is missing');
    expect(jsonLines(json?.out ?? '')).toEqual([part({ gone: ['/etc/mimir/policy.yml'] })]);
  });
});

/** Templates of a place: which count, what a run makes of them, and how a plan is kept as one. */
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Loaded } from '../../../src/config/settings/load.ts';
import { placesOf } from '../../../src/config/files/read-text.ts';
import type { SoundPlan } from '../../../src/domain/plan/plan.ts';
import type { TemplateRequest } from '../../../src/ports/project-service.ts';
import { saveTemplate } from '../../../src/app/project/templates.ts';
import { planFromTemplate, listTemplates } from '../../../src/app/project/templates.ts';
import type { ProjectPlace } from '../../../src/app/workspace/place.ts';
import { readConfig, trustOf } from '../../../src/app/workspace/config.ts';
import type { Home } from '../../support/cli.ts';
import { jsonLines, openHome, SMALL } from '../../support/cli.ts';
import { freshFolder } from '../../support/folder.ts';
import { planOf } from '../../support/plans.ts';

const template = (name: string, description: string): string => `name: ${name}
description: ${description} {{target}}
arguments:
  target: { description: Where }
tasks:
  - id: look
    description: Look at {{target}}
    role: finder
`;

interface Place extends ProjectPlace {
  write(file: string, text: string): void;
  keep(more?: Partial<TemplateRequest>): string;
  trusted(): boolean;
}

function place(): Place {
  const home = freshFolder();
  const root = join(home, 'shop');
  mkdirSync(root);
  const project = { root, places: placesOf({ HOME: home }, home) };
  return {
    ...project,
    write(file, text) {
      mkdirSync(join(home, file, '..'), { recursive: true });
      writeFileSync(join(home, file), text);
    },
    keep(more = {}) {
      const wish = { name: 'audit', description: '', plan: PLAN, arguments: [], ...more };
      const kept = saveTemplate(project, plainConfig(), wish);
      return kept.ok ? kept.value.text : kept.fault.text;
    },
    trusted: () => trustOf(project, []).state === 'trusted',
  };
}

/** As it is where nobody configured anything. */
function plainConfig(): Loaded {
  const home = freshFolder();
  const here = readConfig({ root: home, places: placesOf({ HOME: home }, home) }, { HOME: home }, {}, 'look');
  if (!here.ok) throw new Error(JSON.stringify(here.fault));
  return here.value.config;
}

const PLAN: SoundPlan = planOf({
  reason: 'why',
  tasks: [
    { id: 'a', description: 'Look at src/auth', role: 'finder', estimatedTokens: 4000 },
    {
      id: 'b',
      description: 'Judge src/auth',
      role: 'reviewer',
      model: 'gpt-5',
      tools: ['git'],
      dependsOn: ['a'],
      budget: { maxCost: 0.25 },
    },
  ],
});

const listed = (at: ProjectPlace, trusted: boolean): readonly string[] =>
  listTemplates(at, trusted).templates.map(({ name, from }) => `${name} (${from})`);
const SHIPPED = ["explain (Mimir's own)", "review (Mimir's own)", "test-first (Mimir's own)"];

describe('the templates of a place', () => {
  it('are the person’s, the project’s where it is trusted, and Mimir’s own; the first of a name counts', () => {
    const at = place();
    at.write('.config/mimir/plans/mine.yml', template('mine', 'Mine'));
    at.write('shop/.mimir/plans/review.yml', template('review', 'The team’s'));
    at.write('shop/.mimir/plans/mine.yml', template('mine', 'The team’s'));
    expect(listed(at, false)).toEqual(['mine (~/.config/mimir/plans/mine.yml)', ...SHIPPED]);
    expect(listed(at, true)).toEqual([
      'mine (~/.config/mimir/plans/mine.yml)',
      'review (.mimir/plans/review.yml)',
      "explain (Mimir's own)",
      "test-first (Mimir's own)",
    ]);
  });

  it('make a plan, or say what is missing, unknown or wrong', () => {
    const at = place();
    at.write('.config/mimir/plans/broken.yml', 'tasks: 3\n');
    at.write('shop/.mimir/plans/theirs.yml', template('theirs', 'Theirs'));
    const made = (name: string, values: Readonly<Record<string, string>>): string => {
      const plan = planFromTemplate(at, false, name, values);
      return plan.ok ? `${plan.value.task} | ${plan.value.from} | ${plan.value.draft.tasks.length}` : plan.fault.text;
    };
    expect([
      made('review', { target: 'src' }),
      made('reviw', {}),
      made('theirs', {}),
      made('review', {}),
      made('review', { target: 'src', x: '1' }),
      made('broken', {}),
    ]).toEqual([
      "Review src for bugs, security and missing tests | template review (Mimir's own) | 4",
      'there is no template "reviw"; did you mean "review"?',
      'there is no template "theirs"; .mimir/plans/theirs.yml is used once you trust this project: mimir trust',
      'review needs target (What to review: a folder, a file or a feature)',
      'review has no argument "x"; it takes target (What to review: a folder, a file or a feature) and concern (What to look for; default "bugs, security and missing tests")',
      '~/.config/mimir/plans/broken.yml:1:1: tasks is 3 — use a list: [a, b]',
    ]);
  });
});

describe('keeping a plan', () => {
  it('writes what was said and leaves out what the roles give anyway, readable by the team', () => {
    const at = place();
    expect(at.keep({ arguments: [{ name: 'target', text: 'src/auth' }] })).toBe('Saved as .mimir/plans/audit.yml.');
    const file = join(at.root, '.mimir/plans/audit.yml');
    expect(statSync(file).mode & 0o777).toBe(0o644);
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('description: Look at {{target}}');
    expect(text).toContain('model: gpt-5');
    expect(text).not.toContain('model: haiku-4.5');
    expect(readdirSync(join(at.root, '.mimir/plans'))).toEqual(['audit.yml']);
  });

  it('trusts what the person had written where the project said nothing else, and nothing of a stranger', () => {
    const own = place();
    own.keep();
    expect([own.trusted(), listed(own, true)[0]]).toEqual([true, 'audit (.mimir/plans/audit.yml)']);
    const strangers = place();
    strangers.write(
      'shop/.mimir/agents/deploy.md',
      '---\nname: deploy\ndescription: d\ntools: [bash_execution]\n---\nx\n',
    );
    expect(strangers.keep()).toBe('Saved as .mimir/plans/audit.yml; it is listed once the project is trusted.');
    expect(strangers.trusted()).toBe(false);
  });

  it('keeps that a task works in a tree of its own', () => {
    const at = place();
    const task = { id: 'a', description: 'Name it', role: 'refactoring', writes: ['src/**'], tree: 'own' } as const;
    at.keep({ plan: planOf({ reason: 'why', tasks: [task] }) });
    expect(readFileSync(join(at.root, '.mimir/plans/audit.yml'), 'utf8')).toContain('tree: own');
  });

  it('overwrites nothing', () => {
    const at = place();
    at.keep();
    const before = readFileSync(join(at.root, '.mimir/plans/audit.yml'), 'utf8');
    expect(at.keep({ description: 'another' })).toBe(
      'Not saved: a template audit already exists (.mimir/plans/audit.yml); choose another name',
    );
    at.write('.config/mimir/plans/mine.yml', template('mine', 'Mine'));
    expect(at.keep({ name: 'mine' })).toContain('a template mine already exists (~/.config');
    at.write('shop/.mimir/plans/bad.yml', 'tasks: 3');
    expect(at.keep({ name: 'bad' })).toBe('Not saved: .mimir/plans/bad.yml already exists; choose another name');
    expect(readFileSync(join(at.root, '.mimir/plans/audit.yml'), 'utf8')).toBe(before);
  });

  it('follows no link out of the project', () => {
    for (const part of ['.mimir', '.mimir/plans', '.mimir/plans/audit.yml']) {
      const at = place();
      const elsewhere = freshFolder();
      mkdirSync(join(at.root, part, '..'), { recursive: true });
      symlinkSync(join(elsewhere, part.endsWith('.yml') ? 'new.yml' : ''), join(at.root, part));
      expect(at.keep()).toMatch(/^Not saved: .*(?:is a link or a file|already exists)/);
      expect(existsSync(join(elsewhere, 'plans'))).toBe(false);
      expect(readdirSync(elsewhere)).toEqual([]);
    }
  });

  it('says what is wrong with a name', () => {
    expect(place().keep({ name: '../../evil' })).toContain('Not saved: "../../evil" is not a valid template name');
  });
});

describe('mimir run --plan', () => {
  let home: Home;
  beforeAll(() => {
    home = openHome(SMALL);
  });
  afterAll(() => {
    home.remove();
  });

  it('runs a template by its name, its task in its own words', async () => {
    const { code, out } = await home.run(['run', '--plan', 'explain', '--set', 'topic=add', '--yes', '--json']);
    expect(code).toBe(0);
    const events = jsonLines(out);
    expect(events[0]).toMatchObject({ task: 'Explain add for somebody new to this code' });
    expect(events.find(({ type }) => type === 'plan.proposed')).toMatchObject({ by: "template explain (Mimir's own)" });
  });

  it('runs a file with arguments', async () => {
    writeFileSync(join(home.project, 'mine.yml'), template('mine', 'Mine'));
    const { code, out } = await home.run(['run', '--plan', 'mine.yml', '--set', 'target=a=b', '--yes', '--json']);
    expect(code).toBe(0);
    expect(jsonLines(out)[0]).toMatchObject({ task: 'Mine a=b' });
  });

  it('ends with 2 and the list where an argument is unknown, missing or no pair, or nothing has the name', async () => {
    const ended = async (...args: readonly string[]): Promise<string> => {
      const { code, err } = await home.run(['run', ...args, '--yes']);
      return `${code}: ${err.trim()}`;
    };
    writeFileSync(join(home.project, 'plain.yml'), 'tasks: [{ id: a, description: "{{x}}", role: finder }]\n');
    expect(
      await Promise.all([
        ended('--plan', 'explain', '--set', 'topc=x'),
        ended('--plan', 'explain'),
        ended('--plan', 'explain', '--set', 'topic'),
        ended('--plan', 'explan'),
        ended('the task', '--plan', 'plain.yml', '--set', 'x=1'),
        ended('the task', '--set', 'x=1'),
      ]),
    ).toEqual([
      expect.stringContaining('2: mimir: explain has no argument "topc"; it takes topic (What to explain'),
      expect.stringContaining('2: mimir: explain needs topic (What to explain'),
      expect.stringContaining('expected name=value'),
      expect.stringContaining('there is no template "explan"; did you mean "explain"?'),
      expect.stringContaining('--set: plain.yml has no arguments'),
      expect.stringContaining('--set needs a plan'),
    ]);
  });
});

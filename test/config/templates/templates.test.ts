/** Plan templates: what is read, filled and written, and what is said where it can't be. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultText } from '../../../src/config/files/read-text.ts';
import {
  filled,
  fillTemplate,
  readTemplate,
  type Template,
  templateText,
  withSlots,
} from '../../../src/config/templates/templates.ts';
import { hostileText, soundPlan } from '../../support/arbitraries.ts';
import { check, planOf } from '../../support/plans.ts';

const AUDIT = `name: audit
description: Audit {{target}}
arguments:
  target: { description: Where to look }
  depth: { description: How deep, default: shallow }
reason: one looks
tasks:
  - id: look
    description: "Look at {{target}}, {{ depth }}; {{"{{"}}literal}}"
    role: finder
    writes: ["{{target}}/**"]
`.replace('{{"{{"}}', '{{\\"{{\\"}}');

const read = (text: string): Template | readonly string[] => {
  const template = readTemplate({ shown: 'audit.yml', stem: 'audit', text });
  return template.ok ? template.value : template.fault.map(faultText);
};
const template = (text = AUDIT): Template => {
  const one = read(text);
  if ('info' in one) return one;
  throw new Error(one.join('\n'));
};
const fill = (values: Readonly<Record<string, string>>, text = AUDIT): unknown => {
  const made = fillTemplate(template(text), values);
  return made.ok ? made.value : made.fault;
};

describe('a plan template', () => {
  it('is a plan in the person’s form with a name, a description and arguments', () => {
    expect(template().info).toEqual({
      name: 'audit',
      description: 'Audit <target>',
      arguments: [
        { name: 'target', description: 'Where to look', default: '' },
        { name: 'depth', description: 'How deep', default: 'shallow' },
      ],
      tasks: 1,
      from: 'audit.yml',
    });
  });

  it('is filled with plain text: in descriptions, in writes, and never read again', () => {
    expect(fill({ target: 'src/a: {{depth}} "x"\n- y' })).toBe('a value used in writes must be one line');
    expect(fill({ target: 'src/a: {{depth}} "x" # no' })).toEqual({
      task: 'Audit src/a: {{depth}} "x" # no',
      draft: {
        reason: 'one looks',
        tasks: [
          {
            id: 'look',
            description: 'Look at src/a: {{depth}} "x" # no, shallow; {{literal}}',
            role: 'finder',
            writes: ['src/a: {{depth}} "x" # no/**'],
          },
        ],
      },
    });
  });

  it('names unknown and missing arguments with those that there are', () => {
    expect(fill({ target: 'x', dept: 'y' })).toBe(
      'audit has no argument "dept"; it takes target (Where to look) and depth (How deep; default "shallow")',
    );
    expect(fill({})).toBe('audit needs target (Where to look)');
    expect(fill({ target: ' ' })).toBe('audit needs target (Where to look)');
    expect(fill({ target: 'x', constructor: 'y' })).toContain('no argument "constructor"');
    expect(fill({ target: 'x\u001b[2J' })).toBe('target contains invisible characters: remove them');
    expect(fill({ target: 'x'.repeat(4001) })).toBe('target is longer than 4000 characters');
  });

  it.each([
    [
      'a slot that nobody declared',
      ['Look at {{target}}', 'Look at {{targt}}'],
      'audit.yml:9:5: there is no argument "targt" for {{targt}} — did you mean "target"?; a literal {{ is written {{"{{"}}',
    ],
    [
      'an argument that nothing uses',
      ['{{ depth }}', 'deep'],
      'audit.yml:5:3: the argument "depth" is not used — write {{depth}} in a description, or remove it',
    ],
    [
      'a slot that decides who works',
      ['role: finder', 'role: "{{target}}"'],
      'audit.yml:10:5: {{target}} is used in tasks[0].role — arguments can be used in reason, descriptions and writes only',
    ],
    [
      'a key that is not known',
      ['reason: one', 'reasn: one'],
      'audit.yml:6:1: unknown key reasn — did you mean "reason"?',
    ],
    [
      'a key of a task that is not known',
      ['role: finder', 'roel: finder'],
      'audit.yml:10:5: unknown key tasks[0].roel — did you mean "role"?',
    ],
    ['a wrong type', ['default: shallow', 'default: 3'], 'audit.yml:5:35: arguments.depth.default is 3 — use text'],
    ['no tasks', [/tasks:[\s\S]*/, 'tasks: []\n'], 'audit.yml:7:1: tasks is [] — use at least 1'],
    ['broken YAML', ['tasks:', 'tasks: ['], 'fix the YAML here'],
    [
      'a name that is none',
      [/depth(?=:)/, 'De pth'],
      '"De pth" is not a valid argument name — use lower-case letters, digits, "-" and "_"',
    ],
  ] as const)('says file, line and what would be right for %s', (_, [from, to], words) => {
    const faults = read(AUDIT.replace(from, to));
    expect(faults).not.toHaveProperty('info');
    expect(JSON.stringify(faults)).toContain(JSON.stringify(words).slice(1, -1));
  });

  it('gives back any text, whatever stands in it and whatever became slots', () => {
    const piece = fc.oneof(
      hostileText,
      fc.constantFrom('{{', '}}', '{', '}', '{{"{{"}}', '{{x}}', '"', 'auth', 'src/auth'),
    );
    const slots = fc.uniqueArray(fc.constantFrom('auth', 'src/auth', '{{x}}', '{', 'a'), { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), slots, (pieces, texts) => {
        const text = pieces.join('');
        const named = texts.map((one, index) => ({ name: `s${index}`, text: one }));
        expect(filled(withSlots(text, named), new Map(named.map(({ name, text: value }) => [name, value])))).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it('is not slow on a text that is all braces', () => {
    for (const text of ['{'.repeat(60_000), '{{'.repeat(20_000) + ' '.repeat(20_000), `{{${' '.repeat(60_000)}`]) {
      expect(filled(text, new Map())).toBe(text);
    }
  });
});

describe('keeping a plan as a template', () => {
  const wish = (plan: ReturnType<typeof planOf>, more: object = {}): Parameters<typeof templateText>[0] => ({
    name: 'audit',
    description: '',
    plan,
    arguments: [],
    ...more,
  });
  const PLAN = planOf({
    reason: 'why',
    tasks: [{ id: 'a', description: 'Review src/auth and src/auth/token', role: 'tester', writes: ['src/auth/**'] }],
  });
  const tasksOf = (plan: typeof PLAN): Parameters<typeof templateText>[1] =>
    plan.tasks.map(({ id, description, role, writes }) => ({ id, description, role, writes }));

  it('turns words into arguments with the words as their default', () => {
    const text = templateText(
      wish(PLAN, { description: 'Review src/auth', arguments: [{ name: 'target', text: 'src/auth' }] }),
      tasksOf(PLAN),
    );
    expect(text).toEqual({
      ok: true,
      value: `name: audit
description: Review {{target}}
arguments:
  target:
    description: ""
    default: src/auth
reason: why
tasks:
  - id: a
    description: Review {{target}} and {{target}}/token
    role: tester
    writes:
      - "{{target}}/**"
`,
    });
  });

  it('refuses names that are none and words that are not there', () => {
    const said = (more: object): string => {
      const text = templateText(wish(PLAN, more), tasksOf(PLAN));
      return text.ok ? 'kept' : text.fault;
    };
    const one = { name: 'target', text: 'src/auth' };
    expect([
      said({ name: '../evil' }),
      said({ name: 'A' }),
      said({ arguments: [{ name: 'X', text: 'src' }] }),
      said({ arguments: [{ name: 'x', text: ' ' }] }),
      said({ arguments: [{ name: 'x', text: 'lib' }] }),
      said({ arguments: [one, { ...one, text: 'Review' }] }),
      said({ description: '{{nothing}}' }),
    ]).toEqual([
      '"../evil" is not a valid template name: use up to 40 lower-case letters, digits and "-", starting with a letter or digit',
      '"A" is not a valid template name: use up to 40 lower-case letters, digits and "-", starting with a letter or digit',
      '"X" is not a valid argument name: use lower-case letters, digits, "-" and "_"',
      'the text to replace with {{x}} is empty',
      'no task contains "lib", the text to replace with {{x}}',
      'the argument "target" is given twice',
      expect.stringContaining('there is no argument "nothing"'),
    ]);
  });

  it('is written so that texts of spaces and control characters come back', () => {
    const odd = planOf({
      reason: '',
      tasks: [{ id: 'a', description: 'x\n \n \u001b[2J \u001b[2J nunc ornare', role: 'finder' }],
    });
    const text = templateText(wish(odd), tasksOf(odd));
    const made = text.ok ? fillTemplate(template(text.value), {}) : text;
    expect(made.ok && made.value.draft.tasks[0]?.description).toBe(odd.tasks[0]?.description);
  });

  it('comes back as the same plan, whatever its texts are', () => {
    fc.assert(
      fc.property(soundPlan(6), (plan) => {
        const tasks = plan.tasks.map(({ id, description, role, model, estimatedTokens, dependsOn, maySpawn }) => ({
          id,
          description,
          role,
          model: model.asked,
          estimatedTokens,
          dependsOn,
          maySpawn,
        }));
        const text = templateText(wish(plan), tasks);
        if (!text.ok) throw new Error(text.fault);
        const made = fillTemplate(template(text.value), {});
        if (!made.ok) throw new Error(made.fault);
        expect(check(made.value.draft)).toEqual({ ok: true, value: plan });
      }),
      { numRuns: 100 },
    );
  });
});

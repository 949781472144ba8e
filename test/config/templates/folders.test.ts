/** Folders of plan templates: what is listed, what is left out and why, and that the shipped ones can be used. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultText } from '../../../src/config/files/read-text.ts';
import { fillTemplate, templatesIn } from '../../../src/config/templates/templates.ts';
import { bringsOf } from '../../../src/config/trust/record.ts';
import { trustFiles } from '../../../src/config/trust/files.ts';
import { RoleName } from '../../../src/domain/ids.ts';
import { CHOICES, contextFor, planOf } from '../../support/plans.ts';
import { freshDirectory } from '../some-place.ts';

/** Those of the pictures, and the one that implements. */
const ROLES = CHOICES.roles.flatMap((role) =>
  role.name === 'refactoring' ? [role, { ...role, name: RoleName.parse('code') }] : [role],
);

const AUDIT = `description: Audit {{target}}
name: audit
arguments: { target: { description: Where to look } }
tasks:
  - { id: look, description: "Look at {{target}}", role: finder }
`;

describe('folders of templates', () => {
  const place = (files: Readonly<Record<string, string>>): string => {
    const root = freshDirectory();
    mkdirSync(path.join(root, '.mimir/plans'), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(root, '.mimir/plans', name), text);
    return root;
  };
  const look = (root: string): readonly string[] => {
    const { templates, faults } = templatesIn({
      path: path.join(root, '.mimir/plans'),
      shown: '.mimir/plans',
      strict: true,
    });
    return [...templates.map(({ info }) => `${info.name} from ${info.from}`), ...faults.map(faultText)];
  };

  it('lists what can be used and says what is wrong with the rest', () => {
    const root = place({
      'audit.yml': AUDIT,
      'other.yml': AUDIT,
      'Bad Name.yml': AUDIT,
      'broken.yml': 'x: 1\n',
      'readme.md': '',
    });
    expect(look(root)).toEqual([
      'audit from .mimir/plans/audit.yml',
      '.mimir/plans/Bad Name.yml: is not a valid template name — use lower-case letters, digits and "-"',
      '.mimir/plans/broken.yml:1:1: tasks is empty — use a list: [a, b]',
      '.mimir/plans/broken.yml:1:1: unknown key x — use one of: name, description, arguments, reason, tasks, forced',
      '.mimir/plans/other.yml: contains a template named "audit" — rename the file to audit.yml, or the template to other',
    ]);
    expect(look(freshDirectory())).toEqual([]);
  });

  it('reads nothing of a project through a link', () => {
    const root = place({});
    const elsewhere = freshDirectory();
    writeFileSync(path.join(elsewhere, 'audit.yml'), AUDIT);
    symlinkSync(path.join(elsewhere, 'audit.yml'), path.join(root, '.mimir/plans/audit.yml'));
    expect(look(root)).toEqual(['.mimir/plans/audit.yml: is a symbolic link — replace it with the file itself']);
    const linked = freshDirectory();
    mkdirSync(path.join(linked, '.mimir'));
    symlinkSync(elsewhere, path.join(linked, '.mimir/plans'));
    expect(look(linked)).toEqual([]);
  });

  it('counts among what a project brings if it is trusted', () => {
    const files = trustFiles(place({ 'audit.yml': AUDIT, 'broken.yml': 'x: 1\n' }), false);
    expect(files.ok && bringsOf(files.value)).toEqual([
      'plan template audit: 1 task (.mimir/plans/audit.yml)',
      'an invalid plan template (.mimir/plans/broken.yml)',
    ]);
  });
});

describe('the templates that are shipped', () => {
  const shipped = templatesIn({
    path: new URL('../../../.mimir/plans', import.meta.url).pathname,
    shown: 'plans',
    strict: true,
  });

  it('can all be read, and ask for what they need', () => {
    expect(shipped.faults).toEqual([]);
    expect(
      shipped.templates.map(({ info }) => `${info.name}: ${info.arguments.map(({ name }) => name).join(', ')}`),
    ).toEqual(['explain: topic, reader', 'review: target, concern', 'test-first: behaviour, where, command']);
    const described = shipped.templates.flatMap(({ info }) => info.arguments);
    expect(described.filter(({ description }) => description === '')).toEqual([]);
  });

  it.each(shipped.templates.map((one) => [one.info.name, one] as const))('make a sound plan: %s', (_, one) => {
    const [first] = one.info.arguments;
    const made = fillTemplate(one, { [first?.name ?? '']: 'src/auth' });
    if (!made.ok) throw new Error(made.fault);
    const plan = planOf(made.value.draft, contextFor({ ...CHOICES, roles: ROLES }));
    expect(plan.tasks.length).toBe(one.info.tasks);
    expect(JSON.stringify(plan)).not.toContain('{{');
    const roles = new Set<string>(ROLES.map(({ name }) => name));
    expect(plan.tasks.filter(({ role }) => !roles.has(role))).toEqual([]);
  });
});

/** What `--help` of the verbs about sessions promises of their JSON, against what they print. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allVerb } from '../../../src/cli/commands/lists.ts';
import { childrenVerb } from '../../../src/cli/commands/children.ts';
import { eventsVerb } from '../../../src/cli/commands/events.ts';
import { meVerb } from '../../../src/cli/commands/me.ts';
import { othersVerb } from '../../../src/cli/commands/lists.ts';
import { progressVerb } from '../../../src/cli/commands/progress.ts';
import { spawnVerb } from '../../../src/cli/commands/spawn.ts';
import { statusVerb } from '../../../src/cli/commands/lists.ts';
import type { Verb } from '../../../src/cli/verb.ts';
import { whatVerb } from '../../../src/cli/commands/what.ts';
import { whoVerb } from '../../../src/cli/commands/lists.ts';
import { CHECKOUT } from '../../support/cli.ts';
import { FAMILY, NOW, RUN } from '../../support/family-story.ts';
import { openStage } from '../../support/session-stage.ts';

/** Names of the fields in a help, in its order; those of a record stand in that of `mimir children` alone. */
function promised({ notes }: Verb): readonly string[] {
  const fields = notes.slice(0, notes.indexOf('Which command shows what:') >>> 0);
  const own = fields.flatMap((line) => /^ {2}(\w+) +\S/.exec(line)?.[1] ?? []);
  return fields.some((line) => line.includes('`mimir children --help`')) ? [...promised(childrenVerb), ...own] : own;
}

/** What was printed, out of one array around it. */
const fieldsOf = (json: readonly unknown[]): readonly string[] => {
  const value = json.flat().at(0);
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
};

describe('S029, S047, S064, S065: --json', () => {
  it.each<readonly [name: string, verb: Verb, argv: readonly string[]]>([
    ['children', childrenVerb, []],
    ['who', whoVerb, []],
    ['others', othersVerb, []],
    ['what --deep', whatVerb, ['engineer-cache', '--deep']],
    ['progress', progressVerb, ['engineer-cache']],
    ['all', allVerb, []],
    ['status', statusVerb, []],
    ['events', eventsVerb, ['engineer-cache']],
    ['me', meVerb, []],
  ])('of %s has exactly the fields that its help lists', async (_, verb, argv) => {
    const stage = openStage(NOW);
    stage.write(RUN, FAMILY);
    await stage.carry(RUN);
    const { json } = await stage.ask(verb, [...argv, '--json']);
    expect([...fieldsOf(json)].toSorted()).toEqual([...promised(verb)].toSorted());
    for (const line of verb.notes ?? []) expect(line.length).toBeLessThanOrEqual(130);
  });
});

describe('the example of mimir spawn', () => {
  it('names a role that there is', () => {
    const [, role = ''] = /^mimir spawn (\S+) "/.exec(spawnVerb.example) ?? [];
    expect(readdirSync(join(CHECKOUT, '.mimir/agents'))).toContain(`${role}.md`);
  });
});

/**
 * Whose each line is in random histories of three agents and a person, compared with a model that keeps who wrote and who removed each line. What
 * commands of two agents changed at the same time is of both. */
import path from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentId } from '../../../src/domain/ids.ts';
import { needs } from '../../support/needs.ts';
import { freshFolder, makeRepository } from '../../support/repos.ts';
import { ALICE, BOB, byPerson, CAROL, told, type Worked, working, write } from './acts.ts';

needs('git');

/** As many histories as MIMIR_TEST_FUZZ says. */
const RUNS = Number(process.env['MIMIR_TEST_FUZZ'] ?? 6);
const FILES = ['a.txt', 'b.txt', 'sub/c.txt'];
const SLOTS = 3;
/** Each slot is a line that somebody may change and one that nobody does, so that git makes a hunk of each. */
const SLOT = 2;
const NAMES = new Map([
  [ALICE, 'alice'],
  [BOB, 'bob'],
  [CAROL, 'carol'],
]);

interface Line {
  readonly text: string;
  /** Its number at the start; null for a line that came later. */
  readonly origin: number | null;
  readonly by: string;
}

/** A file as the model has it; without lines there is none. */
interface ModelFile {
  readonly start: readonly string[];
  lines: readonly Line[] | null;
  readonly removed: Map<number, string>;
}

/** What every line of the project is like, and what is to be said of its authors. */
class Model {
  readonly files = new Map(
    FILES.map((name): [string, ModelFile] => {
      const start = Array.from({ length: SLOTS * SLOT }, (_, at) => `${name} ${at}`);
      return [name, { start, lines: start.map((text, origin) => ({ text, origin, by: '' })), removed: new Map() }];
    }),
  );

  textOf(name: string): string | null {
    const lines = this.files.get(name)?.lines ?? null;
    return lines === null ? null : lines.map(({ text }) => `${text}\n`).join('');
  }

  edit(name: string, slot: number, text: string, by: string): void {
    const file = this.files.get(name);
    const old = file?.lines?.[slot * SLOT];
    if (file === undefined || old === undefined) return;
    if (old.origin !== null) file.removed.set(old.origin, by);
    file.lines = file.lines?.with(slot * SLOT, { text, origin: null, by }) ?? null;
  }

  remove(name: string, by: string): readonly Line[] {
    const file = this.files.get(name);
    const lines = file?.lines ?? [];
    for (const { origin } of lines) if (origin !== null) file?.removed.set(origin, by);
    if (file !== undefined) file.lines = null;
    return lines;
  }

  move(from: string, to: string, by: string): void {
    const lines = this.remove(from, by);
    this.remove(to, by);
    const file = this.files.get(to);
    if (file !== undefined) file.lines = lines.map(({ text }) => ({ text, origin: null, by }));
  }

  /** Each changed line as `alice a.txt +text`. */
  authors(): readonly string[] {
    const found = [...this.files].flatMap(([name, { start, lines, removed }]) => {
      const now = lines ?? [];
      const texts = new Set(now.map(({ text }) => text));
      return [
        ...start.flatMap((text, at) => (texts.has(text) ? [] : [`${removed.get(at) ?? ''} ${name} -${text}`])),
        ...now.flatMap(({ text, by }) => (start.includes(text) ? [] : [`${by} ${name} +${text}`])),
      ];
    });
    return found.toSorted();
  }
}

type Place = { readonly file: string; readonly slot: number };
type Deed =
  | ({ readonly is: 'tool' | 'command'; readonly who: AgentId } & Place)
  | ({ readonly is: 'person' } & Place)
  | { readonly is: 'remove'; readonly who: AgentId; readonly file: string }
  | { readonly is: 'move'; readonly who: AgentId; readonly file: string; readonly to: string }
  | { readonly is: 'at once'; readonly who: AgentId; readonly also: AgentId; readonly places: readonly [Place, Place] };

const who = fc.constantFrom(ALICE, BOB, CAROL);
const file = fc.constantFrom(...FILES);
const place = { file, slot: fc.nat({ max: SLOTS - 1 }) };
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ is: fc.constantFrom('tool' as const, 'command' as const), who, ...place }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constant('person' as const), ...place }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('remove' as const), who, file }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('move' as const), who, file, to: file }) },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant('at once' as const),
      who: fc.constantFrom(ALICE, BOB),
      also: fc.constant(CAROL),
      places: fc.tuple(fc.record(place), fc.record(place)),
    }),
  },
);

const sed = ({ file: name, slot }: Place, text: string): string =>
  `[ ! -e ${name} ] || sed -i '${slot * SLOT + 1}s/.*/${text}/' ${name}`;

/** Two commands of which each begins before the other changes anything, and ends after that. */
async function atOnce(run: Worked, one: readonly [AgentId, string], other: readonly [AgentId, string]): Promise<void> {
  const gate = freshFolder();
  const met = (mark: string, nth: number): string =>
    `touch ${gate}/${mark}${nth}; while [ ! -e ${gate}/${mark}${1 - nth} ]; do sleep 0.02; done`;
  // One changes first, so that both may change the same file.
  const commands = [
    `${met('begun', 0)}; ${one[1]}; touch ${gate}/first; ${met('done', 0)}`,
    `${met('begun', 1)}; while [ ! -e ${gate}/first ]; do sleep 0.02; done; ${other[1]}; ${met('done', 1)}`,
  ];
  const agents = [one[0], other[0]];
  await Promise.all(agents.map((agent, at) => run.act(agent, 'bash', { command: commands[at] ?? '' })));
}

/** Removes or renames a file. */
async function playWhole(run: Worked, model: Model, one: Deed & { is: 'remove' | 'move' }, by: string): Promise<void> {
  if (one.is === 'remove') {
    model.remove(one.file, by);
    return run.act(one.who, 'bash', { command: `rm -f ${one.file}` });
  }
  if (one.file === one.to || model.textOf(one.file) === null) return;
  model.move(one.file, one.to, by);
  return run.act(one.who, 'bash', { command: `mv -f ${one.file} ${one.to}` });
}

async function play(run: Worked, folder: string, model: Model, one: Deed, text: string): Promise<void> {
  if (one.is === 'at once') {
    const by = `${NAMES.get(one.who)}|${NAMES.get(one.also)}`;
    const [first, second] = one.places;
    model.edit(first.file, first.slot, `${text} 1`, by);
    model.edit(second.file, second.slot, `${text} 2`, by);
    return atOnce(run, [one.who, sed(first, `${text} 1`)], [one.also, sed(second, `${text} 2`)]);
  }
  const by = one.is === 'person' ? 'person' : (NAMES.get(one.who) ?? '');
  if (one.is === 'remove' || one.is === 'move') return playWhole(run, model, one, by);
  model.edit(one.file, one.slot, text, by);
  const content = model.textOf(one.file);
  if (content === null) return;
  if (one.is === 'person') byPerson(folder, one.file, content);
  else if (one.is === 'tool') await write(run, one.who, one.file, content);
  else await run.act(one.who, 'bash', { command: sed(one, text) });
}

it('gives each line to whoever wrote it, and each removed line to whoever removed it, in any order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 2, maxLength: 7 }), async (deeds) => {
      const model = new Model();
      const folder = makeRepository(Object.fromEntries(FILES.map((name) => [name, model.textOf(name) ?? ''])));
      const run = working(folder);
      // The start is the tree before the first command.
      await run.act(ALICE, 'bash', { command: `touch ${path.join(freshFolder(), 'outside')}; echo t > touched` });
      for (const [nth, one] of deeds.entries()) await play(run, folder, model, one, `new ${nth}`);
      const lines = told(await run.authored()).flatMap((hunk) => {
        const [by = '', name = '', ...parts] = hunk.split(/ (?=[-+])| (?=\S+\.txt\b)/);
        return parts.map((line) => `${by} ${name} ${line}`);
      });
      expect(lines.filter((line) => !line.includes(' touched')).toSorted()).toEqual(model.authors());
    }),
    { numRuns: RUNS },
  );
}, 600_000);

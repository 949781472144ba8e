/** Who made each line while commands of agents run around what others do, in random histories; a model keeps the author beside each line. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentId } from '../../../src/domain/ids.ts';
import { needs } from '../../support/needs.ts';
import { freshFolder, makeRepository } from '../../support/repos.ts';
import { until } from '../../support/until.ts';
import { ALICE, BOB, byPerson, CAROL, type Worked, working, write } from './acts.ts';

needs('git');

/** As many histories as MIMIR_TEST_FUZZ says. */
const RUNS = Number(process.env['MIMIR_TEST_FUZZ'] ?? 4);
const AGENTS = [ALICE, BOB, CAROL];
const FILES = ['a.txt', 'b.txt', 'sub/c.txt'];
const LINES = 5;

/** Empty: the person. Several: commands that ran at the same time. */
type By = readonly AgentId[];
interface Line {
  readonly text: string;
  /** Its number at the start; null for a line that came later. */
  readonly origin: number | null;
  readonly by: By;
}
interface FileState {
  /** Null: there is no such file. */
  readonly lines: readonly Line[] | null;
  /** Who removed a line of the start, by its number. */
  readonly removed: ReadonlyMap<number, By>;
}

const startOf = (name: string): readonly string[] | null =>
  name === 'sub/c.txt' ? null : Array.from({ length: LINES }, (_, at) => `${name} ${at}`);

/** One file and its earlier states. */
class ModelFile {
  readonly name: string;
  readonly states: FileState[];

  constructor(name: string) {
    this.name = name;
    const lines = startOf(name)?.map((text, origin): Line => ({ text, origin, by: [] })) ?? null;
    this.states = [{ lines, removed: new Map() }];
  }

  get now(): FileState {
    return this.states.at(-1) ?? { lines: null, removed: new Map() };
  }

  /** As the file is on disk; null for none. */
  get content(): string | null {
    return this.now.lines?.map(({ text }) => `${text}\n`).join('') ?? null;
  }

  /** Each text is written once, so that it is certain which line is which. */
  edit({ what, at }: Edit, by: By, text: string): void {
    const { lines, removed } = this.now;
    const old = lines ?? [];
    const isGone = what === 'remove the file';
    const from = isGone ? 0 : at % (old.length + 1);
    const [out, into] = AMOUNTS[what];
    const fresh = Array.from({ length: into }, (): Line => ({ text, origin: null, by }));
    const gone = old.slice(from, from + out);
    const next = old.toSpliced(from, out, ...fresh);
    const more = gone.flatMap(({ origin }) => (origin === null ? [] : [[origin, by] as const]));
    this.states.push({
      lines: isGone || (lines === null && into === 0) ? null : next,
      removed: new Map([...removed, ...more]),
    });
  }

  /** As it was so many states ago; those since then are forgotten. */
  restore(ago: number): void {
    this.states.length -= ago % this.states.length;
  }

  /** What is left of it, as `a.txt:3+text by`. */
  told(): readonly string[] {
    const { lines, removed } = this.now;
    const start = startOf(this.name) ?? [];
    return [
      ...[...removed].map(([origin, by]) => `${this.name}:${origin + 1}-${start[origin] ?? ''} ${by.join('|')}`),
      ...(lines ?? []).flatMap(({ text, origin, by }, at) =>
        origin === null ? [`${this.name}:${at + 1}+${text} ${by.join('|')}`] : [],
      ),
    ];
  }
}

/** How many lines go, and come. */
const AMOUNTS = { insert: [0, 1], replace: [2, 1], remove: [2, 0], 'remove the file': [1000, 0] } as const;
interface Edit {
  readonly file: string;
  readonly what: keyof typeof AMOUNTS;
  readonly at: number;
}
type One = Edit & { readonly is: 'tool' | 'command'; readonly who: AgentId };
type Step =
  | One
  | (Edit & { readonly is: 'person' })
  /** The person restores an earlier content, and an agent edits that. */
  | (Edit & { readonly is: 'restored'; readonly ago: number; readonly who: AgentId })
  /** A command that edits a file at its beginning and one at its end, and what others do meanwhile. */
  | {
      readonly is: 'around';
      readonly who: AgentId;
      readonly first: Edit;
      readonly last: Edit;
      readonly meanwhile: readonly One[];
    };

const what = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<Edit['what'][]>('insert', 'replace', 'remove') },
  { weight: 1, arbitrary: fc.constant<Edit['what']>('remove the file') },
);
const edit = { file: fc.constantFrom(...FILES), what, at: fc.nat({ max: 30 }) };
const who = fc.constantFrom(...AGENTS);
const one = fc.record({ is: fc.constantFrom<One['is'][]>('tool', 'command'), who, ...edit });
const around = fc
  .record({
    is: fc.constant('around' as const),
    who,
    first: fc.record(edit),
    last: fc.record(edit),
    meanwhile: fc.array(one, { minLength: 1, maxLength: 3 }),
  })
  .map((step) => ({ ...step, meanwhile: step.meanwhile.filter((other) => other.who !== step.who) }));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: one },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('person' as const), ...edit }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('restored' as const), ago: fc.nat({ max: 5 }), who, ...edit }) },
  { weight: 4, arbitrary: around },
);

class History {
  readonly folder = makeRepository(
    Object.fromEntries(
      FILES.flatMap((name) => (startOf(name) === null ? [] : [[name, new ModelFile(name).content ?? '']])),
    ),
  );
  readonly run: Worked = working(this.folder);
  readonly files = new Map(FILES.map((name) => [name, new ModelFile(name)]));
  /** Where commands get their contents from, and wait for each other. */
  readonly #beside = freshFolder();
  #texts = 0;

  file(name: string): ModelFile {
    const found = this.files.get(name);
    if (found === undefined) throw new Error(name);
    return found;
  }

  #text(): string {
    return `text ${(this.#texts += 1)}`;
  }

  /** A command that makes the edit. */
  #command(change: Edit, by: By): string {
    const file = this.file(change.file);
    file.edit(change, by, this.#text());
    if (file.content === null) return `rm -f ${file.name}`;
    const from = path.join(this.#beside, `content ${this.#texts}`);
    writeFileSync(from, file.content);
    return `mkdir -p sub; cat '${from}' > ${file.name}`;
  }

  /** A tool does not remove files. */
  async #act({ is, who: agent, ...change }: One, beside: By): Promise<void> {
    if (is === 'command' || change.what === 'remove the file')
      return this.run.act(agent, 'bash', { command: this.#command(change, [agent, ...beside].toSorted()) });
    const file = this.file(change.file);
    file.edit(change, [agent], this.#text());
    if (file.content !== null) await write(this.run, agent, file.name, file.content);
  }

  #byPerson({ name, content }: ModelFile): void {
    if (content === null) rmSync(path.join(this.folder, name), { force: true });
    else byPerson(this.folder, name, content);
  }

  async #around({ who: agent, first, last, meanwhile }: Extract<Step, { readonly is: 'around' }>): Promise<void> {
    const isCommand = (other: One): boolean => other.is === 'command' || other.what === 'remove the file';
    const all = [...new Set([agent, ...meanwhile.filter(isCommand).map((other) => other.who)])].toSorted();
    const [begun, go, rest] = ['begun', 'go', 'rest'].map((name) => path.join(this.#beside, `${name}${this.#texts}`));
    if (begun === undefined || go === undefined || rest === undefined) throw new Error('no places');
    const begin = this.#command(first, all);
    const command = `${begin}; touch '${begun}'; while [ ! -e '${go}' ]; do sleep 0.02; done; . '${rest}'`;
    const running = this.run.act(agent, 'bash', { command });
    await until(() => existsSync(begun));
    for (const other of meanwhile) await this.#act(other, [agent]);
    writeFileSync(rest, this.#command(last, all));
    writeFileSync(go, '');
    await running;
  }

  async play(now: Step): Promise<void> {
    switch (now.is) {
      case 'person':
        this.file(now.file).edit(now, [], this.#text());
        return this.#byPerson(this.file(now.file));
      case 'restored':
        this.file(now.file).restore(now.ago);
        this.#byPerson(this.file(now.file));
        return this.#act({ ...now, is: 'tool' }, []);
      case 'around':
        return this.#around(now);
      case 'tool':
      case 'command':
        return this.#act(now, []);
    }
  }

  async told(): Promise<readonly string[]> {
    const files = await this.run.authored();
    return files
      .flatMap(({ path: name, hunks }) =>
        hunks.flatMap(({ from, to, removed, added, agents }) => [
          ...removed.map((line, at) => `${name}:${from.at + at}-${line.trimEnd()} ${agents.join('|')}`),
          ...added.map((line, at) => `${name}:${to.at + at}+${line.trimEnd()} ${agents.join('|')}`),
        ]),
      )
      .filter((line) => !line.startsWith('touched:'))
      .toSorted();
  }
}

it('names for each line that is left whoever wrote or removed it last, and all whose commands ran at the same time', {
  timeout: 1_800_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
      const history = new History();
      // The start is the tree before the first command.
      await history.run.act(ALICE, 'bash', { command: 'echo t > touched' });
      for (const now of steps) await history.play(now);
      expect(await history.told()).toEqual([...history.files.values()].flatMap((file) => file.told()).toSorted());
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
});

/**
 * How the sources are divided, measured: what was found, the most that it may be now, and the aim. A figure above its aim may only
 * fall, so a step that lowers it lowers its number here.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as structure from './support/source-structure.ts';

const ROOT = join(import.meta.dirname, '..');
const sources = structure.readSources(ROOT);
const entrances = z
  .array(z.string())
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'entrances.json'), 'utf8')));

describe('the structure of the sources', () => {
  it.each<[what: string, found: readonly string[], most: number, aim: number]>([
    ['files', sources.map(({ file }) => file), 540, 540],
    ['files of more than 500 lines', sources.filter(({ lines }) => lines > 500).map(({ file }) => file), 0, 0],
    ['folders of more than 15 files', structure.crowdedFolders(sources, 15), 0, 0],
    ['folders more than 4 levels below src', structure.deepFolders(sources, 4), 0, 0],
    ['more than 5 files of a folder with one prefix', structure.prefixFamilies(sources, 5), 0, 0],
    [
      'circles of imports',
      structure.circlesOf(sources).map(({ folder, parts }) => `${folder}: ${parts.join(' ')}`),
      0,
      0,
    ],
    ['collaborators of more than 15 members', structure.wideInterfaces(sources, 'collaborators', 15), 2, 4],
    ['records of more than 30 fields', structure.wideInterfaces(sources, 'records', 30), 4, 5],
    ['imports past the entrance of a module', structure.pastEntrances(sources, entrances), 0, 0],
    ['sentences in more than one file', structure.repeatedSentences(sources), 10, 10],
  ])('has no more %s than before', (_, found, most) => {
    expect(found.length, found.slice(0, 20).join('\n')).toBeLessThanOrEqual(most);
  });

  it('has no more lines than before', () => {
    const sum = (of: 'lines' | 'codeLines'): number => sources.reduce((all, source) => all + source[of], 0);
    expect({ lines: sum('lines'), code: sum('codeLines') }).toSatisfy(
      ({ lines, code }) => lines <= 93_000 && code <= 74_400,
    );
  });

  it('names no type by a private word where the field has one', () => {
    const PRIVATE =
      /^(?:Lobby|Law|Crew|Seat|Loans?|Letters?|Mailbox|Desk|Workshop|Doors?|House|Weather|Deed|Wish|Lit|Carrying|Trail|Heads|Switchboard|Forced)$/;
    const named = sources.flatMap(({ file }) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/^(?:export )?(?:interface|class|type) (\w+)/gm)].map(
        ([, name = '']) => ({ file, name }),
      ),
    );
    expect(named.length).toBeGreaterThan(1000);
    expect(named.filter(({ name }) => (name.match(/[A-Z][a-z]+/g) ?? []).some((word) => PRIVATE.test(word)))).toEqual(
      [],
    );
  });

  it('lists no entrance that is not there', () => {
    const files = new Set(sources.map(({ file }) => file));
    expect(entrances.filter((file) => !files.has(file))).toEqual([]);
  });
});

/** The table of line mode against the full screen's key tables, and how a typed line becomes a command. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allActions } from '../../../../src/ui/tui/shell/app-keys.ts';
import { LINE_COMMANDS, WITHOUT_LINES } from '../../../../src/ui/lines/commands/commands.ts';
import { meantBy, type Place, usageOf } from '../../../../src/ui/lines/command.ts';

const onScreens: readonly string[] = [...new Set(allActions().map(({ action }) => action))];
const inLines: readonly string[] = LINE_COMMANDS.flatMap(({ actions }) => actions ?? []);
const PLACES: readonly Place[] = ['start', 'plan', 'run', 'result'];

describe('the commands of line mode', () => {
  it('stand for every action of every screen, or it is said why there is none', () => {
    expect(onScreens.length).toBeGreaterThan(50);
    const forgotten = onScreens.filter((action) => !inLines.includes(action) && !WITHOUT_LINES.has(action));
    expect(forgotten).toEqual([]);
  });

  it('say of no action both that there is a command and that there is none', () => {
    expect(inLines.filter((action) => WITHOUT_LINES.has(action))).toEqual([]);
  });

  it('have one meaning in one place, by name and by short form', () => {
    for (const place of PLACES) {
      const words = LINE_COMMANDS.filter(({ where }) => where.includes(place)).flatMap(({ name, short = [] }) => [
        name,
        ...short,
      ]);
      expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
    }
  });

  it('leave the answers to the plan and to questions alone', () => {
    const taken = new Set(['Y', 'y', 'n', 'N', 'e', 'm', 'A', '1', '2', '3', 'no']);
    const here = LINE_COMMANDS.filter(({ where }) => where.includes('plan') || where.includes('run'));
    expect(here.flatMap(({ name, short = [] }) => [name, ...short]).filter((word) => taken.has(word))).toEqual([]);
  });

  it('each have a sentence for the help', () => {
    for (const command of LINE_COMMANDS) expect(usageOf(command)).toMatch(/^[a-z]+.*: [A-Z].*\.$/);
  });
});

describe('a typed line', () => {
  const meant = (typed: string, place: Place, exact = false): string => {
    const found = meantBy(typed, LINE_COMMANDS, place, exact);
    return found.is === 'command'
      ? `${found.command.name}(${found.rest})`
      : found.is === 'unclear'
        ? found.words
        : 'other';
  };

  it.each([
    ['message 2 look at refresh', 'run', 'message(2 look at refresh)'],
    ['mess 2 hello', 'run', 'message(2 hello)'],
    ['i all stop', 'run', 'message(all stop)'],
    ['/show 3 diffs', 'run', 'show(3 diffs)'],
    ['SHOW 3', 'run', 'show(3)'],
    ['mod', 'run', '"mod" could be models, model or mode. Nothing was done'],
    ['interupt 2', 'run', 'unknown command "interupt". Did you mean interrupt? Nothing was done'],
    ['accept', 'run', 'accept is for a plan that waits for approval. Nothing was done'],
    ['sessions', 'run', 'sessions is for the start, before a run. Nothing was done'],
    ['no', 'plan', 'other'],
    ['x', 'plan', 'other'],
    ['yes please', 'plan', 'other'],
    ['what?', 'plan', 'other'],
    ['/frobnicate', 'run', 'Unknown command "frobnicate". Try help'],
    ['constructor', 'run', 'other'],
  ] as const)('"%s" at %s means %s', (typed, place, words) => {
    expect(meant(typed, place)).toBe(words);
  });

  it.each([
    ['mode yolo', 'mode(yolo)'],
    ['mode of failure is unclear', 'other'],
    ['show 2', 'show(2)'],
    ['show me the whole diff first', 'other'],
    ['agents', 'agents()'],
    ['agents that fail', 'other'],
    ['mess 2 hello', 'other'],
    ['/mess 2 hello', 'message(2 hello)'],
  ])('where any words could be the answer, only a whole command is one: "%s"', (typed, words) => {
    expect(meant(typed, 'run', true)).toBe(words);
  });

  it('never throws, and never means a command of another place', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...PLACES), fc.boolean(), (typed, place, exact) => {
        const found = meantBy(typed, LINE_COMMANDS, place, exact);
        if (found.is === 'command') expect(found.command.where).toContain(place);
      }),
    );
  });
});

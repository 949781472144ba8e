/** The README's table of keys is made from the tables themselves; `vitest -u` writes it anew. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { PlacedAction } from '../src/tui/actions.ts';
import { allActions } from '../src/tui/actions.ts';
import { ASCII } from '../src/tui/glyphs.ts';
import { keyLabel } from '../src/tui/keymap.ts';

const README = 'README.md';
const BEGIN = '<!-- keys: from the tables, checked by test/readme-keys.test.ts -->';
const END = '<!-- end of keys -->';

/** One row a place; the words are the footer's, or the first of the help. */
function table(actions: readonly PlacedAction[]): string {
  const places = [...new Set(actions.map(({ where }) => where))];
  const rows = places.map((place) => {
    const entries = actions.filter(({ where, keys }) => where === place && keys.length > 0).map(entry);
    return `| ${place} | ${entries.join(' · ')} |`;
  });
  return ['| Where | Keys |', '| --- | --- |', ...rows].join('\n');
}

const entry = ({ keys, hint, help }: PlacedAction): string =>
  `${keys.map((key) => inCode(keyLabel(key, ASCII).replace(/^\^(?=.)/, 'Ctrl-'))).join(' ')} ${(hint === '' ? firstWords(help) : hint).replaceAll('|', '\\|')}`;

/** Code in a cell of a table: an upright would end the cell, a backtick the code. */
const inCode = (key: string): string => (key === '`' ? '`` ` ``' : `\`${key.replaceAll('|', '\\|')}\``);

const firstWords = (help: string): string => {
  const words = help.split(/[;:.]| \(/)[0] ?? help;
  return words.charAt(0).toLowerCase() + words.slice(1);
};

describe('the README', () => {
  it('has the keys of the tables', async () => {
    const text = readFileSync(README, 'utf8');
    const [before, rest = ''] = text.split(BEGIN);
    const after = rest.slice(rest.indexOf(END));
    expect(after.startsWith(END)).toBe(true);
    await expect(`${before}${BEGIN}\n\n${table(allActions())}\n\n${after}`).toMatchFileSnapshot(`../${README}`);
  });

  it('names each action once, with a sentence', () => {
    const actions = allActions();
    expect(new Set(actions.map(({ action }) => action)).size).toBe(actions.length);
    expect(actions.filter(({ help }) => !/^[A-Z].*\.$/s.test(help)).map(({ action }) => action)).toEqual([]);
  });
});

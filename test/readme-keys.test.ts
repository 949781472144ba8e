/** The README's tables of keys are made from the tables themselves; `vitest -u` writes it anew. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { PlacedAction } from '../src/ui/tui/shell/keys/actions.ts';
import { allActions } from '../src/ui/tui/shell/keys/actions.ts';
import { ASCII } from '../src/ui/tui/text/glyphs.ts';
import { keyLabel } from '../src/ui/tui/frame/keymap.ts';

const README = 'README.md';
const BEGIN = '<!-- keys: from the tables, checked by test/readme-keys.test.ts -->';
const END = '<!-- end of keys -->';

/** A table a place, folded away until it is asked for: a row an action, with its name for keys of one's own. */
function tables(actions: readonly PlacedAction[]): string {
  const places = [...new Set(actions.map(({ where }) => where))];
  return places
    .map((place) => {
      const rows = actions.filter(({ where, keys }) => where === place && keys.length > 0).map(row);
      const head = ['| Keys | What | Action |', '| --- | --- | --- |'];
      return [`<details><summary>${place}</summary>`, '', ...head, ...rows, '', '</details>'].join('\n');
    })
    .join('\n');
}

const row = ({ keys, help, action }: PlacedAction): string =>
  `| ${keys.map((key) => inCode(keyLabel(key, ASCII).replace(/^\^(?=.)/, 'Ctrl-'))).join(' ')} | ${help.replaceAll('|', '\\|')} | ${action} |`;

/** Code in a cell of a table: an upright would end the cell, a backtick the code. */
const inCode = (key: string): string => (key === '`' ? '`` ` ``' : `\`${key.replaceAll('|', '\\|')}\``);

describe('the README', () => {
  it('has the keys of the tables', async () => {
    const text = readFileSync(README, 'utf8');
    const [before, rest = ''] = text.split(BEGIN);
    const after = rest.slice(rest.indexOf(END));
    expect(after.startsWith(END)).toBe(true);
    await expect(`${before}${BEGIN}\n\n${tables(allActions())}\n\n${after}`).toMatchFileSnapshot(`../${README}`);
  });

  it('names each action once, with a sentence', () => {
    const actions = allActions();
    expect(new Set(actions.map(({ action }) => action)).size).toBe(actions.length);
    expect(actions.filter(({ help }) => !/^[A-Z].*\.$/s.test(help)).map(({ action }) => action)).toEqual([]);
  });
});

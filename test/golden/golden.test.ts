/**
 * Every screen at two sizes, those with a layout of their own at the smallest and the largest as well, cell by cell, against files
 * that were looked at: `vitest -u` writes them anew. The time, the names and the run are always the same ones. What each style is in each theme stands in themes.txt.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { loadTheme } from '../../src/config/themes.ts';
import { ASCII, UNICODE } from '../../src/ui/tui/text/glyphs.ts';
import type { Depth } from '../../src/ui/tui/terminal/styles.ts';
import { Styles } from '../../src/ui/tui/terminal/styles.ts';
import type { Style } from '../../src/app/views/text/line.ts';
import { openSession } from '../support/app-session.ts';
import { golden, styleName, stylesOf } from '../support/golden.ts';
import { SCENES } from './scenes.ts';

const SIZES = ['80x24', '120x40'] as const;
const EVERY_SIZE = ['40x10', ...SIZES, '200x60'] as const;
/** Scenes that are divided otherwise at other sizes: the screens themselves, and dialogs of several columns. */
const DIVIDED: ReadonlySet<string> = new Set(
  'start-first start-used planning plan plan-checks plan-zoomed plan-what-if run-cards run-graph run-charts result-answer result-changed review-one review-many inbox help'.split(
    ' ',
  ),
);
const seen = new Map<string, Style>();

async function shown(scene: (typeof SCENES)[number], size: string, glyphs = UNICODE): Promise<string> {
  const [width = 0, height = 0] = size.split('x').map(Number);
  const session = await openSession(scene.log?.() ?? null, { width, height, glyphs, ...scene.setting });
  await scene.then?.(session);
  for (const key of scene.keys) {
    session.terminal.press(key);
    await session.world.advance(400);
  }
  for (const style of stylesOf(session.terminal.frame())) seen.set(styleName(style), style);
  return golden(session.terminal.frame());
}

describe.each(SCENES)('$name', (scene) => {
  it.each(DIVIDED.has(scene.name) ? EVERY_SIZE : SIZES)('at %s', async (size) => {
    await expect(await shown(scene, size)).toMatchFileSnapshot(`./${scene.name}-${size}.txt`);
  });

  it('in ASCII, and nothing else', async () => {
    const text = await shown(scene, '80x24', ASCII);
    // Names and texts of the run itself may be what they are.
    if (scene.plainText !== false) expect(text).toMatch(/^[\n\u0020-\u007e]*$/);
    await expect(text).toMatchFileSnapshot(`./${scene.name}-80x24-ascii.txt`);
  });
});

it('names scenes that there are', () => {
  const names = new Set(SCENES.map(({ name }) => name));
  expect([...DIVIDED].filter((name) => !names.has(name))).toEqual([]);
});

/** Theme and depth: the usual one everywhere, the others as they are meant. */
const CLASSES: readonly (readonly [theme: string, depth: Depth])[] = [
  ['mimir-dark', 24],
  ['mimir-dark', 8],
  ['mimir-dark', 4],
  ['mimir-dark', 0],
  ['mimir-light', 24],
  ['mimir-light', 4],
  ['high-contrast', 24],
  ['red-green', 24],
  ['red-green', 4],
  ['ansi16', 24],
  ['mono', 24],
];

describe('themes', () => {
  const folders = [new URL('../../themes', import.meta.url).pathname];
  const lines: string[] = [];
  afterAll(() => seen.clear());

  it('show every style of every screen so', async () => {
    for (const [name, depth] of CLASSES) {
      const theme = loadTheme(folders, name);
      if (!theme.ok) throw new Error(theme.fault);
      const styles = new Styles(theme.value, depth);
      lines.push(`${name}, ${depth === 0 ? 'no colour' : `${depth} bits`}`);
      for (const [key, style] of [...seen].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
        lines.push(`  ${key === '' ? "the terminal's own" : key}: ${styles.step(0, styles.id(style)).slice(2, -1)}`);
      }
    }
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./themes.txt');
  });
});

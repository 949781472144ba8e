/** Copy mode: the screen stands still, text is selected by keys, and what is copied is what stood there. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellsOf, find, textOf } from '../../../../src/ui/tui/dialogs/copy-mode.ts';
import type { Shape } from '../../../../src/ui/tui/dialogs/copy-mode.ts';
import { COPY_KEYS, moveCursor } from '../../../../src/ui/tui/dialogs/copy-mode.ts';
import { copyOverlay } from '../../../../src/ui/tui/dialogs/copy-mode.ts';
import type { Overlay } from '../../../../src/ui/tui/frame/overlay.ts';
import type { DialogEffect } from '../../../../src/ui/tui/frame/screen.ts';
import { type Frame, lineWidth, plain } from '../../../../src/app/views/text/line.ts';
import { openSession } from '../../../support/app-session.ts';
import { contextOf } from '../../../support/look.ts';
import { midRun } from '../../../support/recorded-run.ts';

const frameOf = (...rows: readonly string[]): Frame => ({
  lines: [...rows, 'the footer'].map((text) => [[text, {}]]),
  cursor: null,
});
const context = contextOf([]);
const size = { width: 30, height: 5 };

/** What copying leads to after these keys, from the first column of the first row on. */
function copies(frame: Frame, ...keys: readonly string[]): DialogEffect | undefined {
  let overlay: Overlay | null = copyOverlay({ ...frame, cursor: { x: 0, y: 0 } });
  let effect: DialogEffect | undefined;
  for (const key of keys) {
    if (overlay === null) throw new Error('copy mode has ended');
    ({ overlay, effect } = overlay.press({ is: 'key', key }, context, size));
  }
  return effect;
}

describe('copy mode', () => {
  const two = frameOf('one two three', 'four five    ', 'six 漢字 end');

  it('copies the line of the cursor, a selection, lines and rectangles, without blanks at the ends', () => {
    expect(copies(two, 'y')).toEqual({ app: { copy: 'one two three', what: 'one line' } });
    expect(copies(two, 'w', 'v', 'w', 'h', 'h', 'enter')?.app).toMatchObject({ copy: 'two' });
    expect(copies(two, 'w', 'v', 'j', 'y')?.app).toMatchObject({ copy: 'two three\nfour' });
    expect(copies(two, 'V', 'G', 'y')?.app).toEqual({
      copy: 'one two three\nfour five\nsix 漢字 end',
      what: '3 lines',
    });
    expect(copies(two, 'ctrl-v', 'j', 'l', 'l', 'y')?.app).toMatchObject({ copy: 'one\nfou' });
  });

  it('never cuts a wide letter in half', () => {
    expect(copies(two, 'G', 'w', 'v', 'l', 'y')?.app).toMatchObject({ copy: '漢字' });
    const frame = frameOf('漢字');
    fc.assert(
      fc.property(fc.nat(5), fc.nat(5), fc.constantFrom<Shape>('letters', 'lines', 'block'), (from, to, shape) => {
        const rows = cellsOf(frame).slice(0, 1);
        const text = textOf(rows, { from: { x: Math.min(3, from), y: 0 }, to: { x: Math.min(3, to), y: 0 }, shape });
        expect(['漢', '字', '漢字']).toContain(text);
      }),
    );
  });

  it('takes the borders of a box away, and leaves those of a text alone', () => {
    const boxed = frameOf('╭─ Log ───╮', '│ 1 first │', '│ 2 next  │', '╰─────────╯');
    expect(copies(boxed, 'V', 'G', 'y')?.app).toMatchObject({ copy: '1 first\n2 next' });
    expect(copies(frameOf('a | b'), 'y')?.app).toMatchObject({ copy: 'a | b' });
  });

  it('finds a text whatever its case, on and round the end', () => {
    expect(copies(two, '/', 'F', 'i', 'v', 'enter', 'v', 'w', 'y')?.app).toMatchObject({ copy: 'five\ns' });
    expect(copies(two, '/', 'e', 'enter', 'n', 'N', 'v', 'y')?.app).toMatchObject({ copy: 'e' });
    expect(find(cellsOf(two), 'nowhere', { x: 0, y: 0 }, 1)).toBeNull();
  });

  it('gives up the selection first, then ends; what is empty is not copied', () => {
    expect(copies(two, 'v', 'esc', 'esc')).toEqual({});
    expect(copies(frameOf('   '), 'y')?.toast?.text).toBe('There is no text selected.');
  });

  it('keeps the cursor on the screen whatever is pressed, and every line at its width', () => {
    const keys = COPY_KEYS.flatMap(({ keys: all }) => all).filter(
      (key) => !['y', 'enter', 'q', 'C', 'f3', 'esc'].includes(key),
    );
    const first = moveCursor(
      { rows: cellsOf(two), at: { x: 0, y: 0 }, mark: null, sought: 'i', field: null, keys: COPY_KEYS },
      { x: 0, y: 0 },
    );
    expect(first.at).toEqual({ x: 0, y: 0 });
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...keys), { maxLength: 20 }),
        fc.integer({ min: 1, max: 60 }),
        (pressed, width) => {
          let overlay: Overlay = copyOverlay(two);
          for (const key of pressed) overlay = overlay.press({ is: 'key', key }, context, size).overlay ?? overlay;
          const { lines, cursor } = overlay.view(context, { width, height: 5 });
          expect(lines.map(lineWidth)).toEqual(Array.from({ length: 5 }, () => width));
          expect(cursor === null ? -1 : cursor.y).toBeLessThan(5);
        },
      ),
    );
  });

  it('is there on every screen and over boxes, and stands still while the run goes on', async () => {
    const { terminal, run } = await openSession(midRun());
    terminal.press('?', 'f3');
    const still = terminal.rows().slice(0, -1);
    expect(terminal.rows().at(-1)).toContain('v select');
    const log = midRun();
    log.at(190, { type: 'session.mode', mode: 'human' });
    await run.play(log.events.slice(-1));
    expect(terminal.rows().slice(0, -1)).toEqual(still);
    terminal.press('y');
    expect(terminal.done.at(-1)).toMatch(/^copy /);
    // The help leaves no room above it: what only tells waits until it is closed.
    terminal.press('esc');
    expect(terminal.text()).toContain('Copied one line (');
    const start = await openSession(null);
    start.terminal.press('f3', 'j', 'V', 'esc', 'esc');
    expect(plain(start.terminal.frame().lines[0] ?? [])).toContain('MIMIR');
  });
});

/** The first frames go into plain rows, later ones into blessed's: nobody sees when. */
import { describe, expect, it } from 'vitest';
import type { CellScreen, Row } from '../../../../src/ui/tui/terminal/blessed-screen.ts';
import { draw, fill, nothingShown, openCells } from '../../../../src/ui/tui/terminal/painter.ts';
import { Styles } from '../../../../src/ui/tui/terminal/styles.ts';
import type { Line } from '../../../../src/app/views/text/line.ts';
import { openScreen } from '../../../support/screen.ts';
import { theme } from '../../../support/theme.ts';
import { until } from '../../../support/until.ts';

const [WIDTH, HEIGHT] = [12, 3];

/** A screen as the painter has it, with a look at whose rows are drawn. */
function open(): {
  paint(...lines: readonly string[]): string;
  rowsNow(): readonly Row[];
  readonly cells: CellScreen;
} {
  const styles = new Styles(theme, 24);
  const shown = nothingShown({ width: WIDTH, height: HEIGHT });
  let lines: readonly Line[] = [];
  let sent = '';
  let rowsNow: readonly Row[] = [];
  const cells = openCells(
    { width: WIDTH, height: HEIGHT },
    {
      fill: (rows) => fill(rows, WIDTH, { lines, cursor: null }, styles, true),
      draw(rows) {
        rowsNow = rows;
        sent = draw(rows, null, shown, styles);
      },
    },
  );
  return {
    cells,
    rowsNow: () => rowsNow,
    paint(...texts) {
      lines = texts.map((text): Line => [[text, {}]]);
      cells.render();
      return sent;
    },
  };
}

/** Paints the same until other rows are drawn; what was sent with each. */
async function takenOver(screen: ReturnType<typeof open>, ...texts: readonly string[]): Promise<string[]> {
  const [plain, sent] = [screen.rowsNow(), [screen.paint(...texts)]];
  await until(() => {
    sent.push(screen.paint(...texts));
    return screen.rowsNow() !== plain;
  });
  return sent;
}

describe('when blessed takes over', () => {
  it('nothing is sent for what is shown already', async () => {
    const screen = open();
    expect(screen.paint('one', 'two')).toContain('one');
    expect((await takenOver(screen, 'one', 'two')).filter((bytes) => bytes !== '')).toEqual([]);
    screen.cells.destroy();
  });

  it('what was there before and is gone now is wiped away', async () => {
    const screen = open();
    const terminal = openScreen(WIDTH, HEIGHT);
    await terminal.write(screen.paint('a long one', '漢字 two', 'three'));
    for (const bytes of await takenOver(screen, 'a long one', '漢字 two', 'three')) await terminal.write(bytes);
    await terminal.write(screen.paint('short', '', 'three'));
    expect(terminal.rows().map((row) => row.trimEnd())).toEqual(['short', '', 'three']);
    await terminal.write(screen.paint('', '漢', 'four'));
    expect(terminal.rows().map((row) => row.trimEnd())).toEqual(['', '漢', 'four']);
    screen.cells.destroy();
  });

  it('the first frame after it may be another one', async () => {
    const screen = open();
    const terminal = openScreen(WIDTH, HEIGHT);
    await terminal.write(screen.paint('old text', 'stays'));
    const plain = screen.rowsNow();
    let turn = 0;
    while (screen.rowsNow() === plain) {
      turn += 1;
      await terminal.write(screen.paint(turn % 2 === 0 ? 'old text' : '', 'stays'));
    }
    expect(terminal.rows().map((row) => row.trimEnd())).toEqual([turn % 2 === 0 ? 'old text' : '', 'stays', '']);
    screen.cells.destroy();
  });

  it('a screen that is closed before stays closed', async () => {
    const listeners = process.listenerCount('exit');
    const screen = open();
    screen.paint('one');
    screen.cells.destroy();
    await import('../../../../src/ui/tui/terminal/blessed-screen.ts');
    expect(process.listenerCount('exit')).toBe(listeners);
  });
});

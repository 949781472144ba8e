/** Drawing: after any frames the terminal shows the last one, and nothing but what drawing may send was sent. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Depth } from '../../../../src/ui/tui/terminal/styles.ts';
import { Painter } from '../../../../src/ui/tui/terminal/painter.ts';
import { type Frame, type Line, lineWidth, type Style } from '../../../../src/app/views/text/line.ts';
import { toTerminal } from '../../../../src/app/views/text/sanitise.ts';
import { clusterWidth, graphemes, isAgreed } from '../../../../src/app/views/text/width.ts';
import { openScreen } from '../../../support/screen.ts';
import { theme } from '../../../support/theme.ts';
import { openStrict, type Widths } from '../../../support/vt.ts';
import { anyText } from '../text/texts.ts';

const WIDTH = 20;
const HEIGHT = 4;

function openPainter({ depth = 24, unicode = true }: { depth?: Depth; unicode?: boolean } = {}): {
  painter: Painter;
  sent: string[];
} {
  const sent: string[] = [];
  const painter = new Painter({
    theme,
    depth,
    unicode,
    size: { width: WIDTH, height: HEIGHT },
    write: (bytes) => sent.push(bytes),
  });
  return { painter, sent };
}

/** What a row of cells must be for a line: clusters, `''` behind wide ones, blanks to the end. */
function cellsOf(line: Line): readonly string[] {
  const cells = line.flatMap(([text]) =>
    graphemes(text).flatMap((cluster) => [[], [cluster], [cluster, '']][clusterWidth(cluster)] ?? []),
  );
  const cut = cells.slice(0, WIDTH);
  // A wide cluster that doesn't fit whole isn't shown.
  if (cells[WIDTH] === '') cut[WIDTH - 1] = ' ';
  return [...cut, ...Array.from({ length: WIDTH - cut.length }, () => ' ')];
}

/** True for a cell that every terminal draws alike: its cluster and its neighbours have the same width everywhere. */
const isSure = (row: readonly string[], x: number): boolean =>
  row[x] !== '' && [x - 2, x - 1, x, x + 1].every((at) => isAgreed(row[at] ?? ' '));

const style = fc.constantFrom<Style>({}, { fg: 'ok' }, { fg: 'err', bold: true }, { bg: 'selection' }, { dim: true });
const line = fc.array(
  fc.tuple(
    anyText.map((text) => toTerminal(text).replaceAll('\n', ' ')),
    style,
  ),
  { maxLength: 3 },
);
const cursor = fc.option(
  fc.record({ x: fc.integer({ min: 0, max: WIDTH - 1 }), y: fc.integer({ min: 0, max: HEIGHT - 1 }) }),
);
const frames: fc.Arbitrary<readonly Frame[]> = fc.array(
  fc.record({ lines: fc.array(line, { maxLength: HEIGHT }), cursor }),
  { minLength: 1, maxLength: 5 },
);
const shown = (frame: Frame): readonly (readonly string[])[] =>
  Array.from({ length: HEIGHT }, (_, y) => cellsOf(frame.lines[y] ?? []));

describe('drawing', () => {
  it('leads to the last frame by any frames, with allowed sequences only (F01, F02)', () => {
    const { painter, sent } = openPainter();
    fc.assert(
      fc.property(frames, fc.boolean(), (list, again) => {
        painter.startOver();
        sent.length = 0;
        const terminal = openStrict(WIDTH, HEIGHT);
        for (const frame of list) {
          painter.paint(frame);
          if (again) painter.startOver();
        }
        painter.paintAgain();
        for (const bytes of sent) terminal.write(bytes);
        const last = list.at(-1);
        if (last === undefined) return;
        expect(terminal.cells()).toEqual(shown(last));
        expect(terminal.cursor()).toEqual(last.cursor);
      }),
    );
  });

  it.each<Widths>(['narrow', 'wide'])('keeps columns in place on a terminal that thinks clusters are %s', (widths) => {
    const { painter, sent } = openPainter();
    fc.assert(
      fc.property(frames, (list) => {
        painter.startOver();
        sent.length = 0;
        const terminal = openStrict(WIDTH, HEIGHT, widths);
        for (const frame of list) painter.paint(frame);
        for (const bytes of sent) terminal.write(bytes);
        const wanted = shown(list.at(-1) ?? { lines: [], cursor: null });
        // Where everybody agrees the cell is right, whatever its neighbours did; next to a doubtful one it may be blanked.
        const wrong = terminal.cells().flatMap((row, y) =>
          row.filter((cell, x) => {
            const want = wanted[y]?.[x] ?? ' ';
            const doubtful = [x - 1, x, x + 1].some((at) => !isAgreed(wanted[y]?.[at] ?? ' '));
            return !doubtful && want !== '' && cell !== want && cell !== ' ';
          }),
        );
        expect(wrong).toEqual([]);
      }),
    );
  });

  it('shows on a real terminal what it should, in its colours', async () => {
    const { painter, sent } = openPainter();
    const samples = fc.sample(frames, { numRuns: 60, seed: 7 });
    for (const list of samples) {
      painter.startOver();
      sent.length = 0;
      for (const frame of list) painter.paint(frame);
      const screen = openScreen(WIDTH, HEIGHT);
      for (const bytes of sent) await screen.write(bytes);
      const last = list.at(-1) ?? { lines: [], cursor: null };
      const wanted = shown(last).flatMap((row, y) =>
        row.flatMap((text, x) => (isSure(row, x) ? [{ x, y, text }] : [])),
      );
      expect(wanted.map(({ x, y }) => ({ x, y, text: screen.cell(x, y).text || ' ' }))).toEqual(wanted);
    }
  });

  it('keeps what stands behind letters of all kinds in its column', async () => {
    const clusters = [
      '漢',
      '한',
      '👍🏽',
      '👩‍👩‍👧‍👦',
      '🇫🇷',
      '❤️',
      '1️⃣',
      'e\u0301',
      '⌚',
      '●',
      '▰',
      'क्षि',
      '🏳️‍🌈',
      '✓',
      '…',
      '❯',
    ];
    for (const [at, cluster] of clusters.entries()) {
      const { painter, sent } = openPainter();
      const screen = openScreen(WIDTH, HEIGHT);
      painter.paint({ lines: [[[`${cluster}${cluster}|`, {}]]], cursor: null });
      for (const bytes of sent) await screen.write(bytes);
      const column = 2 * clusterWidth(cluster);
      expect({ cluster, at, text: screen.cell(column, 0).text }).toEqual({ cluster, at, text: '|' });
    }
  });

  it.each(['क्षि', '👩‍👩‍👧‍👦', '❤️'])(
    'keeps all rows in place where %s stands at the edge and a terminal takes it for wider',
    async (cluster) => {
      const { painter, sent } = openPainter();
      const screen = openScreen(WIDTH, HEIGHT);
      const edge = `${'x'.repeat(WIDTH - clusterWidth(cluster))}${cluster}`;
      painter.paint({ lines: ['one', edge, 'three', edge].map((text): Line => [[text, {}]]), cursor: null });
      for (const bytes of sent.splice(0)) await screen.write(bytes);
      expect(screen.rows().map((row) => row.slice(0, 5))).toEqual(['one', 'xxxxx', 'three', 'xxxxx']);
      // Whoever writes to the terminal afterwards finds it as it was.
      await screen.write(`\u001b[1;${WIDTH}Hab`);
      expect(screen.rows()[1]?.slice(0, 5)).toBe('bxxxx');
    },
  );

  it('sends the changed cells only, and nothing when nothing changed', () => {
    const { painter, sent } = openPainter();
    const frame = (text: string): Frame => ({ lines: [[[text, {}]]], cursor: null });
    painter.paint(frame('one two three'));
    painter.paint(frame('one two three'));
    painter.paint(frame('one 2wo three'));
    painter.paint({ ...frame('one 2wo three'), cursor: { x: 3, y: 1 } });
    expect(sent.slice(1)).toEqual([
      '\u001b[?2026h\u001b[1;5H2\u001b[?2026l',
      '\u001b[?2026h\u001b[2;4H\u001b[?25h\u001b[?2026l',
    ]);
  });

  it('takes colours as far as the terminal has them', () => {
    const one = (depth: Depth): string => {
      const { painter, sent } = openPainter({ depth });
      painter.paint({ lines: [[['x', { fg: 'ok', bg: 'surface', bold: true }]]], cursor: null });
      return /H(.*)x/.exec(sent[0] ?? '')?.[1]?.replaceAll('\u001b', '') ?? '';
    };
    expect([24, 8, 4, 0].map((depth) => one(depth === 24 ? 24 : depth === 8 ? 8 : depth === 4 ? 4 : 0))).toEqual([
      '[1;38;2;127;202;149;48;2;23;28;36m',
      '[1;38;5;114;48;5;234m',
      '[1;32m',
      '[1m',
    ]);
  });

  it('shows signs of ASCII only where there is nothing else', () => {
    const { painter, sent } = openPainter({ unicode: false });
    painter.paint({ lines: [[['a漢é● b', {}]]], cursor: null });
    expect(sent.join('')).toContain('a???? b');
  });

  it('lets nothing through that a view forgot to make harmless', () => {
    const { painter, sent } = openPainter();
    const terminal = openStrict(WIDTH, HEIGHT);
    fc.assert(
      fc.property(anyText, (text) => {
        painter.paint({ lines: [[[text, {}]]], cursor: null });
        for (const bytes of sent.splice(0)) terminal.write(bytes);
        expect(lineWidth([[terminal.cells()[0]?.join('') ?? '', {}]])).toBeLessThanOrEqual(WIDTH);
      }),
    );
  });

  it('draws a screen of 120 x 40 that scrolls in a few milliseconds', () => {
    const painter = new Painter({
      theme,
      depth: 24,
      unicode: true,
      size: { width: 120, height: 40 },
      write: () => {},
    });
    const text = (n: number): Line => [
      ['│ ', { fg: 'border' }],
      [`line ${n} `.repeat(13).slice(0, 116), { fg: n % 3 === 0 ? 'ok' : 'muted' }],
      [' │', { fg: 'border' }],
    ];
    const before = process.cpuUsage();
    for (let n = 0; n < 200; n += 1) {
      painter.paint({ lines: Array.from({ length: 40 }, (_, y) => text(n + y)), cursor: null });
    }
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000 / 200).toBeLessThan(15);
  });
});

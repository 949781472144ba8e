/** A terminal's screen as SVG: text as text, lines of boxes as lines, so that it looks alike in every font. */
import type { Cell } from '../support/screen.ts';

const [CELL_WIDTH, CELL_HEIGHT] = [8.4, 18];
/** Of the theme mimir-dark: what a cell has that says no color itself. */
const [GROUND, INK] = ['#171c24', '#d6dce6'];

/** Arms of a line from the middle of its cell: up, right, down, left; 2 is heavy. */
const LINES: Readonly<Record<string, string>> = {
  '─': '0101',
  '│': '1010',
  '┌': '0110',
  '┐': '0011',
  '└': '1100',
  '┘': '1001',
  '├': '1110',
  '┤': '1011',
  '┬': '0111',
  '┴': '1101',
  '┼': '1111',
  '╭': '0110',
  '╮': '0011',
  '╰': '1100',
  '╯': '1001',
  '━': '0202',
  '┃': '2020',
  '┏': '0220',
  '┓': '0022',
  '┗': '2200',
  '┛': '2002',
  '╌': '0101',
  '╎': '1010',
  '╴': '0001',
  '╵': '1000',
  '╶': '0100',
  '╷': '0010',
};

/** Up, right, down, left. */
const ARMS = [`v${-CELL_HEIGHT / 2}`, `h${CELL_WIDTH / 2}`, `v${CELL_HEIGHT / 2}`, `h${-CELL_WIDTH / 2}`] as const;

interface Look {
  readonly fg: string;
  readonly bg: string;
  readonly style: string;
}

interface Placed extends Look {
  readonly x: number;
  readonly text: string;
  readonly wide: boolean;
}

interface Run extends Placed {
  readonly columns: number;
}

type Row = readonly Placed[];

/** The screen of `size`, cell by cell. */
export function svgOf(
  cell: (x: number, y: number) => Cell,
  size: { readonly cols: number; readonly rows: number },
): string {
  const [width, height] = [number(size.cols * CELL_WIDTH), size.rows * CELL_HEIGHT];
  const rows: readonly Row[] = Array.from({ length: size.rows }, (_, y) =>
    Array.from({ length: size.cols }, (__, x) => placed(cell(x, y), x)).filter((one) => one !== null),
  );
  const classes = new Map<string, string>();
  const strokes = new Map<string, string>();
  const grounds = rows
    .flatMap((row, y) => merged(row, sameGround).map((run) => draftContextOf(run, y, classes)))
    .join('');
  const texts = rows.flatMap((row, y) => merged(row, sameText).map((run) => textOf(run, y, classes))).join('');
  for (const [y, row] of rows.entries()) for (const one of row) stroke(one, y, strokes);
  const lines = [...strokes].map(([look, path]) => `<path ${look} d="${path}"/>`).join('\n');
  const fills = [...classes].map(([color, name]) => `.${name}{fill:${color}}`).join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}.b{font-weight:bold}.i{font-style:italic}.d{opacity:.6}.u{text-decoration:underline}${fills}</style>
<rect width="100%" height="100%" fill="${GROUND}"/>
${grounds}${texts}${lines}
</svg>
`;
}

/** Null for the second half of a wide cluster. */
function placed(cell: Cell, x: number): Placed | null {
  if (cell.width === 0) return null;
  const [fg, bg] = [colorOf(cell.fg, INK), colorOf(cell.bg, GROUND)];
  const style = [cell.bold ? 'b' : '', cell.italic ? 'i' : '', cell.dim ? 'd' : '', cell.underline ? 'u' : '']
    .filter(Boolean)
    .join(' ');
  const look = cell.inverse ? { fg: bg, bg: fg, style } : { fg, bg, style };
  return { ...look, x, text: cell.text === '' ? ' ' : cell.text, wide: cell.width > 1 };
}

/** The program is asked for 24-bit colors: a palette's number would be another terminal's choice. */
const colorOf = (color: string | number | null, own: string): string => (typeof color === 'string' ? color : own);

/** Neighbours that may be drawn as one. */
function merged(row: Row, same: (run: Run, next: Placed) => boolean): readonly Run[] {
  const runs: Run[] = [];
  for (const one of row) {
    const last = runs.at(-1);
    const columns = one.wide ? 2 : 1;
    if (last !== undefined && same(last, one)) {
      runs[runs.length - 1] = { ...last, columns: last.columns + columns, text: last.text + one.text };
    } else runs.push({ ...one, columns });
  }
  return runs;
}

const sameGround = (run: Run, next: Placed): boolean => run.bg === next.bg;

/** Letters of one column in every font, or one sign over and over; a blank has no color. */
function sameText(run: Run, next: Placed): boolean {
  const plain = isPlain(run.text) && isPlain(next.text) && !(run.text.endsWith('  ') && next.text !== ' ');
  const again = !next.wide && run.text === next.text.repeat(run.text.length);
  return (plain || again) && (next.text === ' ' || (run.fg === next.fg && run.style === next.style));
}

const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

function draftContextOf({ x, columns, bg }: Run, y: number, classes: Map<string, string>): string {
  if (bg === GROUND) return '';
  const [left, width] = [number(x * CELL_WIDTH), number(columns * CELL_WIDTH)];
  return `<rect class="${classOf(bg, classes)}" x="${left}" y="${y * CELL_HEIGHT}" width="${width}" height="${CELL_HEIGHT}"/>\n`;
}

/** Blanks at its ends are left out; the rest is held to its columns whatever the font. */
function textOf({ x, text, fg, style }: Run, y: number, classes: Map<string, string>): string {
  const shown = text.trim();
  if (shown === '' || LINES[shown[0] ?? ''] !== undefined) return '';
  const at = x + text.length - text.trimStart().length;
  const columns = isPlain(shown) || shown.length > 1 ? shown.length : 1;
  const held = columns > 1 ? ` textLength="${number(columns * CELL_WIDTH)}"` : '';
  const look = [classOf(fg, classes), style].filter(Boolean).join(' ');
  return `<text class="${look}" x="${number(at * CELL_WIDTH)}" y="${number((y + 0.74) * CELL_HEIGHT)}"${held}>${escaped(shown)}</text>\n`;
}

function classOf(color: string, classes: Map<string, string>): string {
  const name = classes.get(color) ?? `c${classes.size}`;
  classes.set(color, name);
  return name;
}

/** Adds the arms of a line sign to the path of its color and weight. */
function stroke({ x, fg, text }: Placed, y: number, strokes: Map<string, string>): void {
  const arms = LINES[text];
  if (arms === undefined) return;
  const look = `stroke="${fg}" stroke-width="${arms.includes('2') ? 2 : 1}" fill="none"`;
  const middle = `M${number((x + 0.5) * CELL_WIDTH)} ${(y + 0.5) * CELL_HEIGHT}`;
  const drawnArms = ARMS.filter((_, side) => arms[side] !== '0').map((arm) => `${middle}${arm}`);
  strokes.set(look, `${strokes.get(look) ?? ''}${drawnArms.join('')}`);
}

const number = (value: number): number => Math.round(value * 10) / 10;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

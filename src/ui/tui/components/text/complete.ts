/** The paths that are offered in a field: a small box with the chosen one marked, or a line that says why there is none. */
import type { Offer } from '../../shell/complete.ts';
import type { Glyphs } from '../glyphs.ts';
import { upDown } from '../../shell/keys/keymap.ts';
import type { Context } from '../../shell/screen.ts';
import { box } from '../../text/box.ts';
import { fit, restyle, span } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { widthOf } from '../../../../app/views/text/width.ts';

/** Rows of paths that are pleasant to look through. */
const MOST_ROWS = 8;

/** At most `height` lines of exactly `width` columns; without borders where there is little room. */
export function completeLines(offer: Offer, context: Context, width: number, height: number): readonly Line[] {
  const bordered = height >= 4 && width >= 20;
  const rows = Math.min(MOST_ROWS, bordered ? height - 2 : height);
  if (rows < 1) return [];
  const body = pathLines(offer, context, bordered ? width - 4 : width, rows);
  if (!bordered) return body.map((line) => fit(restyle(line, BACK), width, BACK));
  const { glyphs } = context;
  const many = offer.choices?.length ?? 0;
  return box({
    width,
    height: body.length + 2,
    glyphs,
    border: 'round',
    style: { fg: 'focus' },
    fill: BACK,
    kind: 'pane',
    title: [span('Files', { fg: 'title', bold: true })],
    titleEnd: many > rows ? [span(`${offer.chosen + 1}/${many}`, { fg: 'muted' })] : [],
    footEnd: keysLine(many > 0, glyphs),
    body,
  });
}

const keysLine = (any: boolean, glyphs: Glyphs): Line => [
  ...(any ? [...keyWords(upDown(glyphs), 'choose'), ...keyWords('Tab', 'take')] : []),
  ...keyWords('Esc', 'close').slice(0, 2),
];

const keyWords = (key: string, words: string): Line => [
  span(key, { fg: 'focus', bold: true }),
  span(` ${words}`, { fg: 'muted' }),
  span('  '),
];

const BACK = { bg: 'raised' } as const;

/** Columns that the box would like: its longest path, within bounds. */
export const completeWidth = ({ choices }: Offer, most: number): number =>
  Math.min(most, Math.max(44, ...(choices ?? []).map((path) => widthOf(path) + 8)));

function pathLines(offer: Offer, { glyphs }: Context, width: number, rows: number): readonly Line[] {
  const { choices, chosen, query } = offer;
  if (choices === null) return [[span(` looking for files${glyphs.ellipsis}`, { fg: 'muted' })]];
  if (choices.length === 0) {
    const words = query === '' ? 'there are no files here' : `no file matches ${toLabel(query)}`;
    return [[span(` ${words}`, { fg: 'muted' })]];
  }
  const top = Math.max(0, Math.min(chosen - (rows >> 1), choices.length - rows));
  return choices.slice(top, top + rows).map((path, index): Line => {
    const isChosen = top + index === chosen;
    const mark = span(isChosen ? glyphs.selected : ' ', { fg: 'focus' });
    const line = fit([mark, ...pathSpans(path, width - 1, glyphs.ellipsis, isChosen)], width, BACK, glyphs.ellipsis);
    return isChosen ? restyle(line, { bg: 'selection' }) : line;
  });
}

/** The name stands out from its folder; a long folder loses its start. */
function pathSpans(path: string, width: number, ellipsis: string, chosen: boolean): Line {
  const cut = path.lastIndexOf('/', path.length - 2) + 1;
  const name = path.slice(cut);
  let folder = path.slice(0, cut);
  const room = Math.max(0, width - widthOf(name) - 1);
  if (widthOf(folder) > room) {
    while (folder !== '' && widthOf(folder) + widthOf(ellipsis) > room) folder = folder.slice(1);
    folder = `${ellipsis}${folder}`;
  }
  const ink = path.endsWith('/') ? 'info' : chosen ? 'title' : 'fg';
  return [span(' '), span(folder, { fg: 'muted' }), span(name, { fg: ink, bold: chosen })];
}

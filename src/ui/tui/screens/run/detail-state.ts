/** What the opened agent's pane remembers beside its scrolling: the selected block, what is unfolded, a search. Pure steps. */
import type { AgentState } from '../../../../events/state.ts';
import type { Context } from '../../frame/screen.ts';
import { plain } from '../../../../app/views/text/clip.ts';
import type { Tab } from '../../components/tabs.ts';
import { detailDoc, detailRows, type DetailUi } from '../../components/agents/detail.ts';
import { type Doc, itemsOf, itemWithin, linesOf, placeOf } from '../../components/text/doc.ts';

export const NO_DETAIL: DetailUi = { at: null, by: 0, unfolded: new Set(), find: null, front: 0 };

/** The part of the run screen's state that the pane works on. */
export interface DetailPart {
  readonly tab: Tab;
  readonly open: boolean;
  readonly top: number;
  readonly follow: boolean;
  readonly seen: number;
  readonly detail: DetailUi;
}

/** In these tabs something is always selected: they are lists. */
export const isList = (tab: Tab): boolean => tab === 'Tools' || tab === 'Diffs';

/** Selection, search and scrolling in range of what there is; the values are the same where nothing changed. */
export function settleDetail<Ui extends DetailPart>(
  ui: Ui,
  agent: AgentState | undefined,
  context: Context,
  size: { readonly width: number; readonly height: number } | null,
): Ui {
  if (size === null || agent === undefined) return withFront(ui, 0);
  const { tab, open, detail, follow } = ui;
  const rows = detailRows(size.height);
  const doc = detailDoc({ agent, tab, open, detail, follow }, context, size.width);
  return scrolled(sought(chosen(grown(ui, doc), doc, rows), doc), doc, rows);
}

/** What was laid out above what is in sight since then pushes it down: the pane stays where it is. At the very top nothing is above. */
function grown<Ui extends DetailPart>(ui: Ui, doc: Doc): Ui {
  const { front } = ui.detail;
  if (front === doc.front) return ui;
  const first = front > 0 && !ui.follow && ui.top > 0 ? placeOf(doc, front) : null;
  // It stood behind the line that said that there is more.
  const by = first === null ? 0 : first.from - 1;
  return withFront({ ...ui, top: ui.top + by, seen: ui.seen + by }, doc.front);
}

const withFront = <Ui extends DetailPart>(ui: Ui, front: number): Ui =>
  ui.detail.front === front ? ui : { ...ui, detail: { ...ui.detail, front } };

function scrolled<Ui extends DetailPart>(ui: Ui, doc: Doc, rows: number): Ui {
  const most = Math.max(0, doc.total - rows);
  // Only the transcript grows at its end; the other tabs are read from the top.
  const follow = ui.tab === 'Transcript' && ui.detail.at === null && (ui.follow || ui.top >= most);
  const top = follow ? most : Math.max(0, Math.min(ui.top, most));
  const seen = follow ? doc.total : Math.min(ui.seen, doc.total);
  return top === ui.top && follow === ui.follow && seen === ui.seen ? ui : { ...ui, top, follow, seen };
}

/** The selection, where one was asked for or is always there, and the pane scrolled to it. */
function chosen<Ui extends DetailPart>(ui: Ui, doc: Doc, rows: number): Ui {
  const { at, by } = ui.detail;
  if (at === null && by === 0 && !isList(ui.tab)) return ui;
  const next = choice(ui, doc, rows);
  if (next === at && by === 0) return ui;
  const place = next === null ? null : placeOf(doc, next);
  const top = place === null ? ui.top : revealed(ui.top, place.from, place.to, rows);
  return { ...ui, top, follow: false, detail: { ...ui.detail, at: next, by: 0 } };
}

/** The item that is selected after all steps; null where there is none. */
function choice({ tab, top, detail: { at, by } }: DetailPart, doc: Doc, rows: number): number | null {
  const items = itemsOf(doc);
  const first = isList(tab) ? (items[0] ?? null) : itemWithin(doc, top, top + rows);
  if (items.length === 0 || (at === null && by === 0)) return first;
  const index = items.indexOf(typeof at === 'number' ? at : (first ?? 0));
  return items[Math.max(0, Math.min(items.length - 1, index + by))] ?? null;
}

/** The nearest top that shows the lines, or their beginning where they are more than fit. */
function revealed(top: number, from: number, to: number, rows: number): number {
  if (from < top || to - from >= rows) return from;
  return to > top + rows ? to - rows : top;
}

/** The next line with what is searched for, from the last one or from what is in sight; round the end. */
function sought<Ui extends DetailPart>(ui: Ui, doc: Doc): Ui {
  const { find } = ui.detail;
  if (find === null || find.seek === 0) return ui;
  const hits = hitsOf(doc, find.query);
  const hit = nextHit(hits, find.hit ?? ui.top - find.seek, find.seek);
  const top = hit === null ? ui.top : Math.max(0, hit - 2);
  return { ...ui, top, follow: false, detail: { ...ui.detail, find: { ...find, hit, seek: 0 } } };
}

function nextHit(hits: readonly number[], from: number, by: 1 | -1): number | null {
  const found = by === 1 ? hits.find((line) => line > from) : hits.findLast((line) => line < from);
  return found ?? (by === 1 ? hits[0] : hits.at(-1)) ?? null;
}

/** Lines that hold the words, whatever their case. */
function hitsOf(doc: Doc, query: string): readonly number[] {
  const words = query.toLowerCase();
  if (words === '') return [];
  const known = HITS.get(doc);
  if (known?.query === words) return known.hits;
  const hits = linesOf(doc, 0, doc.total).flatMap(({ line }, index) =>
    plain(line).toLowerCase().includes(words) ? [index] : [],
  );
  HITS.set(doc, { query: words, hits });
  return hits;
}

const HITS = new WeakMap<Doc, { readonly query: string; readonly hits: readonly number[] }>();

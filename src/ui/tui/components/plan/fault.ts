/** What stands above a plan that no planner made: why, and the keys that lead on. Nothing once it is decided. */
import type { RunState } from '../../../../events/state.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { keyLabel } from '../../frame/keymap.ts';
import { clip, fit, span } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';

/** Rows that the reason may take: a third of a high screen is the plan's in any case. */
const mostRows = (height: number): number => (height >= 20 ? 3 : 1);

/** Lines of exactly `width` columns, none where planning did not fail. */
export function planFaultLines(state: RunState, width: number, height: number, glyphs: Glyphs): readonly Line[] {
  if (state.planFault === '' || state.phase !== 'approving' || height < 6) return [];
  const most = mostRows(height);
  const words: Line = [
    span(` ${glyphs.status.failed} `, { fg: 'err', bold: true }),
    span(width < 60 ? '' : 'Planning failed: ', { fg: 'err', bold: true }),
    span(toLabel(state.planFault), { fg: 'fg' }),
  ];
  const wrapped = most === 1 ? [clip(words, width, glyphs.ellipsis)] : wrap(words, Math.max(1, width - 1), 2);
  const kept = wrapped.slice(0, most);
  const last = kept.at(-1) ?? [];
  const shown = wrapped.length > most ? [...kept.slice(0, -1), [...last, span(glyphs.ellipsis)]] : kept;
  return [...shown, keysLine(width, glyphs)].map((line) => fit(line, width, {}, glyphs.ellipsis));
}

function keysLine(width: number, glyphs: Glyphs): Line {
  const key = (name: string, words: string): Line => [
    span(`   ${name}`, { fg: 'focus', bold: true }),
    span(` ${words}`, { fg: 'muted' }),
  ];
  return [
    ...key(keyLabel('ctrl-r', glyphs), 'plan again'),
    ...key('m', width < 60 ? 'by hand' : 'this task by hand'),
    ...(width < 60 ? [] : key('a', 'another task')),
    ...key('Y', width < 60 ? 'run it' : 'run it as it is'),
  ];
}

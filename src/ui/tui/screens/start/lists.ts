/** The lists of the start screen: tasks that make sense here, and former sessions with how they ended and what they cost. */
import type { LobbyInfo } from '../../../../ports/project-service.ts';
import { formatCost } from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import type { Context } from '../../frame/screen.ts';
import { fit, fitText, restyle, span, spread } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';
import type { Target } from './state.ts';

export interface Row {
  readonly line: Line;
  readonly target: Target | null;
}

export const plainRow = (line: Line): Row => ({ line, target: null });

/** At most `most` of them below a line that says how to take one; none: what there is instead of them. */
export function suggestionRows(
  chosen: Target,
  { lobby, glyphs }: Context,
  width: number,
  most: number,
): readonly Row[] {
  const shown = lobby.suggestions.slice(0, most);
  if (shown.length === 0) return most === 0 ? [] : emptyRows(lobby, width);
  const hint: Line = [
    span(' or take one of these', { fg: 'muted' }),
    span(`   1${shown.length === 1 ? '' : `-${shown.length}`} or Tab`, { fg: 'faint' }),
  ];
  return [
    plainRow(hint),
    ...shown.map((text, index): Row => {
      const isChosen = chosen.is === 'suggestion' && chosen.index === index;
      const line: Line = [
        span(` ${index + 1}  `, { fg: 'focus', bold: true }),
        span(text.split('\n')[0] ?? '', { fg: isChosen ? 'title' : 'fg' }),
      ];
      return { line: picked(line, isChosen, width, glyphs), target: { is: 'suggestion', index } };
    }),
  ];
}

/** Before the repository was looked at there is nothing to suggest; without files neither. */
function emptyRows({ repository, sandbox }: LobbyInfo, width: number): readonly Row[] {
  if (repository === undefined && sandbox === '') return [];
  const words =
    repository?.files === 0
      ? 'This folder has no files yet: say what should be made here, or start Mimir in a project.'
      : null;
  return words === null ? [] : [plainRow(fit([span(` ${words}`, { fg: 'muted' })], width))];
}

interface Ending {
  readonly words: string;
  readonly ink: Ink;
  readonly sign: keyof Glyphs['status'];
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  running: { words: 'running', ink: 'ok', sign: 'running' },
  stopped: { words: 'stopped', ink: 'warn', sign: 'interrupted' },
  completed: { words: 'completed', ink: 'ok', sign: 'completed' },
  failed: { words: 'failed', ink: 'err', sign: 'failed' },
  rejected: { words: 'not approved', ink: 'muted', sign: 'pending' },
  finished: { words: 'finished', ink: 'muted', sign: 'completed' },
};

type Session = LobbyInfo['sessions'][number];

const endingOf = ({ state, ended }: Session): Ending => {
  const how = state === 'finished' ? (ended?.status ?? state) : state;
  return ENDINGS[how] ?? { words: how, ink: 'muted', sign: 'pending' };
};

/** A window of `most` rows that holds the chosen one; the line above it says how many there are. */
export function sessionRows(
  chosen: Target,
  { lobby, glyphs, now }: Context,
  width: number,
  most: number,
): readonly Row[] {
  const { sessions } = lobby;
  if (most === 0) return [];
  if (sessions.length === 0) {
    const words = ' No session here yet. What you begin is kept, and goes on when you come back.';
    return [plainRow(fit([span(words, { fg: 'faint' })], width, {}, glyphs.ellipsis))];
  }
  const at = chosen.is === 'session' ? chosen.index : 0;
  const top = Math.max(0, Math.min(at - (most >> 1), sessions.length - most));
  const shown = sessions.slice(top, top + most);
  const costs = shown.some((one) => spentBy(one) > 0);
  const count = sessions.length > shown.length ? `${top + 1}-${top + shown.length} of ${sessions.length} ` : '';
  const resumable = sessions.some(({ state }) => state !== 'finished');
  const words = resumable ? ' or go on with a session' : ' or look back at a session';
  const title = spread([span(words, { fg: 'muted' })], [span(count, { fg: 'faint' })], width);
  return [
    plainRow(title),
    ...shown.map((session, row): Row => {
      const index = top + row;
      const isChosen = chosen.is === 'session' && chosen.index === index;
      const line = sessionLine(session, { now, glyphs, width, costs, isChosen });
      return { line: picked(line, isChosen, width, glyphs), target: { is: 'session', index } };
    }),
  ];
}

/** In US dollars, also of a run whose process was killed. */
const spentBy = ({ ended, cost }: Session): number => ended?.cost ?? cost ?? 0;

function sessionLine(
  session: Session,
  look: {
    readonly now: number;
    readonly glyphs: Glyphs;
    readonly width: number;
    readonly costs: boolean;
    readonly isChosen: boolean;
  },
): Line {
  const { words, ink, sign } = endingOf(session);
  const { glyphs, width, isChosen } = look;
  const task = session.task.split('\n')[0] ?? '';
  const left: Line = [
    span(` ${glyphs.status[sign]}  `, { fg: ink, bold: true }),
    span(task === '' ? '(no task)' : task, { fg: isChosen ? 'title' : 'fg' }),
  ];
  if (width < 50) return left;
  const spent = spentBy(session);
  const cost = spent === 0 ? '' : formatCost(spent);
  const right: Line = [
    span(`${words}  `, { fg: ink }),
    ...(look.costs && width >= 64 ? [span(`${cost.padStart(8)}  `, { fg: 'muted' })] : []),
    span(`${fitText(ago(session.when, look.now), 8, 'right')} `, { fg: 'faint' }),
  ];
  return spread(left, right, Math.max(0, width - 1), {}, glyphs.ellipsis);
}

/** The chosen row is marked by colour and by a bar. */
function picked(line: Line, chosen: boolean, width: number, glyphs: Glyphs): Line {
  const rest = fit(line, Math.max(0, width - 1), {}, glyphs.ellipsis);
  return chosen
    ? restyle([span(glyphs.selected, { fg: 'focus' }), ...rest], { bg: 'selection' })
    : [span(' '), ...rest];
}

/** `5m ago`; what isn't a time is shown as it is. */
function ago(when: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(when)) / 60_000);
  if (!Number.isFinite(minutes)) return when;
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes}m ago`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)}h ago` : `${Math.floor(minutes / 1440)}d ago`;
}

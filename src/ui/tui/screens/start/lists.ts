/** The lists of the start screen, suggestions and recent sessions, and the state of the screen: the field and the selection. */
import { fit, fitText, formatCost, type Ink, type Line, restyle, span, spread } from '../../../../app/views/index.ts';
import type { ProjectInfo } from '../../../../ports/project-service.ts';
import type { Context } from '../../frame/screen.ts';
import { openEditor } from '../../text/editor.ts';
import { browse, type Composer, composerWith } from '../composer.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { strong, tint } from '../../text/blocks.ts';

export interface Row {
  readonly line: Line;
  readonly target: Target | null;
}

export const plainRow = (line: Line): Row => ({ line, target: null });

/** At most `most` suggestions below a heading; without suggestions, an explanation or nothing. */
export function suggestionRows(chosen: Target, context: Context, width: number, most: number): readonly Row[] {
  const { projectService, glyphs } = context;
  const shown = projectService.suggestions.slice(0, most);
  if (shown.length === 0) return most === 0 ? [] : emptyRows(projectService, width);
  const hint: Line = [
    tint(' Suggestions', 'muted'),
    tint(`   press 1${shown.length === 1 ? '' : `-${shown.length}`}`, 'faint'),
  ];
  return [
    plainRow(hint),
    ...shown.map((text, index): Row => {
      const isChosen = chosen.is === 'suggestion' && chosen.index === index;
      const line: Line = [
        strong(` ${index + 1}  `, 'focus'),
        tint(text.split('\n')[0] ?? '', isChosen ? 'title' : 'fg'),
      ];
      return { line: picked(line, isChosen, width, glyphs), target: { is: 'suggestion', index } };
    }),
  ];
}

/** The row without suggestions: an explanation for an empty folder, none while the repository is unknown. */
function emptyRows({ repository }: ProjectInfo, width: number): readonly Row[] {
  if (repository?.files !== 0) return [];
  const words = ' This folder is empty. Describe what to create, or start Mimir in a project.';
  return [plainRow(fit([tint(words, 'muted')], width))];
}

type Session = ProjectInfo['sessions'][number];
type How = Session['state'] | NonNullable<Session['ended']>['status'];

const ENDINGS: Readonly<Record<How, readonly [words: string, ink: Ink, sign: keyof Glyphs['status']]>> = {
  running: ['running', 'ok', 'running'],
  stopped: ['stopped', 'warn', 'interrupted'],
  completed: ['completed', 'ok', 'completed'],
  failed: ['failed', 'err', 'failed'],
  rejected: ['draft', 'muted', 'pending'],
  finished: ['finished', 'muted', 'completed'],
};

const howEnded = ({ state, ended }: Session): How => (state === 'finished' ? (ended?.status ?? state) : state);

/** At most `most` sessions around the selected one, below a heading with their number. */
export function sessionRows(chosen: Target, context: Context, width: number, most: number): readonly Row[] {
  const { glyphs } = context;
  const { sessions } = context.projectService;
  if (most === 0) return [];
  if (sessions.length === 0) {
    const words = ' No sessions yet. Your work is saved automatically.';
    return [plainRow(fit([tint(words, 'faint')], width))];
  }
  const at = chosen.is === 'session' ? chosen.index : 0;
  const top = Math.max(0, Math.min(at - (most >> 1), sessions.length - most));
  const shown = sessions.slice(top, top + most);
  const costs = shown.some((one) => spentBy(one) > 0);
  const count = sessions.length > shown.length ? `${top + 1}-${top + shown.length} of ${sessions.length} ` : '';
  const title = spread([tint(' Recent sessions', 'muted')], [tint(count, 'faint')], width);
  return [
    plainRow(title),
    ...shown.map((session, row): Row => {
      const index = top + row;
      const isChosen = chosen.is === 'session' && chosen.index === index;
      const line = sessionLine(session, isChosen, costs, context, width);
      return { line: picked(line, isChosen, width, glyphs), target: { is: 'session', index } };
    }),
  ];
}

/** Cost of a session in US dollars, also of one whose process was killed. */
const spentBy = ({ ended, cost }: Session): number => ended?.cost ?? cost ?? 0;

function sessionLine(session: Session, isChosen: boolean, costs: boolean, context: Context, width: number): Line {
  const { glyphs, now } = context;
  const [words, ink, sign] = ENDINGS[howEnded(session)];
  const task = session.task.split('\n')[0] ?? '';
  const left: Line = [
    strong(` ${glyphs.status[sign]}  `, ink),
    tint(task === '' ? '(no task)' : task, isChosen ? 'title' : 'fg'),
  ];
  if (width < 50) return left;
  const spent = spentBy(session);
  const cost = spent === 0 ? '' : formatCost(spent);
  const right: Line = [
    tint(`${words}  `, ink),
    ...(costs && width >= 64 ? [tint(`${cost.padStart(8)}  `, 'muted')] : []),
    tint(`${fitText(ago(session.when, now), 8, 'right')} `, 'faint'),
  ];
  return spread(left, right, Math.max(0, width - 1));
}

function picked(line: Line, chosen: boolean, width: number, glyphs: Glyphs): Line {
  const rest = fit(line, Math.max(0, width - 1));
  return chosen ? restyle([tint(glyphs.selected, 'focus'), ...rest], { bg: 'selection' }) : [span(' '), ...rest];
}

/** `5m ago`; a text that is not a time is returned as it is. */
function ago(when: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(when)) / 60_000);
  if (!Number.isFinite(minutes)) return when;
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes}m ago`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)}h ago` : `${Math.floor(minutes / 1440)}d ago`;
}

// The state of the start screen. Pure.

/** What a row of the screen selects, for keys and clicks. */
export type Target =
  | { readonly is: 'field' }
  | { readonly is: 'suggestion'; readonly index: number }
  | { readonly is: 'session'; readonly index: number };

export interface StartUi extends Composer {
  readonly chosen: Target;
}

export const FIELD: Target = { is: 'field' };
export const FIRST: StartUi = { ...composerWith(''), chosen: FIELD };

/** Puts a task into the field, to be read and sent with Enter. */
export function withTask({ editor }: StartUi, task: string): StartUi {
  const { lines, row, column, folds } = editor;
  // Undo restores the former text.
  return { ...FIRST, editor: { ...openEditor(task, true), undo: [...editor.undo, { lines, row, column }], folds } };
}

/** Everything that can be selected, from top to bottom. */
export const stops = (projectService: ProjectInfo): readonly Target[] => [
  FIELD,
  ...projectService.suggestions.map((_, index): Target => ({ is: 'suggestion', index })),
  ...projectService.sessions.map((_, index): Target => ({ is: 'session', index })),
];

const placeOf = (all: readonly Target[], target: Target): number =>
  all.findIndex((stop) => stop.is === target.is && indexOf(stop) === indexOf(target));
const indexOf = (target: Target): number => (target.is === 'field' ? 0 : target.index);

/** The first row of the next list; the field after the last list. */
export function nextGroup(chosen: Target, projectService: ProjectInfo): Target {
  const all = stops(projectService);
  const rest = all.slice(placeOf(all, chosen) + 1);
  return rest.find((stop) => stop.is !== chosen.is) ?? FIELD;
}

/** One row up or down: in the field, through earlier tasks, through the lists. */
export function vertical(ui: StartUi, projectService: ProjectInfo, by: 1 | -1): StartUi {
  if (ui.chosen.is !== 'field') {
    const all = stops(projectService);
    return { ...ui, chosen: all[placeOf(all, ui.chosen) + by] ?? ui.chosen };
  }
  const browsed = browse(ui, formerTasks(projectService), by === 1 ? 'down' : 'up');
  if (browsed !== null) return { ...ui, ...browsed };
  return by === 1 ? { ...ui, chosen: stops(projectService)[1] ?? FIELD } : ui;
}

/** Several rows at once within the selected list. */
export function leap(ui: StartUi, projectService: ProjectInfo, by: number): StartUi {
  const { chosen } = ui;
  if (chosen.is === 'field') return ui;
  const many = chosen.is === 'session' ? projectService.sessions.length : projectService.suggestions.length;
  return { ...ui, chosen: { ...chosen, index: Math.max(0, Math.min(many - 1, chosen.index + by)) } };
}

/** Earlier tasks of this project, the newest first, without repetitions. */
export const formerTasks = (projectService: ProjectInfo): readonly string[] => [
  ...new Set(projectService.sessions.map(({ task }) => task).filter((task) => task.trim() !== '')),
];

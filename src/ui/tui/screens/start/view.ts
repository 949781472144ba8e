/** Draws the start screen, as much of it as fits: the field, suggestions, sessions, and the project at the bottom. */
import type { Cursor, Line, Style } from '../../../../app/views/index.ts';
import { budgetText, plural, fit, isOffline, isUnsandboxed, lineWidth } from '../../../../app/views/index.ts';
import { modelName, span, toLabel, widthOf, wrap } from '../../../../app/views/index.ts';
import type { ProjectInfo } from '../../../../ports/project-service.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { completeLines, completeWidth, offerOf } from '../../components/text/complete.ts';
import { keyLabel } from '../../frame/keymap.ts';
import { keyLine } from '../../frame/overlay.ts';
import type { Body, Context } from '../../frame/screen.ts';
import type { Size } from '../../terminal/terminal.ts';
import { factLines, LABEL, pane, strong, tint } from '../../text/blocks.ts';
import { editorHeight, editorText, viewEditor } from '../../text/editor.ts';
import { FIELD, plainRow, type Row, sessionRows, type StartUi, suggestionRows, type Target } from './lists.ts';

interface Measure {
  readonly logo: boolean;
  readonly intro: 'steps' | 'words' | 'none';
  readonly gap: 0 | 1;
  readonly suggestions: number;
  readonly sessions: number;
  readonly status: StatusMeasure;
}

/** From rich to poor; the first that fits is used. */
const MEASURES: readonly [Measure, ...Measure[]] = [
  { logo: true, intro: 'steps', gap: 1, suggestions: 6, sessions: 20, status: 'full' },
  { logo: true, intro: 'steps', gap: 1, suggestions: 6, sessions: 12, status: 'full' },
  { logo: true, intro: 'steps', gap: 1, suggestions: 6, sessions: 5, status: 'full' },
  { logo: false, intro: 'steps', gap: 1, suggestions: 6, sessions: 5, status: 'full' },
  { logo: false, intro: 'words', gap: 1, suggestions: 4, sessions: 3, status: 'short' },
  { logo: false, intro: 'words', gap: 1, suggestions: 4, sessions: 2, status: 'short' },
  { logo: false, intro: 'words', gap: 1, suggestions: 3, sessions: 1, status: 'short' },
  { logo: false, intro: 'words', gap: 0, suggestions: 3, sessions: 2, status: 'short' },
  { logo: false, intro: 'none', gap: 0, suggestions: 3, sessions: 1, status: 'short' },
  { logo: false, intro: 'none', gap: 0, suggestions: 3, sessions: 0, status: 'line' },
  { logo: false, intro: 'none', gap: 0, suggestions: 2, sessions: 0, status: 'line' },
  { logo: false, intro: 'none', gap: 0, suggestions: 0, sessions: 0, status: 'none' },
];

const MOST_WIDTH = 92;
/** From this width on, the block is wider. */
const WIDE = 160;
const WIDEST = 124;
/** With more empty rows than this, the project is below the lists and not at the bottom, so that the block stays together. */
const MOST_SPARE = 16;
const APART = 3;

/** Exactly `height` lines of exactly `width` columns, and the cursor while the field has the keys. */
export function startBody(ui: StartUi, context: Context, { width, height }: Size): Body {
  const { rows, cursor } = compose(ui, context, { width, height });
  return { lines: rows.map(({ line }) => fit(line, width)), cursor: ui.chosen.is === 'field' ? cursor : null };
}

/** What row `y` of the body selects; null for nothing. */
export const targetAt = (ui: StartUi, context: Context, size: Size, y: number): Target | null =>
  compose(ui, context, size).rows[y]?.target ?? null;

function compose(ui: StartUi, context: Context, { width, height }: Size) {
  const most = width < WIDE ? MOST_WIDTH : WIDEST;
  const margin = Math.max(width < 60 ? 0 : 2, Math.floor((width - most) / 2));
  const room = Math.max(0, width - 2 * margin);
  const parts = fittingParts(ui, context, room, height);
  const spare = Math.max(0, height - parts.top.length - parts.bottom.length);
  const above = Math.floor(spare / 3);
  const between = spare > MOST_SPARE ? APART : spare - above;
  const empty = (count: number): readonly Row[] => Array.from({ length: count }, () => ({ line: [], target: null }));
  const rows = [
    ...empty(above),
    ...parts.top,
    ...empty(between),
    ...parts.bottom,
    ...empty(spare - above - between),
  ].slice(0, Math.max(0, height));
  const over = overField(ui, context, { width: room, height: height - parts.below - above, x: parts.cursor.x });
  const drawn = rows.map((row, y): Row => over[y - above - parts.below] ?? row);
  const moved = drawn.map(({ line, target }): Row => ({ line: [span(' '.repeat(margin)), ...line], target }));
  const at = parts.cursor;
  const y = at.y + above;
  return { rows: moved, cursor: y < height && at.x + margin < width ? { x: at.x + margin, y } : null };
}

/** The parts in the richest measure that fits, else in the poorest. */
function fittingParts(ui: StartUi, context: Context, width: number, height: number): Parts {
  let parts = partsFor(ui, context, width, height, MEASURES[0]);
  for (const measure of MEASURES) {
    parts = partsFor(ui, context, width, height, measure);
    if (parts.top.length + parts.bottom.length <= height) break;
  }
  return parts;
}

/** The offered file paths, over the rows below the field. */
function overField(
  ui: StartUi,
  context: Context,
  { width, height, x }: { readonly width: number; readonly height: number; readonly x: number },
): readonly Row[] {
  const offer = ui.chosen.is === 'field' ? offerOf(ui.editor, ui.completing, context) : null;
  if (height < 1 || offer === null) return [];
  const wide = completeWidth(offer, width);
  const indent = Math.max(0, Math.min(x - 2, width - wide));
  const lines = completeLines(offer, context, wide, height);
  return lines.map((line) => ({ line: [span(' '.repeat(indent)), ...line], target: FIELD }));
}

interface Parts {
  readonly top: readonly Row[];
  readonly bottom: readonly Row[];
  readonly cursor: Cursor;
  readonly below: number;
}

function partsFor(ui: StartUi, context: Context, width: number, height: number, measure: Measure): Parts {
  const gap: readonly Row[] = measure.gap === 1 ? [plainRow([])] : [];
  const head = [...titleRows(context, width, measure), ...(measure.logo || measure.intro !== 'none' ? gap : [])];
  const field = fieldRows(ui, context, width, height);
  const suggestions = suggestionRows(ui.chosen, context, width, measure.suggestions);
  const sessions = sessionRows(ui.chosen, context, width, measure.sessions);
  const status = statusLines(context, width, measure.status).map(plainRow);
  return {
    top: [
      ...head,
      ...field.rows,
      ...(suggestions.length > 0 ? gap : []),
      ...suggestions,
      ...(sessions.length > 0 ? gap : []),
      ...sessions,
    ],
    bottom: [...(status.length > 0 ? gap : []), ...status],
    cursor: { x: field.cursor.x, y: field.cursor.y + head.length },
    below: head.length + field.rows.length,
  };
}

const LOGO = ['█▄ ▄█ █ █▄ ▄█ █ █▀▀▄', '█ ▀ █ █ █ ▀ █ █ █▄▄▀', '▀   ▀ ▀ ▀   ▀ ▀ ▀  ▀'];
const INTRO = 'Describe a task. Mimir plans it, you approve, agents run in parallel.';
const STEPS: readonly (readonly [what: string, more: string])[] = [
  ['Describe the task.', 'Use @ to mention files.'],
  ['Review the plan.', 'Agents, models and cost: edit anything, then start.'],
  ['Watch agents work in parallel.', 'Message, stop or retry any of them; budgets are enforced.'],
];

function titleRows({ glyphs, projectService }: Context, width: number, { logo, intro }: Measure): readonly Row[] {
  // Without room for the logo the badge of the header is enough.
  const letters = !logo ? [] : glyphs.ellipsis === '…' && width >= 40 ? LOGO : ['M I M I R'];
  const title = letters.map((text): Row => plainRow([strong(` ${text}`, 'focus')]));
  const gap = logo ? [plainRow([])] : [];
  return [...title, ...gap, ...introLines(intro, projectService.sessions.length === 0, width).map(plainRow)];
}

/** The first start shows the three steps, later starts one sentence. */
function introLines(kind: Measure['intro'], isFirst: boolean, width: number): readonly Line[] {
  if (kind === 'none') return [];
  const room = Math.max(1, width - 1);
  const indented = (line: Line): Line => [span(' '), ...line];
  if (kind === 'words' || !isFirst) return wrap([tint(INTRO, 'muted')], room).map(indented);
  return STEPS.flatMap(([what, more], index): readonly Line[] => {
    const line: Line = [strong(`${index + 1}  `, 'focus'), strong(what, 'title'), tint(` ${more}`, 'muted')];
    return wrap(line, room, 3).map(indented);
  });
}

function fieldRows(ui: StartUi, { glyphs, projectService: { suggestions } }: Context, width: number, height: number) {
  const focused = ui.chosen.is === 'field';
  const room = Math.max(1, width - 6);
  const picked = suggestions.indexOf(editorText(ui.editor)) + 1;
  const most = height >= 30 ? 8 : height >= 16 ? 4 : 2;
  const least = height >= 16 ? 2 : 1;
  const lines = Math.max(least, Math.min(most, editorHeight(ui.editor, room)));
  const view = viewEditor(ui.editor, {
    width: room,
    height: lines,
    focused,
    style: { fg: 'fg' },
    placeholder: 'Describe the task in your own words',
  });
  const prompt = (row: number): Line => [row === 0 ? strong(`${glyphs.prompt} `, 'focus') : span('  ')];
  const drawn = pane({
    width,
    height: lines + 2,
    glyphs,
    focused,
    title: [
      strong('What do you want to do?', 'title'),
      ...(picked > 0 ? [tint(`  suggestion ${picked}, you can edit it`, 'muted')] : []),
    ],
    footEnd: focused ? fieldKeys(glyphs, width - 6) : [],
    body: view.lines.map((line, row) => [...prompt(row), ...line]),
  });
  const rows = drawn.map((line): Row => ({ line, target: FIELD }));
  return { rows, cursor: { x: view.cursor.x + 4, y: view.cursor.y + 1 } };
}

function fieldKeys(glyphs: Glyphs, width: number): Line {
  const keys: readonly (readonly [key: string, words: string])[] = [
    [glyphs.key.enter, 'plan'],
    [keyLabel('ctrl-x', glyphs), 'ask main'],
    [keyLabel('alt-enter', glyphs), 'new line'],
    ['@', 'file'],
  ];
  const lines = keys.map((_, at) => keyLine(keys.slice(0, at + 1), '  '));
  return lines.findLast((line) => lineWidth(line) <= width) ?? [];
}

// The foot of the start screen: project, model, sandbox, mode and budget, with warnings.

type StatusMeasure = 'full' | 'short' | 'line' | 'none';

const OFFLINE_WORDS =
  'The built-in analyst (not a language model) answers for free. For models set ANTHROPIC_API_KEY or OPENAI_API_KEY.';

const MORE_MODELS = '   `mimir models` lists the models';

function statusLines({ projectService, glyphs }: Context, width: number, kind: StatusMeasure): readonly Line[] {
  if (kind === 'none') return [];
  const full = kind === 'full';
  const room = Math.max(1, width - 1);
  const rule: Line = [tint(` ${glyphs.light.horizontal.repeat(Math.max(0, width - 2))}`, 'border')];
  return [
    ...(full ? [rule] : []),
    ...projectLines(projectService, kind, room),
    ...cut(labelled('Model', modelLine(projectService, kind, room), room), kind === 'line' ? 1 : 2),
    ...(kind === 'line' ? [] : belowProvider(projectService, room, full)),
  ];
}

/** The project with its path or branch; empty without either, since the header has the name. */
function projectLines(projectService: ProjectInfo, kind: StatusMeasure, room: number): readonly Line[] {
  const full = kind === 'full';
  const git = gitWords(projectService, full);
  if (kind === 'line' || (!full && git.length === 0)) return [];
  const name = strong(projectService.project, 'fg');
  return cut(
    labelled('Project', [name, tint(full ? `  ${projectService.cwd}` : '', 'muted'), ...git], room),
    full ? 2 : 1,
  );
}

/** The branch and the number of files that differ from its last commit; empty until they are known. */
function gitWords({ repository }: ProjectInfo, full: boolean): Line {
  const gap = full ? '   ' : '  ';
  if (repository?.isGit === false) {
    const why = full ? ': run `git init` to compare and commit changes' : '';
    return [tint(`${gap}not a git repository${why}`, 'warn')];
  }
  if (repository?.git === undefined) return [];
  const { branch, changed } = repository.git;
  return [
    span(gap),
    tint(toLabel(branch), 'info'),
    tint(changed === 0 ? ' no changes' : ` ${plural(changed, 'changed file')}`, changed === 0 ? 'faint' : 'warn'),
  ];
}

function belowProvider(projectService: ProjectInfo, room: number, full: boolean): readonly Line[] {
  const budget = projectService.budget === undefined ? null : budgetText(projectService.budget);
  const place: Line = [
    ...sandboxWords(projectService),
    tint('   mode ', 'faint'),
    span(projectService.mode, modeStyle(projectService.mode)),
    ...(budget === null ? [] : [tint('   budget ', 'faint'), tint(`${budget} per run`, 'fg')]),
  ];
  const notes = projectService.notes.slice(0, full ? 3 : 1).flatMap((note): readonly Line[] => {
    const words: Line = [strong(' ! ', 'warn'), tint(note, 'warn')];
    return cut(wrap(words, room, 2), 2);
  });
  return [
    ...cut(labelled('Sandbox', place, room), full ? 2 : 1),
    ...cut(ruleRows(projectService, room), full ? 4 : 2),
    ...notes,
  ];
}

function sandboxWords({ sandbox }: ProjectInfo): Line {
  if (sandbox === '') return [tint('checking', 'faint')];
  if (!isUnsandboxed(sandbox)) return [tint(sandbox, 'ok')];
  return [span(' NONE: UNSANDBOXED ', { fg: 'surface', bg: 'err', bold: true }), tint(sandbox.slice(4), 'muted')];
}

function ruleRows({ policy, trust }: ProjectInfo, room: number): readonly Line[] {
  const words = TRUST_WORDS[trust.state];
  return [
    ...(policy === '' ? [] : labelled('Policy', [tint(policy, 'info')], room)),
    ...(words === null ? [] : labelled('Trust', words, room)),
  ];
}

const ASK_TRUST = tint('   ^T review', 'faint');
const TRUST_WORDS: Readonly<Record<ProjectInfo['trust']['state'], Line | null>> = {
  nothing: null,
  trusted: [tint('trusted', 'ok')],
  new: [tint('not trusted: only its restrictions apply', 'warn'), ASK_TRUST],
  changed: [tint('changed: only its restrictions apply', 'warn'), ASK_TRUST],
};

/** The model that plans, and who serves models here; what stands in where there is no model. */
function modelLine({ provider, model }: ProjectInfo, kind: StatusMeasure, room: number): Line {
  if (isOffline(provider)) {
    const words = kind === 'line' ? 'no API key found' : OFFLINE_WORDS;
    return [strong('OFFLINE', 'warn'), tint(`  ${words}`, 'muted')];
  }
  const name = model === undefined ? '' : `${toLabel(modelName(model))}  `;
  const fits = widthOf(name + provider + MORE_MODELS) + LABEL <= room;
  return [strong(name, 'ok'), tint(provider, 'fg'), tint(fits ? MORE_MODELS : '', 'faint')];
}

const modeStyle = (mode: ProjectInfo['mode']): Style => ({ fg: mode === 'yolo' ? 'err' : 'fg' });

const labelled = (label: string, value: Line, width: number): readonly Line[] =>
  width < 50 ? wrap(value, width).map((line) => [span(' '), ...line]) : factLines([[` ${label}`, value]], width);

/** At most `most` lines; an ellipsis marks that there were more. */
function cut(lines: readonly Line[], most: number): readonly Line[] {
  if (lines.length <= most) return lines;
  const last = lines[most - 1] ?? [];
  const [text, style] = last.at(-1) ?? ['', {}];
  // The ellipsis replaces trailing punctuation.
  return [
    ...lines.slice(0, most - 1),
    [...last.slice(0, -1), [text.replace(/[\s,;:.]+$/, ''), style], span(' …', style)],
  ];
}

/**
 * What the start screen looks like: the field first, then what one might put into it, then what one can go on with, and at
 * the bottom where one is. How much of it there is room for is decided here; what a key does is start.ts's.
 */
import { isOffline, isUnboxed } from '../../../../app/views/agents/agent-lines.ts';
import { clip, fit, fitText, lineWidth, span } from '../../../../app/views/text/clip.ts';
import type { Cursor, Line, Style } from '../../../../app/views/text/line.ts';
import { widthOf } from '../../../../app/views/text/width.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import type { LobbyInfo } from '../../../../ports/project-service.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { completeLines, completeWidth, offerOf } from '../../components/text/complete.ts';
import { keyLabel } from '../../frame/keymap.ts';
import type { Body, Context } from '../../frame/screen.ts';
import type { Size } from '../../terminal/terminal.ts';
import { box } from '../../text/box.ts';
import { editorHeight, viewEditor } from '../../text/editor-view.ts';
import { plainRow, sessionRows, suggestionRows, type Row } from './lists.ts';
import { searchBox } from './search.ts';
import type { StartUi, Target } from './state.ts';

/** How much is shown. From rich to poor: the first that fits is taken. */
interface Measure {
  readonly logo: boolean;
  readonly intro: 'steps' | 'words' | 'none';
  readonly gap: 0 | 1;
  readonly suggestions: number;
  readonly sessions: number;
  readonly status: StatusMeasure;
}

const MEASURES: readonly Measure[] = [
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

/** Columns of text that are pleasant to read. */
const MOST_WIDTH = 92;

/** Exactly `height` lines of exactly `width` columns, and the cursor while the field has the keys. */
export function startBody(ui: StartUi, context: Context, { width, height }: Size): Body {
  const { rows, cursor } = compose(ui, context, { width, height });
  return { lines: rows.map(({ line }) => fit(line, width)), cursor: ui.chosen.is === 'field' ? cursor : null };
}

/** What is at row `y` of the body. */
export const targetAt = (ui: StartUi, context: Context, size: Size, y: number): Target | null =>
  compose(ui, context, size).rows[y]?.target ?? null;

interface Composed {
  readonly rows: readonly Row[];
  readonly cursor: Cursor | null;
}

function compose(ui: StartUi, context: Context, { width, height }: Size): Composed {
  const margin = Math.max(width < 60 ? 0 : 2, Math.floor((width - MOST_WIDTH) / 2));
  const room = Math.max(0, width - 2 * margin);
  const parts = fittingParts(ui, context, room, height);
  const spare = Math.max(0, height - parts.top.length - parts.bottom.length);
  const above = Math.floor(spare / 3);
  const empty = (count: number): readonly Row[] => Array.from({ length: count }, () => ({ line: [], target: null }));
  const rows = [...empty(above), ...parts.top, ...empty(spare - above), ...parts.bottom].slice(0, Math.max(0, height));
  const over = overField(ui, context, { width: room, height: height - parts.below - above, x: parts.cursor.x });
  const drawn = rows.map((row, y): Row => over.rows[y - above - parts.below] ?? row);
  const moved = drawn.map(({ line, target }): Row => ({ line: [span(' '.repeat(margin)), ...line], target }));
  const at = over.cursor === null ? parts.cursor : { x: over.cursor.x, y: over.cursor.y + parts.below };
  const y = at.y + above;
  return { rows: moved, cursor: y < height && at.x + margin < width ? { x: at.x + margin, y } : null };
}

/** The richest measure that fits, else the poorest. */
function fittingParts(ui: StartUi, context: Context, width: number, height: number): Parts {
  let parts = partsFor(ui, context, width, height, MEASURES[0]);
  for (const measure of MEASURES) {
    parts = partsFor(ui, context, width, height, measure);
    if (parts.top.length + parts.bottom.length <= height) break;
  }
  return parts;
}

/** What lies over the rows right below the field: paths that are offered, or the search among former tasks. */
function overField(
  ui: StartUi,
  context: Context,
  { width, height, x }: { readonly width: number; readonly height: number; readonly x: number },
): Composed {
  if (height < 1) return { rows: [], cursor: null };
  if (ui.search !== null) {
    const { lines, cursor } = searchBox(ui.search, context, width, height);
    return { rows: lines.map((line) => ({ line, target: FIELD_TARGET })), cursor };
  }
  const offer = ui.chosen.is === 'field' ? offerOf(ui.editor, ui.completing, context) : null;
  if (offer === null) return { rows: [], cursor: null };
  const wide = completeWidth(offer, width);
  const indent = Math.max(0, Math.min(x - 2, width - wide));
  const lines = completeLines(offer, context, wide, height);
  return {
    rows: lines.map((line) => ({ line: [span(' '.repeat(indent)), ...line], target: FIELD_TARGET })),
    cursor: null,
  };
}

const FIELD_TARGET: Target = { is: 'field' };

interface Parts {
  readonly top: readonly Row[];
  readonly bottom: readonly Row[];
  readonly cursor: Cursor;
  /** The first row below the field. */
  readonly below: number;
}

function partsFor(ui: StartUi, context: Context, width: number, height: number, measure = MEASURES[0]): Parts {
  if (measure === undefined) return { top: [], bottom: [], cursor: { x: 0, y: 0 }, below: 0 };
  const gap: readonly Row[] = measure.gap === 1 ? [plainRow([])] : [];
  const head = [...titleRows(context, width, measure), ...(measure.logo || measure.intro !== 'none' ? gap : [])];
  const field = fieldRows(ui, context.glyphs, width, height);
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
const INTRO =
  'Say what you want done. Mimir splits it among agents, shows you the plan to change and approve, then runs them side by side.';
const STEPS: readonly (readonly [what: string, more: string])[] = [
  ['Say what you want done', 'in your own words, naming files with @'],
  ['Read the plan', 'who does what, on which model, at what price; change it, then accept it'],
  ['Watch the agents work side by side', 'message, stop or retry any; limits hold'],
];

function titleRows({ glyphs, lobby }: Context, width: number, { logo, intro }: Measure): readonly Row[] {
  // The badge of the header says the name too: without room for the letters, once is enough.
  const letters = !logo ? [] : glyphs.ellipsis === '…' && width >= 40 ? LOGO : ['M I M I R'];
  const title = letters.map((text): Row => plainRow([span(` ${text}`, { fg: 'focus', bold: true })]));
  const gap = logo ? [plainRow([])] : [];
  return [...title, ...gap, ...introLines(intro, lobby.sessions.length === 0, width).map(plainRow)];
}

/** Who has not been here before is told how it goes, in one look; everybody else is reminded in a sentence. */
function introLines(kind: Measure['intro'], isFirst: boolean, width: number): readonly Line[] {
  if (kind === 'none') return [];
  const room = Math.max(1, width - 1);
  const indented = (line: Line): Line => [span(' '), ...line];
  if (kind === 'words' || !isFirst) return wrap([span(INTRO, { fg: 'muted' })], room).map(indented);
  return STEPS.flatMap(([what, more], index): readonly Line[] => {
    const line: Line = [
      span(`${index + 1}  `, { fg: 'focus', bold: true }),
      span(what, { fg: 'title', bold: true }),
      span(`: ${more}`, { fg: 'muted' }),
    ];
    return wrap(line, room, 3).map(indented);
  });
}

function fieldRows(
  ui: StartUi,
  glyphs: Glyphs,
  width: number,
  height: number,
): { readonly rows: readonly Row[]; readonly cursor: { readonly x: number; readonly y: number } } {
  const focused = ui.chosen.is === 'field';
  const room = Math.max(1, width - 6);
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
  const prompt = (row: number): Line => [
    row === 0 ? span(`${glyphs.prompt} `, { fg: 'focus', bold: true }) : span('  '),
  ];
  const drawn = box({
    width,
    height: lines + 2,
    glyphs,
    border: focused ? 'heavy' : 'light',
    style: { fg: focused ? 'focus' : 'border' },
    kind: 'pane',
    title: [span('What should be done?', { fg: 'title', bold: true })],
    footEnd: focused ? fieldKeys(glyphs, width - 6) : [],
    body: view.lines.map((line, row) => [...prompt(row), ...line]),
  });
  const rows = drawn.map((line): Row => ({ line, target: { is: 'field' } }));
  return { rows, cursor: { x: view.cursor.x + 4, y: view.cursor.y + 1 } };
}

/** What can be done in the field, as far as there is room for it. */
function fieldKeys(glyphs: Glyphs, width: number): Line {
  const keys: readonly (readonly [key: string, words: string])[] = [
    [glyphs.key.enter, 'plan it'],
    [keyLabel('ctrl-x', glyphs), 'ask main'],
    [keyLabel('alt-enter', glyphs), 'new line'],
    ['@', 'file'],
  ];
  let line: Line = [];
  for (const [key, words] of keys) {
    const gap = line.length === 0 ? [] : [span('  ')];
    const longer: Line = [...line, ...gap, span(key, { fg: 'focus', bold: true }), span(` ${words}`, { fg: 'muted' })];
    if (lineWidth(longer) > width) break;
    line = longer;
  }
  return clip(line, width);
}

// The foot of the start screen: project, provider, sandbox and mode, and what the person should know about them.

/** How much of it is shown. */
type StatusMeasure = 'full' | 'short' | 'line' | 'none';

const OFFLINE_WORDS =
  'No provider is connected, so no language model is used: the built-in analyst reads the project and reports, at no cost. For models set ANTHROPIC_API_KEY or OPENAI_API_KEY, or providers: in config.yml; `mimir models` lists what can be used.';
const OFFLINE_SHORT =
  'The built-in analyst reads and reports, free. Models: ANTHROPIC_API_KEY, OPENAI_API_KEY, or providers: in config.yml.';

const MORE_MODELS = '   `mimir models` lists what can be used';

/** Lines of at most `width` columns. */
function statusLines({ lobby, glyphs }: Context, width: number, kind: StatusMeasure): readonly Line[] {
  if (kind === 'none') return [];
  const full = kind === 'full';
  const room = Math.max(1, width - 1);
  const noGit =
    lobby.repository?.isGit === false ? '   no git here: `git init` lets changes be compared and committed' : '';
  const project: Line = [
    span(lobby.project, { fg: 'fg', bold: true }),
    span(`  ${lobby.cwd}`, { fg: 'muted' }),
    span(noGit, { fg: 'warn' }),
  ];
  const place: Line = [
    ...sandboxWords(lobby),
    span('   mode ', { fg: 'faint' }),
    span(lobby.mode, modeStyle(lobby.mode)),
  ];
  const rule: Line = [span(` ${glyphs.light[4].repeat(Math.max(0, width - 2))}`, { fg: 'border' })];
  return [
    ...(full ? [rule, ...cut(labelled('Project', project, room), 2)] : []),
    ...cut(labelled('Provider', providerLine(lobby, kind, room), room), full ? 4 : kind === 'short' ? 2 : 1),
    ...(kind === 'line' ? [] : belowProvider(lobby, place, room, full)),
  ];
}

/** Sandbox and mode, who rules here, and what the configuration warns of. */
function belowProvider(lobby: LobbyInfo, place: Line, room: number, full: boolean): readonly Line[] {
  const notes = lobby.notes.slice(0, full ? 3 : 1).flatMap((note): readonly Line[] => {
    const words: Line = [span(' ! ', { fg: 'warn', bold: true }), span(note, { fg: 'warn' })];
    return cut(wrap(words, room, 2), 2);
  });
  return [
    ...cut(labelled('Sandbox', place, room), full ? 2 : 1),
    ...cut(ruleRows(lobby, room), full ? 4 : 2),
    ...notes,
  ];
}

/** Commands without a box are nothing to overlook. */
function sandboxWords({ sandbox }: LobbyInfo): Line {
  if (sandbox === '') return [span('being tried out', { fg: 'faint' })];
  if (!isUnboxed(sandbox)) return [span(sandbox, { fg: 'ok' })];
  return [
    span(' NONE: UNSANDBOXED ', { fg: 'surface', bg: 'err', bold: true }),
    span(sandbox.slice(4), { fg: 'muted' }),
  ];
}

/** Who rules here beside the person, and whether what the project says of itself counts. */
function ruleRows({ policy = '', trust }: LobbyInfo, room: number): readonly Line[] {
  const words = trust === undefined ? null : TRUST_WORDS[trust.state];
  return [
    ...(policy === '' ? [] : labelled('Policy', [span(policy, { fg: 'info' })], room)),
    ...(words === null ? [] : labelled('Trust', words, room)),
  ];
}

const ASK_TRUST = span('   ^T shows what it would bring', { fg: 'faint' });
const TRUST_WORDS: Readonly<Record<NonNullable<LobbyInfo['trust']>['state'], Line | null>> = {
  nothing: null,
  trusted: [span('trusted as it is now', { fg: 'ok' })],
  new: [span('not trusted: only its restrictions count', { fg: 'warn' }), ASK_TRUST],
  changed: [span('changed since it was trusted: only its restrictions count', { fg: 'warn' }), ASK_TRUST],
};

function providerLine({ provider }: LobbyInfo, kind: StatusMeasure, room: number): Line {
  if (!isOffline(provider)) {
    const fits = widthOf(provider + MORE_MODELS) + LABEL <= room;
    return [span(provider, { fg: 'ok', bold: true }), span(fits ? MORE_MODELS : '', { fg: 'faint' })];
  }
  const words = kind === 'full' ? OFFLINE_WORDS : kind === 'short' ? OFFLINE_SHORT : 'no language model is used';
  return [span('OFFLINE', { fg: 'warn', bold: true }), span(`  ${words}`, { fg: 'muted' })];
}

const modeStyle = (mode: LobbyInfo['mode']): Style => ({ fg: mode === 'yolo' ? 'err' : 'fg' });

const LABEL = 10;

function labelled(label: string, value: Line, width: number): readonly Line[] {
  if (width < 50) return wrap(value, width).map((line) => [span(' '), ...line]);
  return wrap(value, Math.max(1, width - LABEL)).map((line, index) => [
    span(` ${fitText(index === 0 ? label : '', LABEL - 1)}`, { fg: 'faint' }),
    ...line,
  ]);
}

/** The first `most` of them; the last says where there were more. */
function cut(lines: readonly Line[], most: number): readonly Line[] {
  if (lines.length <= most) return lines;
  const last = lines[most - 1] ?? [];
  const [text, style] = last.at(-1) ?? ['', {}];
  // A sign in the place of what would stand before the rest: a blank, a comma.
  return [
    ...lines.slice(0, most - 1),
    [...last.slice(0, -1), [text.replace(/[\s,;:.]+$/, ''), style], span(' …', style)],
  ];
}

/** Everything made from key tables: dispatch, footer, help, palette and the user's own keys; and `Page`, a screen with its state and its table. */
import type { Interaction } from '../../../app/actions/index.ts';
import { clip, type Line, lineWidth, span, widthOf } from '../../../app/views/index.ts';
import type { AgentId } from '../../../domain/ids.ts';
import type { PlanEdit } from '../../../domain/plan/plan-edit.ts';
import { nearest } from '../../../domain/text/text.ts';
import { controls, type RunState } from '../../../events/index.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import type { Glyphs } from '../text/glyphs.ts';
import ROWS from './keys.json' with { type: 'json' };
import type { Binding, Body, Context, DialogEffect, Effect, Screen, ScreenName } from './screen.ts';
import NAMES from './key-labels.json' with { type: 'json' };

/** The keys and words of the actions that are no rows of app/actions, in keys.json. */
type ActionName = keyof typeof ROWS;
const KEYS: Readonly<Record<ActionName, Omit<Action, 'action' | 'hint'> & { readonly hint?: string }>> = ROWS;

function actionOf(of: ActionName | Interaction): Action {
  if (typeof of === 'string') return { action: of, hint: '', ...KEYS[of] };
  const { id, keys, hint, help, more = '' } = of;
  return { action: id, keys, hint, help, more };
}

/** The user's own keys by action: `run.kill: x`; `none` removes a key. */
export type OwnKeys = Readonly<Record<string, string>>;

/** The binding of an action to what it does, by default always possible. */
export const bind = <Ui>(
  of: ActionName | Interaction,
  does: Effect<Ui> | Binding<Ui>['run'],
  whyNot: Binding<Ui>['whyNot'] = () => null,
  value: Binding<Ui>['value'] = () => '',
): Binding<Ui> => ({ ...actionOf(of), run: typeof does === 'function' ? does : () => does, whyNot, value });

/** What the run alone decides: the effect of an action, or why it is not possible. */
export const ofState =
  <T>(of: (state: RunState) => T) =>
  (_: never, { state }: Context): T =>
    of(state);

/** The groups of the help and the palette; other actions are listed under their screen. */
const GROUPS: readonly (readonly [actions: RegExp, group: string])[] = [
  [/^app\./, 'General'],
  [/^message\./, 'Message'],
  [
    new RegExp(
      `^(?:detail|find)\\.|^run\\.(?:${controls().join('|')}|open|message|model|budget|pin|spawnBelow|fold|attention)$`,
    ),
    'Agent',
  ],
  [
    /^(?:filter|log)\.|^run\.(?:result|filter|match|showAll|graph|density|plan|log|charts|goto|only|sort|unfold|tab)$/,
    'View',
  ],
  [/\.(?:pane|paneNumber|zoom|unzoom)$/, 'View'],
];
const groupOf = (action: string): string =>
  GROUPS.find(([actions]) => actions.test(action))?.[1] ??
  Object.entries(TITLES).find(([screen]) => action.startsWith(screen))?.[1] ??
  '';

/** More rows than any list has. */
export const ALL = 1_000_000;

/** The rows that a key moves down, `ALL` to the ends; 0 for other keys. */
export function stepOf(key: string, page: number): number {
  const half = Math.floor(page / 2);
  const steps: Readonly<Record<string, number | undefined>> = {
    up: -1,
    k: -1,
    down: 1,
    j: 1,
    pageup: -page,
    'ctrl-u': -half,
    pagedown: page,
    'ctrl-d': half,
    g: -ALL,
    home: -ALL,
    G: ALL,
    end: ALL,
  };
  return steps[key] ?? 0;
}

/** The item `by` places from `now`, in a circle. */
export const cycled = <Item>(all: readonly Item[], now: Item, by: number = 1): Item =>
  all[(all.indexOf(now) + by + all.length) % all.length] ?? now;

/** The item `by` places from `now`, at most the first or last one. */
export const limited = <Item>(all: readonly Item[], now: Item, by: number): Item =>
  all[Math.max(0, Math.min(all.length - 1, all.indexOf(now) + by))] ?? now;

/** The first binding for a key, or undefined. */
export const bindingFor = <Ui>(table: readonly Binding<Ui>[], key: string): Binding<Ui> | undefined =>
  table.find(({ keys }) => keys.includes(key));

/** True for keys that a field takes as text. */
export const isPlain = (key: string): boolean => !NAMED.has(key) && !/^(?:ctrl|alt|shift)-./.test(key);

const NAMED: ReadonlySet<string> = new Set(
  'enter esc tab backtab backspace delete insert up down left right home end pageup pagedown'
    .split(' ')
    .concat(Array.from({ length: 24 }, (_, index) => `f${index + 1}`)),
);

/** The label of a key: `⏎`, `Esc`, `^R`, `Shift-Tab`. */
export function keyLabel(key: string, glyphs: Glyphs): string {
  if (key.startsWith('ctrl-')) return `^${key.slice(5).toUpperCase()}`;
  const [, prefix, rest] = /^(alt|shift)-(.+)$/.exec(key) ?? [];
  if (prefix !== undefined && rest !== undefined)
    return `${prefix === 'alt' ? glyphs.alt : 'Shift'}-${keyLabel(rest, glyphs)}`;
  return isSign(key) ? glyphs.key[key] : (LABELS[key] ?? (/^f\d+$/.test(key) ? key.toUpperCase() : key));
}

const isSign = (key: string): key is keyof Glyphs['key'] => SIGNS.has(key);
const SIGNS: ReadonlySet<string> = new Set(['enter', 'up', 'down', 'left', 'right'] satisfies (keyof Glyphs['key'])[]);
const LABELS: Readonly<Record<string, string>> = NAMES;

/** The label of the up and down keys: `↑↓`. */
export const upDown = (glyphs: Glyphs): string => shown(['up', 'down'], glyphs);

/** The footer's label of a binding: its first key, or a pair (`↑↓`). */
function shown(keys: readonly string[], glyphs: Glyphs): string {
  const [first = '', second = ''] = keys;
  const pair = PAIRS.has(`${first} ${second}`);
  const join = glyphs.key.up.length > 1 && pair ? '/' : '';
  return pair ? keyLabel(first, glyphs) + join + keyLabel(second, glyphs) : keyLabel(first, glyphs);
}

const PAIRS: ReadonlySet<string> = new Set(['up down', 'left right', ']  [', '] [', 'K J']);

export interface Hint {
  readonly keys: string;
  readonly hint: string;
  /** Possible in a moment: shown greyed without its key, so that the footer does not jump. */
  readonly soon?: true;
}

/** The hints of the bindings that are possible now or in a moment, in the order of the table. */
export const hintsOf = <Ui>(table: readonly Binding<Ui>[], ui: Ui, context: Context): readonly Hint[] =>
  table
    .filter(({ hint, keys }) => hint !== '' && keys.length > 0)
    .flatMap((binding): Hint | readonly [] => {
      const hint = { keys: shown(binding.keys, context.glyphs), hint: binding.hint };
      if (binding.whyNot(ui, context) === null) return hint;
      return binding.soon?.(ui, context) ? { ...hint, soon: true } : [];
    });

/** The hints of the app's keys that work while a field takes letters. */
export const hintsWhileTyping = (table: readonly Binding<null>[], context: Context): readonly Hint[] =>
  hintsOf(
    table.map((binding) => Object.assign({}, binding, { keys: binding.keys.filter((key) => !isPlain(key)) })),
    null,
    context,
  );

export interface FooterMarks {
  readonly kept?: Hint | undefined;
  /** The label of the pressed key, which is highlighted; empty for none. */
  readonly keyFlash?: string;
}

/** The footer in exactly `width` columns; hints that do not fit become an ellipsis, with `kept` behind it if there is space. */
export function footerLine(
  hints: readonly Hint[],
  position: string,
  width: number,
  glyphs: Glyphs,
  { kept, keyFlash = '' }: FooterMarks = {},
): Line {
  const right: Line = position === '' ? [] : [span(`  ${position} `, { fg: 'faint', bg: 'raised' })];
  const room = Math.max(0, width - lineWidth(right) - 1);
  const all = hintLine(hints, keyFlash);
  const left = lineWidth(all) <= room ? all : shortenHints(hints, room, glyphs, { kept, keyFlash });
  const start: Line = [span(' ', { bg: 'raised' }), ...left];
  const missing = Math.max(0, width - lineWidth(start) - lineWidth(right));
  return clip([...start, span(' '.repeat(missing), { bg: 'raised' }), ...right], width, '');
}

/** As many first hints as fit before the ellipsis and the kept hint. */
function shortenHints(
  hints: readonly Hint[],
  room: number,
  glyphs: Glyphs,
  { kept, keyFlash = '' }: FooterMarks,
): Line {
  const sign = span(` ${glyphs.ellipsis}`, { fg: 'faint', bg: 'raised' });
  const whole: Line = kept === undefined ? [sign] : [sign, span(' ', { bg: 'raised' }), ...hintLine([kept], keyFlash)];
  if (lineWidth(whole) > room) return room < 2 ? [] : [sign];
  const others = hints.filter(({ keys }) => keys !== kept?.keys);
  let fitting = others.length;
  while (fitting > 0 && lineWidth(hintLine(others.slice(0, fitting), keyFlash)) + lineWidth(whole) > room) fitting -= 1;
  return [...hintLine(others.slice(0, fitting), keyFlash), ...whole];
}

const hintLine = (hints: readonly Hint[], keyFlash: string): Line =>
  hints.flatMap(
    ({ keys, hint, soon }, index): Line => [
      ...(index === 0 ? [] : [span('  ', { bg: 'raised' })]),
      ...(soon
        ? [span(`${' '.repeat(widthOf(keys))} ${hint}`, { fg: 'faint', bg: 'raised' })]
        : [
            span(keys, { fg: 'focus', bg: 'raised', bold: true, ...(isHit(keys, keyFlash) ? { inverse: true } : {}) }),
            span(` ${hint}`, { fg: 'muted', bg: 'raised' }),
          ]),
    ],
  );

/** True if the pressed key is this label, one of several (`⏎/Esc`), or one of a pair (`↑↓`). */
export const isHit = (keys: string, keyFlash: string): boolean =>
  keyFlash !== '' &&
  (keys === keyFlash ||
    keys.split(/[/ ]+/).includes(keyFlash) ||
    (keys.length === 2 && !/^[\^F]/.test(keys) && keys.includes(keyFlash)));

/** An entry of the palette. */
export interface Entry extends Required<Pick<Action, 'action' | 'help' | 'more'>> {
  readonly keys: string;
  readonly group: string;
  readonly value: string;
  /** Null if possible now, otherwise the reason; empty if it has no meaning here. */
  readonly why: string | null;
  run(): DialogEffect;
}

/** Cursor keys, which palette and help leave out. */
const CURSOR: ReadonlySet<string> = new Set(
  'up down left right h j k l pageup pagedown ctrl-u ctrl-d g G home end'.split(' ').concat(' '),
);
const isCursor = ({ keys }: Keys): boolean => keys.some(isNamed) && keys.every((key) => CURSOR.has(key));
const isNamed = (key: string): boolean => key !== 'tab' && NAMED.has(key);

/** The palette's entries of a table without cursor keys; `taken` converts the effect of an entry. */
export const entriesOf = <Ui>(
  table: readonly Binding<Ui>[],
  ui: Ui,
  context: Context,
  taken: (effect: Effect<Ui>) => DialogEffect,
): readonly Entry[] =>
  table
    .filter((binding) => !isCursor(binding))
    .map((binding) => ({
      action: binding.action,
      help: binding.help,
      more: binding.more ?? '',
      keys: shown(binding.keys, context.glyphs),
      group: groupOf(binding.action),
      value: binding.value?.(ui, context) ?? '',
      why: binding.whyNot(ui, context),
      // An action without a key still works in the palette.
      run: () => taken(binding.run(ui, context, binding.keys[0] ?? 'none')),
    }));

export interface HelpPart {
  readonly title: string;
  readonly rows: readonly { readonly keys: string; readonly help: string }[];
}

/** The help of one table by groups, without cursor keys; `own` are the user's keys by action, which are marked. */
export function helpOf<Ui>(table: readonly Binding<Ui>[], glyphs: Glyphs, own: OwnKeys = {}): readonly HelpPart[] {
  const named = table.filter((one) => (one.keys.length > 0 || Object.hasOwn(own, one.action)) && !isCursor(one));
  return [...Map.groupBy(named, ({ action }) => groupOf(action))].map(([title, rows]) => ({
    title,
    rows: rows.map(({ action, keys, help }) => ({
      keys: keys.length === 0 ? 'none' : keys.map((key) => keyLabel(key, glyphs)).join(' '),
      help: Object.hasOwn(own, action) ? `${help} (your key: ${action})` : help,
    })),
  }));
}

/** The table with the user's own keys. */
export const rebind = <Ui>(table: readonly Binding<Ui>[], own: OwnKeys): readonly Binding<Ui>[] =>
  table.map((binding): Binding<Ui> => {
    const key = Object.hasOwn(own, binding.action) ? own[binding.action] : undefined;
    if (key === undefined) return binding;
    return {
      ...binding,
      keys: key === 'none' ? [] : [key],
      run: (ui, context, pressed) => binding.run(ui, context, key === pressed ? (binding.keys[0] ?? pressed) : pressed),
    };
  });

interface Keys {
  readonly action: string;
  readonly keys: readonly string[];
}

/** The faults of the user's own keys, one sentence each: unknown actions, and keys used twice. */
export function keyFaults(tables: readonly (readonly Keys[])[], own: OwnKeys): readonly string[] {
  const actions = new Set(tables.flat().map(({ action }) => action));
  const unknown = Object.keys(own).filter((action) => !actions.has(action));
  const meant = (action: string): string => {
    const screen = action.slice(0, action.indexOf('.') + 1);
    const names = [...actions].filter((each) => each.startsWith(screen)).map((each) => each.slice(screen.length));
    const near = nearest(action.slice(screen.length), names);
    return near === null ? '' : `; did you mean ${screen}${near}?`;
  };
  const twice = tables.flatMap((table) =>
    table
      .filter(({ action }) => Object.hasOwn(own, action))
      .flatMap((one) =>
        table.filter((other) => other !== one && meets(one, other)).map((other) => [one, other] as const),
      ),
  );
  return [
    ...unknown.map((action) => `keys: unknown action "${action}"${meant(action)}`),
    ...twice.map(([one, other]) => `keys: ${one.keys[0] ?? ''} is used by ${one.action} and ${other.action}`),
  ];
}

const meets = (one: Keys, other: Keys): boolean => one.keys.some((key) => other.keys.includes(key));

/** The descriptive part of a binding. */
export type Action = Pick<Binding<never>, 'action' | 'keys' | 'hint' | 'help' | 'more'>;

/** A screen together with its state, so that the app can hold different screens alike. */
export type Page = ReturnType<typeof pageOf>;

export const TITLES: Readonly<Record<ScreenName, string>> = {
  start: 'Start',
  plan: 'Plan',
  run: 'Run',
  result: 'Result',
  review: 'Review',
};

/** The keys of a screen in reading order: those in the footer, other ones, then those of fields and panes. Dispatch uses the order of the table. */
export function readableKeys<Ui>({ name, keys }: Screen<Ui>, own: OwnKeys): readonly Binding<Ui>[] {
  const rank = ({ action, hint }: Action): number => (!action.startsWith(`${name}.`) ? 2 : hint === '' ? 1 : 0);
  return rebind(keys, own).toSorted((a, b) => rank(a) - rank(b));
}

/** Joins a screen with its state. `own`: the user's keys by action. */
export function pageOf<Ui>(screen: Screen<Ui>, own: OwnKeys) {
  const table = rebind(screen.keys, own);
  const ordered = readableKeys(screen, own);
  let ui = screen.first;
  const takeEffect = ({ ui: next, ...rest }: Effect<Ui>): DialogEffect => {
    if (next !== undefined) ui = next;
    return rest;
  };
  const viaTable = (key: string, context: Context): DialogEffect | null => {
    const wanted = table.filter(({ keys }) => keys.includes(key)).map((one) => ({ one, why: one.whyNot(ui, context) }));
    const able = wanted.find(({ why }) => why === null);
    if (able) return takeEffect(able.one.run(ui, context, key));
    // An empty reason means that the key has no meaning here; the app may use it.
    const why = wanted.find((one) => one.why !== '')?.why ?? null;
    return why === null ? null : { toast: { level: 'info', text: why, about: 'screen' } };
  };
  const viaInput = (input: Input, context: Context, size: Size): DialogEffect | null => {
    const effect = screen.input?.(ui, context, input, size) ?? null;
    return effect === null ? null : takeEffect(effect);
  };
  const typing = (context: Context): boolean => screen.typing?.(ui, context) ?? false;
  return {
    name: screen.name,
    typing,
    settle: (context: Context, size: Size): void => void (ui = screen.settle?.(ui, context, size) ?? ui),
    painted: (context: Context): void => void (ui = screen.painted?.(ui, context) ?? ui),
    moving: (context: Context): boolean => screen.moving?.(ui, context) ?? false,
    unfinished: (): boolean => screen.unfinished?.(ui) ?? false,
    header: (context: Context, width: number) => screen.header(ui, context, width),
    body: (context: Context, size: Size): Body => screen.body(ui, context, size),
    position: (context: Context): string => screen.position?.(ui, context) ?? '',
    hints: (context: Context): readonly Hint[] => hintsOf(table, ui, context),
    // An action without meaning in this state leaves its keys to another binding.
    help: (context: Context): readonly HelpPart[] =>
      helpOf(
        ordered.filter((binding) => binding.whyNot(ui, context) !== ''),
        context.glyphs,
        own,
      ),
    entries: (context: Context): readonly Entry[] => entriesOf(ordered, ui, context, takeEffect),
    press(input: Input, context: Context, size: Size): DialogEffect | null {
      if (input.is !== 'key') return viaInput(input, context, size);
      if (!typing(context)) return viaTable(input.key, context) ?? viaInput(input, context, size);
      return viaInput(input, context, size) ?? (isPlain(input.key) ? null : viaTable(input.key, context));
    },
    open: (agent: AgentId): void => void (ui = screen.opened?.(ui, agent) ?? ui),
    drafted: (edit: PlanEdit, context: Context): DialogEffect => takeEffect(screen.drafted?.(ui, context, edit) ?? {}),
  };
}

/** `next`, or `before` where nothing in it changed: an unchanged state stays the same object. */
export function settled<Ui extends object>(before: Ui, next: Ui): Ui {
  const known = new Map(Object.entries(before));
  return Object.entries(next).every(([name, value]) => known.get(name) === value) ? before : next;
}

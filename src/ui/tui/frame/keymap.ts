/**
 * What the key tables are good for: dispatch, the footer, the help, and the user's own keys. The tables themselves stand
 * with their screens; nothing about a key is written down twice.
 */
import { nearest } from '../../../domain/text/nearest.ts';
import type { DialogEffect, Binding, Context, Effect } from './screen.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { clip, lineWidth, span } from '../../../app/views/text/clip.ts';
import type { Line } from '../../../app/views/text/line.ts';
import { widthOf } from '../../../app/views/text/width.ts';

/** The binding for a key, or undefined. The first of the table wins. */
export const bindingFor = <Ui>(table: readonly Binding<Ui>[], key: string): Binding<Ui> | undefined =>
  table.find(({ keys }) => keys.includes(key));

/** True for keys that a field takes as text: letters, digits, blanks. */
export const isPlain = (key: string): boolean => !NAMED.has(key) && !/^(?:ctrl|alt|shift)-./.test(key);

const NAMED: ReadonlySet<string> = new Set(
  'enter esc tab backtab backspace delete insert up down left right home end pageup pagedown'
    .split(' ')
    .concat(Array.from({ length: 24 }, (_, index) => `f${index + 1}`)),
);

/** A key as people read it: `⏎`, `Esc`, `^R`, `Shift-Tab`. */
export function keyLabel(key: string, glyphs: Glyphs): string {
  if (key.startsWith('ctrl-')) return `^${key.slice(5).toUpperCase()}`;
  const [, prefix, rest] = /^(alt|shift)-(.+)$/.exec(key) ?? [];
  if (prefix !== undefined && rest !== undefined)
    return `${prefix === 'alt' ? glyphs.alt : 'Shift'}-${keyLabel(rest, glyphs)}`;
  if (isSign(key)) return glyphs.key[key];
  return LABELS[key] ?? (/^f\d+$/.test(key) ? key.toUpperCase() : key);
}

const isSign = (key: string): key is keyof Glyphs['key'] => SIGNS.has(key);
const SIGNS: ReadonlySet<string> = new Set(['enter', 'up', 'down', 'left', 'right'] satisfies (keyof Glyphs['key'])[]);

const LABELS: Readonly<Record<string, string>> = {
  esc: 'Esc',
  tab: 'Tab',
  backtab: 'Shift-Tab',
  backspace: 'Backspace',
  delete: 'Del',
  home: 'Home',
  end: 'End',
  pageup: 'PgUp',
  pagedown: 'PgDn',
  ' ': 'Space',
};

/** The two keys that go up and down, as one: `↑↓`. */
export const upDown = (glyphs: Glyphs): string => shown(['up', 'down'], glyphs);

/** What the footer shows of a binding: its first key, and the second where the two are a pair (`↑↓`). */
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
  /** It can be used in a moment: shown greyed and without its key, so that nothing moves when it can. */
  readonly soon?: true;
}

/** Hints of what can be done now or in a moment, in the order of the table. Bindings that can't be used are left out. */
export const hintsOf = <Ui>(table: readonly Binding<Ui>[], ui: Ui, context: Context): readonly Hint[] =>
  table
    .filter(({ hint, keys }) => hint !== '' && keys.length > 0)
    .flatMap((binding): Hint | readonly [] => {
      const hint = { keys: shown(binding.keys, context.glyphs), hint: binding.hint };
      if (binding.whyNot(ui, context) === null) return hint;
      return binding.soon?.(ui, context) === true ? { ...hint, soon: true } : [];
    });

/** Hints of the app's keys that aren't letters: what is left while a field takes those. */
export const hintsWhileTyping = (table: readonly Binding<null>[], context: Context): readonly Hint[] =>
  hintsOf(
    table.map((binding) => Object.assign({}, binding, { keys: binding.keys.filter((key) => !isPlain(key)) })),
    null,
    context,
  );

export interface FooterMarks {
  /** Still shown where not all fit. */
  readonly kept?: Hint | undefined;
  /** The sign of the key that was pressed a moment ago. */
  readonly lit?: string | null | undefined;
}

/**
 * The footer: exactly `width` columns; hints that don't fit end in an ellipsis, and then `kept` is still shown
 * where there is room for it. The position stays on the right.
 */
export function footerLine(
  hints: readonly Hint[],
  position: string,
  width: number,
  glyphs: Glyphs,
  { kept, lit }: FooterMarks = {},
): Line {
  const right: Line = position === '' ? [] : [span(`  ${position} `, { fg: 'faint', bg: 'raised' })];
  const room = Math.max(0, width - lineWidth(right) - 1);
  const all = hintLine(hints, lit);
  const left = lineWidth(all) <= room ? all : shortened(hints, room, glyphs, { kept, lit });
  const start: Line = [span(' ', { bg: 'raised' }), ...left];
  const missing = Math.max(0, width - lineWidth(start) - lineWidth(right));
  return clip([...start, span(' '.repeat(missing), { bg: 'raised' }), ...right], width, '');
}

/** As many of the first hints as fit before the sign of more and the hint that is kept. */
function shortened(hints: readonly Hint[], room: number, glyphs: Glyphs, { kept, lit }: FooterMarks): Line {
  const sign = span(` ${glyphs.ellipsis}`, { fg: 'faint', bg: 'raised' });
  const whole: Line = kept === undefined ? [sign] : [sign, span(' ', { bg: 'raised' }), ...hintLine([kept], lit)];
  if (lineWidth(whole) > room) return room < 2 ? [] : [sign];
  const others = hints.filter(({ keys }) => keys !== kept?.keys);
  let fitting = others.length;
  while (fitting > 0 && lineWidth(hintLine(others.slice(0, fitting), lit)) + lineWidth(whole) > room) fitting -= 1;
  return [...hintLine(others.slice(0, fitting), lit), ...whole];
}

const hintLine = (hints: readonly Hint[], lit: string | null | undefined): Line =>
  hints.flatMap(
    ({ keys, hint, soon }, index): Line => [
      ...(index === 0 ? [] : [span('  ', { bg: 'raised' })]),
      ...(soon
        ? [span(`${' '.repeat(widthOf(keys))} ${hint}`, { fg: 'faint', bg: 'raised' })]
        : [
            span(keys, { fg: 'focus', bg: 'raised', bold: true, ...(isLit(keys, lit) ? { inverse: true } : {}) }),
            span(` ${hint}`, { fg: 'muted', bg: 'raised' }),
          ]),
    ],
  );

/** Is the key that was pressed this sign, one of several (`⏎/Esc`), or one of a pair (`↑↓`)? */
export function isLit(keys: string, lit: string | null | undefined): boolean {
  if (lit === null || lit === undefined || lit === '') return false;
  return (
    keys === lit ||
    keys.split(/[/ ]+/).includes(lit) ||
    (keys.length === 2 && !/^[\^F]/.test(keys) && keys.includes(lit))
  );
}

/** One line of the palette. */
export interface Entry {
  readonly action: string;
  readonly keys: string;
  readonly help: string;
  /** Null when it can be done now; else why not, empty where the key means nothing here. */
  readonly why: string | null;
  run(): DialogEffect;
}

/** All of a table for the palette; what comes of one that is run is `taken`. */
export const entriesOf = <Ui>(
  table: readonly Binding<Ui>[],
  ui: Ui,
  context: Context,
  taken: (effect: Effect<Ui>) => DialogEffect,
): readonly Entry[] =>
  table.map((binding) => ({
    action: binding.action,
    keys: shown(binding.keys, context.glyphs),
    help: binding.help,
    why: binding.whyNot(ui, context),
    // A key that was taken away still means its action.
    run: () => taken(binding.run(ui, context, binding.keys[0] ?? 'none')),
  }));

export interface HelpPart {
  readonly title: string;
  readonly rows: readonly { readonly keys: string; readonly help: string }[];
}

/** The help's rows of one table: every key, and the sentence; `own` are the user's keys by action, which are named as such. */
export const helpOf = <Ui>(
  title: string,
  table: readonly Binding<Ui>[],
  glyphs: Glyphs,
  own: Readonly<Record<string, string>> = {},
): HelpPart => ({
  title,
  rows: table
    .filter(({ action, keys }) => keys.length > 0 || Object.hasOwn(own, action))
    .map(({ action, keys, help }) => ({
      keys: keys.length === 0 ? 'none' : keys.map((key) => keyLabel(key, glyphs)).join(' '),
      help: Object.hasOwn(own, action) ? `${help} (Your own key: ${action}.)` : help,
    })),
});

/** A table with the user's own keys in it (`run.kill: x`; `none` takes the key away). */
export const rebind = <Ui>(
  table: readonly Binding<Ui>[],
  own: Readonly<Record<string, string>>,
): readonly Binding<Ui>[] =>
  table.map((binding): Binding<Ui> => {
    const key = Object.hasOwn(own, binding.action) ? own[binding.action] : undefined;
    if (key === undefined) return binding;
    return {
      ...binding,
      keys: key === 'none' ? [] : [key],
      whyNot: (ui, context) => binding.whyNot(ui, context),
      run: (ui, context, pressed) => binding.run(ui, context, key === pressed ? (binding.keys[0] ?? pressed) : pressed),
    };
  });

interface Keys {
  readonly action: string;
  readonly keys: readonly string[];
}

/** What is wrong with the user's own keys, a sentence each: unknown actions, and a key that another action of the table has. */
export function keyFaults(
  tables: readonly (readonly Keys[])[],
  own: Readonly<Record<string, string>>,
): readonly string[] {
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
    ...unknown.map((action) => `keys: there is no action "${action}"${meant(action)}`),
    ...twice.map(([one, other]) => `keys: ${one.keys[0] ?? ''} is wanted by ${one.action} and by ${other.action}`),
  ];
}

const meets = (one: Keys, other: Keys): boolean => one.keys.some((key) => other.keys.includes(key));

/** The keys of copy mode, as a table like those of screens: what each does to the cursor, the selection, the search. */
import type { Action } from '../frame/page.ts';
import { type Editor, openEditor } from '../text/editor.ts';
import { type Place, type Row, type Shape, find, letterAt } from './cells.ts';

export interface Copying {
  readonly rows: readonly Row[];
  readonly at: Place;
  /** Where the selection began. */
  readonly mark: (Place & { readonly shape: Shape }) | null;
  /** What is looked for. */
  readonly sought: string;
  /** The field of the search, while it is written. */
  readonly field: Editor | null;
  /** The table, as the person wants it. */
  readonly keys: readonly CopyBinding[];
}

/** What a key leads to: the next state, the end, or the end with a copy. */
export type Outcome = Copying | 'leave' | 'copy';

export interface CopyBinding extends Action {
  run(copying: Copying, key: string): Outcome;
}

export const COPY_KEYS: readonly CopyBinding[] = [
  {
    keys: [
      'up',
      'down',
      'left',
      'right',
      'k',
      'j',
      'h',
      'l',
      'pageup',
      'pagedown',
      'ctrl-u',
      'ctrl-d',
      'home',
      'end',
      '0',
      '$',
      'g',
      'G',
    ],
    action: 'copy.move',
    hint: '',
    help: 'Move by letters, lines and pages, to the ends of the line and of the screen.',
    run: (copying, key) => moved(copying, STEPS[key]?.(copying) ?? copying.at),
  },
  {
    keys: ['w', 'b'],
    action: 'copy.word',
    hint: '',
    help: 'To the next word, and back to the former one.',
    run: (copying, key) => moved(copying, key === 'w' ? nextWord(copying) : formerWord(copying)),
  },
  {
    keys: ['v', ' '],
    action: 'copy.select',
    hint: 'select',
    help: 'Select from here, letter by letter; again: no selection.',
    run: (copying) => marked(copying, 'letters'),
  },
  {
    keys: ['V'],
    action: 'copy.lines',
    hint: 'lines',
    help: 'Select whole lines from here.',
    run: (copying) => marked(copying, 'lines'),
  },
  {
    keys: ['ctrl-v', 'B'],
    action: 'copy.block',
    hint: 'block',
    help: 'Select a rectangle from here: one of several panes side by side.',
    run: (copying) => marked(copying, 'block'),
  },
  {
    keys: ['y', 'enter'],
    action: 'copy.take',
    hint: 'copy',
    help: 'Copy what is selected, else the line; then copy mode ends.',
    run: () => 'copy',
  },
  {
    keys: ['/'],
    action: 'copy.search',
    hint: 'search',
    help: 'Look for a text on the screen.',
    run: (copying) => ({ ...copying, field: openEditor() }),
  },
  {
    keys: ['n', 'N'],
    action: 'copy.next',
    hint: '',
    help: 'To the next, and the former, place of what was looked for.',
    run: (copying, key) => sought(copying, copying.sought, key === 'n' ? 1 : -1),
  },
  {
    keys: ['esc', 'q', 'C', 'f3'],
    action: 'copy.leave',
    hint: 'leave',
    help: 'Leave copy mode; Esc first gives up a selection.',
    run: (copying, key) => (key === 'esc' && copying.mark !== null ? { ...copying, mark: null } : 'leave'),
  },
];

/** The table with the person's own keys in it; `none` takes one away. */
export const copyKeys = (own: Readonly<Record<string, string>>): readonly CopyBinding[] =>
  COPY_KEYS.map((binding) => {
    const key = Object.hasOwn(own, binding.action) ? own[binding.action] : undefined;
    if (key === undefined) return binding;
    const first = binding.keys[0] ?? key;
    return { ...binding, keys: key === 'none' ? [] : [key], run: (copying) => binding.run(copying, first) };
  });

/** The first place of a text from the cursor on; the same state where there is none. */
export function sought(copying: Copying, text: string, by: 1 | -1): Copying {
  const at = find(copying.rows, text, copying.at, by);
  return { ...copying, sought: text, ...(at === null ? {} : { at }) };
}

/** The cursor at a place, on the screen and on a letter. */
export function moved(copying: Copying, { x, y }: Place): Copying {
  const row = Math.max(0, Math.min(copying.rows.length - 1, y));
  const cells = copying.rows[row] ?? [];
  return { ...copying, at: { x: letterAt(cells, Math.max(0, Math.min(cells.length - 1, x))), y: row } };
}

const marked = (copying: Copying, shape: Shape): Copying => ({
  ...copying,
  mark: copying.mark?.shape === shape ? null : { ...(copying.mark ?? copying.at), shape },
});

type Step = (copying: Copying) => Place;
const by =
  (rows: number): Step =>
  ({ at }) => ({ x: at.x, y: at.y + rows });
const page = ({ rows }: Copying): number => Math.max(1, rows.length - 1);
const left: Step = ({ at }) => ({ x: at.x - 1, y: at.y });
const right: Step = ({ rows, at }) => ({ x: at.x + ((rows[at.y] ?? [])[at.x + 1] === '' ? 2 : 1), y: at.y });
const home: Step = ({ at }) => ({ x: 0, y: at.y });
const end: Step = ({ rows, at }) => ({ x: lastLetter(rows[at.y] ?? []), y: at.y });
const top: Step = () => ({ x: 0, y: 0 });
const bottom: Step = ({ rows }) => ({ x: 0, y: rows.length - 1 });

const STEPS: Readonly<Record<string, Step>> = {
  up: by(-1),
  k: by(-1),
  down: by(1),
  j: by(1),
  left,
  h: left,
  right,
  l: right,
  pageup: (copying) => by(-page(copying))(copying),
  pagedown: (copying) => by(page(copying))(copying),
  'ctrl-u': (copying) => by(-(page(copying) >> 1))(copying),
  'ctrl-d': (copying) => by(page(copying) >> 1)(copying),
  home,
  0: home,
  end,
  $: end,
  g: top,
  G: bottom,
};

const lastLetter = (row: Row): number =>
  Math.max(
    0,
    row.findLastIndex((cluster) => cluster.trim() !== ''),
  );

const isLetter = (cluster: string | undefined): boolean => cluster !== undefined && /[\p{L}\p{N}_]/u.test(cluster);
const isStart = (row: Row, x: number): boolean => isLetter(row[x]) && !isLetter(row[x - 1]);

function nextWord({ rows, at }: Copying): Place {
  for (let y = at.y; y < rows.length; y++) {
    const row = rows[y] ?? [];
    const x = row.findIndex((_, column) => (y > at.y || column > at.x) && isStart(row, column));
    if (x !== -1) return { x, y };
  }
  return at;
}

function formerWord({ rows, at }: Copying): Place {
  for (let y = at.y; y >= 0; y--) {
    const row = rows[y] ?? [];
    const x = row.findLastIndex((_, column) => (y < at.y || column < at.x) && isStart(row, column));
    if (x !== -1) return { x, y };
  }
  return at;
}

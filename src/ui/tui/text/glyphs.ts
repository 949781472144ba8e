/** The signs of the screen in Unicode and in ASCII. Each is a single code point of one column. */

type Three = readonly [string, string, string];
type Lanes = readonly [string, string, string, string, string, string, string];
type Border = readonly [string, string, string, string, string, string];
const three = (...signs: Three): Three => signs;
const lanes = (...signs: Lanes): Lanes => signs;
const border = (...signs: Border): Border => signs;

export const UNICODE = {
  status: {
    pending: '○',
    initializing: '◐',
    running: '●',
    waiting: '◌',
    completed: '✓',
    failed: '✗',
    interrupted: '⏸',
  },
  /** Replaces `status.waiting` if the agent waits for a provider, not for a person. */
  held: '◔',
  todo: { pending: '○', active: '▸', completed: '✓' },
  ellipsis: '…',
  prompt: '❯',
  activity: '⟩',
  tool: '⚙',
  child: '╰',
  selected: '▌',
  needs: '◂',
  unlocks: '▸',
  node: '◆',
  edited: '✎',
  /** Required by policy; cannot be changed. */
  lock: '▣',
  arrow: '→',
  /** Before a continuation row: after a blank, and inside a word. */
  continuation: { blank: '↪', word: '+' },
  dot: '·',
  /** Cells of a gauge: spent, reserved, left. */
  gauge: three('▰', '▱', '·'),
  /** Cells of the schedule: critical, other, nothing. */
  bar: three('▆', '▬', '·'),
  scroll: '▐',
  bullet: '•',
  /** The name of the modifier that terminals send as Alt. */
  alt: 'Alt',
  key: { enter: '⏎', up: '↑', down: '↓', left: '←', right: '→' },
  spark: ['▁', '▂', '▃', '▄', '▅', '▆'],
  /** A bar of one row: full, half, rest. */
  meter: three('━', '╸', '─'),
  /** Top left, top right, bottom left, bottom right, horizontal, vertical. */
  light: border('┌', '┐', '└', '┘', '─', '│'),
  heavy: border('┏', '┓', '┗', '┛', '━', '┃'),
  round: border('╭', '╮', '╰', '╯', '─', '│'),
  /** Lanes: vertical, horizontal, crossing, tee right, tee left, tee up, corner up-left. */
  lane: lanes('│', '─', '┼', '├', '┤', '┴', '╯'),
};

export type Glyphs = Readonly<typeof UNICODE>;

export const ASCII: Glyphs = {
  status: {
    pending: '.',
    initializing: '~',
    running: '*',
    waiting: ':',
    completed: 'v',
    failed: 'x',
    interrupted: '=',
  },
  held: '@',
  todo: { pending: '.', active: '>', completed: 'v' },
  ellipsis: '~',
  prompt: '>',
  activity: '>',
  tool: '$',
  child: '`',
  selected: '>',
  needs: '<',
  unlocks: '>',
  node: 'o',
  edited: '*',
  lock: '#',
  arrow: '>',
  continuation: { blank: '\\', word: '+' },
  dot: '-',
  gauge: ['#', '=', '.'],
  bar: ['#', '=', '.'],
  scroll: '|',
  bullet: '*',
  alt: 'Alt',
  key: { enter: 'Enter', up: 'Up', down: 'Down', left: 'Left', right: 'Right' },
  spark: ['_', '.', '-', '=', '+', '#'],
  meter: ['=', '-', '.'],
  light: ['+', '+', '+', '+', '-', '|'],
  heavy: ['#', '#', '#', '#', '=', '#'],
  round: ['+', '+', '+', '+', '-', '|'],
  lane: ['|', '-', '+', '+', '+', '+', "'"],
};

/** The signs for a terminal and keyboard; a Mac has an Option key. */
export const glyphsFor = ({ ascii, platform }: { readonly ascii: boolean; readonly platform: string }): Glyphs => ({
  ...(ascii ? ASCII : UNICODE),
  alt: platform === 'darwin' ? 'Opt' : 'Alt',
});

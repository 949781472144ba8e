/** The signs on the screen, in Unicode and in ASCII. Never a sequence of several code points; never wider than a column. */
import type { AgentStatus } from '../../../domain/agents/agent.ts';

export interface Glyphs {
  readonly status: Readonly<Record<AgentStatus, string>>;
  /** In the place of `status.waiting` where a provider is waited for, not a person. */
  readonly held: string;
  readonly todo: Readonly<Record<'pending' | 'active' | 'completed', string>>;
  readonly ellipsis: string;
  readonly prompt: string;
  readonly activity: string;
  readonly tool: string;
  readonly child: string;
  readonly selected: string;
  readonly needs: string;
  readonly unlocks: string;
  readonly node: string;
  readonly edited: string;
  /** What can't be changed here: put there by the rules. */
  readonly lock: string;
  /** Commands run in the sandbox. */
  readonly boxed: string;
  readonly arrow: string;
  /** In front of a row that goes on from the one above: behind a blank, and in the middle of a word. */
  readonly goesOn: Readonly<Record<'blank' | 'word', string>>;
  readonly dot: string;
  /** Cells of a gauge: what is spent, what is reserved, what is left. */
  readonly gauge: readonly [spent: string, reserved: string, free: string];
  /** Schedule: critical, other, nothing. */
  readonly bar: readonly [critical: string, other: string, none: string];
  readonly scroll: string;
  /** In front of an entry of a list. */
  readonly bullet: string;
  /** What the modifier is called that terminals send as Alt. */
  readonly alt: 'Alt' | 'Opt';
  /** Names of keys that have a sign. */
  readonly key: Readonly<Record<'enter' | 'up' | 'down' | 'left' | 'right', string>>;
  /** Sparkline, lowest first. */
  readonly spark: readonly string[];
  /** A bar of one row: full, half, rest. */
  readonly meter: readonly [full: string, half: string, rest: string];
  /** tl, tr, bl, br, horizontal, vertical. */
  readonly light: readonly [string, string, string, string, string, string];
  readonly heavy: readonly [string, string, string, string, string, string];
  readonly round: readonly [string, string, string, string, string, string];
  /** Lanes: vertical, horizontal, crossing, tee right, tee left, tee up, corner up-left. */
  readonly lane: readonly [string, string, string, string, string, string, string];
}

export const UNICODE: Glyphs = {
  status: {
    pending: '○',
    initializing: '◐',
    running: '●',
    waiting: '◌',
    completed: '✓',
    failed: '✗',
    interrupted: '⏸',
  },
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
  lock: '▣',
  boxed: '▢',
  arrow: '→',
  goesOn: { blank: '↪', word: '+' },
  dot: '·',
  gauge: ['▰', '▱', '·'],
  bar: ['▆', '▬', '·'],
  scroll: '▐',
  bullet: '•',
  alt: 'Alt',
  key: { enter: '⏎', up: '↑', down: '↓', left: '←', right: '→' },
  spark: ['▁', '▂', '▃', '▄', '▅', '▆'],
  meter: ['━', '╸', '─'],
  light: ['┌', '┐', '└', '┘', '─', '│'],
  heavy: ['┏', '┓', '┗', '┛', '━', '┃'],
  round: ['╭', '╮', '╰', '╯', '─', '│'],
  lane: ['│', '─', '┼', '├', '┤', '┴', '╯'],
};

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
  boxed: '[]',
  arrow: '>',
  goesOn: { blank: '\\', word: '+' },
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

/** The signs for this terminal and keyboard: a Mac has an Option key. */
export const glyphsFor = ({ ascii, platform }: { readonly ascii: boolean; readonly platform: string }): Glyphs => ({
  ...(ascii ? ASCII : UNICODE),
  alt: platform === 'darwin' ? 'Opt' : 'Alt',
});

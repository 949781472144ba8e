/** Keys of the run screen's panes: which has the keys, how large it is, and what the log shows. */
import { ZOOMS, type PaneName } from '../../components/layout.ts';
import type { Binding } from '../../frame/screen.ts';
import type { RunUi } from './state.ts';

const SILENT = '';
const PANES: readonly PaneName[] = ['cards', 'detail', 'side', 'log'];
const LEVELS = ['info', 'warn', 'error'] as const;
const PAGE = 10;

const always = (): null => null;
const inLog = (ui: RunUi): string | null => (ui.focus === 'log' ? null : SILENT);

/** Which pane has the keys, and how large it is. */
export const PANE_KEYS: readonly Binding<RunUi>[] = [
  {
    keys: ['tab'],
    action: 'run.pane',
    hint: 'pane',
    help: 'On to the next pane: list, opened agent, activity and spend, log, a question that waits.',
    whyNot: always,
    run: (ui, { state }) => ({
      ui: { ...ui, focus: PANES[(PANES.indexOf(ui.focus) + 1) % PANES.length] ?? 'cards' },
      ...(ui.lastPane && state.approvals.length > 0 ? { app: 'inbox' } : {}),
    }),
  },
  {
    keys: ['1', '2', '3', '4'],
    action: 'run.goto',
    hint: '',
    help: 'To the list, the opened agent, activity and spend, or the log.',
    whyNot: always,
    run: (ui, _, key) => ({ ui: toPane(ui, PANES[Number(key) - 1] ?? ui.focus) }),
  },
  {
    keys: ['+', '_'],
    action: 'run.zoom',
    hint: '',
    help: 'The pane that has the keys larger, up to the whole screen, or smaller again.',
    whyNot: always,
    run: (ui, _, key) => {
      const at = ZOOMS.indexOf(ui.zoom) + (key === '+' ? 1 : -1);
      return { ui: { ...ui, zoom: ZOOMS[Math.max(0, Math.min(ZOOMS.length - 1, at))] ?? 'normal' } };
    },
  },
];

/** Who asks for the log by its number gets it where it is only a ticker, too, or was put away. */
const toPane = (ui: RunUi, focus: PaneName): RunUi => ({ ...ui, focus, log: focus === 'log' ? 'shown' : ui.log });

/** The log: its own keys while it has them, and its size. */
export const LOG_KEYS: readonly Binding<RunUi>[] = [
  {
    keys: ['up', 'down', 'k', 'j', 'pageup', 'pagedown', 'ctrl-u', 'ctrl-d', 'g', 'home', 'G', 'end'],
    action: 'log.scroll',
    hint: 'scroll',
    help: 'Scroll the log; G goes to its end and follows what is new.',
    whyNot: inLog,
    run: (ui, _, key) => ({ ui: { ...ui, logBack: Math.max(0, ui.logBack + (STEPS[key] ?? 0)) } }),
  },
  {
    keys: ['L', 'enter'],
    action: 'log.level',
    hint: 'level',
    help: 'What the log shows: all, warnings and errors, errors.',
    whyNot: inLog,
    run: (ui) => ({
      ui: { ...ui, logBack: 0, logLevel: LEVELS[(LEVELS.indexOf(ui.logLevel) + 1) % LEVELS.length] ?? 'info' },
    }),
  },
  {
    keys: ['l'],
    action: 'run.log',
    hint: '',
    help: 'A larger log, none, or what fits.',
    whyNot: (ui) => (ui.focus === 'detail' ? SILENT : null),
    run: (ui) => ({ ui: { ...ui, log: ui.log === 'auto' ? 'shown' : ui.log === 'shown' ? 'hidden' : 'auto' } }),
  },
];

const ALL = 1_000_000;
/** Up is back in time. */
const STEPS: Readonly<Record<string, number>> = {
  up: 1,
  k: 1,
  down: -1,
  j: -1,
  pageup: PAGE,
  'ctrl-u': PAGE / 2,
  pagedown: -PAGE,
  'ctrl-d': -PAGE / 2,
  g: ALL,
  home: ALL,
  G: -ALL,
  end: -ALL,
};

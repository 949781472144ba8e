/** The end of a run: its keys and where one has scrolled to. What it looks like is result-view.ts. */
import type { Binding, Screen } from '../screen.ts';
import { crumbs, runNumbers } from '../view/header.ts';
import { lastTop, resultBody } from './result-view.ts';

export interface ResultUi {
  readonly top: number;
}

const RESULT_KEYS: readonly Binding<ResultUi>[] = [
  {
    keys: ['up', 'down', 'k', 'j', 'pageup', 'pagedown', ' ', 'ctrl-u', 'ctrl-d', 'g', 'G', 'home', 'end'],
    action: 'result.scroll',
    hint: 'scroll',
    help: 'Scroll the report.',
    whyNot: () => null,
    run: (ui, _, key) => ({ ui: { top: Math.max(0, ui.top + (STEPS[key] ?? 0)) } }),
  },
  {
    keys: ['esc', 'enter'],
    action: 'result.cards',
    hint: 'cards',
    help: 'Back to the cards: every transcript is still there.',
    whyNot: () => null,
    run: () => ({ app: { show: 'run' } }),
  },
  {
    keys: ['r'],
    action: 'result.resume',
    hint: 'resume',
    help: 'Go on with a run that was stopped: try the provider again, say.',
    whyNot: (_, { state }) => (state.finished?.status === 'stopped' ? null : 'This run was not stopped.'),
    run: (_, { state }) => (state.session === null ? {} : { app: { resume: state.session } }),
  },
  {
    keys: ['p'],
    action: 'result.plan',
    hint: 'plan',
    help: 'Look at the plan again.',
    whyNot: (_, { state }) => (state.plan ? null : 'There is no plan.'),
    run: () => ({ app: { show: 'plan' } }),
  },
  {
    keys: ['n'],
    action: 'result.new',
    hint: 'new task',
    help: 'Start another task; this run stays in the list of sessions.',
    whyNot: () => null,
    run: () => ({ app: { show: 'start' } }),
  },
];

const STEPS: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  pageup: -20,
  'ctrl-u': -10,
  pagedown: 20,
  ' ': 20,
  'ctrl-d': 10,
  g: Number.MIN_SAFE_INTEGER,
  home: Number.MIN_SAFE_INTEGER,
  G: Number.MAX_SAFE_INTEGER,
  end: Number.MAX_SAFE_INTEGER,
};

export const resultScreen: Screen<ResultUi> = {
  name: 'result',
  first: { top: 0 },
  keys: RESULT_KEYS,
  header: (_, context, width = 120) => ({
    left: crumbs('result', context.state.task, context.glyphs),
    right: runNumbers(context, width),
  }),
  body: (ui, context, size) => ({ lines: resultBody(ui.top, context, size) }),
  settle(ui, context, size) {
    const top = Math.max(0, Math.min(ui.top, lastTop(context, size)));
    return top === ui.top ? ui : { top };
  },
  position: (ui, context) => (context.state.finished && ui.top > 0 ? `line ${ui.top + 1}` : ''),
  input: (ui, _, input) => (input.is === 'wheel' ? { ui: { top: Math.max(0, ui.top + 3 * input.by) } } : null),
};

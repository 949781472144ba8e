/** The end of a run: its keys and where one has scrolled to. What it looks like is view.ts. */
import { resumeCost } from '../../../../app/views/spending/resume-cost.ts';
import {
  COMMIT_REQUEST,
  messageMain,
  recipientOf,
  retryRun,
  retryWords,
  whyNotCommit,
  whyNotTalk,
} from '../../../../app/actions/index.ts';
import type { RunState } from '../../../../events/state.ts';
import type { Dialog, DialogEffect, Binding, Context, Effect, Screen } from '../../frame/screen.ts';
import type { ReportFormat } from '../../../../ports/project-service.ts';
import type { Size } from '../../terminal/terminal.ts';
import { crumbs } from '../../components/header.ts';
import { messageRow } from '../../components/input-row.ts';
import { runNumbers } from '../../components/money/run-numbers.ts';
import { type ResultLook, type ResultTab, lastTop, resultBody, TABS } from './view.ts';

export interface ResultUi extends ResultLook {}

const tab = (name: ResultTab, action: string, help: string): Binding<ResultUi> => ({
  keys: [String(TABS.indexOf(name) + 1)],
  action,
  hint: '',
  help,
  whyNot: () => null,
  run: () => ({ ui: { tab: name, top: 0 } }),
});

const answerOf = ({ state }: Context): string => state.finished?.summary ?? '';
const noAnswer = (_: ResultUi, context: Context): string | null =>
  answerOf(context).trim() === '' ? 'This run has no answer.' : null;

const FORMATS: readonly { readonly value: ReportFormat; readonly label: string; readonly note: string }[] = [
  { value: 'md', label: 'Markdown', note: 'to read, to paste into an issue' },
  { value: 'html', label: 'web page', note: 'one file, nothing loaded from elsewhere' },
  { value: 'json', label: 'JSON', note: 'every number, for programs' },
];

const exportPick = (): Effect<ResultUi> => ({
  dialog: {
    is: 'pick',
    title: 'Write the report as',
    choices: FORMATS.map((one) => ({ ...one, whyNot: null })),
    value: 'md',
    then: (value): DialogEffect => {
      const format = FORMATS.find((one) => one.value === value)?.value;
      return format === undefined ? {} : { app: { export: format } };
    },
  },
});

const followedUp = ({ session }: RunState, followUp: string): Effect<never> =>
  session === null ? {} : { app: { resume: session, followUp } };

const followUpDialog = (state: RunState): Dialog => ({
  is: 'text',
  title: `Message ${mainWords(state)}`,
  hint: 'it continues with all that is known',
  value: '',
  lines: 4,
  yes: 'send',
  check: (text) => messageMain.whyNot(state, { text }),
  then: (text) => followedUp(state, text),
});

/** `main (ROOT)` */
function mainWords(state: RunState): string {
  const id = recipientOf(state, null);
  return `${state.agents.get(id)?.name ?? 'main'} (${id})`;
}

/** The last row: whom a person can write to. */
const BOTTOM = 1;
const above = ({ width, height }: Size): Size => ({ width, height: Math.max(0, height - BOTTOM) });

const RESULT_KEYS: readonly Binding<ResultUi>[] = [
  {
    keys: ['up', 'down', 'k', 'j', 'pageup', 'pagedown', ' ', 'ctrl-u', 'ctrl-d', 'g', 'G', 'home', 'end'],
    action: 'result.scroll',
    hint: 'scroll',
    help: 'Scroll the report.',
    whyNot: () => null,
    run: (ui, _, key) => ({ ui: { ...ui, top: Math.max(0, ui.top + (STEPS[key] ?? 0)) } }),
  },
  {
    keys: ['tab', 'right', 'l', 'left', 'h'],
    action: 'result.next',
    hint: 'section',
    help: 'The next section: answer, agents, estimates, costs, files; left goes back.',
    whyNot: () => null,
    run: (ui, _, key) => {
      const by = key === 'left' || key === 'h' ? -1 : 1;
      const at = (TABS.indexOf(ui.tab) + by + TABS.length) % TABS.length;
      return { ui: { tab: TABS[at] ?? 'Answer', top: 0 } };
    },
  },
  tab('Answer', 'result.report', 'The answer, and how the run went.'),
  tab('Agents', 'result.agents', 'Each agent: model, outcome, time, tokens, cost, files.'),
  tab('Estimates', 'result.estimates', 'What was estimated beside what was used, and where the time went.'),
  tab('Costs', 'result.costs', 'Tokens by class, money by model and by agent.'),
  tab('Files', 'result.files', 'Files that agents changed, with counts and who did it.'),
  {
    keys: ['x'],
    action: 'result.export',
    hint: 'export',
    help: 'Write the report into the project: as Markdown, a web page or JSON.',
    whyNot: () => null,
    run: exportPick,
  },
  {
    keys: ['y'],
    action: 'result.copy',
    hint: 'copy',
    help: 'Copy the answer.',
    whyNot: noAnswer,
    run: (_, context) => ({ app: { copy: answerOf(context), what: 'the answer' } }),
  },
  {
    keys: ['e'],
    action: 'result.editor',
    hint: '',
    help: 'Read the answer in your own editor; what is changed there changes nothing here.',
    whyNot: noAnswer,
    run: (_, context) => ({ app: { edit: answerOf(context), then: () => ({}) } }),
  },
  {
    keys: ['esc', 'v', 'enter'],
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
    help: 'Resume a run that was stopped, where it stopped; what that may cost stands under Next.',
    whyNot: (_, { state }) => (state.finished?.status === 'stopped' ? null : 'This run was not stopped.'),
    run: (_, { state }) =>
      state.session === null
        ? {}
        : { app: { resume: state.session }, toast: { level: 'info', text: `Resumed: ${resumeCost(state)}` } },
  },
  {
    keys: retryRun.keys,
    action: 'result.retry',
    hint: 'retry',
    help: retryRun.help,
    whyNot: (_, { state }) => retryRun.whyNot(state),
    run: (_, { state }) =>
      state.session === null
        ? {}
        : { app: { resume: state.session }, toast: { level: 'info', text: retryWords(state) } },
  },
  {
    keys: ['i'],
    action: 'result.message',
    hint: 'message',
    help: 'Write to main: it continues with all that is known, with its tools and without a new plan.',
    whyNot: (_, { state }) => whyNotTalk(state),
    run: (_, { state }) => ({ dialog: followUpDialog(state) }),
  },
  {
    keys: ['c'],
    action: 'result.commit',
    hint: 'commit',
    help: 'Have main commit the changes of this run; you see its message and the diff before.',
    whyNot: (_, { state }) => whyNotCommit(state),
    run: (_, { state }) => followedUp(state, COMMIT_REQUEST),
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
  first: { tab: 'Answer', top: 0 },
  keys: RESULT_KEYS,
  header: (_, context, width = 120) => ({
    left: crumbs('result', context.state.task, context.glyphs),
    right: runNumbers(context, width),
  }),
  body: (ui, context, size) => ({
    lines: [
      ...resultBody(ui, context, above(size)),
      ...messageRow(null, { selected: null, onResult: true }, context, size.width, BOTTOM).lines,
    ].slice(0, size.height),
    field: BOTTOM,
  }),
  settle(ui, context, size) {
    const top = Math.max(0, Math.min(ui.top, lastTop(ui, context, above(size))));
    return top === ui.top ? ui : { ...ui, top };
  },
  position: (ui, context) => (context.state.finished && ui.top > 0 ? `line ${ui.top + 1}` : ''),
  input: (ui, _, input) => (input.is === 'wheel' ? { ui: { ...ui, top: Math.max(0, ui.top + 3 * input.by) } } : null),
};

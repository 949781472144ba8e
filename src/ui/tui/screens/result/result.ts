/** The result screen: its keys and its scrolling. view.ts draws it. */
import { bindingOf, bindings, MOVES, stepOf } from '../../frame/keymap.ts';
import { answerText, resumeCost } from '../../../../app/views/index.ts';
import {
  COMMIT_REQUEST,
  messageMain,
  recipientOf,
  retryRun,
  retryText,
  whyNotCommit,
  whyNotTalk,
} from '../../../../app/actions/index.ts';
import type { RunState } from '../../../../events/index.ts';
import type { Dialog, DialogEffect, Binding, Context, Effect, Screen } from '../../frame/screen.ts';
import type { ReportFormat } from '../../../../ports/project-service.ts';
import type { Size } from '../../terminal/terminal.ts';
import { crumbs, runNumbers } from '../../components/header.ts';
import { messageRow } from '../../components/input-row.ts';
import { type ResultView, type ResultTab, lastTop, resultBody, TABS } from './view.ts';

export interface ResultUi extends ResultView {}

const tab = (name: ResultTab, action: string, help: string): Binding<ResultUi> => ({
  keys: [String(TABS.indexOf(name) + 1)],
  action,
  hint: '',
  help,
  whyNot: () => null,
  run: () => ({ ui: { tab: name, top: 0 } }),
});

const answerOf = ({ state }: Context): string => answerText(state);
const noAnswer = (_: ResultUi, context: Context): string | null =>
  answerOf(context).trim() === '' ? 'This run has no answer.' : null;

const FORMATS: readonly { readonly value: ReportFormat; readonly label: string; readonly note: string }[] = [
  { value: 'md', label: 'Markdown', note: 'for reading and pasting' },
  { value: 'html', label: 'web page', note: 'one self-contained file' },
  { value: 'json', label: 'JSON', note: 'all data, for programs' },
];

const exportPick = (): Effect<ResultUi> => ({
  dialog: {
    is: 'pick',
    title: 'Export report as',
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
  hint: 'it keeps its context',
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

/** Lines per page, whatever the size of the screen. */
const PAGE = 20;

/** Rows below the report: the recipient of a message. */
const BOTTOM = 1;
const above = ({ width, height }: Size): Size => ({ width, height: Math.max(0, height - BOTTOM) });

const RESULT_KEYS = bindings<ResultUi>([
  {
    keys: [...MOVES, ' '],
    action: 'result.scroll',
    hint: 'scroll',
    help: 'Scroll',
    run: (ui, _, key) => ({ ui: { ...ui, top: Math.max(0, ui.top + stepOf(key === ' ' ? 'pagedown' : key, PAGE)) } }),
  },
  {
    keys: ['tab', 'right', 'l', 'left', 'h'],
    action: 'result.next',
    hint: 'section',
    help: 'Next section',
    run: (ui, _, key) => {
      const by = key === 'left' || key === 'h' ? -1 : 1;
      const at = (TABS.indexOf(ui.tab) + by + TABS.length) % TABS.length;
      return { ui: { tab: TABS[at] ?? 'Answer', top: 0 } };
    },
  },
  tab('Answer', 'result.report', 'Show answer'),
  tab('Agents', 'result.agents', 'Show agent table'),
  tab('Estimates', 'result.estimates', 'Show estimates'),
  tab('Costs', 'result.costs', 'Show costs'),
  tab('Files', 'result.files', 'Show files'),
  {
    keys: ['x'],
    action: 'result.export',
    hint: 'export',
    help: 'Export report',
    run: exportPick,
  },
  {
    keys: ['y'],
    action: 'result.copy',
    hint: 'copy',
    help: 'Copy answer',
    whyNot: noAnswer,
    run: (_, context) => ({ app: { copy: answerOf(context), what: 'the answer' } }),
  },
  {
    keys: ['e'],
    action: 'result.editor',
    help: 'View in editor',
    whyNot: noAnswer,
    run: (_, context) => ({ app: { edit: answerOf(context), then: () => ({}) } }),
  },
  {
    keys: ['esc', 'v', 'enter'],
    action: 'result.cards',
    hint: 'agents',
    help: 'Show agents',
    run: () => ({ app: { show: 'run' } }),
  },
  {
    keys: ['r'],
    action: 'result.resume',
    hint: 'resume',
    help: 'Resume run',
    whyNot: (_, { state }) => (state.finished?.status === 'stopped' ? null : 'This run was not stopped.'),
    run: (_, { state }) =>
      state.session === null
        ? {}
        : { app: { resume: state.session }, toast: { level: 'info', text: `Resumed: ${resumeCost(state)}` } },
  },
  {
    ...bindingOf(retryRun),
    whyNot: (_, { state }) => retryRun.whyNot(state),
    run: (_, { state }) =>
      state.session === null
        ? {}
        : { app: { resume: state.session }, toast: { level: 'info', text: retryText(state) } },
  },
  {
    ...bindingOf(messageMain),
    whyNot: (_, { state }) => whyNotTalk(state),
    run: (_, { state }) => ({ dialog: followUpDialog(state) }),
  },
  {
    keys: ['c'],
    action: 'result.commit',
    hint: 'commit',
    help: 'Commit changes',
    more: 'main commits; you see its message and the diff first.',
    whyNot: (_, { state }) => whyNotCommit(state),
    run: (_, { state }) => followedUp(state, COMMIT_REQUEST),
  },
  {
    keys: ['p'],
    action: 'result.plan',
    hint: 'plan',
    help: 'Show plan',
    whyNot: (_, { state }) => (state.plan ? null : 'No plan.'),
    run: () => ({ app: { show: 'plan' } }),
  },
  {
    keys: ['n'],
    action: 'result.new',
    hint: 'new task',
    help: 'New task',
    run: () => ({ app: { show: 'start' } }),
  },
]);

export const resultScreen: Screen<ResultUi> = {
  name: 'result',
  first: { tab: 'Answer', top: 0 },
  keys: RESULT_KEYS,
  header: (_, context, width = 120) => ({
    left: crumbs('Result', context.state.task, context.glyphs),
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

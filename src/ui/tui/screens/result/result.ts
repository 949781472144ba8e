/** The result screen: its keys and its scrolling. view.ts draws it. */
import { bind, cycled, ofState, settled, stepOf } from '../../frame/keymap.ts';
import { answerText, authorsLeft, unmergedIn } from '../../../../app/views/index.ts';
import { COMMIT_REQUEST, messageMain, recipientOf, resumeText, retryRun } from '../../../../app/actions/index.ts';
import { retryText, whyNoChanges, whyNotCommit, whyNotRequest } from '../../../../app/actions/index.ts';
import { whyNotResumeRun, whyNotTalk } from '../../../../app/actions/index.ts';
import type { AgentState, RunState } from '../../../../events/index.ts';
import type { Binding, Context, Dialog, DialogEffect, Effect, Screen } from '../../frame/screen.ts';
import { choice, pickFrom } from '../../frame/screen.ts';
import type { ReportFormat } from '../../../../ports/project-service.ts';
import type { Size } from '../../terminal/terminal.ts';
import { crumbs, runNumbers } from '../../components/header.ts';
import { messageRow } from '../../components/input-row.ts';
import { type ResultView, type ResultTab, lastTop, resultBody, TABS } from './view.ts';

const toTab = (tab: ResultTab): Effect<ResultView> => ({ ui: { tab, top: 0 } });
const answerOf = ({ state }: Context): string => answerText(state);
const noAnswer = (_: ResultView, context: Context): string | null =>
  answerOf(context).trim() === '' ? 'This run has no answer.' : null;

const FORMATS: readonly (readonly [value: ReportFormat, label: string, note: string])[] = [
  ['md', 'Markdown', 'for reading and pasting'],
  ['html', 'web page', 'one self-contained file'],
  ['json', 'JSON', 'all data, for programs'],
];

const exportPick = (): Effect<ResultView> => ({
  dialog: pickFrom(
    'Export report as',
    FORMATS,
    ([value, label, note]) => choice(value, note, label),
    ([format]) => ({ app: { export: format } }),
    'md',
  ),
});

const followedUp = ({ session }: RunState, followUp: string): Effect<never> =>
  session === null ? {} : { app: { resume: session, followUp } };

const resumed = ({ session }: RunState, text: string): Effect<never> =>
  session === null ? {} : { app: { resume: session }, toast: { level: 'info', text } };

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

function mainWords(state: RunState): string {
  const id = recipientOf(state, null);
  return `${state.agents.get(id)?.name ?? 'main'} (${id})`;
}

type Agents = (state: RunState) => readonly AgentState[];

/** Does it with the only agent, or with the one that is picked. */
const forOne = (title: string, agentsIn: Agents, what: 'merge' | 'undo'): Binding<ResultView>['run'] =>
  ofState((state) => {
    const agents = agentsIn(state);
    const [first, ...others] = agents;
    if (first === undefined) return {};
    const act = ({ id }: AgentState): DialogEffect => ({ app: { change: { do: what, agent: id } } });
    if (others.length === 0) return act(first);
    return { dialog: pickFrom(title, agents, ({ id, name }) => choice(id, '', name), act) };
  });

const whyNone = (agentsIn: Agents, none: string): Binding<ResultView>['whyNot'] =>
  ofState((state) => (state.finished === null ? 'The run continues.' : agentsIn(state).length === 0 ? none : null));

/** Lines per page, whatever the size of the screen. */
const PAGE = 20;

/** Rows below the report: the recipient of a message. */
const BOTTOM = 1;
const above = ({ width, height }: Size): Size => ({ width, height: Math.max(0, height - BOTTOM) });

const RESULT_KEYS: readonly Binding<ResultView>[] = [
  bind('result.scroll', (ui, _, key) => ({
    ui: { ...ui, top: Math.max(0, ui.top + stepOf(key === ' ' ? 'pagedown' : key, PAGE)) },
  })),
  bind('result.next', (ui, _, key) => ({
    ui: { tab: cycled(TABS, ui.tab, key === 'left' || key === 'h' ? -1 : 1), top: 0 },
  })),
  bind('result.report', toTab('Answer')),
  bind('result.agents', toTab('Agents')),
  bind('result.estimates', toTab('Estimates')),
  bind('result.costs', toTab('Costs')),
  bind('result.files', toTab('Files')),
  bind('result.export', exportPick),
  bind('result.copy', (_, context) => ({ app: { copy: answerOf(context), what: 'the answer' } }), noAnswer),
  bind('result.editor', (_, context) => ({ app: { edit: answerOf(context), then: () => ({}) } }), noAnswer),
  bind('result.cards', { app: { show: 'run' } }),
  bind('result.resume', (_, { state }) => resumed(state, `Resumed: ${resumeText(state)}`), ofState(whyNotResumeRun)),
  bind(retryRun, (_, { state }) => resumed(state, retryText(state)), ofState(retryRun.whyNot)),
  bind(messageMain, (_, { state }) => ({ dialog: followUpDialog(state) }), ofState(whyNotTalk)),
  bind('result.commit', (_, { state }) => followedUp(state, COMMIT_REQUEST), ofState(whyNotCommit)),
  bind('result.review', { app: { show: 'review' } }, ofState(whyNoChanges)),
  bind('result.request', { app: { change: { do: 'request' } } }, ofState(whyNotRequest)),
  bind(
    'result.merge',
    forOne('Merge the tree of', unmergedIn, 'merge'),
    whyNone(unmergedIn, 'No tree is left to merge.'),
  ),
  bind(
    'result.undo',
    forOne('Undo the changes of', authorsLeft, 'undo'),
    whyNone(authorsLeft, 'No change of an agent is left.'),
  ),
  bind('result.plan', { app: { show: 'plan' } }, (_, { state }) => (state.plan ? null : 'No plan.')),
  bind('result.new', { app: { show: 'start' } }),
];

export const resultScreen: Screen<ResultView> = {
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
    return settled(ui, { ...ui, top: Math.max(0, Math.min(ui.top, lastTop(ui, context, above(size)))) });
  },
  position: (ui, context) => (context.state.finished && ui.top > 0 ? `line ${ui.top + 1}` : ''),
  input: (ui, _, input) => (input.is === 'wheel' ? { ui: { ...ui, top: Math.max(0, ui.top + 3 * input.by) } } : null),
};

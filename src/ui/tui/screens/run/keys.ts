/** The keys of the run screen, in one table for dispatch, footer, help and docs/keys.md. */
import { type AgentAction, AGENT_CONTROLS, agentControl, ENDED, manualReviews } from '../../../../app/actions/index.ts';
import { messageAgent, whyNoChanges, messageAll, NO_AGENT, NO_REPORT } from '../../../../app/actions/index.ts';
import { pinMode, recipientOf, retryRun, retryText } from '../../../../app/actions/index.ts';
import { startReview, stopRun, whyNotMessage, whyNotReview } from '../../../../app/actions/index.ts';
import { withdrawGrant } from '../../../../app/actions/index.ts';
import { tabsOf } from '../../components/agents/detail.ts';
import { stillWords } from '../../components/notices.ts';
import { grantText, toLabel } from '../../../../app/views/index.ts';
import { terminalOf } from '../../../../domain/digest.ts';
import { isInTerminal } from '../../../../domain/ids.ts';
import type { MandatoryReview } from '../../../../domain/agents/agent.ts';
import { type AgentState, askedFor, type RunState } from '../../../../events/index.ts';
import { bind, ofState, stepOf } from '../../frame/keymap.ts';
import { confirmEffect } from '../../dialogs/confirm.ts';
import type { Binding, Choice, Context, DialogEffect, Effect } from '../../frame/screen.ts';
import { choice, pickFrom } from '../../frame/screen.ts';
import { composerWith } from '../composer.ts';
import { DETAIL_KEYS, withTab } from './detail.ts';
import { FILTER_KEYS, isFiltering, LIST_KEYS, LOG_KEYS, MESSAGE_KEYS, PANE_KEYS } from './pane-keys.ts';
import { bindSelected, SPAWN_KEYS, STEER_KEYS } from './steer.ts';
import { move, nextInNeed, select, selectedOf, SILENT, type Message, type RunUi } from './state.ts';

function review(state: RunState): Effect<RunUi> {
  const forced = manualReviews(state);
  const [first, second] = forced;
  if (first === undefined) return {};
  const start = (one: MandatoryReview): DialogEffect => ({ commands: [startReview.command(state, one)] });
  if (second === undefined) return start(first);
  const choiceOf = ({ role, because }: MandatoryReview): Choice => choice(role, because);
  return { dialog: pickFrom('Run manual review', forced, choiceOf, start, first.role) };
}

const grantsQuestion = (state: RunState): DialogEffect => ({
  dialog: pickFrom(
    'Session grants: Enter withdraws one',
    state.grants,
    (grant) => choice(grant.id, `answered to ${state.agents.get(grant.agent)?.name ?? grant.agent}`, grantText(grant)),
    ({ id }) => ({ commands: [withdrawGrant.command(state, { grant: id })] }),
  ),
});

type RunBinding = Binding<RunUi>;
const PAGE = 4;

/** The keys move through agents in the list, and in the side pane, which has no rows of its own. */
const amongAgents = ({ focus }: RunUi): string | null => (focus === 'cards' || focus === 'side' ? null : SILENT);
const besideAgents = ({ focus }: RunUi): string | null => (focus === 'cards' ? SILENT : null);

const ofSelected = (action: AgentAction): RunBinding =>
  bindSelected(
    action,
    ({ id }, { state }) => confirmEffect(action, state, { agent: id }),
    ({ id }, { state }) => action.whyNot(state, { agent: id }),
  );

const RETRY = agentControl('retry');

/** After the run: retries all that failed. */
const RETRY_KEY = bind<RunUi>(
  RETRY,
  (ui, context, key) =>
    context.state.finished && context.state.session !== null
      ? { app: { resume: context.state.session }, toast: { level: 'info', text: retryText(context.state) } }
      : ofSelected(RETRY).run(ui, context, key),
  (ui, context) =>
    // For a lost run the key continues the run here.
    context.elsewhere?.lost
      ? SILENT
      : context.state.finished
        ? retryRun.whyNot(context.state)
        : ofSelected(RETRY).whyNot(ui, context),
);

const SCREEN_KEYS: readonly RunBinding[] = [
  bind('run.move', (ui, context, key) => ({ ui: move(ui, context, stepOf(key, PAGE)) }), amongAgents),
  bind(
    'run.open',
    (ui) => ({ ui: { ...ui, focus: 'detail' } }),
    (ui, { state }) => amongAgents(ui) ?? (state.agents.size === 0 ? NO_AGENT : null),
  ),
  bindSelected(
    'run.checks',
    (_, __, ui) => ({ ui: withTab({ ...ui, focus: 'detail' }, 'Checks') }),
    (agent, { state }) => (tabsOf(agent, state).includes('Checks') ? null : 'This agent has no checks.'),
  ),
  bindSelected(
    'run.terminal',
    ({ id }, { state: { session } }) => (session === null ? {} : { app: { terminal: terminalOf(session, id) } }),
    ({ model }) => (isInTerminal(model.used) ? null : 'This agent works in no terminal.'),
  ),
  bind('run.back', (ui) => ({ ui: { ...ui, focus: 'cards' } }), besideAgents),
  ...PANE_KEYS,
  bind('run.changes', { app: { show: 'review' } }, ofState(whyNoChanges)),
  bind('run.result', { app: { show: 'result' } }, (_, { state }) => (state.finished ? null : NO_REPORT)),
  bind(
    messageAgent,
    (ui, { state }) => ({ ui: { ...ui, message: newMessage(ui, recipientOf(state, ui.selected)) } }),
    (ui, context) => {
      const to = selectedOf(ui, context)?.id;
      return stillWords(context) ?? (to === undefined ? NO_AGENT : whyNotMessage(context.state, to));
    },
  ),
  bind(
    messageAll,
    (ui) => ({ ui: { ...ui, message: newMessage(ui, 'all') } }),
    (_, context) => whyNotMessage(context.state, 'all') ?? stillWords(context),
  ),
  ...SPAWN_KEYS,
  ...AGENT_CONTROLS.map((one) => (one.id === RETRY.id ? RETRY_KEY : ofSelected(one))),
  bind(
    stopRun,
    (_, { state }) => confirmEffect(stopRun, state, null),
    (_, { state }) => stopRun.whyNot(state, null),
  ),
  bind(withdrawGrant, ofState(grantsQuestion), (_, { state }) => withdrawGrant.whyNot(state, { grant: '' })),
  ...LIST_KEYS,
  bind('run.detach', { app: 'detach' }, (_, { state }) => (state.finished === null ? null : ENDED)),
  bind('run.density', (ui) => {
    const at = DENSITIES.indexOf(ui.density) + 1;
    // The present density would be no visible change.
    const others = [...DENSITIES.slice(at), ...DENSITIES.slice(0, at)];
    const density = others.find((one) => one !== ui.densityShown) ?? 'auto';
    return { ui: { ...ui, density }, toast: { level: 'info', text: `Density: ${density}` } };
  }),
  bind('run.attention', (ui, context, key) => {
    const agent = nextInNeed(ui, context, key === '[' ? -1 : 1);
    if (agent === null) return { toast: { level: 'info', text: 'No agent needs you.' } };
    return { ui: select(ui, agent), toast: { level: 'info', text: toLabel(needWords(agent, context)) } };
  }),
  bind('run.plan', { app: { show: 'plan' } }, (_, { state }) => (state.plan ? null : 'No plan.')),
  ...STEER_KEYS,
  bindSelected(
    pinMode,
    ({ id }) => ({ dialog: { is: 'mode', agent: id } }),
    ({ id }, { state }) => pinMode.whyNot(state, { agent: id, mode: null }),
  ),
  bind(startReview, ofState(review), ofState(whyNotReview)),
];

/** All keys of the screen. While a message is typed, only those of the message are available. */
export const RUN_KEYS: readonly RunBinding[] = [
  ...[...FILTER_KEYS, ...LOG_KEYS, ...DETAIL_KEYS, ...SCREEN_KEYS].map(
    (binding): RunBinding => ({
      ...binding,
      whyNot: (ui, context) => (ui.message === null && mine(binding, ui) ? binding.whyNot(ui, context) : SILENT),
    }),
  ),
  ...MESSAGE_KEYS,
];

/** While the filter is typed, only the keys of its field are available. */
const mine = ({ action }: RunBinding, ui: RunUi): boolean => !isFiltering(ui) || action.startsWith('filter.');

const DENSITIES = ['auto', 'card', 'line'] as const;

function needWords(agent: AgentState, { state }: Context): string {
  const asks = state.approvals.find((approval) => approval.agent === agent.id);
  if (asks !== undefined) return `${agent.name} asks: ${askedFor(asks.request)}`;
  return `${agent.name} ${agent.status === 'failed' ? `failed: ${agent.error ?? agent.reason}` : 'was interrupted.'}`;
}

const newMessage = (ui: RunUi, to: Message['to']): Message => ({
  ...composerWith(ui.draft),
  to,
  delivery: 'sequential',
});

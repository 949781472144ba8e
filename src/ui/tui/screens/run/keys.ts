/** The keys of the run screen: one table for dispatch, footer, help and docs/keys.md. */
import {
  type AgentAction,
  isFollowUp,
  killAgent,
  recipientOf,
  retryRun,
  retryWords,
  whyNotTalk,
  withdrawGrant,
} from '../../../../app/actions/index.ts';
import { closedWords, isInterruptible } from '../../../../app/views/agents/agent-lines.ts';
import { isIdle } from '../../../../app/views/agents/wait-reason.ts';
import { grantText } from '../../../../app/views/questions/answers.ts';
import { span } from '../../../../app/views/text/clip.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import type { ForcedNode } from '../../../../domain/agents/mandatory-review.ts';
import { ROOT } from '../../../../domain/ids.ts';
import { askedFor, isFinal } from '../../../../events/queries.ts';
import type { AgentState, RunState } from '../../../../events/state.ts';
import { stillWords } from '../../components/lost.ts';
import { confirmed } from '../../dialogs/confirm.ts';
import { NOT_COMPLETING } from '../../components/text/complete.ts';
import type { DialogEffect, Binding, Context, Effect } from '../../frame/screen.ts';
import { openEditor } from '../../text/editor.ts';
import { DETAIL_KEYS } from './detail.ts';
import { FILTER_KEYS, isFiltering, LIST_KEYS } from './list-keys.ts';
import { MESSAGE_KEYS } from './message.ts';
import { LOG_KEYS, PANE_KEYS } from './pane-keys.ts';
import { SPAWN_KEYS } from './spawn.ts';
import { move, nextInNeed, select, selectedOf, type Message, type RunUi } from './state.ts';
import { STEER_KEYS } from './steer.ts';

// Keys of the run screen about the rules: the pin of an agent, and reviews that a person starts.

const RULE_KEYS: readonly Binding<RunUi>[] = [
  {
    keys: ['P'],
    action: 'run.pin',
    hint: '',
    help: 'Hold the selected agent, and all below it, to a stricter mode than the run; or take that back.',
    whyNot: whyNotPin,
    run: (ui, context) => {
      const agent = selectedOf(ui, context);
      return agent ? { dialog: { is: 'mode', agent: agent.id } } : {};
    },
  },
  {
    keys: ['V'],
    action: 'run.review',
    hint: '',
    help: 'Start a review that the rules leave to you, of all that changed in this run.',
    whyNot: whyNotReview,
    run: (_, context) => review(context),
  },
];

function whyNotPin(ui: RunUi, context: Context): string | null {
  if (context.state.finished) return 'The run has ended.';
  const agent = selectedOf(ui, context);
  if (agent === undefined) return 'There is no agent yet.';
  if (agent.id === ROOT) return 'Main has the mode of the run: Shift-Tab changes it.';
  return isFinal(agent) ? `${agent.name} has ended already.` : null;
}

const byHand = ({ state }: Context): readonly ForcedNode[] =>
  (state.plan?.forced ?? []).filter(({ triggers }) => triggers.includes('manual'));

function whyNotReview(_: RunUi, context: Context): string | null {
  if (context.state.finished) return 'The run has ended.';
  return byHand(context).length === 0 ? 'The rules here leave no review to you.' : null;
}

/** The only one at once; of several the person chooses. */
function review(context: Context): Effect<RunUi> {
  const forced = byHand(context);
  const [first, second] = forced;
  if (first === undefined) return {};
  if (second === undefined) return { commands: [{ do: 'review', role: first.role }] };
  return {
    dialog: {
      is: 'pick',
      title: 'Which review?',
      choices: forced.map(({ role, because }) => ({ value: role, label: role, note: because, whyNot: null })),
      value: first.role,
      then(value) {
        const chosen = forced.find(({ role }) => role === value);
        return chosen === undefined ? {} : { commands: [{ do: 'review', role: chosen.role }] };
      },
    },
  };
}

type RunBinding = Binding<RunUi>;
/** Not now, and nothing worth saying about it. */
const SILENT = '';

const always = (): null => null;

/** Where keys go through the agents: in the list, and in the boxes and the graph at the side, which have no rows of their own. */
const isAmongAgents = ({ focus }: RunUi): boolean => focus === 'cards' || focus === 'side';

const SCREEN_KEYS: readonly RunBinding[] = [
  {
    keys: ['up', 'down', 'k', 'j', 'pageup', 'pagedown', 'ctrl-u', 'ctrl-d', 'g', 'G', 'home', 'end'],
    action: 'run.move',
    hint: 'select',
    help: 'Select a card.',
    whyNot: (ui) => (isAmongAgents(ui) ? null : SILENT),
    run: (ui, context, key) => ({ ui: moved(ui, context, key) }),
  },
  {
    keys: ['enter'],
    action: 'run.open',
    hint: 'open',
    help: 'Open the selected agent: its transcript, todos and facts.',
    whyNot: (ui, { state }) =>
      !isAmongAgents(ui) ? SILENT : state.agents.size === 0 ? 'There is no agent yet.' : null,
    run: (ui) => ({ ui: { ...ui, focus: 'detail' } }),
  },
  {
    keys: ['esc'],
    action: 'run.back',
    hint: 'back',
    help: 'Back to the list of agents.',
    whyNot: (ui) => (ui.focus === 'cards' ? SILENT : null),
    run: (ui) => ({ ui: { ...ui, focus: 'cards' } }),
  },
  ...PANE_KEYS,
  {
    keys: ['v'],
    action: 'run.result',
    hint: 'report',
    help: 'Show the report of the finished run.',
    whyNot: (_, { state }) => (state.finished ? null : 'There is no report before the run has ended.'),
    run: () => ({ app: { show: 'result' } }),
  },
  {
    keys: ['i'],
    action: 'run.message',
    hint: 'message',
    help: 'Write a message: to the selected agent, or to main, which answers after the end of the run as well.',
    whyNot: (ui, context) =>
      stillWords(context) ?? (isFollowUp(context.state) ? whyNotTalk(context.state) : about(ui, context, closed)),
    run: (ui, { state }) => ({ ui: { ...ui, message: newMessage(ui, recipientOf(state, ui.selected)) } }),
  },
  {
    keys: ['I'],
    action: 'run.messageAll',
    hint: '',
    help: 'Write a message to all agents.',
    whyNot: (_, context) => running(context) ?? stillWords(context),
    run: (ui) => ({ ui: { ...ui, message: newMessage(ui, 'all') } }),
  },
  ...SPAWN_KEYS,
  {
    keys: ['s', 'ctrl-c'],
    action: 'run.interrupt',
    hint: 'interrupt',
    help: 'Interrupt the selected agent; it can be resumed.',
    whyNot: (ui, context) =>
      about(ui, context, (agent) => (isInterruptible(agent) && !isIdle(agent) ? null : `${agent.name} isn't at work.`)),
    run: (ui, context) => onSelected(ui, context, (agent) => ({ commands: [{ do: 'interrupt', agent: agent.id }] })),
  },
  {
    keys: ['r'],
    action: 'run.resume',
    hint: 'resume',
    help: 'Resume the selected agent after an interruption.',
    whyNot: (ui, context) =>
      about(ui, context, (agent) =>
        agent.status === 'interrupted' && agent.outcome === null ? null : `${agent.name} isn't interrupted.`,
      ),
    run: (ui, context) => onSelected(ui, context, (agent) => ({ commands: [{ do: 'resume', agent: agent.id }] })),
  },
  {
    keys: ['R'],
    action: 'run.retry',
    hint: 'retry',
    help: 'Try the selected agent again after it failed; when the run has ended, all of its failed tasks.',
    whyNot: (ui, context) =>
      // Then the key goes on with the run itself.
      context.elsewhere?.lost
        ? SILENT
        : context.state.finished
          ? retryRun.whyNot(context.state)
          : about(ui, context, (agent) => (agent.status === 'failed' ? null : `${agent.name} didn't fail.`)),
    run: (ui, context) =>
      context.state.finished && context.state.session !== null
        ? { app: { resume: context.state.session }, toast: { level: 'info', text: retryWords(context.state) } }
        : onSelected(ui, context, (agent) => ({ commands: [{ do: 'retry', agent: agent.id }] })),
  },
  ofSelected(killAgent),
  {
    keys: ['X'],
    action: 'run.stop',
    hint: '',
    help: 'Stop the whole run: type "kill"; it can be resumed later.',
    whyNot: (_, context) => running(context),
    run: stopQuestion,
  },
  {
    keys: withdrawGrant.keys,
    action: 'run.grants',
    hint: '',
    help: withdrawGrant.help,
    whyNot: (_, { state }) => withdrawGrant.whyNot(state, { grant: '' }),
    run: (_, { state }) => grantsQuestion(state),
  },
  ...LIST_KEYS,
  {
    keys: ['d'],
    action: 'run.detach',
    hint: 'detach',
    help: 'Let the run go on without this screen, in a process of its own; mimir attach comes back to it. Closing the window stops it.',
    whyNot: (_, context) => running(context),
    run: () => ({ app: 'detach' }),
  },
  {
    keys: ['z'],
    action: 'run.density',
    hint: 'density',
    help: 'Cards, two rows or one row an agent, or what fits.',
    whyNot: always,
    run: (ui) => {
      const density = DENSITIES[(DENSITIES.indexOf(ui.density) + 1) % DENSITIES.length] ?? 'auto';
      return { ui: { ...ui, density }, toast: { level: 'info', text: `Density: ${density}` } };
    },
  },
  {
    keys: [']', '['],
    action: 'run.attention',
    hint: '',
    help: 'The next, or previous, agent that asks, failed or was interrupted.',
    whyNot: always,
    run: (ui, context, key) => {
      const agent = nextInNeed(ui, context, key === '[' ? -1 : 1);
      if (agent === null) return { toast: { level: 'info', text: 'No agent needs you.' } };
      return { ui: select(ui, agent), toast: { level: 'info', text: toLabel(needWords(agent, context)) } };
    },
  },
  {
    keys: ['p'],
    action: 'run.plan',
    hint: 'plan',
    help: 'Look at the plan again.',
    whyNot: (_, { state }) => (state.plan ? null : 'There is no plan.'),
    run: () => ({ app: { show: 'plan' } }),
  },
  ...STEER_KEYS,
  ...RULE_KEYS,
];

/** While a message is typed only its keys mean something, and else none of them does. */
export const RUN_KEYS: readonly RunBinding[] = [
  ...[...FILTER_KEYS, ...LOG_KEYS, ...DETAIL_KEYS, ...SCREEN_KEYS].map(
    (binding): RunBinding => ({
      ...binding,
      whyNot: (ui, context) => (ui.message === null && mine(binding, ui) ? binding.whyNot(ui, context) : SILENT),
    }),
  ),
  ...MESSAGE_KEYS,
];

/** While the filter is typed, only what belongs to its field means anything. */
const mine = ({ action }: RunBinding, ui: RunUi): boolean => !isFiltering(ui) || action.startsWith('filter.');

const DENSITIES = ['auto', 'card', 'compact', 'line'] as const;

const running = ({ state }: Context): string | null => (state.finished ? 'The run has ended.' : null);

const about = (ui: RunUi, context: Context, why: (agent: AgentState) => string | null): string | null => {
  const agent = selectedOf(ui, context);
  return agent ? why(agent) : 'There is no agent yet.';
};

const closed = (agent: AgentState): string | null => {
  const words = closedWords(agent);
  return words === null ? null : `${agent.name} ${words}.`;
};

/** The key of an action on the selected agent. */
function ofSelected(action: AgentAction): RunBinding {
  return {
    keys: action.keys,
    action: action.id,
    hint: action.hint,
    help: action.help,
    whyNot: (ui, context) => about(ui, context, ({ id }) => action.whyNot(context.state, { agent: id })),
    run: (ui, context) => onSelected(ui, context, ({ id }) => confirmed(action, context.state, { agent: id })),
  };
}

const onSelected = (ui: RunUi, context: Context, effect: (agent: AgentState) => Effect<RunUi>): Effect<RunUi> => {
  const agent = selectedOf(ui, context);
  return agent ? effect(agent) : {};
};

/** Why a person should look at it. */
function needWords(agent: AgentState, { state }: Context): string {
  const asks = state.approvals.find((approval) => approval.agent === agent.id);
  if (asks !== undefined) return `${agent.name} asks: ${askedFor(asks.request)}`;
  return `${agent.name} ${agent.status === 'failed' ? `failed: ${agent.error ?? agent.reason}` : 'was interrupted.'}`;
}

const newMessage = (ui: RunUi, to: Message['to']): Message => ({
  to,
  delivery: 'sequential',
  editor: openEditor(ui.draft, true),
  completing: NOT_COMPLETING,
  former: null,
});

function moved(ui: RunUi, context: Context, key: string): RunUi {
  const many = context.state.agents.size;
  const steps: Readonly<Record<string, number>> = {
    up: -1,
    k: -1,
    down: 1,
    j: 1,
    pageup: -4,
    'ctrl-u': -2,
    pagedown: 4,
    'ctrl-d': 2,
    g: -many,
    home: -many,
    G: many,
    end: many,
  };
  return move(ui, context, steps[key] ?? 0);
}

// What the run screen asks before it stops something.

/** Before the whole run is stopped: it takes a word. */
function stopQuestion(): DialogEffect {
  return {
    dialog: {
      is: 'confirm',
      title: 'Stop all agents?',
      lines: [
        [span('Every agent is stopped and the run ends.', { fg: 'fg' })],
        [span('Its state is kept: mimir resume goes on from the last recorded turn.', { fg: 'muted' })],
      ],
      yes: 'stop the run',
      no: 'keep it running',
      word: 'kill',
      then: () => ({ commands: [{ do: 'stop run', reason: 'stopped by the person' }] }),
    },
  };
}

/** What answers allow for the session; the chosen one is withdrawn. */
const grantsQuestion = (state: RunState): DialogEffect => ({
  dialog: {
    is: 'pick',
    title: 'Allowed for this session: Enter withdraws it',
    choices: state.grants.map((grant) => ({
      value: grant.id,
      label: grantText(grant),
      note: `answered to ${state.agents.get(grant.agent)?.name ?? grant.agent}`,
      whyNot: null,
    })),
    value: '',
    then: (grant) => ({ commands: [withdrawGrant.command(state, { grant })] }),
  },
});

/** Tells the services of the configuration what happens in a run, and takes answers from a chat. Loaded only where one is configured. */
import type { Loaded } from '../../config/index.ts';
import { typedBudget } from '../../domain/budget.ts';
import { jsonDigest, planDigest } from '../../domain/digest.ts';
import { type AgentId, depthOf, isBelow, parentOf, ROOT } from '../../domain/ids.ts';
import type { Run } from '../../engine/run/index.ts';
import { activityOf, type AgentState, fold, isFinal, type MimirEvent, type RunState } from '../../events/index.ts';
import * as outside from '../../integrations/index.ts';
import type { Command } from '../../ports/controls.ts';
import { answerCommands } from '../actions/index.ts';
import { world } from '../process/index.ts';
import { plainPlanLines } from '../reports/index.ts';
import * as views from '../views/index.ts';

/** Where notices go; empty if nothing is configured, or an administrator forbids it. */
function notificationTargets(config: NotificationConfig): readonly outside.Target[] {
  const { webhook, ntfy } = config.preferences.notifications ?? {};
  if (config.rules.notifications?.value === 'deny') return [];
  const named = [
    ['webhook', webhook, undefined],
    ['ntfy', ntfy, ntfy && answersOf(config, ntfy)],
  ] as const;
  return named.flatMap(([is, said, answers]) => {
    if (said?.url === undefined) return [];
    return [{ is, url: said.url, events: said.events, secret: secretOf(config, said.secretEnv), answers }];
  });
}

/** Who reads the questions can answer them, so both topics need a token. */
function answersOf(config: NotificationConfig, { url = '', secretEnv, answers }: Ntfy): outside.Target['answers'] {
  const token = secretOf(config, secretEnv) && secretOf(config, answers?.secretEnv);
  if (token === null || answers?.topic === undefined || config.rules.remoteAnswers?.value === 'deny') return undefined;
  return { url: url.replace(/[^/]*$/, answers.topic), token };
}

type Ntfy = NonNullable<NonNullable<NotificationConfig['preferences']['notifications']>['ntfy']>;
const secretOf = ({ secrets }: NotificationConfig, variable: string | undefined): string | null =>
  secrets.find(({ name }) => name === variable)?.value ?? null;

export type NotificationConfig = Pick<Loaded, 'preferences' | 'secrets' | 'rules'>;

/** Follows the run from this state to its end. Resolves with a sentence for each notice that could not be delivered. */
export async function notifyOf(run: Run, config: NotificationConfig, project: string, before: RunState) {
  const problems = new Set<string>();
  const { quietHours } = config.preferences.notifications ?? {};
  const targets = notificationTargets(config);
  const how = {
    world,
    failed: (text: string) => void problems.add(text),
    answer: (question: string, given: Given) => answered(run, question, given),
  };
  const notifier = outside.openNotifier({ targets, quietHours, project, ...how });
  const chat = openChat(run, config, how);
  const askers = chat === null ? [notifier] : [notifier, chat];
  const plans = openPlans(run, askers);
  let now = before;
  // They end with the run, the last one included.
  for await (const event of run.controls.events(before.seq)) {
    const after = fold(now, event);
    const notable = views.noticeEventOf(event, now, after);
    withdrawAnswered(notifier, event, after);
    plans.happened(event, after);
    happened(event, after, askers);
    if (notable !== null) {
      const notice = { ...noticeOf(notable, after), project, time: event.time };
      notifier.notify(notice);
      // The plan and what is asked have buttons.
      if (notice.is !== 'asks' && notice.is !== 'plan') chat?.say(notice.text, notable.agent);
    }
    now = after;
  }
  await Promise.all([notifier.close(), chat?.close()]);
  return [...problems];
}

/** The plan, and questions of agents that have no open one any more. */
function withdrawAnswered(notifier: outside.Notifier, { type }: MimirEvent, state: RunState): void {
  if (type === 'plan.approved') notifier.withdraw(({ is }) => is === 'plan');
  if (type !== 'approval.answered') return;
  const asking = new Set(state.approvals.map(({ agent }) => pathOf(state, agent).join('/')));
  notifier.withdraw(({ is, agent }) => is === 'asks' && !asking.has(agent.join('/')));
}

type OfAll = 'project' | 'time';
const noticeOf = ({ is, who, words, agent }: views.NoticeEvent, state: RunState): Omit<outside.Notice, OfAll> => ({
  is,
  session: state.session ?? '',
  agent: agent === null ? [] : pathOf(state, agent),
  role: agent === null ? null : (state.agents.get(agent)?.role ?? null),
  text: `${who} ${words}`,
  cost: views.runSpending(state).cost,
});

function pathOf(state: RunState, agent: AgentId): readonly string[] {
  const parent = agent === ROOT ? null : parentOf(agent);
  return [...(parent === null ? [] : pathOf(state, parent)), views.agentName(state, agent)];
}

// A chat that follows a run: its questions with buttons, and commands that look at it, message its agents or stop it.

type Approval = RunState['approvals'][number];
type Asker = Pick<outside.Telegram, 'ask' | 'settled'>;
type How = Pick<outside.TelegramParts, 'answer' | 'failed' | 'world'>;

/** Null where no chat is configured, or an administrator forbids it. */
function openChat(run: Run, config: NotificationConfig, how: How): outside.Telegram | null {
  const { botTokenEnv, server = 'https://api.telegram.org' } = config.preferences.notifications?.telegram ?? {};
  const chats = chatsOf(config);
  if (botTokenEnv === undefined || chats.length === 0) return null;
  const token = config.secrets.find(({ name }) => name === botTokenEnv)?.value;
  if (token === undefined) {
    how.failed(`Telegram: ${botTokenEnv} is not set`);
    return null;
  }
  return outside.openTelegram({ token, server, chats, command: (typed, may) => commanded(run, typed, may), ...how });
}

/** With what each may under the rules. */
function chatsOf({ preferences, rules }: NotificationConfig): readonly outside.Chat[] {
  const { chats = [] } = preferences.notifications?.telegram ?? {};
  if (rules.notifications?.value === 'deny') return [];
  const looks = rules.remoteAnswers?.value === 'deny';
  return chats.flatMap(({ id, may = 'look' }) => (id === undefined ? [] : [{ id, may: looks ? 'look' : may }]));
}

function happened(event: MimirEvent, state: RunState, askers: readonly Asker[]): void {
  if (event.type === 'approval.requested') {
    const approval = state.approvals.find(({ id }) => id === event.approval);
    if (approval !== undefined) for (const one of askers) one.ask(questionOf(approval, state));
  }
  if (event.type === 'approval.answered')
    for (const one of askers) one.settled(keyOf(event.approval), SETTLED[event.answer]);
}

/** A plan that needs no answer of a person is approved within this time. */
const PLAN_WAITS_MS = 2000;

/** The plan as a question of the run, asked again where it changes. */
function openPlans({ view }: Run, askers: readonly Asker[]) {
  let asked: string | null = null;
  const settle = (how: string): void => {
    for (const one of askers) if (asked !== null) one.settled(asked, how);
    asked = null;
  };
  const ask = async (id: string): Promise<void> => {
    await world.sleep(PLAN_WAITS_MS);
    const state = view.state();
    if (planKey(state) !== id || asked === id) return;
    settle('The plan has changed; look at the new one.');
    asked = id;
    const question: outside.ChatQuestion = {
      id,
      text: ['Approve this plan?', '', ...plainPlanLines(state)].join('\n'),
      choices: [
        { key: 'y', label: 'approve', allows: true },
        { key: 'n', label: 'discard', allows: false },
      ],
      takesWords: true,
      about: null,
    };
    for (const one of askers) one.ask(question);
  };
  return {
    happened(event: MimirEvent, state: RunState): void {
      if (event.type === 'plan.approved') settle('Approved.');
      else if (event.type === 'plan.rejected') settle('Discarded, or another one is made.');
      const id = planKey(state);
      if (id !== null && id !== asked && event.type.startsWith('plan.')) void ask(id);
    },
  };
}

/** Of the plan that waits for an answer; null where none does. */
const planKey = ({ phase, plan }: RunState): string | null =>
  phase === 'approving' && plan !== null ? `plan-${planDigest(plan).slice(0, 12)}` : null;

async function planAnswered({ view, controls }: Run, answer: Given): Promise<string> {
  const { plan } = view.state();
  if (plan === null) return 'There is no plan.';
  const command: Command =
    'words' in answer
      ? { do: 'plan again', hint: answer.words }
      : answer.key === 'y'
        ? { do: 'approve plan', digest: planDigest(plan) }
        : { do: 'reject plan' };
  const done = await controls.submit(command);
  return done.ok ? views.capitalise(`${done.value.text}.`) : done.fault.text;
}

const SETTLED = { allowed: 'Allowed.', denied: 'Denied.', withdrawn: 'No longer asked.' } as const;
const keyOf = (approval: string): string => approval.slice(0, 30);

/** Of a question as it is shown: an answer to another one does not count. */
const digestOf = ({ request }: Approval): string => jsonDigest(request).slice(0, 6);

function questionOf(approval: Approval, state: RunState): outside.ChatQuestion {
  const { request, agent, id } = approval;
  const offers = views.offersFor(request).filter(({ asks, scope }) => asks === null && scope === 'once');
  const isPermission = views.kindOf(request) === 'permission';
  const role = state.agents.get(agent)?.role ?? '';
  const lines = [
    `${pathOf(state, agent).join(' > ')} (${role}) ${views.WANTS[request.action]}:`,
    '',
    views.questionText(request),
    '',
    `because ${request.because} · ${views.formatCost(views.runSpending(state).cost)} so far`,
  ];
  return {
    id: keyOf(id),
    text: lines.join('\n'),
    choices: offers.map(({ number, label, allow }) => ({
      key: `${number}${digestOf(approval)}`,
      label,
      allows: allow && isPermission,
    })),
    // A permission is refused with these words.
    takesWords: true,
    about: agent,
  };
}

/** The first answer counts, from wherever it comes. */
async function answered(run: Run, question: string, answer: Given): Promise<string> {
  const { view, controls } = run;
  if (question === planKey(view.state())) return planAnswered(run, answer);
  const approval = view.state().approvals.find(({ id }) => keyOf(id) === question);
  if (approval === undefined) return 'It was answered already.';
  const given = 'words' in answer ? wordsFor(approval, answer.words) : offerOf(approval, answer.key);
  if (given === null) return 'The question has changed; answer the new one.';
  const { id } = approval;
  const one = { key: id, first: approval, all: [approval] };
  const { allow, text } = given;
  for (const command of answerCommands(one, [id], { allow, scope: 'once', text })) {
    const done = await controls.submit(command);
    if (!done.ok) return done.fault.text;
  }
  return receiptOf(approval, allow);
}

type Given = { readonly key: string } | { readonly words: string };

function receiptOf({ request }: Approval, isAllowed: boolean): string {
  if (!isAllowed) return 'Denied.';
  return views.kindOf(request) === 'permission' ? 'Allowed once.' : 'Answered.';
}

const offerOf = (approval: Approval, key: string): { readonly allow: boolean; readonly text: string } | null =>
  key.slice(1) === digestOf(approval)
    ? (views.offersFor(approval.request).find(({ number }) => number === key[0]) ?? null)
    : null;

const wordsFor = ({ request }: Approval, words: string): { readonly allow: boolean; readonly text: string } => ({
  allow: views.kindOf(request) !== 'permission',
  text: words,
});

const HELP =
  '/list: agents and what each does\n/subagents NAME: those below an agent\n/status: progress and cost; /status NAME: of an agent\n/message NAME TEXT: to an agent\n/budget NAME $2 40k 10m: its new limits\n/stop: ends the run, which can be resumed\nIn a reply to what was said of an agent NAME can be left out, and words alone are a message to it.';

/** Commands that begin with the name of an agent; in the chain of one it can be left out. */
const NAMES_AGENT: ReadonlySet<string> = new Set(['subagents', 'status', 'message', 'budget']);

async function commanded(
  run: Run,
  { name, words: typed, about }: outside.ChatCommand,
  may: outside.ChatRight,
): Promise<string | null> {
  const isShort = about !== null && NAMES_AGENT.has(name) && agentIn(run.view.state(), typed) === null;
  const words = isShort ? `${about} ${typed}`.trim() : typed;
  const look = LOOKS[name];
  if (look !== undefined) return look(run.view.state(), words);
  const act = ACTS[name];
  if (act === undefined) return null;
  return may === 'control' ? act(run, words) : 'This chat may not do that.';
}

const LOOKS: Readonly<Record<string, (state: RunState, words: string) => string>> = {
  help: () => HELP,
  start: () => HELP,
  list: ({ agents }) => listOf([...agents.values()]),
  subagents: (state, words) => ofAgent(state, words, subagentsOf),
  status: (state, words) => (words === '' ? statusOf(state) : ofAgent(state, words, agentStatus)),
};

const ACTS: Readonly<Record<string, (run: Run, words: string) => Promise<string>>> = {
  stop(run) {
    run.stop('stopped from a chat');
    return Promise.resolve('Stopping.');
  },
  message: messaged,
  budget: budgeted,
};

async function messaged({ view, controls }: Run, words: string): Promise<string> {
  const named = agentIn(view.state(), words);
  if (named === null || named.rest === '') return `${NO_AGENT}, or no text: /message NAME TEXT`;
  const { agent, rest: text } = named;
  const sent = await controls.submit({ do: 'message', to: agent.id, text, delivery: 'important' });
  return sent.ok ? sent.value.text : sent.fault.text;
}

async function budgeted({ view, controls }: Run, words: string): Promise<string> {
  const named = agentIn(view.state(), words);
  if (named === null) return `${NO_AGENT}: /budget NAME $2 40k 10m`;
  const budget = typedBudget(named.rest);
  if (!budget.ok) return budget.fault;
  const done = await controls.submit({ do: 'set budget', agent: named.agent.id, budget: budget.value });
  return done.ok ? done.value.text : done.fault.text;
}

const NO_AGENT = 'There is no agent of this name';

/** The agent with whose whole name or id `words` begin, in any case of letters, and the words behind it. */
function agentIn({ agents }: RunState, words: string): { readonly agent: AgentState; readonly rest: string } | null {
  const lower = `${words.toLowerCase()} `;
  const found = [...agents.values()].flatMap((agent) =>
    [agent.name, agent.id]
      .filter((name) => lower.startsWith(`${name.toLowerCase()} `))
      .map((name) => ({ agent, rest: words.slice(name.length).trim() })),
  );
  return found.toSorted((a, b) => a.rest.length - b.rest.length)[0] ?? null;
}

function ofAgent(state: RunState, words: string, say: (state: RunState, agent: AgentState) => string): string {
  const named = agentIn(state, words);
  return named === null || named.rest !== '' ? `${NO_AGENT}: /list names all.` : say(state, named.agent);
}

function subagentsOf({ agents }: RunState, { id, name }: AgentState): string {
  const below = [...agents.values()].filter((one) => isBelow(one.id, id));
  return below.length === 0 ? `${name} has none.` : listOf(below);
}

const agentStatus = (_: RunState, agent: AgentState): string =>
  `${lineOf(agent)} · ${views.formatCost(agent.cost)} · ${views.plural(agent.toolCalls, 'call')}`;

/** One line for each, below its parent. */
const listOf = (agents: readonly AgentState[]): string => {
  const depths = agents.map(({ id }) => depthOf(id));
  const least = Math.min(...depths);
  return agents.map((agent, at) => `${'  '.repeat((depths[at] ?? least) - least)}${lineOf(agent)}`).join('\n');
};

const lineOf = (agent: AgentState): string =>
  `${agent.name} (${agent.role}): ${isFinal(agent) ? agent.outcome : activityOf(agent) || agent.status}`;

function statusOf(state: RunState): string {
  const agents = [...state.agents.values()].filter(({ id }) => id !== ROOT);
  const done = agents.filter(isFinal).length;
  const open = state.approvals.length;
  return `${done} of ${views.plural(agents.length, 'agent')} done · ${views.formatCost(views.runSpending(state).cost)} · ${views.plural(open, 'open question')}`;
}

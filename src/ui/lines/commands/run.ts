/** Commands that act on a run and its agents: they read typed words as the arguments of rows of app/actions. */
import {
  answerQuestion,
  childName,
  DELIVERIES,
  interruptAgent,
  killAgent,
  manualReviews,
  messageAgent,
  messageAll,
  modeQuestion,
  NO_RUN,
  pinMode,
  resumeAgent,
  retryAgent,
  setMode,
  skipAgent,
  spawnChild,
  startReview,
  stopRun,
  whyNotReview,
  withdrawGrant,
} from '../../../app/actions/index.ts';
import { grantText, escapeHidden } from '../../../app/views/index.ts';
import { SpawnRequest } from '../../../domain/agents/agent.ts';
import { type AgentId, ROOT } from '../../../domain/ids.ts';
import { type Mode, MODES } from '../../../domain/reason.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import type { ModePreview } from '../../../ports/controls.ts';
import { agrees, at, commandOf, type LineCommand, type LineContext, perform, previewed, wordsOf } from '../command.ts';
import type { Detaching } from '../run-ownership.ts';
import { listed, numbered } from '../agents.ts';
import { headOf } from './edits.ts';
import { agentFor } from './look.ts';

/** The typed number of an agent as the arguments of an action. */
const readAgent = (typed: string, context: LineContext): { readonly agent: AgentId } | undefined => {
  const agent = agentFor(context, typed);
  return agent === null ? undefined : { agent: agent.id };
};

export const RUN_COMMANDS: readonly LineCommand[] = [
  ...at(
    ['run'],
    {
      ...wordsOf(
        messageAgent,
        messageAll.id,
        'message.send',
        'message.delivery',
        'message.history',
        'message.editor',
        'message.leave',
        'message.clear',
      ),
      run: sendMessage,
    },
    commandOf(interruptAgent, readAgent),
    commandOf(resumeAgent, readAgent),
    commandOf(retryAgent, readAgent),
    commandOf(skipAgent, readAgent),
    commandOf(killAgent, readAgent),
    { ...wordsOf(pinMode), run: (typed, context) => pin(typed, context, false) },
    {
      name: 'unpin',
      arguments: 'N',
      help: 'Remove the pinned mode of agent N.',
      actions: [pinMode.id],
      run: (typed, context) => pin(typed, context, true),
    },
    commandOf(startReview, readReview),
    { ...wordsOf(spawnChild, 'run.spawnBelow'), run: spawn },
  ),
  ...at(
    ['plan', 'run'],
    commandOf(stopRun, () => null),
    { ...wordsOf(setMode), run: changeMode },
    {
      name: 'detach',
      short: ['d'],
      arguments: '[now|stay]',
      help: 'Detach: the run continues in the background; mimir attach shows it again. Waits for current calls: now does not, stay cancels it.',
      actions: ['run.detach', 'plan.detach'],
      run: (word, context) => {
        const how = DETACHING[word.trim()];
        return how === undefined
          ? context.refuse(`"${word}" is not valid: expected now, stay or nothing`)
          : context.go(how);
      },
    },
    {
      name: 'here',
      help: 'Continue here a run whose own process has ended.',
      actions: ['app.goOn'],
      run: continueHere,
    },
    {
      name: 'questions',
      short: ['inbox'],
      help: 'List the open questions by number.',
      actions: ['run.answer'],
      run: (_, context) => listQuestions(context),
    },
    {
      name: 'question',
      short: ['ask'],
      arguments: '[N]',
      help: 'Print question N, or the next one, to answer it.',
      run: turnToQuestion,
    },
    { ...wordsOf(answerQuestion), run: (text, context) => context.go({ answer: text }) },
    { ...wordsOf(withdrawGrant), run: grants },
    {
      name: 'later',
      help: 'Answer the question later; its agent waits, the others continue.',
      run(_, context) {
        if (context.questions.current(context.state) === null) return context.refuse('no question was printed');
        context.questions.postpone();
        context.say('Postponed. questions lists the open ones.');
      },
    },
  ),
];

async function sendMessage(typed: string, context: LineContext): Promise<void> {
  const [recipient, rest] = headOf(typed);
  const [word, after] = headOf(rest);
  const delivery = DELIVERIES[word];
  const given = delivery === undefined ? rest : after;
  const to = recipient === 'all' ? ('all' as const) : agentFor(context, recipient)?.id;
  if (to === undefined) return;
  const text =
    given === '' ? ((await context.ask(`Message to ${recipient} (Enter sends none): `)) ?? '').trim() : given;
  if (text === '') return context.say('Nothing sent.');
  await perform(messageAgent, { to, text, delivery: delivery ?? 'important' }, context);
}

async function continueHere(_: string, context: LineContext): Promise<void> {
  const { session } = context.state;
  if (context.controls?.lost === undefined || session === null)
    return context.refuse('this run is already in this process');
  await context.go({ resume: session });
}

const DETACHING: Readonly<Record<string, Detaching>> = { '': 'detach', now: 'detach now', stay: 'detach stay' };

// A change of the mode is previewed and confirmed first.

const modeOf = (word: string): Mode | undefined => MODES.find((mode) => mode === word);
const NO_MODE = `expected ${listed(MODES)}`;

async function changeMode(word: string, context: LineContext): Promise<void> {
  const mode = modeOf(word);
  if (mode === undefined)
    return context.refuse(
      word === '' ? `the mode is ${context.state.mode}; ${NO_MODE}` : `"${word}" is not a mode: ${NO_MODE}`,
    );
  if (await isConfirmed(null, context.controls?.previewMode(mode), context)) await perform(setMode, { mode }, context);
}

async function pin(typed: string, context: LineContext, off: boolean): Promise<void> {
  const [which, word] = headOf(typed);
  const agent = agentFor(context, which)?.id;
  if (agent === undefined) return;
  const mode = off ? null : modeOf(word);
  if (mode === undefined) return context.refuse(`"${word}" is not a mode: ${NO_MODE}`);
  const preview = context.controls?.previewMode(mode ?? context.state.mode, agent);
  if (await isConfirmed(agent, preview, context)) await perform(pinMode, { agent, mode }, context);
}

async function isConfirmed(
  agent: AgentId | null,
  pending: Promise<ModePreview> | undefined,
  context: LineContext,
): Promise<boolean> {
  const preview = await previewed(pending, context);
  if (preview?.refused === null) return agrees(modeQuestion(context.state, agent, preview), context);
  context.refuse(preview === undefined ? NO_RUN : `not possible: ${preview.refused ?? ''}`);
  return false;
}

function readReview(name: string, context: LineContext): ReturnType<typeof manualReviews>[number] | undefined {
  const all = manualReviews(context.state);
  const chosen = name === '' && all.length < 2 ? all[0] : all.find(({ role }) => role === name);
  if (chosen !== undefined) return chosen;
  const roles = listed(all.map(({ role }) => role));
  const why = name === '' ? `which review? ${roles}` : `no review ${name} is configured: ${roles}`;
  context.refuse(whyNotReview(context.state) ?? why);
  return undefined;
}

async function spawn(typed: string, context: LineContext): Promise<void> {
  const [, under = ROOT, rest = ''] = /^(?:under\s+(\S+)\s*)?([^]*)$/.exec(typed.trim()) ?? [];
  const parent = agentFor(context, under)?.id;
  if (parent === undefined) return;
  const read = spawnRequestIn(rest);
  if (!read.ok) return context.refuse(read.fault);
  const request = await withPrompt(read.value, context);
  if (request !== null) await perform(spawnChild, { parent, wish: request }, context);
}

/** Asks for a missing prompt and checks the request; null after it was printed why nothing is spawned. */
async function withPrompt(request: SpawnRequest, context: LineContext): Promise<SpawnRequest | null> {
  const prompt = request.prompt === '' ? ((await context.ask(PROMPT)) ?? '').trim() : request.prompt;
  const checked = SpawnRequest.safeParse({ ...request, prompt });
  if (prompt === '') context.say('Nothing spawned.');
  else if (!checked.success) context.refuse(checked.error.issues[0]?.message ?? 'that cannot be spawned');
  else return checked.data;
  return null;
}

const PROMPT = 'Prompt (Enter to cancel): ';

/** Without quotes the whole text is the prompt. With quotes the word before them is the role, and options follow. */
function spawnRequestIn(typed: string): Result<SpawnRequest, string> {
  const [, role = null, prompt = typed, options = ''] = /^(?:([^\s"]+)\s+)?"([^"]*)"\s*([^]*)$/.exec(typed) ?? [];
  const left = options.replaceAll(/(?:--)?\b(?:name|model|wait)\s+(?:"[^"]*"|\S+)/g, '').trim();
  if (left !== '') return fail(`"${left}" is not an option: name NAME, model MODEL, wait SECONDS`);
  const wait = valueIn(options, 'wait');
  if (wait !== null && !/^\d+$/.test(wait)) return fail(`"${wait}" is not a number of seconds`);
  return ok({
    prompt: prompt.trim(),
    role,
    model: valueIn(options, 'model'),
    name: childName(valueIn(options, 'name'), role),
    wait: wait === null ? null : Number(wait),
    workingDir: null,
  });
}

const valueIn = (typed: string, key: string): string | null =>
  new RegExp(`\\b${key}\\s+("[^"]*"|\\S+)`).exec(typed)?.[1]?.replaceAll('"', '') ?? null;

function turnToQuestion(typed: string, context: LineContext): void {
  const all = context.questions.open(context.state);
  const chosen = typed === '' ? all[0] : all.find(({ number }) => String(number) === typed);
  if (chosen === undefined)
    return context.refuse(all.length === 0 ? answerQuestion.none : `there is no question ${typed}`);
  context.questions.select(chosen);
}

/** `grants`, `grants withdraw 2`. */
async function grants(typed: string, context: LineContext): Promise<void> {
  const [what = '', number = '', ...more] = typed.split(/\s+/).filter((word) => word !== '');
  const { state } = context;
  if (what === '') return listGrants(context);
  if (what !== 'withdraw' || more.length > 0) return context.refuse('expected grants, or grants withdraw and a number');
  const grant = state.grants[Number(number) - 1];
  if (grant === undefined && state.grants.length > 0)
    return context.refuse(`there is no grant ${number}: expected 1 to ${state.grants.length}`);
  await perform(withdrawGrant, { grant: grant?.id ?? '' }, context);
}

function listGrants(context: LineContext): void {
  const { state } = context;
  const why = withdrawGrant.whyNot(state, { grant: '' });
  if (why !== null) return context.say(why);
  context.say(
    ...state.grants.map(
      (grant, index) =>
        `${index + 1}. ${escapeHidden(grantText(grant))} (answered to ${escapeHidden(state.agents.get(grant.agent)?.name ?? grant.agent)})`,
    ),
    'grants withdraw N withdraws one.',
  );
}

function listQuestions(context: LineContext): void {
  const { state } = context;
  const all = context.questions.open(state);
  if (all.length === 0) return context.say(answerQuestion.none);
  context.say(
    ...all.map(({ number, question: { first, all: askers } }) => {
      const agent = state.agents.get(first.agent);
      const who = askers.length > 1 ? `${askers.length} agents` : agent === undefined ? first.agent : numbered(agent);
      return `${number}. ${who}, ${first.request.action}: ${escapeHidden(first.request.title).split('\n')[0] ?? ''}`;
    }),
    'question N prints one.',
  );
}

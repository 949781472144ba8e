/** Commands that act on a run and its agents: they read typed words as the arguments of rows of app/actions. */
import {
  answerQuestion,
  childName,
  DELIVERIES,
  interruptAgent,
  killAgent,
  manualReviews,
  messageAgent,
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
import { wrongUse } from '../../../app/process/index.ts';
import { escapeHidden, grantText, labelOf } from '../../../app/views/index.ts';
import { SpawnRequest } from '../../../domain/agents/agent.ts';
import { type AgentId, ROOT } from '../../../domain/ids.ts';
import { type Mode, MODES } from '../../../domain/reason.ts';
import type { ModePreview } from '../../../ports/controls.ts';
import { agentNamed, firstLine, listed } from '../agents.ts';
import {
  confirm,
  askText,
  at,
  commandOf,
  type Detaching,
  headOf,
  type LineCommand,
  type LineContext,
  perform,
  previewed,
  wordsOf,
} from '../command.ts';

/** The typed number of an agent as the arguments of an action. */
const readAgent = (typed: string, { state }: LineContext): { readonly agent: AgentId } => ({
  agent: agentNamed(state, typed).id,
});

export const RUN_COMMANDS: readonly LineCommand[] = [
  ...at(
    ['run'],
    { ...wordsOf(messageAgent), run: sendMessage },
    commandOf(interruptAgent, readAgent),
    commandOf(resumeAgent, readAgent),
    commandOf(retryAgent, readAgent),
    commandOf(skipAgent, readAgent),
    commandOf(killAgent, readAgent),
    { ...wordsOf(pinMode), run: pin },
    commandOf(startReview, readReview),
    { ...wordsOf(spawnChild), run: spawn },
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
      run(word, context) {
        const how = DETACHING[word.trim()];
        if (how === undefined) throw wrongUse(`"${word}" is not valid: expected now, stay or nothing`);
        return context.go(how);
      },
    },
    {
      name: 'here',
      help: 'Continue here a run whose own process has ended.',
      run: continueHere,
    },
    {
      name: 'questions',
      short: ['inbox', 'ask', 'question'],
      arguments: '[N]',
      help: 'List the open questions by number, or print question N to answer it.',
      run: listQuestions,
    },
    { ...wordsOf(answerQuestion), run: (text, context) => context.go({ answer: text }) },
    { ...wordsOf(withdrawGrant), run: grants },
    {
      name: 'later',
      help: 'Answer the question later; its agent waits, the others continue.',
      run(_, context) {
        if (context.questions.current(context.state) === null) throw wrongUse('no question was printed');
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
  const to = recipient === 'all' ? ('all' as const) : agentNamed(context.state, recipient).id;
  const prompt = `Message to ${recipient} (Enter sends none): `;
  const text = given === '' ? await askText(prompt, 'Nothing sent.', context) : given;
  await perform(messageAgent, { to, text, delivery: delivery ?? 'important' }, context);
}

async function continueHere(_: string, context: LineContext): Promise<void> {
  const { session } = context.state;
  if (context.controls?.lost === undefined || session === null) throw wrongUse('this run is already in this process');
  await context.go({ resume: session });
}

const DETACHING: Readonly<Record<string, Detaching>> = { '': 'detach', now: 'detach now', stay: 'detach stay' };

// A change of the mode is previewed and confirmed first.

function readMode(word: string, present: Mode): Mode {
  const mode = MODES.find((one) => one === word);
  if (mode !== undefined) return mode;
  const what = word === '' ? `the mode is ${present};` : `"${word}" is not a mode:`;
  throw wrongUse(`${what} expected ${listed(MODES)}`);
}

async function changeMode(word: string, context: LineContext): Promise<void> {
  const mode = readMode(word, context.state.mode);
  await confirmMode(null, context.controls?.previewMode(mode), context);
  await perform(setMode, { mode }, context);
}

async function pin(typed: string, context: LineContext): Promise<void> {
  const [which, word] = headOf(typed);
  const { state } = context;
  const agent = agentNamed(state, which).id;
  const mode = word === 'off' ? null : readMode(word, state.mode);
  const preview = context.controls?.previewMode(mode ?? state.mode, agent);
  await confirmMode(agent, preview, context);
  await perform(pinMode, { agent, mode }, context);
}

async function confirmMode(
  agent: AgentId | null,
  pending: Promise<ModePreview> | undefined,
  context: LineContext,
): Promise<void> {
  const preview = await previewed(pending, context);
  if (preview === undefined) throw wrongUse(NO_RUN);
  if (preview.refused !== null) throw wrongUse(`not possible: ${preview.refused}`);
  await confirm(modeQuestion(context.state, agent, preview), context);
}

function readReview(name: string, { state }: LineContext): ReturnType<typeof manualReviews>[number] {
  const all = manualReviews(state);
  const chosen = name === '' && all.length < 2 ? all[0] : all.find(({ role }) => role === name);
  if (chosen !== undefined) return chosen;
  const roles = listed(all.map(({ role }) => role));
  const why = name === '' ? `which review? ${roles}` : `no review ${name} is configured: ${roles}`;
  throw wrongUse(whyNotReview(state) ?? why);
}

/** Asks for a missing prompt. */
async function spawn(typed: string, context: LineContext): Promise<void> {
  const [, under = ROOT, rest = ''] = /^(?:under\s+(\S+)\s*)?([^]*)$/.exec(typed.trim()) ?? [];
  const parent = agentNamed(context.state, under).id;
  const read = readSpawn(rest);
  const prompt =
    read.prompt === '' ? await askText('Prompt (Enter to cancel): ', 'Nothing spawned.', context) : read.prompt;
  const checked = SpawnRequest.safeParse({ ...read, prompt });
  if (!checked.success) throw wrongUse(checked.error.issues[0]?.message ?? 'that cannot be spawned');
  await perform(spawnChild, { parent, wish: checked.data }, context);
}

/** Without quotes the whole text is the prompt. With quotes the word before them is the role, and options follow. */
function readSpawn(typed: string): SpawnRequest {
  const [, role = null, prompt = typed, options = ''] = /^(?:([^\s"]+)\s+)?"([^"]*)"\s*([^]*)$/.exec(typed) ?? [];
  const left = options.replaceAll(/(?:--)?\b(?:name|model|wait)\s+(?:"[^"]*"|\S+)/g, '').trim();
  if (left !== '') throw wrongUse(`"${left}" is not an option: name NAME, model MODEL, wait SECONDS`);
  const wait = valueIn(options, 'wait');
  if (wait !== null && !/^\d+$/.test(wait)) throw wrongUse(`"${wait}" is not a number of seconds`);
  return {
    prompt: prompt.trim(),
    role,
    model: valueIn(options, 'model'),
    name: childName(valueIn(options, 'name'), role),
    wait: wait === null ? null : Number(wait),
    workingDir: null,
  };
}

const valueIn = (typed: string, key: string): string | null =>
  new RegExp(`\\b${key}\\s+("[^"]*"|\\S+)`).exec(typed)?.[1]?.replaceAll('"', '') ?? null;

/** `grants`, `grants withdraw 2`. */
async function grants(typed: string, context: LineContext): Promise<void> {
  const { state } = context;
  const why = withdrawGrant.whyNot(state, { grant: '' });
  if (why !== null) return context.say(why);
  if (typed === '') {
    const lines = state.grants.map(
      (grant, index) =>
        `${index + 1}. ${escapeHidden(`${grantText(grant)} (answered to ${labelOf(state, grant.agent)})`)}`,
    );
    return context.say(...lines, 'grants withdraw N withdraws one.');
  }
  const [, number = ''] = /^withdraw\s+(\S+)$/.exec(typed) ?? [];
  if (number === '') throw wrongUse('expected grants, or grants withdraw and a number');
  const grant = state.grants[Number(number) - 1];
  if (grant === undefined) throw wrongUse(`there is no grant ${number}: expected 1 to ${state.grants.length}`);
  await perform(withdrawGrant, { grant: grant.id }, context);
}

function listQuestions(typed: string, context: LineContext): void {
  const { state, questions } = context;
  const all = questions.open(state);
  if (all.length === 0) return context.say(answerQuestion.none);
  const chosen = all.find(({ number }) => String(number) === typed);
  if (chosen !== undefined) return questions.select(chosen);
  if (typed !== '') throw wrongUse(`there is no question ${typed}`);
  context.say(
    ...all.map(({ number, question: { first, all: askers } }) => {
      const who = askers.length > 1 ? `${askers.length} agents` : labelOf(state, first.agent);
      return `${number}. ${who}, ${first.request.action}: ${escapeHidden(firstLine(first.request.title))}`;
    }),
    'questions N prints one.',
  );
}

/** Commands that act on a run and its agents: they read typed words as the arguments of rows of app/actions. */
import { AGENT_CONTROLS, answerQuestion, DELIVERIES, manualReviews } from '../../../app/actions/index.ts';
import { messageAgent, modeQuestion, NO_RUN, pinMode, readSpawn } from '../../../app/actions/index.ts';
import { setMode, spawnChild, startReview, stopRun } from '../../../app/actions/index.ts';
import { whyNotReview, withdrawGrant } from '../../../app/actions/index.ts';
import { readArguments, wrongUse } from '../../../app/process/index.ts';
import { escapeHidden, grantText, labelOf } from '../../../app/views/index.ts';
import { type AgentId, ROOT } from '../../../domain/ids.ts';
import { type Mode, MODES } from '../../../domain/reason.ts';
import { agentNamed, firstLine, listed } from '../agents.ts';
import { headOf, splitWords } from '../command.ts';
import type { LineCommand, LineSession } from '../session.ts';
import { confirm, askText, at, commandOf, own, perform, previewed, rowOf } from './perform.ts';

const readAgent = (typed: string, { state }: LineSession): { readonly agent: AgentId } => ({
  agent: agentNamed(state, typed).id,
});

export const RUN_COMMANDS: readonly LineCommand[] = [
  ...at(
    ['run'],
    rowOf(messageAgent, sendMessage),
    ...AGENT_CONTROLS.map((one) => commandOf(one, readAgent)),
    rowOf(pinMode, pin),
    commandOf(startReview, readReview),
    rowOf(spawnChild, spawn),
  ),
  ...at(
    ['plan', 'run'],
    commandOf(stopRun, () => null),
    rowOf(setMode, changeMode),
    own('detach', (word, session) => {
      const how = word.trim() === '' ? 'when quiet' : word.trim();
      if (how === 'when quiet' || how === 'now' || how === 'stay') return session.detach(how);
      throw wrongUse(`"${word}" is not valid: expected now, stay or nothing`);
    }),
    own('here', continueHere),
    own('questions', listQuestions),
    rowOf(answerQuestion, (text, session) => session.answers.answer(text)),
    rowOf(withdrawGrant, grants),
  ),
];

async function sendMessage(typed: string, session: LineSession): Promise<void> {
  const [recipient, rest] = headOf(typed);
  const [word, after] = headOf(rest);
  const delivery = DELIVERIES[word];
  const given = delivery === undefined ? rest : after;
  const to = recipient === 'all' ? ('all' as const) : agentNamed(session.state, recipient).id;
  const prompt = `Message to ${recipient} (Enter sends none): `;
  const text = given === '' ? await askText(prompt, 'Nothing sent.', session) : given;
  await perform(messageAgent, { to, text, delivery: delivery ?? 'important' }, session);
}

async function continueHere(_: string, session: LineSession): Promise<void> {
  const { controls, state } = session;
  if (controls?.lost === undefined || state.session === null) throw wrongUse('this run is already in this process');
  await session.resume(state.session);
}

// A change of the mode is previewed and confirmed first.

function readMode(word: string, present: Mode): Mode {
  const mode = MODES.find((one) => one === word);
  if (mode !== undefined) return mode;
  const what = word === '' ? `the mode is ${present};` : `"${word}" is not a mode:`;
  throw wrongUse(`${what} expected ${listed(MODES)}`);
}

async function changeMode(word: string, session: LineSession): Promise<void> {
  const mode = readMode(word, session.state.mode);
  await perform(setMode, { mode }, session, () => confirmMode(null, mode, session));
}

async function pin(typed: string, session: LineSession): Promise<void> {
  const [which, word] = headOf(typed);
  const { state } = session;
  const agent = agentNamed(state, which).id;
  const mode = word === 'off' ? null : readMode(word, state.mode);
  await perform(pinMode, { agent, mode }, session, () => confirmMode(agent, mode ?? state.mode, session));
}

async function confirmMode(agent: AgentId | null, mode: Mode, session: LineSession): Promise<void> {
  const preview = await previewed(session.controls?.previewMode(mode, agent ?? undefined), session);
  if (preview === undefined) throw wrongUse(NO_RUN);
  if (preview.refused !== null) throw wrongUse(`not possible: ${preview.refused}`);
  await confirm(modeQuestion(session.state, agent, preview), session);
}

function readReview(name: string, { state }: LineSession): ReturnType<typeof manualReviews>[number] {
  const all = manualReviews(state);
  const chosen = name === '' && all.length < 2 ? all[0] : all.find(({ role }) => role === name);
  if (chosen !== undefined) return chosen;
  const roles = listed(all.map(({ role }) => role));
  const why = name === '' ? `which review? ${roles}` : `no review ${name} is configured: ${roles}`;
  throw wrongUse(whyNotReview(state) ?? why);
}

/** Without quotes the whole text is the prompt; a missing prompt is asked for. */
async function spawn(typed: string, session: LineSession): Promise<void> {
  const [, under = ROOT, rest = ''] = /^(?:under\s+(\S+)\s*)?([^]*)$/.exec(typed.trim()) ?? [];
  const parent = agentNamed(session.state, under).id;
  const prompt = rest === '' ? await askText('Prompt (Enter to cancel): ', 'Nothing spawned.', session) : rest;
  const words = prompt.includes('"') ? splitWords(prompt) : ['--', prompt];
  await perform(spawnChild, { parent, wish: readSpawn(readArguments(words, SPAWN_FLAGS, 2)) }, session);
}

const SPAWN_FLAGS = {
  name: { value: 'NAME', help: '' },
  model: { value: 'MODEL', help: '' },
  wait: { value: 'SECONDS', help: '' },
};

async function grants(typed: string, session: LineSession): Promise<void> {
  const { state } = session;
  const why = withdrawGrant.whyNot(state, { grant: '' });
  if (why !== null) return session.say(why);
  if (typed === '') {
    const lines = state.grants.map(
      (grant, index) =>
        `${index + 1}. ${escapeHidden(`${grantText(grant)} (answered to ${labelOf(state, grant.agent)})`)}`,
    );
    return session.say(...lines, 'grants withdraw N withdraws one.');
  }
  const [, number = ''] = /^withdraw\s+(\S+)$/.exec(typed) ?? [];
  if (number === '') throw wrongUse('expected grants, or grants withdraw and a number');
  const grant = state.grants[Number(number) - 1];
  if (grant === undefined) throw wrongUse(`there is no grant ${number}: expected 1 to ${state.grants.length}`);
  await perform(withdrawGrant, { grant: grant.id }, session);
}

function listQuestions(typed: string, session: LineSession): void {
  const { state } = session;
  const { questions } = session.answers;
  const all = questions.open(state);
  if (all.length === 0) return session.say(answerQuestion.none);
  const chosen = all.find(({ number }) => String(number) === typed);
  if (chosen !== undefined) return questions.select(chosen);
  if (typed !== '') throw wrongUse(`there is no question ${typed}`);
  session.say(
    ...all.map(({ number, first, all: askers }) => {
      const who = askers.length > 1 ? `${askers.length} agents` : labelOf(state, first.agent);
      return `${number}. ${who}, ${first.request.action}: ${escapeHidden(firstLine(first.request.title))}`;
    }),
    'questions N prints one.',
  );
}

/** Delivers a person's message to a session: as the answer to its question, otherwise through the message store of the run. */
import { type SessionId, ROOT } from '../../domain/ids.ts';
import type { AgentState, RunState } from '../../events/index.ts';
import { ControlFault, type SessionClient } from '../../ports/control.ts';
import type { Delivery, Receipt } from '../../ports/controls.ts';
import { openMessageStore } from '../../store/index.ts';
import { closedReason } from '../../app/views/index.ts';
import { type Arguments, EXIT, Exit, type Io, exitOnFault, world, wrongUse } from '../../app/process/index.ts';
import { projectOf, type ProjectPlace, storeOf } from '../../app/workspace/index.ts';
import { doneOrExit, patiently, reachRun } from '../../app/client/index.ts';
import type { StoredMessage } from '../../ports/log.ts';
import { type Target, named, BY_DELIVERY, sentWords } from './target.ts';

interface Asking {
  readonly client: SessionClient;
  readonly args: Arguments;
  readonly io: Io;
}

/** Sends the message; returns what happened to it. Exits with 3 if no session would ever read it. */
export async function sendAsPerson(
  target: Target,
  post: Pick<StoredMessage, 'text' | 'delivery'>,
  { client, args, io }: Asking,
): Promise<string> {
  const { record, seen } = target;
  const { state } = seen;
  const agent = state?.agents.get(record.agent);
  if (state === null || agent === undefined) throw wrongUse(`there is no session ${record.agent}`);
  refuseUnread(target, state, agent);
  const answered = await answer(target, state, post.text, client);
  if (answered) return sentWords(target, 'resumed');
  const project = projectOf(args, io);
  const letter = { id: world.name(16), to: record.agent, ...post, at: new Date(world.now()).toISOString() };
  exitOnFault(() => openMessageStore(storeOf(project)).put(record.run, letter));
  const unread = seen.family.state === 'running' ? await poked(target, project, io) : DOWN;
  if (unread !== null) return keptWords(target, unread);
  if (agent.outcome !== null && !(await goesOn(target))) return notTaken(target);
  if (waitsForApproval(agent, state)) return keptWords(target, approving(post.delivery));
  return sentWords(target, comesAs(agent, state, post.delivery));
}

/** Exits with 3 for sessions that read no messages: closed ones and mandatory reviews. */
function refuseUnread({ record, seen }: Target, { finished }: RunState, agent: AgentState): void {
  const isReview = agent.forced !== null;
  const why = isReview ? 'is a mandatory review and takes no messages' : closedReason(agent);
  const next = isReview ? '' : '\n  `mimir spawn "<prompt>"` starts another session';
  if (why !== null) throw new Exit(EXIT.refused, `${named(record)} ${why}${next}`);
  if (finished?.status === 'rejected')
    throw new Exit(EXIT.refused, `the plan of run ${seen.family.run} was discarded: it cannot continue`);
}

/** Answers the oldest question of the agent; false if there is none. Permission requests are answered on the screen, where their details are shown. */
async function answer(
  { record, seen }: Target,
  { approvals }: RunState,
  text: string,
  client: SessionClient,
): Promise<boolean> {
  const asked = approvals.find(({ agent, request }) => agent === record.agent && request.action === 'question');
  if (asked === undefined || seen.family.state !== 'running') return false;
  doneOrExit(await client.submit(record.run, { do: 'answer', approval: asked.id, allow: true, scope: 'once', text }));
  return true;
}

/** Why the message is not read now. */
interface Unread {
  readonly why: string;
  /** The run has to be resumed. */
  readonly down: boolean;
  /** What to do instead. */
  readonly next?: (run: SessionId) => string;
}

const DOWN: Unread = { why: 'its run is not running', down: true };
const ENDED: Unread = { why: 'its run does not answer', down: true };
const STUCK: Unread = { why: 'its run does not answer; it reads the message when it continues', down: false };

/** While a plan waits for approval, main takes its next turn for another plan or for the report; sequential messages wait for the report. */
const approving = (delivery: Delivery): Unread => ({
  why: `the plan waits for your approval; main reads this ${delivery === 'sequential' ? '' : 'for the next plan, or '}for the report on several agents`,
  down: false,
  next: (run) =>
    `\`mimir attach ${run}\` shows the plan${delivery === 'sequential' ? '; --important is read for the next plan too' : ''}`,
});

/** Makes an active run read its stored messages; null on success. The message stays stored otherwise. */
async function poked({ record }: Target, project: ProjectPlace, io: Io): Promise<Unread | null> {
  try {
    const reached = await patiently(io, record.run, reachRun(project, record.run));
    if (reached === null) return ENDED;
    try {
      await reached.poke();
      return null;
    } finally {
      reached.close();
    }
  } catch (error) {
    if (error instanceof ControlFault) return STUCK;
    throw error;
  }
}

const RESUME = 'continues it and delivers the message';

const keptWords = ({ record }: Target, { why, down, next }: Unread): string => {
  const how = down ? `\`mimir resume ${record.run}\` ${RESUME}` : next?.(record.run);
  return `Stored for ${named(record)}: ${why}${how === undefined ? '' : `\n  ${how}`}`;
};

/** True if a finished session continues once the run has read the message; a rule may prevent that. */
async function goesOn({ seen, record }: Target): Promise<boolean> {
  for (const until = world.elapsed() + TAKEN_WITHIN_MS; ; await world.sleep(LOOK_MS)) {
    const now = (await seen.again()).sessions.find(({ agent }) => agent === record.agent);
    if (now === undefined || now.completed_at !== record.completed_at) return true;
    if (world.elapsed() > until) return false;
  }
}

const TAKEN_WITHIN_MS = 500;
const LOOK_MS = 20;

/** The run is stopping and the message stays stored, or the session cannot continue. */
async function notTaken(target: Target): Promise<string> {
  const { seen, record } = target;
  if ((await seen.again()).kept_messages > 0) return keptWords(target, ENDED);
  throw new Exit(
    EXIT.refused,
    `${named(record)} has ended and cannot continue: the message is in the log of run ${record.run}, unread\n  \`mimir spawn "<prompt>"\` starts another session`,
  );
}

/** Main takes no turn until a person has approved or rejected the plan. */
const waitsForApproval = ({ id, status }: AgentState, { phase }: RunState): boolean =>
  id === ROOT && phase === 'approving' && status === 'waiting';

/** How the message is delivered: ended or waiting sessions continue at once. */
function comesAs(
  { id, outcome, status }: AgentState,
  { approvals }: RunState,
  delivery: Delivery,
): NonNullable<Receipt['sent']> {
  const waits = status === 'waiting' && !approvals.some(({ agent }) => agent === id);
  return outcome !== null || waits ? 'resumed' : BY_DELIVERY[delivery];
}

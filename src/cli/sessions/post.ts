/** How a person's text comes to a session: as the answer to its question, else as a letter that waits for the run, alive or not. */
import { type SessionId, ROOT } from '../../domain/ids.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { ControlFault, type Seat } from '../../ports/control.ts';
import type { Delivery, Receipt } from '../../ports/controls.ts';
import { openMailbox } from '../../store/message-store.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { orExit } from '../../app/client/log-of.ts';
import { type ProjectPlace, projectOf } from '../../app/project/project-place.ts';
import { patiently, reachRun } from '../../app/client/connect.ts';
import { doneOrExit } from '../../app/client/session-client.ts';
import { type Target, named, BY_DELIVERY, sentWords } from './target.ts';
import { world } from '../../app/process/world.ts';

interface Post {
  readonly text: string;
  readonly delivery: Delivery;
}

interface Asking {
  readonly seat: Seat;
  readonly args: Arguments;
  readonly io: Io;
}

/** What became of it, in words. Exit 3 where nobody would ever read it. */
export async function sendAsPerson(target: Target, post: Post, { seat, args, io }: Asking): Promise<string> {
  const { record, seen } = target;
  const { state } = seen;
  const agent = state?.agents.get(record.agent);
  if (state === null || agent === undefined) throw new Exit(EXIT.wrongUse, `there is no session ${record.agent}`);
  refuseUnread(target, state, agent);
  const answered = await answer(target, state, post.text, seat);
  if (answered) return sentWords(target, 'resumed');
  const project = projectOf(args, io);
  const letter = { id: world.name(16), to: record.agent, ...post, at: new Date(world.now()).toISOString() };
  orExit(() => openMailbox({ stateDir: project.places.state, project: project.root }).put(record.run, letter));
  const unread = seen.family.state === 'running' ? await poked(target, project, io) : DOWN;
  if (unread !== null) return keptWords(target, unread);
  if (agent.outcome !== null && !(await goesOn(target))) return notTaken(target);
  if (waitsForApproval(agent, state)) return keptWords(target, approving(post.delivery));
  return sentWords(target, comesAs(agent, state, post.delivery));
}

/** Who was closed by a decision reads nothing any more, and forced agents are written to by nobody. */
function refuseUnread({ record, seen }: Target, { finished }: RunState, { outcome, forced, call }: AgentState): void {
  if (forced !== null) {
    throw new Exit(EXIT.refused, `${named(record)} is a forced agent: nobody writes to it`);
  }
  if (outcome === 'killed' || outcome === 'abandoned' || outcome === 'skipped') {
    throw new Exit(
      EXIT.refused,
      `${named(record)} was ${outcome}: it reads nothing any more\n  \`mimir spawn "<prompt>"\` starts another one`,
    );
  }
  if (outcome !== null && call !== null) {
    throw new Exit(
      EXIT.refused,
      `${named(record)} has finished its call: it reads nothing any more\n  \`mimir spawn "<prompt>"\` starts another one`,
    );
  }
  if (finished?.status === 'rejected') {
    throw new Exit(EXIT.refused, `the plan of run ${seen.family.run} was rejected: nothing goes on there`);
  }
}

/** Answers the oldest question that the agent itself asks; a permission is given where what it is for can be seen. */
async function answer({ record, seen }: Target, { approvals }: RunState, text: string, seat: Seat): Promise<boolean> {
  const asked = approvals.find(({ agent, request }) => agent === record.agent && request.action === 'question');
  if (asked === undefined || seen.family.state !== 'running') return false;
  doneOrExit(await seat.submit(record.run, { do: 'answer', approval: asked.id, allow: true, scope: 'once', text }));
  return true;
}

/** Why nobody reads it now. */
interface Unread {
  readonly why: string;
  /** A resume is what it takes. */
  readonly down: boolean;
  /** What to do, where it is not that. */
  readonly next?: (run: SessionId) => string;
}

const DOWN: Unread = { why: 'its run is not running', down: true };
const ENDED: Unread = { why: 'its run answers nobody now', down: true };
const STUCK: Unread = { why: 'its run does not answer now, and reads it when it goes on', down: false };

/** Main has its next turn for another plan, or for a report; what is to be read when work is done is for the report. */
const approving = (delivery: Delivery): Unread => ({
  why: `the plan waits for your approval; main reads this ${delivery === 'sequential' ? '' : 'for the next plan, or '}for the report on several agents`,
  down: false,
  next: (run) =>
    `\`mimir attach ${run}\` shows the plan${delivery === 'sequential' ? '; --important is read for the next plan too' : ''}`,
});

/** Has the living run look into the box; null when it does. The letter lies there either way. */
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

const RESUME = 'goes on with it and hands the message over';

const keptWords = ({ record }: Target, { why, down, next }: Unread): string => {
  const how = down ? `\`mimir resume ${record.run}\` ${RESUME}` : next?.(record.run);
  return `Kept for ${named(record)}: ${why}${how === undefined ? '' : `\n  ${how}`}`;
};

/** Who has ended goes on with a letter in the moment when the run takes it, unless a rule speaks against it by now. */
async function goesOn({ seen, record }: Target): Promise<boolean> {
  for (const until = world.elapsed() + TAKEN_WITHIN_MS; ; await world.sleep(LOOK_MS)) {
    const now = (await seen.again()).sessions.find(({ agent }) => agent === record.agent);
    if (now === undefined || now.completed_at !== record.completed_at) return true;
    if (world.elapsed() > until) return false;
  }
}

const TAKEN_WITHIN_MS = 500;
const LOOK_MS = 20;

/** It lies in the box of a run that is being stopped, or in the log for those who look. */
async function notTaken(target: Target): Promise<string> {
  const { seen, record } = target;
  if ((await seen.again()).kept_messages > 0) return keptWords(target, ENDED);
  throw new Exit(
    EXIT.refused,
    `${named(record)} has ended and can't go on now: the message stands in the log of run ${record.run}, unread\n  \`mimir spawn "<prompt>"\` starts another one`,
  );
}

/** Main of a run with a plan has no turn until a person has said yes or no to it. */
const waitsForApproval = ({ id, status }: AgentState, { phase }: RunState): boolean =>
  id === ROOT && phase === 'approving' && status === 'waiting';

/** How it reaches its reader: who has ended or only waits goes on with it at once. */
function comesAs(
  { id, outcome, status }: AgentState,
  { approvals }: RunState,
  delivery: Delivery,
): NonNullable<Receipt['sent']> {
  const waits = status === 'waiting' && !approvals.some(({ agent }) => agent === id);
  return outcome !== null || waits ? 'resumed' : BY_DELIVERY[delivery];
}

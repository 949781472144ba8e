/** ROOT of a run with a plan talks with the person: while its agents work, and after the run has ended. */
import { ROOT } from '../../../domain/ids.ts';
import type { EventType, MimirEvent } from '../../../events/event.ts';
import type { RunState } from '../../../events/state.ts';
import { converse } from './idle-session.ts';
import type { RunParts } from '../parts.ts';
import { STANDING } from './idle-session.ts';
import { handedOver } from '../../gate/text-protocol/read-reply.ts';

export interface MainTalk {
  /** Resolves when ROOT has answered all that it was told; true when it was at work. */
  settled(): Promise<boolean>;
  /** The answer that is being given is waited for; no other begins: what is written from now on is read with the results. */
  close(): Promise<void>;
  /** What ROOT has answered so far. */
  answers(): readonly string[];
}

/** From now on ROOT answers what it is told, beside the agents of the plan. It waits for no slot: a person waits for it. */
export function openTalk(parts: RunParts): MainTalk {
  const { inbox, signal } = parts;
  const now: { talk: Promise<void> | null; fault: unknown } = { talk: null, fault: null };
  const talk = async (): Promise<void> => {
    while ((cutOff || isToldSomething(parts.recorder.state())) && !signal.aborted) {
      cutOff = false;
      await converse(parts);
    }
  };
  let cutOff = wasCutOff(parts);
  const heard = (): void => {
    if (now.talk !== null || signal.aborted || !(cutOff || isToldSomething(parts.recorder.state()))) return;
    now.talk = talk()
      .catch((error: unknown) => {
        now.fault = error;
        parts.stop(error instanceof Error ? error.message : String(error));
      })
      .finally(() => (now.talk = null));
  };
  const unheard = inbox.onMail(ROOT, heard);
  heard();
  const settled = async (): Promise<boolean> => {
    const isAtWork = now.talk !== null;
    await now.talk;
    if (now.fault !== null) throw now.fault;
    return isAtWork;
  };
  return {
    settled,
    async close() {
      unheard();
      await settled();
    },
    answers: () => answersOf(parts).filter((text) => text !== ''),
  };
}

/** By the log, so that a run that was cut off and resumed has the same: what ROOT said at its work since the plan was approved, or since the last end. */
function answersOf(parts: RunParts): readonly string[] {
  let since: MimirEvent[] = [];
  for (const event of parts.recorder.each({ types: OF_TALK, agents: [ROOT] })) {
    if (event.type === 'plan.approved' || (event.type === 'session.finished' && event.status !== 'stopped')) since = [];
    else since.push(event);
  }
  const work = new Set(
    since.flatMap((event) => (event.type === 'model.started' && event.purpose === 'work' ? [event.call] : [])),
  );
  const last = new Set(
    since.flatMap((event) => (event.type === 'model.finished' && event.calls.length === 0 ? [event.call] : [])),
  );
  const said = since.flatMap((event) =>
    event.type === 'agent.message' && work.has(event.call) && last.has(event.call) ? [event.text] : [],
  );
  const handed = work.size === 0 ? null : handedOver(parts.conversations.of(ROOT).turns);
  return handed === null ? said : [...said, handed];
}

const OF_TALK: readonly EventType[] = [
  'plan.approved',
  'session.finished',
  'model.started',
  'model.finished',
  'agent.message',
];

/** Was ROOT at work on an answer when the process ended? Calls for a plan or a report are made again by who made them. */
function wasCutOff({ conversations }: RunParts): boolean {
  const { turns } = conversations.of(ROOT);
  const said = turns.findLastIndex((turn) => turn.by === 'model' && turn.calls.length === 0);
  return turns.slice(said + 1).some((turn) => turn.by === 'user' && turn.text.startsWith(STANDING));
}

/**
 * Is there a message that ROOT works for? Those of a person, and the ends of children that it has itself: what agents tell the orchestrator
 * is read with the next of these, or for the report.
 */
function isToldSomething({ messages, agents }: RunState): boolean {
  const isOwn = (child: string): boolean =>
    [...agents.values()].some(({ id, spawned }) => id === child && spawned?.by === ROOT);
  return messages.some(
    ({ to, from, delivered, notice }) =>
      to === ROOT && !delivered && (notice === null ? from === 'person' : isOwn(notice.of)),
  );
}

/** ROOT of a run with a plan talks with the person, while its agents work and after the run has ended. */
import { ROOT } from '../../domain/ids.ts';
import type { EventType, MimirEvent, RunState } from '../../events/index.ts';
import { lastFinalOutput } from '../gate/index.ts';
import type { RunModules } from './open-run.ts';
import { converse, STANDING } from './idle-session.ts';
import { messageOf } from '../../domain/result.ts';

export type MainTalk = ReturnType<typeof openTalk>;

/** Lets ROOT answer its messages beside the agents of the plan. It takes no slot, because a person is waiting. */
export function openTalk(parts: RunModules) {
  const { signal } = parts;
  const { inbox } = parts.gate;
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
        parts.stop(messageOf(error));
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
    /** Resolves when ROOT has answered all its messages; true when it was working. */
    settled,
    /** Waits for the answer in progress and begins no other: later messages are read with the results. */
    async close(): Promise<void> {
      unheard();
      await settled();
    },
    answers: () => answersOf(parts).filter((text) => text !== ''),
  };
}

/** ROOT's answers since the plan was approved, or since the last end. Read from the log, so that a resumed run has the same ones. */
function answersOf(parts: RunModules): readonly string[] {
  let since: MimirEvent[] = [];
  for (const event of parts.recorder.each(0, { types: OF_TALK, agents: [ROOT] })) {
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
  const handed = work.size === 0 ? null : lastFinalOutput(parts.conversations.of(ROOT).turns);
  return handed === null ? said : [...said, handed];
}

const OF_TALK: readonly EventType[] = [
  'plan.approved',
  'session.finished',
  'model.started',
  'model.finished',
  'agent.message',
];

/** Whether ROOT was working on an answer when the process ended. Calls for a plan or a report are repeated by their own callers. */
function wasCutOff({ conversations }: RunModules): boolean {
  const { turns } = conversations.of(ROOT);
  const said = turns.findLastIndex((turn) => turn.by === 'model' && turn.calls.length === 0);
  return turns.slice(said + 1).some((turn) => turn.by === 'user' && turn.text.startsWith(STANDING));
}

/** Whether ROOT has a message to work for: one of a person, or the notice of a child of its own. Other agents' messages to the orchestrator
 * are read with the next of these, or for the report. */
function isToldSomething({ messages, agents }: RunState): boolean {
  const isOwn = (child: string): boolean =>
    [...agents.values()].some(({ id, spawned }) => id === child && spawned?.by === ROOT);
  return messages.some(
    ({ to, from, delivered, notice }) =>
      to === ROOT && !delivered && (notice === null ? from === 'person' : isOwn(notice.of)),
  );
}

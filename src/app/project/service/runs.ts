/** The runs of a screen: those that it begins or goes on with here, those of other processes that it shows, and the one it gives away. */
import type { SessionId } from '../../../domain/ids.ts';
import { fail, ok } from '../../../domain/result.ts';
import type { Run } from '../../../engine/run/run.ts';
import type { Reached } from '../../../ports/control.ts';
import type { Receipt } from '../../../ports/controls.ts';
import type { Lobby } from '../../../ports/project-service.ts';
import { directApproval } from '../../hosting/approval.ts';
import { overBecause } from '../../client/resumable.ts';
import { settled } from '../../process/exit-to-result.ts';
import type { Start, Workshop } from '../open-project.ts';
import { newSession } from '../../client/connect.ts';

export type Begin = (
  what: Pick<Start, 'session' | 'task' | 'direct' | 'followUp'>,
  plan?: Start['plan'],
) => ReturnType<Lobby['start']>;

export interface LobbyRuns extends Required<Pick<Lobby, 'start' | 'resume' | 'attach' | 'detach'>> {
  readonly begin: Begin;
  /** The run that this process carries, or carried last; null before the first. */
  current(): Run | null;
  /** The run of another process that is shown; null where none is, or one was begun here since. */
  attached(): SessionId | null;
  /** Lets go of a run of another process, which goes on. */
  letGo(): void;
}

export interface RunsWays extends Required<Pick<Start, 'repository' | 'pace'>> {
  /** Starts a process of its own that goes on with a session; the receipt says how to come back. */
  readonly goesOn: (session: SessionId) => Promise<Receipt>;
}

/** `workshop`: the one that runs are started from now. */
export function runsFrom(workshop: () => Workshop, { repository, pace, goesOn }: RunsWays): LobbyRuns {
  let current: Run | null = null;
  let reached: Reached | null = null;
  const letGo = (): void => {
    reached?.close();
    reached = null;
  };
  const begin: Begin = async (what, plan = null) => {
    const from = workshop();
    const usual = from.config.rules.promptForApproval.value ? 'person' : 'config';
    const approval = what.direct === true ? directApproval(from.config) : usual;
    const begun = await settled(() => from.start({ ...what, repository, approval, person: true, plan, pace }));
    if (!begun.ok) return begun;
    letGo();
    current = begun.value;
    return ok(current.controls);
  };
  return {
    begin,
    start: (task, direct) => begin({ session: newSession(), task, ...(direct === undefined ? {} : { direct: true }) }),
    resume: (session, followUp) => resumed(workshop(), session, followUp, begin),
    async attach(session) {
      const { reachRun } = await import('../../client/connect.ts');
      const found = await reachRun(workshop().project, session);
      if (found === null) return fail({ text: `no process carries session ${session} now: mimir resume ${session}` });
      letGo();
      reached = found;
      return ok(found.controls);
    },
    async detach(session) {
      // Only then nobody holds the session any more.
      await current?.result;
      return settled(() => goesOn(session));
    },
    current: () => current,
    attached: () => reached?.session ?? null,
    letGo,
  };
}

/** What was stopped or failed goes on from its last turn. */
async function resumed(
  workshop: Workshop,
  session: SessionId,
  followUp: string | undefined,
  begin: Begin,
): ReturnType<Begin> {
  const one = workshop.log.sessions().find((known) => known.session === session);
  if (!one) return fail({ text: `there is no session ${session}` });
  const over = await settled(() => Promise.resolve(overBecause(workshop.project, one, followUp !== undefined)));
  if (!over.ok) return over;
  if (over.value !== null) return fail({ text: `${over.value}: mimir report ${session}` });
  return begin({ session, task: one.task, ...(followUp === undefined ? {} : { followUp }) });
}

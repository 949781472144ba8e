/** From what a person typed to a run: a task, a session to go on with, a kept plan; and what can be typed when it is over. */
import { fail } from '../../domain/result.ts';
import type { Lobby } from '../../ports/project-service.ts';
import { attachTo } from '../../app/client/attach.ts';
import type { Going } from './command.ts';

/** Refused where this lobby has no templates. */
export async function begin(lobby: Lobby, to: Exclude<Going, string>): ReturnType<Lobby['start']> {
  if ('start' in to) return lobby.start(to.start, to.direct);
  if ('resume' in to) return lobby.resume(to.resume, to.followUp);
  if ('attach' in to) return attachTo(lobby, to.attach);
  return (await lobby.startTemplate?.(to.template, to.values)) ?? fail({ text: 'templates can’t be used here' });
}

/** Said once behind the end of a run. */
export const AFTERWARDS =
  'report says it again, agents lists who did what, export writes it to a file; new begins another, quit leaves.';

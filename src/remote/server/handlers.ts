/** What is done for a request that was checked. Who may see or do what is decided by who gives (`Given`), with the asker's name. */
import type { AgentId } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok, unreachable } from '../../domain/result.ts';
import type { MimirEvent } from '../../events/event.ts';
import type { Given } from '../../ports/control.ts';
import type { World } from '../../ports/world.ts';
import { openLive } from '../client/live.ts';
import type { Request } from '../protocol.ts';
import type { Outbox } from '../stream.ts';

/** How long a client may keep a source of events open without reading; then the source is opened anew where it stopped. */
const PATIENCE = 5000;

export interface Asking {
  readonly given: Given;
  /** An agent, or null for the person. */
  readonly as: AgentId | null;
  readonly outbox: Outbox;
  readonly world: World;
  /** Ends the ticks of this client; kept between its requests. */
  ticks: (() => void) | null;
}

/** The answer to a request; events it asks for are sent before. */
export async function answer(asking: Asking, request: Request): Promise<Result<unknown, string>> {
  const { given, as } = asking;
  const { controls } = given;
  switch (request.ask) {
    case 'submit': {
      const done = await (as === null ? controls.submit(request.command) : controls.submit(request.command, as));
      return done.ok ? done : fail(done.fault.text);
    }
    case 'family':
      return ok(given.family(as));
    case 'detail':
      return given.detail(as, request.agent);
    case 'events':
      return await sendStored(asking, request);
    case 'follow':
      await follow(asking, request.id, request.after);
      return ok(null);
    case 'ticks':
      setTicks(asking, request.on);
      return ok(null);
    case 'mode':
      return ok(controls.previewMode(request.mode, request.agent));
    case 'plan':
      return controls.previewPlan(request.edits);
    case 'poke':
      given.poke?.();
      return ok(null);
    default:
      return unreachable(request);
  }
}

/** Nothing streams to this client any more. */
export function setTicks(asking: Asking, on: boolean): void {
  asking.ticks?.();
  asking.ticks = on ? asking.given.controls.ticks(openLive(asking.outbox)) : null;
}

async function sendStored(
  { given, as, outbox }: Asking,
  { id, agent, after }: Extract<Request, { readonly ask: 'events' }>,
): Promise<Result<null, string>> {
  const found = given.events(as, agent, after);
  if (!found.ok) return found;
  for (const event of found.value) {
    if (outbox.full() && !(await outbox.room())) break;
    outbox.send({ id, event });
  }
  return ok(null);
}

/** All events after `after` and those to come. A client that stops reading costs no memory: what it missed is read again for it. */
async function follow(asking: Asking, id: number, after: number): Promise<void> {
  let seq = after;
  for (;;) {
    const end = await stretch(asking, seq, (event) => {
      asking.outbox.send({ id, event });
      seq = event.seq;
    });
    if (end === 'over' || !(await asking.outbox.room())) return;
  }
}

async function stretch(
  { given, outbox, world }: Asking,
  after: number,
  send: (event: MimirEvent) => void,
): Promise<'over' | 'left'> {
  for await (const event of given.controls.events(after)) {
    send(event);
    if (!(await roomSoon(outbox, world))) return 'left';
  }
  return 'over';
}

/** False: the client is gone, or does not read. */
async function roomSoon(outbox: Outbox, world: World): Promise<boolean> {
  if (!outbox.full()) return outbox.there();
  const done = new AbortController();
  const late = world.sleep(PATIENCE, done.signal).then(() => false);
  const soon = await Promise.race([outbox.room(), late]);
  done.abort();
  return soon;
}

/**
 * The boundary: every string of an event is made harmless once, before it is folded. What a person decides about (the exact
 * action of an approval) keeps its hidden characters, as escapes one can see.
 */
import type { MimirEvent } from '../../../events/event.ts';
import type { LobbyInfo } from '../../../ports/project-service.ts';
import { marked, toTerminal, visible } from './sanitise.ts';

/** The same event with harmless strings; the very same object when there was nothing to do. */
export function cleanEvent(event: MimirEvent): MimirEvent {
  if (event.type !== 'approval.requested') return harmless(event);
  const { request, ...rest } = event;
  const { exact, options, title, same, ...words } = request;
  // Options are answers: they are sent back as they are shown, and shown so that nothing hides in them.
  return {
    ...harmless(rest),
    request: {
      ...harmless(words),
      title: visible(title),
      exact: marked(exact),
      options: options.map((option) => visible(option)),
      // Never shown, only compared: what differs must stay different.
      ...(same === undefined ? {} : { same: marked(same) }),
    },
  };
}

/** The same of the lobby: what is trusted is read as it is. */
export function cleanLobby(lobby: LobbyInfo): LobbyInfo {
  const { trust, ...rest } = lobby;
  if (trust === undefined) return harmless(lobby);
  const { brings, diff } = trust;
  return { ...harmless(rest), trust: { ...trust, brings: brings.map((line) => visible(line)), diff: visible(diff) } };
}

/**
 * Plain data with every string made harmless, shape and identity of what is harmless already kept. The overload says that
 * the shape stays, which TypeScript can't follow through the walk.
 */
export function harmless<T>(value: T): T;
export function harmless(value: unknown): unknown {
  if (typeof value === 'string') return toTerminal(value);
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const next = items.map((item) => harmless(item));
    return next.every((item, index) => item === items[index]) ? items : next;
  }
  if (typeof value !== 'object' || value === null) return value;
  const next = Object.entries(value).map(
    ([key, item]: [string, unknown]) => [toTerminal(key), harmless(item)] as const,
  );
  const same = Object.entries(value).every(([key, item], index) => next[index]?.[0] === key && next[index][1] === item);
  return same ? value : Object.fromEntries(next);
}

/** Tables with one function per event type: how folds and lines are written down. */
import type { EventType, MimirEvent } from './event.ts';

export type EventOf<T extends EventType> = Extract<MimirEvent, { readonly type: T }>;

/** `Before` comes before the event among the parameters, `After` behind it. Types may be missing. */
export type ByType<Before extends unknown[], After extends unknown[], R> = {
  readonly [T in EventType]?: (...args: [...Before, EventOf<T>, ...After]) => R;
};

/**
 * The function for `type`, or undefined. Which event goes with which function is checked where the table is written; the
 * overload says here that the caller passes an event of that very type, which TypeScript can't follow through a look-up.
 */
export function forType<Before extends unknown[], After extends unknown[], R>(
  table: ByType<Before, After, R>,
  type: EventType,
): ((...args: [...Before, MimirEvent, ...After]) => R) | undefined;
export function forType(table: object, type: EventType): unknown {
  const found: unknown = Object.hasOwn(table, type) ? Reflect.get(table, type) : undefined;
  return found;
}

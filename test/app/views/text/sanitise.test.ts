/** Events and states that are made harmless: whichever of both is done, a screen has the same. */
import { describe, expect, it } from 'vitest';
import { cleanEvent, cleanState } from '../../../../src/app/views/text/sanitise-state.ts';
import type { MimirEvent } from '../../../../src/events/event.ts';
import { foldAll } from '../../../../src/events/fold.ts';
import { finished, midRun } from '../../../support/recorded-run.ts';

const NAMES = new Set(['type', 'agent', 'session', 'time', 'status', 'outcome', 'parent', 'from', 'to', 'tool', 'is']);

/** The same event with something in each of its sentences that a terminal would obey. */
function hostile(event: MimirEvent): MimirEvent {
  const copy = structuredClone(event);
  spoil(copy);
  return copy;
}

function spoil(value: object): void {
  for (const [key, item] of Object.entries(value) as readonly [string, unknown][]) {
    if (typeof item === 'object' && item !== null) spoil(item);
    if (typeof item === 'string' && !NAMES.has(key) && item.includes(' '))
      Reflect.set(value, key, `${item}\u001b[2J\u202e`);
  }
}

describe('a state that is made harmless as a whole', () => {
  it.each([
    ['a run at work', midRun],
    ['a run that ended', finished],
  ])('is what the same events give when each is made harmless: %s', (_, recorded) => {
    const events = recorded().events.map(hostile);
    const state = cleanState(foldAll(events));
    expect(state).toEqual(foldAll(events.map(cleanEvent)));
    expect(JSON.stringify([...state.agents.values()])).not.toContain(String.raw`\u001b`);
    expect(cleanState(state)).toEqual(state);
  });
});

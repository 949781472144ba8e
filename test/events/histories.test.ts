/** Runs as earlier versions recorded them: each must fold today as it did then. New versions add a file, none changes. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../src/domain/ids.ts';
import { withReasons } from '../../src/events/earlier-words.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { foldAll } from '../../src/events/fold.ts';
import { isFinal, spentOf } from '../../src/events/queries.ts';
import { turnsOf } from '../support/story.ts';

const files = globSync(join(import.meta.dirname, '../histories/*.jsonl'));
const isEvent = (value: unknown): value is MimirEvent => typeof value === 'object' && value !== null && 'seq' in value;
const eventsIn = (file: string): readonly MimirEvent[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
    .filter(isEvent)
    .map((event) => withReasons(event));

describe('a recorded run', () => {
  it('is there to be told', () => {
    expect(files.length).toBeGreaterThan(0);
  });

  it.each(files.map((file) => [basename(file), file]))('of %s folds to its end, every event known', (_, file) => {
    const events = eventsIn(file);
    const state = foldAll(events);
    const agents = [...state.agents.values()].filter(({ id }) => id !== ROOT);
    expect(state).toMatchObject({ seq: events.length, phase: 'finished', unknown: 0, approvals: [] });
    expect(state.finished?.totals.tokens).toBe(spentOf(state).tokens);
    expect(agents.length).toBe(state.plan?.tasks.length);
    expect(agents.every(isFinal)).toBe(true);
    expect(agents.every(({ open, runningSince }) => open.length === 0 && runningSince === null)).toBe(true);
    expect(agents.every(({ id }) => turnsOf(events, id).length > 1)).toBe(true);
  });
});

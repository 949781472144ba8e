/** Outputs of tools in a state that is shown: those of agents that have ended are read from the log when somebody looks. */
import { describe, expect, it } from 'vitest';
import { CallId } from '../../../src/domain/ids.ts';
import type { MimirEvent } from '../../../src/events/event.ts';
import { foldAll } from '../../../src/events/fold.ts';
import { FoldedLog } from '../../../src/events/sessions/folded-log.ts';
import type { RunState } from '../../../src/events/state.ts';
import { finished } from '../../support/recorded-run.ts';
import { withoutOutput } from '../../../src/events/fold-agent.ts';

const LONG = 'a line of what it printed\n'.repeat(400);

/** The recorded run, in which every tool printed much. */
const events = finished().events.map(
  (event): MimirEvent => (event.type === 'tool.finished' ? { ...event, output: `${event.seq}\n${LONG}` } : event),
);

/** The state as a screen has it after `all`, and which events were read again for it so far. */
function shown(all: readonly MimirEvent[], stored = all): { readonly state: RunState; readonly reads: number[] } {
  const reads: number[] = [];
  const folded = new FoldedLog((seq) => {
    reads.push(seq);
    return stored[seq - 1] ?? null;
  });
  for (const event of all) folded.hear(event);
  return { state: folded.state, reads };
}

const ended = events.filter((event) => event.type === 'agent.finished').map(({ agent }) => agent);
const printed = events.filter((event) => event.type === 'tool.finished');

describe('outputs in a state that is shown', () => {
  it('are the same as if all of them were kept, and cost a look into the log only when one looks', () => {
    const { state, reads } = shown(events);
    expect(reads).toEqual([]);
    expect(state).toEqual(foldAll(events));
    expect(new Set(reads)).toEqual(new Set(printed.filter(({ agent }) => ended.includes(agent)).map(({ seq }) => seq)));
  });

  it('stay in memory while the agent works', () => {
    const first = events.findIndex((event) => event.type === 'agent.finished');
    const { state, reads } = shown(events.slice(0, first));
    expect(state).toEqual(foldAll(events.slice(0, first)));
    expect(reads).toEqual([]);
  });

  it('are read from the log of all agents where they were told without', () => {
    const folded = new FoldedLog((seq) => events[seq - 1] ?? null);
    for (const event of events.map((one) => withoutOutput(one))) folded.hear(event);
    expect(folded.state).toEqual(foldAll(events));
  });

  it('say so where the log can not be read any more', () => {
    const { state } = shown(events, []);
    const outputs = ended.flatMap((agent) =>
      (state.agents.get(agent)?.blocks ?? []).flatMap((block) =>
        block.is === 'tool' && block.ok !== null ? [block.output] : [],
      ),
    );
    expect(new Set(outputs)).toEqual(new Set(['(This output is in the log, which cannot be read now.)']));
  });

  it('are found again where a model gave two calls the same id', () => {
    const id = CallId.parse('again');
    const twice = events.map(
      (event): MimirEvent =>
        event.type === 'tool.started' || event.type === 'tool.finished' ? { ...event, call: id } : event,
    );
    expect(shown(twice).state).toEqual(foldAll(twice));
  });
});

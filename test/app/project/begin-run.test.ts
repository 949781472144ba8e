/** Estimates against what was really used, from a run to the next plan. */
import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/domain/budget.ts';
import { AgentId, ModelId } from '../../../src/domain/ids.ts';
import type { MimirEvent } from '../../../src/events/event.ts';
import { foldAll } from '../../../src/events/fold.ts';
import { Roster } from '../../../src/events/roster.ts';
import type { AgentState } from '../../../src/events/state.ts';
import { lessonsFrom } from '../../../src/app/project/begin-run.ts';
import { jsonLines, openHome, SMALL } from '../../support/cli.ts';
import { among, part } from '../../support/like.ts';
import { finished, SESSION } from '../../support/recorded-run.ts';

const recorded = finished().events;
const planned = new Map(
  recorded.flatMap((event) => (event.type === 'agent.created' ? [[event.agent, event.model.used] as const] : [])),
);
/** The recorded run, each agent on the model that it was planned for. */
const events = recorded.map(
  (event): MimirEvent =>
    event.type === 'model.finished' ? { ...event, model: planned.get(event.agent) ?? event.model } : event,
);

/** What these events teach, where each agent used figures of its own. */
function lessons(events: readonly MimirEvent[]): ReturnType<typeof lessonsFrom> {
  const state = foldAll(events);
  const used = [...state.agents.values()].map((agent): AgentState => {
    const number = Number(agent.id.at(-1)) || 0;
    return { ...agent, ranMs: 10_000 * number, usage: { ...NO_USAGE, input: 1000 * number }, cost: 0.01 * number };
  });
  return lessonsFrom({ session: SESSION, state: () => ({ ...state, agents: Roster.of(used) }) });
}
const tasks = foldAll(events).plan?.tasks ?? [];

describe('what a run teaches', () => {
  it('is the share of each estimate that each completed agent of the plan really used', async () => {
    const taught = lessons(events);
    expect(taught.map(({ agent }) => agent)).toEqual(['ROOT::S1', 'ROOT::S3', 'ROOT::S4']);
    for (const { run, agent, role, model, tokens, seconds, cost } of taught) {
      const number = Number(agent.at(-1));
      const task = tasks[number - 1];
      if (task === undefined) throw new Error(agent);
      expect([run, role, model]).toEqual([SESSION, task.role, task.model.used]);
      expect(tokens * task.estimatedTokens).toBeCloseTo(1000 * number, 6);
      expect(seconds * task.estimatedSeconds).toBeCloseTo(10 * number, 6);
      if (cost !== null) expect(cost * (task.estimatedCost ?? 0)).toBeCloseTo(0.01 * number, 9);
    }
  });

  it('is nothing of an agent that did not complete, or was on another model than planned', async () => {
    const [first] = lessons(events);
    const agent = first?.agent ?? AgentId.parse('ROOT::S1');
    const failed = events.map((event) =>
      event.type === 'agent.finished' && event.agent === agent ? { ...event, outcome: 'partial' as const } : event,
    );
    const moved = events.map((event) =>
      event.type === 'model.finished' && event.agent === agent ? { ...event, model: ModelId.parse('x/other') } : event,
    );
    for (const other of [failed, moved]) expect(lessons(other).map((one) => one.agent)).not.toContain(agent);
  });
});

describe('the next plan', () => {
  it('knows after three runs what those before really used', { timeout: 60_000 }, async () => {
    const home = openHome(SMALL);
    try {
      const learned: unknown[] = [];
      for (let run = 0; run < 4; run += 1) {
        const { code, out } = await home.run(['run', 'Find the entry points', '--yes', '--json']);
        expect(code).toBe(0);
        const proposed = jsonLines(out).find(({ type }) => type === 'plan.proposed');
        learned.push(proposed?.['choices']);
      }
      expect(learned.slice(0, 3).map((choices) => JSON.stringify(choices).includes('"learned"'))).toEqual([
        false,
        false,
        false,
      ]);
      expect(learned[3]).toMatchObject({ learned: among(part({ role: null, model: null, runs: 3 })) });
    } finally {
      home.remove();
    }
  });
});

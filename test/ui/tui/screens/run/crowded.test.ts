/** Runs of hundreds and thousands of agents: a frame looks at the agents that are seen of them, whatever the density and order. */
import { describe, expect, it } from 'vitest';
import type { AgentState } from '../../../../../src/events/state.ts';
import { listed, SORTS, WHOLE } from '../../../../../src/ui/tui/components/agents/list.ts';
import { pageOf } from '../../../../../src/ui/tui/frame/keymap.ts';
import type { Context } from '../../../../../src/ui/tui/frame/screen.ts';
import { runScreen } from '../../../../../src/ui/tui/screens/run/run.ts';
import { openEditor } from '../../../../../src/ui/tui/text/editor.ts';
import { crowd } from '../../../../support/crowd.ts';
import { contextOf, look } from '../../../../support/look.ts';

const SIZE = { width: 120, height: 40 };

/** The same run, and how many agents were asked for what only a composed one is asked for. */
function watched(count: number): { readonly context: Context; readonly composed: () => number } {
  const context = contextOf(crowd(count).events);
  let asked = new Set<string>();
  const agents = new Map(
    [...context.state.agents].map(([id, agent]): [typeof id, AgentState] => [
      id,
      Object.defineProperty({ ...agent }, 'model', {
        get: () => {
          asked.add(id);
          return agent.model;
        },
      }),
    ]),
  );
  return {
    context: { ...context, state: { ...context.state, agents } },
    composed: () => {
      const { size } = asked;
      asked = new Set();
      return size;
    },
  };
}

describe.each([512, 5000])('a run of %i agents', (count) => {
  const { context, composed } = watched(count);

  it.each([
    ['card', 1, 8],
    ['line', 2, 34],
  ] as const)('composes of its %ss what fits and no more', (_, presses, most) => {
    const page = pageOf(runScreen, {});
    look(
      page,
      context,
      SIZE,
      Array.from({ length: presses }, () => 'z'),
    );
    look(page, context, SIZE, ['G']);
    composed();
    expect(look(page, context, SIZE)).toHaveLength(SIZE.height);
    // And the one that is opened beside them.
    const seen = composed();
    expect(seen).toBeLessThanOrEqual(most + 1);
    expect(seen).toBeGreaterThan(most / 2);
  });

  it('sorts and filters once for a state, not for a frame', () => {
    for (const sort of SORTS) {
      const list = { ...WHOLE, sort };
      expect(listed(list, context.state)).toBe(listed(list, context.state));
    }
    const field = openEditor('finder', true);
    const typed = { ...WHOLE, field };
    expect(listed(typed, context.state)).toBe(listed(typed, context.state));
  });
});

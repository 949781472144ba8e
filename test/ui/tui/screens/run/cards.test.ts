/** The agents as a table: columns that stand under each other at any width, children under their parents, folds that say so. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentId } from '../../../../../src/domain/ids.ts';
import { inOrder } from '../../../../../src/app/views/agents/agent-lines.ts';
import { WHOLE, listed, withFold } from '../../../../../src/ui/tui/components/agents/list.ts';
import type { Context } from '../../../../../src/ui/tui/frame/screen.ts';
import { columns, type Line, lineWidth, plain } from '../../../../../src/app/views/text/line.ts';
import { cardsPane, type CardsView, type Density, rowsFor } from '../../../../../src/ui/tui/components/agents/cards.ts';
import { contextOf } from '../../../../support/look.ts';
import { midRun } from '../../../../support/recorded-run.ts';

const STEPS = [0, 2, 4, 9, 12, 7, 3, 1];
const context = contextOf(midRun().events, {
  activity: (id) => ({ rate: 12, steps: id === 'ROOT::S3' ? STEPS : id === 'ROOT::S4' ? STEPS.toReversed() : [] }),
});
const REFACTORING = AgentId.parse('ROOT::S4');

const view = (density: Density, more: Partial<CardsView> = {}): CardsView => ({
  agents: inOrder(context.state),
  selected: 3,
  density,
  top: 0,
  focused: true,
  ...more,
});

function drawn(
  density: Density,
  width: number,
  more: Partial<CardsView> = {},
  of: Context = context,
): readonly string[] {
  const cards = view(density, more);
  return cardsPane(cards, of, width, rowsFor(density, cards.agents.length)).map((line) => plain(line).trimEnd());
}

describe('the list of agents', () => {
  it('has one row for each at 100 columns: sign, name, model, what it does, budget, cost, time, tokens', () => {
    expect(drawn('line', 100)).toMatchInlineSnapshot(`
      [
        "   agent                model        activity                      budget      cost     time tokens",
        " ● main                 opus-4.5     waiting for 4 agents                     $0.09   3m 11s    22k",
        " ✓ finder               haiku-4.5    14 files found                         $0.0031      21s   6.2k",
        " ✗ librarian            sonnet-4.5   ! provider refused the r…                $0.04      48s    15k",
        "▌● oracle               o3           Bash npm test -- refresh… ▰▰▰▰·  78%     $0.12   2m 13s    31k",
        " ● refactoring          sonnet-4.5   waiting for 1 agent       ▰▰···  48%     $0.07   1m 36s    28k",
        " ● ╰ finder 2           → offline    Search legacyRefresh      ·····   0%     $0.00      12s      0",
        " ○ tester               sonnet-4.5   waiting for #3 oracle",
        " ○ reviewer             gpt-5        waiting for #4 refactoring",
      ]
    `);
  });

  it('gives columns up one after the other at 60, 50 and 40', () => {
    expect([60, 50, 40].map((width) => drawn('line', width))).toMatchInlineSnapshot(`
      [
        [
          "   agent         activity            budget    cost    time",
          " ● main          waiting for 4 ag…            $0.09  3m 11s",
          " ✓ finder        14 files found             $0.0031     21s",
          " ✗ librarian     ! provider refus…            $0.04     48s",
          "▌● oracle        Bash npm test --… ▰▰·  78%   $0.12  2m 13s",
          " ● refactoring   waiting for 1 ag… ▰··  48%   $0.07  1m 36s",
          " ● ╰ finder 2    Search legacyRef… ···   0%   $0.00     12s",
          " ○ tester        waiting for #3 oracle",
          " ○ reviewer      waiting for #4 refactoring",
        ],
        [
          "   agent        activity   budget    cost    time",
          " ● main         waiting fo…         $0.09  3m 11s",
          " ✓ finder       14 files f…       $0.0031     21s",
          " ✗ librarian    ! provider…         $0.04     48s",
          "▌● oracle       Bash npm t…   78%   $0.12  2m 13s",
          " ● refactoring  waiting fo…   48%   $0.07  1m 36s",
          " ● ╰ finder 2   Search leg…    0%   $0.00     12s",
          " ○ tester       waiting for #3 oracle",
          " ○ reviewer     waiting for #4 refactoring",
        ],
        [
          "   agent                   cost    time",
          " ● main         waitin…   $0.09  3m 11s",
          " ✓ finder       14 fil… $0.0031     21s",
          " ✗ librarian    ! prov…   $0.04     48s",
          "▌● oracle       Bash n…   $0.12  2m 13s",
          " ● refactoring  waitin…   $0.07  1m 36s",
          " ● ╰ finder 2   Search…   $0.00     12s",
          " ○ tester       waiting for #3 oracle",
          " ○ reviewer     waiting for #4 refacto…",
        ],
      ]
    `);
  });

  it('says of a folded agent how many are hidden', () => {
    const list = withFold(WHOLE, REFACTORING);
    const more = { agents: listed(list, context.state), folded: list.folded };
    const rows = (density: Density, width: number): readonly string[] =>
      drawn(density, width, more).filter((line) => line.includes('hidden'));
    expect([rows('line', 100), rows('line', 60)]).toMatchInlineSnapshot(`
      [
        [
          " ● refactoring          sonnet-4.5   +1 hidden waiting for 1 … ▰▰···  48%     $0.07   1m 36s    28k",
        ],
        [
          " ● refactoring   +1 hidden waitin… ▰··  48%   $0.07  1m 36s",
        ],
      ]
    `);
  });

  it('says in words that a budget comes to its end, and by a sign where there is little room', () => {
    const row = (cost: number, width: number, density: Density = 'card'): string => {
      const agents = inOrder(context.state).map((agent) => (agent.id === 'ROOT::S3' ? { ...agent, cost } : agent));
      return drawn(density, width, { agents }).find((line) => line.includes('%') && /8[0-9]%|1\d\d%/.test(line)) ?? '';
    };
    expect([row(0.13, 80), row(0.16, 80), row(0.13, 40), row(0.13, 60, 'line')]).toMatchInlineSnapshot(`
      [
        "┗━ ⟩ Bash npm test -- refresh --repeat 50 ━━━━━━━━━ near its limit ▰▰▰▰·  86% ┛",
        "┗━ ⟩ Bash npm test -- refresh --repeat 50 ━━━━━━━━━━ limit reached ▰▰▰▰▰ 106% ┛",
        "┗━ ⟩ Bash npm test --… ━ ! ▰▰▰▰·  86% ┛",
        "▌● oracle        Bash npm test --… ▰▰▰ !86%   $0.13  2m 13s",
      ]
    `);
  });

  it('stands as a child below its parent only, not below whom an order has put there', () => {
    const child = (sort: 'start' | 'cost'): readonly (string | undefined)[] => {
      const agents = listed({ ...WHOLE, sort }, context.state);
      return (['card', 'line'] as const).map(
        (density) =>
          /\S+ (?:╰ )?finder 2/.exec(
            drawn(density, 60, { agents, selected: 0 }).find((line) => line.includes('finder 2')) ?? '',
          )?.[0],
      );
    };
    expect([child('start'), child('cost')]).toEqual([Array(2).fill('● ╰ finder 2'), Array(2).fill('● finder 2')]);
  });

  it('cuts no time of a long run: from a hundred minutes on it has hours', () => {
    const later = (minutes: number): string | undefined =>
      /\$\S+ +(\S+ \S+)/.exec(
        drawn('line', 60, {}, { ...context, now: context.state.startedAt + minutes * 60_000 })[4] ?? '',
      )?.[1];
    expect([later(100), later(101), later(1500)]).toEqual(['99m 1s', '1h 40m', '24h 59m']);
  });

  it('keeps its numbers in their columns whatever the agents are called and asked to do', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 240 }),
        fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { minLength: 8, maxLength: 8 }),
        (width, words) => {
          const rows = (...more: readonly string[]): readonly Line[] => {
            const agents = inOrder(context.state)
              .filter(({ iterations }) => iterations > 0)
              .map((agent, at) => ({
                ...agent,
                name: more[at] ?? agent.name,
                todos: [],
                blocks: [],
                task: more[0] ?? '',
              }));
            return cardsPane(view('line', { agents }), context, width, rowsFor('line', agents.length));
          };
          const lines = rows(...words);
          expect(lines.map(lineWidth)).toEqual(lines.map(() => width));
          const numbers = (all: readonly Line[]): readonly string[] =>
            all.map((line) => plain(columns(line, Math.max(0, width - 22), width)));
          if (width >= 60) expect(numbers(lines)).toEqual(numbers(rows()));
        },
      ),
    );
  });
});

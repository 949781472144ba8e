/** The agents on two rows or one: columns that stand under each other at any width, children under their parents, folds that say so. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentId } from '../../../../../src/domain/ids.ts';
import { inOrder } from '../../../../../src/app/views/agents/agent-lines.ts';
import { WHOLE, listed, withFold } from '../../../../../src/ui/tui/components/runs/list.ts';
import type { Context } from '../../../../../src/ui/tui/frame/screen.ts';
import { columns, lineWidth, plain } from '../../../../../src/app/views/text/clip.ts';
import type { Line } from '../../../../../src/app/views/text/line.ts';
import type { CardsView, Density } from '../../../../../src/ui/tui/components/agents/cards.ts';
import { cardsPane, ROWS } from '../../../../../src/ui/tui/components/agents/cards.ts';
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
  return cardsPane(cards, of, width, cards.agents.length * ROWS[density]).map((line) => plain(line).trimEnd());
}

describe('the list of agents', () => {
  it('has one row for each at 100 columns: sign, name, model, what it does, activity, time, cost, tokens', () => {
    expect(drawn('line', 100)).toMatchInlineSnapshot(`
      [
        " ● main                 opus-4.5     waiting for 4 agents                    3m 11s   $0.0912   22k",
        " ✓ finder               haiku-4.5    14 files found                             21s   $0.0031  6.2k",
        " ✗ librarian            sonnet-4.5   ! provider refused the request (400)       48s   $0.0418   15k",
        "▌● oracle               o3           Bash npm test -- refresh --r…  ▂▃▅▆▄▂▁  2m 13s   $0.1184   31k",
        " ● refactoring          sonnet-4.5   waiting for 1 agent           ▁▂▄▆▅▃▂   1m 36s   $0.0733   28k",
        " ● ╰ finder 2           → offline    Search legacyRefresh                       12s   $0.0000     0",
        " ○ tester               sonnet-4.5   waits for #3 oracle",
        " ○ reviewer             gpt-5        waits for #4 refactoring",
      ]
    `);
  });

  it('gives columns up one after the other at 60, 55 and 40', () => {
    expect([60, 55, 40].map((width) => drawn('line', width))).toMatchInlineSnapshot(`
      [
        [
          " ● main          waiting fo…           3m 11s  $0.0912  22k",
          " ✓ finder        14 files found           21s  $0.0031 6.2k",
          " ✗ librarian     ! provider refused …     48s  $0.0418  15k",
          "▌● oracle        Bash npm t…  ▂▃▅▆▄▂▁  2m 13s  $0.1184  31k",
          " ● refactoring   waiting fo… ▁▂▄▆▅▃▂   1m 36s  $0.0733  28k",
          " ● ╰ finder 2    Search leg…              12s  $0.0000    0",
          " ○ tester        waits for #3 oracle",
          " ○ reviewer      waits for #4 refactoring",
        ],
        [
          " ● main          waiting…         3m 11s  $0.0912  22k",
          " ✓ finder        14 files found      21s  $0.0031 6.2k",
          " ✗ librarian     ! provider ref…     48s  $0.0418  15k",
          "▌● oracle        Bash np… ▃▅▆▄▂▁  2m 13s  $0.1184  31k",
          " ● refactoring   waiting… ▄▆▅▃▂   1m 36s  $0.0733  28k",
          " ● ╰ finder 2    Search …            12s  $0.0000    0",
          " ○ tester        waits for #3 oracle",
          " ○ reviewer      waits for #4 refactoring",
        ],
        [
          " ● main         waiting for 4 …  3m 11s",
          " ✓ finder       14 files found      21s",
          " ✗ librarian    ! provider ref…     48s",
          "▌● oracle       Bash npm test …  2m 13s",
          " ● refactoring  waiting for 1 …  1m 36s",
          " ● ╰ finder 2   Search legacyR…     12s",
          " ○ tester       waits for #3 oracle",
          " ○ reviewer     waits for #4 refactori…",
        ],
      ]
    `);
  });

  it('has two rows for each: the numbers with the activity, and below them the todo and the budget', () => {
    expect([80, 55, 40].map((width) => drawn('compact', width))).toMatchInlineSnapshot(`
      [
        [
          " ● main             opus-4.5                             3m 11s   $0.0912   22k",
          "   ▸ Watch wave 2                                                1/5 ▰····  16%",
          " ✓ finder           haiku-4.5                               21s   $0.0031  6.2k",
          "   14 files found                                                3/3",
          " ✗ librarian        sonnet-4.5                              48s   $0.0418   15k",
          "   ! provider refused the request (400)",
          "▌● oracle           o3                          ▂▃▅▆▄▂▁  2m 13s   $0.1184   31k",
          "▌  ▸ Explain why two refreshes both win                          1/5 ▰▰▰▰·  78%",
          " ● refactoring      sonnet-4.5                 ▁▂▄▆▅▃▂   1m 36s   $0.0733   28k",
          "   ▸ Update 14 call sites                                        1/5 ▰▰···  48%",
          " ● ╰ finder 2       → offline                               12s   $0.0000     0",
          "     ⟩ Search legacyRefresh                                          ·····   0%",
          " ○ tester           sonnet-4.5",
          "   waits for #3 oracle",
          " ○ reviewer         gpt-5",
          "   waits for #4 refactoring",
        ],
        [
          " ● main          opus-4.5         3m 11s  $0.0912  22k",
          "   ▸ Watch wave 2                       1/5 ▰····  16%",
          " ✓ finder        haiku-4…            21s  $0.0031 6.2k",
          "   14 files found                       3/3",
          " ✗ librarian     sonnet-…            48s  $0.0418  15k",
          "   ! provider refused the request (400)",
          "▌● oracle        o3       ▃▅▆▄▂▁  2m 13s  $0.1184  31k",
          "▌  ▸ Explain why two refreshes both w…  1/5 ▰▰▰▰·  78%",
          " ● refactoring   sonnet-… ▄▆▅▃▂   1m 36s  $0.0733  28k",
          "   ▸ Update 14 call sites               1/5 ▰▰···  48%",
          " ● ╰ finder 2    → offli…            12s  $0.0000    0",
          "     ⟩ Search legacyRefresh                 ·····   0%",
          " ○ tester        sonnet-…",
          "   waits for #3 oracle",
          " ○ reviewer      gpt-5",
          "   waits for #4 refactoring",
        ],
        [
          " ● main         opus-4.5         3m 11s",
          "   ▸ Watch wave 2        1/5 ▰····  16%",
          " ✓ finder       haiku-4.5           21s",
          "   14 files found        3/3",
          " ✗ librarian    sonnet-4.5          48s",
          "   ! provider refused the r…",
          "▌● oracle       o3               2m 13s",
          "▌  ▸ Explain why two r…  1/5 ▰▰▰▰·  78%",
          " ● refactoring  sonnet-4.5       1m 36s",
          "   ▸ Update 14 call si…  1/5 ▰▰···  48%",
          " ● ╰ finder 2   → offline           12s",
          "     ⟩ Search legacyRefresh  ·····   0%",
          " ○ tester       sonnet-4.5",
          "   waits for #3 oracle",
          " ○ reviewer     gpt-5",
          "   waits for #4 refactoring",
        ],
      ]
    `);
  });

  it('says of a folded agent how many are hidden and what all of it cost', () => {
    const list = withFold(WHOLE, REFACTORING);
    const more = { agents: listed(list, context.state), folded: list.folded };
    const rows = (density: Density, width: number): readonly string[] =>
      drawn(density, width, more).filter((line) => line.includes('hidden'));
    expect([rows('line', 100), rows('line', 60), rows('compact', 60)]).toMatchInlineSnapshot(`
      [
        [
          " ● refactoring          sonnet-4.5   +1 hidden  waiting for 1 age… ▁▂▄▆▅▃▂   1m 36s   $0.0733   28k",
        ],
        [
          " ● refactoring   +1 hidden … ▁▂▄▆▅▃▂   1m 36s  $0.0733  28k",
        ],
        [
          "   ▸ Update 14 call sites        +1 hidden   1/5 ▰▰···  48%",
        ],
      ]
    `);
  });

  it('says in words that a budget comes to its end, and by a sign where there is little room', () => {
    const row = (cost: number, width: number, density: Density = 'card'): string => {
      const agents = inOrder(context.state).map((agent) => (agent.id === 'ROOT::S3' ? { ...agent, cost } : agent));
      return drawn(density, width, { agents }).find((line) => line.includes('%') && /8[0-9]%|1\d\d%/.test(line)) ?? '';
    };
    expect([row(0.13, 80), row(0.16, 80), row(0.13, 40), row(0.13, 60, 'compact')]).toMatchInlineSnapshot(`
      [
        "┗━ ⟩ Bash npm test -- refresh --repeat 50 ━━━━━━━━━ near its limit ▰▰▰▰·  86% ┛",
        "┗━ ⟩ Bash npm test -- refresh --repeat 50 ━━━━━━━━━━ limit reached ▰▰▰▰▰ 106% ┛",
        "┗━ ⟩ Bash npm test --… ━ ! ▰▰▰▰·  86% ┛",
        "▌  ▸ Explain why two refreshes both win      1/5 ▰▰▰▰· !86%",
      ]
    `);
  });

  it('stands as a child below its parent only, not below whom an order has put there', () => {
    const child = (sort: 'start' | 'cost'): readonly (string | undefined)[] => {
      const agents = listed({ ...WHOLE, sort }, context.state);
      return (['card', 'compact', 'line'] as const).map(
        (density) =>
          /\S+ (?:╰ )?finder 2/.exec(
            drawn(density, 60, { agents, selected: 0 }).find((line) => line.includes('finder 2')) ?? '',
          )?.[0],
      );
    };
    expect([child('start'), child('cost')]).toEqual([Array(3).fill('● ╰ finder 2'), Array(3).fill('● finder 2')]);
  });

  it('cuts no time of a long run: from a hundred minutes on it has hours', () => {
    const later = (minutes: number): string | undefined =>
      / (\S+ \S+) +\$/.exec(
        drawn('line', 60, {}, { ...context, now: context.state.startedAt + minutes * 60_000 })[3] ?? '',
      )?.[1];
    expect([later(100), later(101), later(1500)]).toEqual(['99m 1s', '1h 40m', '24h 59m']);
  });

  it('keeps its numbers in their columns whatever the agents are called and asked to do', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('line' as const, 'compact' as const),
        fc.integer({ min: 1, max: 240 }),
        fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { minLength: 8, maxLength: 8 }),
        (density, width, words) => {
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
            return cardsPane(view(density, { agents }), context, width, agents.length * ROWS[density]);
          };
          const lines = rows(...words);
          expect(lines.map(lineWidth)).toEqual(lines.map(() => width));
          const numbers = (all: readonly Line[]): readonly string[] =>
            all
              .filter((_, at) => at % ROWS[density] === 0)
              .map((line) => plain(columns(line, Math.max(0, width - 22), width)));
          if (width >= 60) expect(numbers(lines)).toEqual(numbers(rows()));
        },
      ),
    );
  });
});

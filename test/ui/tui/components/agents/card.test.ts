/** One card: what stands on it, the sign and colour of every status, and which card is selected. */
import { describe, expect, it } from 'vitest';
import { type AgentStatus, STATUSES } from '../../../../../src/domain/agents/agent.ts';
import { AgentId, CallId } from '../../../../../src/domain/ids.ts';
import type { AgentState } from '../../../../../src/events/state.ts';
import { modelName } from '../../../../../src/app/views/agents/agent-lines.ts';
import { UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import { type Ink, type Line, plain } from '../../../../../src/app/views/text/line.ts';
import { card } from '../../../../../src/ui/tui/components/agents/cards.ts';
import { contextOf } from '../../../../support/look.ts';
import { midRun, says } from '../../../../support/recorded-run.ts';
import { theme } from '../../../../support/theme.ts';
import { statusSpan } from '../../../../../src/ui/tui/components/progress.ts';

const context = contextOf(midRun().events);
const oracle = agentOf('ROOT::S3');
const drawn = (agent: AgentState, selected = false): readonly Line[] =>
  card(agent, context, 60, { selected, focused: true, hidden: 0, indent: 0 });

function agentOf(id: string): AgentState {
  const found = context.state.agents.get(AgentId.parse(id));
  if (found === undefined) throw new Error(`no ${id}`);
  return found;
}
/** The name of the colour that is shown for an ink where there are 16. */
const colour = (ink: Ink | undefined): string | null =>
  ink === undefined || ink.startsWith('role:')
    ? null
    : (Object.entries(theme.tokens).find(([name]) => name === ink)?.[1].ansi ?? null);

describe('a card', () => {
  it('has a sign and a colour for each status; gray, green, cyan, green, red, yellow (O037, O118, O119)', () => {
    const shown = (status: AgentStatus): readonly unknown[] => {
      const [sign, style] = statusSpan({ ...oracle, status }, context);
      return [status, sign, colour(style.fg)];
    };
    expect(STATUSES.map(shown)).toEqual([
      ['pending', '○', 'brightBlack'],
      // It waits for a free slot: queued, as one that waits for others.
      ['initializing', '○', 'brightBlack'],
      ['running', '●', 'green'],
      ['waiting', '◌', 'cyan'],
      ['completed', '✓', 'green'],
      ['failed', '✗', 'red'],
      ['interrupted', '⏸', 'yellow'],
    ]);
    expect(new Set(STATUSES.map((status) => UNICODE.status[status])).size).toBe(STATUSES.length);
  });

  it('has sign, role in bold and model on the left; time, cost and tokens on the right (O116, O117)', () => {
    const [top = []] = drawn(oracle);
    expect(plain(top)).toBe('┌ ● oracle  o3 ────────────────────── 2m 13s · $0.12 · 31k ┐');
    expect(top.find(([text]) => text === 'oracle')?.[1]).toMatchObject({ bold: true, fg: 'role:oracle' });
  });

  it('has what a plan comes to where the planner said it last, never its JSON', () => {
    const call = CallId.parse('m1');
    const text = '{\n  "reason": "Two.",\n  "tasks": [{ "id": "a", "recommendedRole": "finder" }]\n}';
    const main: AgentState = { ...agentOf('ROOT'), children: [], blocks: [{ is: 'said', call, text }] };
    expect(plain(drawn(main).at(-1) ?? [])).toContain('Planned 1 task: 1 finder.');
  });

  it('calls a model by its short name, whichever of its ids is named', () => {
    expect(
      [
        'anthropic/claude-sonnet-4-5-20250929',
        'anthropic/claude-sonnet-4-5',
        'openai/o3-2025-04-16',
        'offline/analyst',
        'ollama/qwen3-coder:30b',
        'openrouter/qwen/qwen3-coder',
        'haiku-4.5',
      ].map(modelName),
    ).toEqual(['sonnet-4.5', 'sonnet-4.5', 'o3', 'offline', 'qwen3-coder:30b', 'qwen-3', 'haiku-4.5']);
  });

  it('has three todos at most, and says how many more there are (O120)', () => {
    expect(drawn(oracle).slice(1, 4).map(plain)).toMatchInlineSnapshot(`
      [
        "│  ✓ Reproduce the race                                    │",
        "│  ▸ Explain why two refreshes both win                    │",
        "│  ○ Propose a lock                            ... +2 more │",
      ]
    `);
  });

  it('has under the task of who has no list what it did last, and of who has not begun what is expected', () => {
    const tool = { is: 'tool', call: CallId.parse('t1'), tool: 'search', started: 0, output: '', ms: 1 } as const;
    const blocks = [
      { ...tool, label: 'Search a', ok: true },
      { ...tool, label: 'Search b', ok: true },
      { ...tool, label: 'Read c', ok: false },
      { ...tool, label: 'Read d', ok: null },
    ] as const;
    const body = (agent: AgentState): readonly string[] =>
      drawn(agent)
        .slice(1, 4)
        .map((line) => plain(line).slice(3, -2).trim());
    expect(body({ ...agentOf('ROOT::S4::S1'), blocks })).toEqual([
      'Find imports of legacyRefresh',
      '✓ Search b',
      '✗ Read c',
    ]);
    expect(body(agentOf('ROOT::S6'))).toEqual(['Security review of the store and the diff', 'est. 30s · $0.05', '']);
  });

  it('says why it failed in all words where the foot has no room for them', () => {
    const failed: AgentState = {
      ...agentOf('ROOT::S2'),
      error: 'the provider refused the request because a tool of it is not allowed',
    };
    expect(drawn(failed).map(plain).join('')).toContain('because a tool of it ');
  });

  it('of who has sub-agents says what all of them cost, and how many a fold hides (H010)', () => {
    const lines = says(midRun(), 185, 'ROOT::S4::S1', 'Found.', 100, 0.0042);
    const now = contextOf(lines.events);
    const parent = now.state.agents.get(AgentId.parse('ROOT::S4'));
    if (parent === undefined) throw new Error('no parent');
    const foot = (hidden: number): string =>
      plain(card(parent, now, 70, { selected: false, focused: true, hidden, indent: 0 }).at(-1) ?? []);
    expect(foot(0)).toContain(' Σ $0.08 ▰▰···  48% ');
    expect(foot(1)).toContain(' +1 hidden Σ $0.08 ');
  });

  it('that is selected has a heavy cyan border, others a light gray one (O114, O122)', () => {
    const corner = (selected: boolean): unknown => {
      const [first] = drawn(oracle, selected)[0] ?? [];
      return first === undefined ? null : [first[0][0], colour(first[1].fg)];
    };
    expect([corner(true), corner(false)]).toEqual([
      ['┏', 'brightCyan'],
      ['┌', 'brightBlack'],
    ]);
  });
});

/** What people see of real models: waits that run down, thoughts, what it costs and why, a plan while it is written. */
import { describe, expect, it } from 'vitest';
import { AgentId, ModelId, ROOT } from '../../../../../src/domain/ids.ts';
import type { AgentState } from '../../../../../src/events/state.ts';
import { wantsAttention } from '../../../../../src/app/views/agents/agent-lines.ts';
import { ASCII } from '../../../../../src/ui/tui/text/glyphs.ts';
import { pageOf } from '../../../../../src/ui/tui/frame/keymap.ts';
import type { Context } from '../../../../../src/ui/tui/frame/screen.ts';
import { planScreen } from '../../../../../src/ui/tui/screens/plan/plan.ts';
import { runScreen } from '../../../../../src/ui/tui/screens/run/run.ts';
import { startScreen } from '../../../../../src/ui/tui/screens/start/start.ts';
import { type Line, plain } from '../../../../../src/app/views/text/line.ts';
import { card } from '../../../../../src/ui/tui/components/agents/cards.ts';
import { costLines } from '../../../../../src/ui/tui/components/costs.ts';
import { infoLines } from '../../../../../src/ui/tui/components/agents/detail-tabs.ts';
import { linesOf } from '../../../../../src/ui/tui/text/blocks.ts';
import { transcriptDoc, type TranscriptNow } from '../../../../../src/ui/tui/components/agents/transcript.ts';
import { waitOf } from '../../../../../src/app/views/agent-counts.ts';
import { PROJECT_SERVICE } from '../../../../support/fake-run.ts';
import { contextOf, look } from '../../../../support/look.ts';
import { calls, modelRun, waits } from '../../../../support/model-run.ts';
import { approval, asks, begun, planning, Recording, runs, START } from '../../../../support/recorded-run.ts';
import { statusSpan } from '../../../../../src/ui/tui/components/progress.ts';

const THOUGHTS = 'The callers in test/ may mock the endpoint.\nI should look at each before I say fourteen.';
const context = contextOf(modelRun().events, {
  reasoning: new Map([['ROOT::S1', THOUGHTS]]),
  activity: (agent) => ({ rate: agent === 'ROOT::S1' ? 42.4 : 0, steps: [0, 0, 1, 2, 3, 4] }),
});
const [WIDE, NARROW] = [
  { width: 120, height: 40 },
  { width: 80, height: 24 },
];

function agentOf(id: string, from: Context = context): AgentState {
  const found = from.state.agents.get(AgentId.parse(id));
  if (found === undefined) throw new Error(`no ${id}`);
  return found;
}

const rowsWith = (rows: readonly string[], text: string): readonly string[] => rows.filter((row) => row.includes(text));
const inks = (lines: readonly Line[], text: string): unknown =>
  lines.flat().find(([words]) => words.includes(text))?.[1].fg;

describe('a wait for a provider', () => {
  it('has its own sign on the card, in the header and in the activity, at 80x24 and 120x40', () => {
    const narrow = look(pageOf(runScreen, {}), context, NARROW);
    expect([narrow[0], ...rowsWith(narrow, '◔').slice(1)]).toEqual([
      ' MIMIR  Fix the token refre… confirm  ◔ 1, 5s  ● 3 ○ 2  ✓ 0/6   3m 11s  $0.24+? ',
      ' ◔ oracle           ◔ retrying in 5s (2 of 5): a… ▰▰···  41%     $0.06    2m 6s ',
      '│ ● finder  ● librarian → ◔ oracle  ● refactoring → ○ tester  ○ reviewer       │',
    ]);
    const wide = look(pageOf(runScreen, {}), context, WIDE, ['j', 'j', 'j']);
    expect(rowsWith(wide, '◔')).toEqual([
      ' MIMIR  Fix the token refresh race  sandboxed  confirm  ◔ 1, 5s  ● 3 ○ 2  0 of 6 done   3m 11s  $0.24+? of $2.00 ▰····· ',
      '   agent        activity        budget    cost    time ┌─ ◔ oracle ── Transcript │ Todos │ Tools │ Diffs │ Messages ▸ ─┐',
      '▌◔ oracle       ◔ retrying in 5…   41%   $0.06   2m 6s │ Both calls read generation 7.                                 │',
      '┌─ Log ────────────────────────────────── 12 entries ─┐│ ◔ anthropic is rate limited; retrying in 5s (2 of 5)          │',
    ]);
  });

  it('runs down, and says so when it is over', () => {
    const at = (seconds: number): unknown => waitOf(agentOf('ROOT::S3'), START + seconds * 1000);
    const text = (next: string): string => `anthropic is rate limited; ${next} (2 of 5)`;
    const short = (next: string): string => `${next} (2 of 5): anthropic is rate limited`;
    expect([at(185), at(196.5), at(197), at(250)]).toEqual([
      { text: text('retrying in 12s'), short: short('retrying in 12s'), left: 12_000 },
      { text: text('retrying in 1s'), short: short('retrying in 1s'), left: 500 },
      { text: text('retrying now'), short: short('retrying now'), left: 0 },
      { text: text('retrying now'), short: short('retrying now'), left: 0 },
    ]);
  });

  it('that others ran into counts from its reason; in line behind them it has no time', () => {
    const waiting = (reason: string): unknown => {
      const log = runs(begun(), 10, 'ROOT::S3');
      log.at(100, { type: 'agent.status', agent: AgentId.parse('ROOT::S3'), status: 'waiting', reason });
      return waitOf(agentOf('ROOT::S3', contextOf(log.events)), START + 103_000)?.text;
    };
    expect(waiting('openai is overloaded; next try in 40 s')).toBe('openai is overloaded; retrying in 37s');
    for (const tries of ['(3 of 5)', '(try 3)'])
      expect(waiting(`local is down; in line for the next try ${tries}`)).toBe(
        `local is down; waiting for the next attempt ${tries}`,
      );
    expect(waiting('')).toBe(undefined);
  });

  it('is nothing to see to, and looks unlike a question', () => {
    const oracle = agentOf('ROOT::S3');
    expect(wantsAttention(context.state, oracle)).toBe(false);
    const asking = contextOf(asks(modelRun(), 188, 'ROOT::S1', 'a1', approval({})).events);
    const finder = agentOf('ROOT::S1', asking);
    expect([statusSpan(oracle, context)[0], statusSpan(finder, asking)[0]]).toEqual(['◔', '◌']);
    const foot = (agent: AgentState, from: Context): readonly Line[] =>
      card(agent, from, 80, { selected: false, focused: false, hidden: 0, indent: 0 }).slice(-1);
    expect(inks(foot(oracle, context), 'retrying')).toBe('info');
    expect(inks(foot(finder, asking), '◌ asks you (4s): ')).toBe('warn');
    expect(look(pageOf(runScreen, {}), asking, NARROW)[0]).toContain('◔ 1  ◌ 1 ask  ● 2 ◌ 1 ○ 2  ✓ 0/6');
  });

  it('is told in ASCII as well', () => {
    const rows = look(pageOf(runScreen, {}), { ...context, glyphs: ASCII }, NARROW);
    expect(rowsWith(rows, '@')[1]).toContain('@ retrying in 5s (2 of 5): a~');
  });

  it('of the planner stands on the planning screen and runs down', () => {
    const log = planning(new Recording());
    waits(log, 15, 'ROOT', 'overloaded');
    const shown = (now: number, size: typeof WIDE): readonly string[] =>
      look(pageOf(planScreen, {}), contextOf(log.events, { now: START + now * 1000 }), size);
    expect(rowsWith(shown(18, NARROW), '◔')).toEqual([
      '┏━ Planning 18s  by opus-4.5 ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ ◔ waiting ━┓',
      '┃ ◔ anthropic is overloaded; retrying in 9s (2 of 5)                           ┃',
    ]);
    expect(rowsWith(shown(25, { width: 40, height: 10 }), 'in 2s')).toEqual([
      '┃   in 2s (2 of 5)                     ┃',
    ]);
    expect(shown(18, WIDE).join('\n')).not.toContain('in 12 s');
  });
});

describe('reasoning', () => {
  it('is a word and a rate on the card, and dimmed below the transcript of the opened agent', () => {
    const rows = look(pageOf(runScreen, {}), context, WIDE, ['j']);
    expect(rows.find((row) => row.includes('thinking, '))).toContain('▌● finder       thinking, 42');
    const lines = transcript(agentOf('ROOT::S1'), below({ reasoning: THOUGHTS, rate: 42.4 }), LOOK);
    expect(lines.map(plain)).toEqual([
      'Fourteen callers so far.',
      '',
      '· context summarised: 182000 -> about 9400 tokens',
      '    … +2 lines  (o unfolds)',
      '',
      '⟩ thinking …  42 tok/s',
      '  │ The callers in test/ may mock the endpoint.',
      '  ╰ I should look at each before I say fourteen.',
    ]);
    expect([inks(lines, 'thinking'), inks(lines, 'mock')]).toEqual(['muted', 'faint']);
  });

  it('is seen from its end, whole where it is opened; text takes its place', () => {
    const long = Array.from({ length: 30 }, (_, index) => `thought ${index}`).join('\n');
    const count = (open: boolean): number =>
      transcript(agentOf('ROOT::S5'), below({ reasoning: long }), { ...LOOK, open }).length;
    expect([count(false), count(true)]).toEqual([9, 31]);
    const text = transcript(agentOf('ROOT::S5'), below({ text: 'So it is.' }), LOOK);
    expect(text.map(plain)).toEqual(['So it is.▌']);
  });

  it('stands above nothing on the planning screen but the shape of the plan', () => {
    const log = planning(new Recording());
    const thinking = contextOf(log.events, {
      reasoning: new Map([[ROOT, Array.from({ length: 60 }, (_, index) => `thought ${index}`).join('\n')]]),
      now: START + 18_000,
    });
    const rows = look(pageOf(planScreen, {}), thinking, NARROW);
    expect([rows[1], rows[9], rows[10], rows[21]]).toEqual([
      '┏━ Planning 18s  by opus-4.5 ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ thinking ━┓',
      `┃ thinking …${' '.repeat(67)}┃`,
      `┃ thought 48${' '.repeat(67)}┃`,
      `┃ thought 59${' '.repeat(67)}┃`,
    ]);
  });
});

function transcript(agent: AgentState, now: TranscriptNow, of: typeof LOOK): readonly Line[] {
  const doc = transcriptDoc(agent, now, { ...of, isOpen: () => of.open, unfolded: new Set() }, context);
  return linesOf(doc, 0, doc.total).map(({ line }) => line);
}

const LOOK = { width: 60, open: false, glyphs: context.glyphs };
const below = (now: Partial<TranscriptNow>): TranscriptNow => ({
  text: '',
  reasoning: '',
  rate: 0,
  wait: null,
  rest: '',
  writing: '',
  ...now,
});

describe('a call that is being written', () => {
  it('says below the transcript how far it is', () => {
    const lines = transcript(
      agentOf('ROOT::S1'),
      below({ writing: 'writing a call of write_file, 3.2k characters' }),
      LOOK,
    );
    expect(lines.map(plain).at(-1)).toBe('⟩ writing a call of write_file, 3.2k characters …');
  });
});

describe('a summary of the context', () => {
  it('is one line, with the summary behind it', () => {
    const lines = transcript(agentOf('ROOT::S1'), below({}), { ...LOOK, open: true });
    expect(lines.map(plain).slice(2)).toEqual([
      '· context summarised: 182000 -> about 9400 tokens',
      '  │ Callers: src/auth/tokens.ts, src/http/session.ts.',
      '  ╰ Not looked at yet: test/.',
    ]);
  });
});

describe('the Info tab', () => {
  const facts = (id: string, width: number, from: Context = context): readonly string[] => {
    const lines = infoLines(agentOf(id, from), from, width).map((line) => plain(line).trimEnd());
    return lines.slice(0, lines.indexOf('Task') - 5);
  };
  const kinds = (id: string, width: number, from: Context = context): readonly string[] => {
    const lines = costLines(agentOf(id, from), from, width).map((line) => plain(line).trimEnd());
    const first = lines.indexOf('By kind of token') + 1;
    return lines.slice(first, lines.indexOf('', first));
  };
  const choices = (price: readonly [number, number, number]): Context['state']['choices'] => ({
    roles: [],
    models: [
      {
        id: ModelId.parse('anthropic/haiku-4.5'),
        label: 'haiku-4.5',
        aliases: [],
        window: 200_000,
        outputLimit: 64_000,
        price: { input: price[0], output: price[1], cacheRead: price[2], cacheWrite: 3.75 },
        speed: 100,
        usable: { yes: true },
      },
    ],
    limits: { maxTasks: 50, maxParallel: 4, run: {}, agent: {} },
  });

  it('says where it stands with what is reserved for calls in flight; the Costs tab splits that by kind', () => {
    expect(facts('ROOT::S1', 60)).toEqual([
      'Status    running',
      'Model     anthropic/haiku-4.5',
      'Time      3m 2s',
      'Tokens    51k',
      'Cost      $0.06 of $0.15 + $0.02 reserved',
      'Calls     2, 1 in flight',
      'Context   summarised once',
    ]);
    expect(kinds('ROOT::S1', 60)).toEqual([
      '  input         3.0k    5%  ━───────────────',
      '  output        1.2k    2%  ╸───────────────',
      '  cache read     41k   80%  ━━━━━━━━━━━━━───',
      '  cache write   6.0k   11%  ━━──────────────',
    ]);
  });

  it('splits the cost as well where the price makes it up, and not where it does not', () => {
    const priced = (price: readonly [number, number, number]): readonly string[] =>
      kinds('ROOT::S1', 60, { ...context, state: { ...context.state, choices: choices(price) } });
    expect(priced([3, 15, 0.3])).toEqual([
      '  input         3.0k    5%  ━───────────────   $0.0090',
      '  output        1.2k    2%  ╸───────────────     $0.02',
      '  cache read     41k   80%  ━━━━━━━━━━━━━───     $0.01',
      '  cache write   6.0k   11%  ━━──────────────     $0.02',
    ]);
    expect(priced([6, 30, 0.6])).toEqual(kinds('ROOT::S1', 60));
  });

  it('says after a fallback its task, what is used, why, and by which rule', () => {
    expect(facts('ROOT::S2', 60).slice(1, 5)).toEqual([
      'Model     sonnet-4.5 → openai/gpt-5',
      '          after overloaded: anthropic answers 529 since',
      '          14:03; status.anthropic.com says more',
      '          by models.fallback in .mimir/config.yml:12',
    ]);
  });

  it('counts tries that failed with what they cost, and says which price is not known', () => {
    expect(facts('ROOT::S3', 60).filter((line) => /^(?:Status|Calls)/.test(line))).toEqual([
      'Status    anthropic is rate limited; retrying in 5s (2 of 5)',
      expect.stringMatching(/^Calls {5}\d, 1 of them failed and cost \$0\.0042, 1 wait$/),
    ]);
    expect(facts('ROOT::S4', 36).slice(3, 6)).toEqual([
      'Tokens    16k',
      'Cost      $? of $0.15: the price of',
      '          sonnet-4.5 is unknown',
    ]);
    expect(kinds('ROOT::S4', 36)).toEqual([
      '  input          15k   94%  ━━━━━━━╸',
      '  output         900    5%  ╸───────',
    ]);
  });
});

describe('costs where a price is not known', () => {
  it('end in a question mark, on the card and in the sum of the run', () => {
    const rows = look(pageOf(runScreen, {}), context, WIDE);
    expect(rows[0]).toContain('$0.24+? of $2.00');
    expect(rows.find((row) => row.startsWith(' ● refactoring'))).toContain('$?  1m 36s');
    const more = calls(modelRun(), 110, 'ROOT::S4', {
      usage: { input: 10, output: 10, cacheRead: 0, cacheWrite: 0 },
      cost: 0.01,
      text: 'and on',
    });
    expect(look(pageOf(runScreen, {}), contextOf(more.events), WIDE).join('\n')).toContain('$0.01+?');
  });
});

describe('the start screen with a provider', () => {
  const line = (provider: string, width: number, height: number): string =>
    rowsWith(
      look(pageOf(startScreen, {}), contextOf([], { projectService: { ...PROJECT_SERVICE, provider } }), {
        width,
        height,
      }),
      provider.slice(0, 9),
    )
      .join('|')
      .trim();

  it('says which, and where more is said if there is room', () => {
    expect([
      line('anthropic', 40, 10),
      line('anthropic, openai', 80, 24),
      line('local (http://127.0.0.1:11434/v1)', 80, 24),
      line('local (http://127.0.0.1:11434/v1)', 200, 60),
    ]).toEqual([
      'anthropic',
      'Model    anthropic, openai   `mimir models` lists the models',
      'Model    local (http://127.0.0.1:11434/v1)',
      'Model    local (http://127.0.0.1:11434/v1)   `mimir models` lists the models',
    ]);
  });
});

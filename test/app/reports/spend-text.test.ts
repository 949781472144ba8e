/** What lines and reports say of a run on language models: waits, tries that failed, fallbacks, summaries, and what it cost by class. */
import { Chalk } from 'chalk';
import { describe, expect, it } from 'vitest';
import { fold, foldAll } from '../../../src/events/fold.ts';
import type { RunState } from '../../../src/events/state.ts';
import { EMPTY } from '../../../src/events/state.ts';
import { linesOf } from '../../../src/ui/lines/event-lines.ts';
import { reportJson, reportMarkdown, reportText } from '../../../src/app/reports/report.ts';
import { costText, spentBy, problemsText, usageText } from '../../../src/app/reports/spend-text.ts';
import { modelRun, waits } from '../../support/model-run.ts';
import { created, planned, Recording, runs, started } from '../../support/recorded-run.ts';

const paint = new Chalk({ level: 0 });
const { events } = modelRun();
const state = foldAll(events);

function lines(): readonly string[] {
  let now: RunState = EMPTY;
  return events.flatMap((event) => {
    now = fold(now, event);
    return linesOf(event, now, { paint });
  });
}

describe('a run on models in lines', () => {
  it('tells waits, tries that cost something, fallbacks with their rule, and summaries, once each', () => {
    const told = lines().filter((line) => /waiting for|a call|->|summarised/.test(line));
    expect(told.slice(told.findIndex((line) => line.startsWith('[')))).toEqual([
      '[finder] context summarised: 182000 -> about 9400 tokens',
      '[librarian] anthropic/claude-sonnet-4-5 -> openai/gpt-5: overloaded: anthropic answers 529 since 14:03; status.anthropic.com says more (models.fallback in .mimir/config.yml:12)',
      '[oracle] a call failed and cost $0.0042: anthropic: 429, too many requests a minute; the limits of the account are in its console',
      '[oracle] waiting for anthropic: rate limited: retrying in 12s (2 of 5)',
    ]);
  });

  it('names the task of an agent once, whatever its first try met', () => {
    const log = waits(runs(created(planned(started(new Recording()))), 10, 'ROOT::S3'), 11, 'ROOT::S3');
    runs(log, 23, 'ROOT::S3');
    const told = log.events.slice(-6).flatMap((event, at, all) => {
      const before = log.events.slice(0, log.events.length - all.length + at + 1);
      return linesOf(event, foldAll(before), { paint });
    });
    expect(told).toEqual([
      '[oracle] Explain the race: why do two refreshes both win?',
      expect.stringMatching(/^\[oracle\] a call failed and cost \$0\.0042: /),
      '[oracle] waiting for anthropic: rate limited: retrying in 12s (2 of 5)',
    ]);
  });

  it('ends with tokens by class and what happened on the way', () => {
    const totals = { cost: 0.2435, tokens: 120_000, agents: 6, duration: 200_000 };
    const [last] = events.slice(-1);
    if (last === undefined) throw new Error('no events');
    const end = { ...last, type: 'session.finished', status: 'completed', summary: 'Done.', totals } as const;
    expect(linesOf(end, fold(state, end), { paint }).slice(3)).toEqual([
      'completed: 6 agents · 1m 43s · 120k tokens · $0.24',
      'Tokens: 61k in, 3.9k out, 41k cache read, 6.0k cache write',
      'Problems: 1 attempt failed ($0.0042), 1 wait, 1 fallback, context summarised once, uncertain: up to $0.02 and 9.0k more tokens, for 1 unfinished call',
      'Show the report again: mimir report run-7f3a',
    ]);
  });
});

describe('a report of a run on models', () => {
  it('has a row for each agent with its tokens by class and its cost, and why models were changed', () => {
    const [report = ''] = reportMarkdown(state).split('\n### Estimated and actual');
    expect(
      report
        .split('\n')
        .filter((line) => /^\| (?:agent|finder|librarian|oracle|refac)|^- (?!Task|Sess|Prov)|^###/.test(line)),
    ).toEqual([
      '- Spent: 112k tokens, at least $0.24, 1m 43s',
      '- Budget: $2.00',
      '- Tokens: 61k in, 3.9k out, 41k cache read, 6.0k cache write',
      '- Problems: 1 attempt failed ($0.0042), 1 wait, 1 fallback, context summarised once',
      '| agent | outcome | model | time | tools | input | output | cache read | cache write | cost |',
      '| finder | running | anthropic/haiku-4.5 | 1m 34s | 0 | 3.0k | 1.2k | 41k | 6.0k | $0.06 |',
      '| librarian | running | sonnet-4.5 -> openai/gpt-5 | 1m 34s | 0 | 15k | 900 | 0 | 0 | $0.03 |',
      '| oracle | waiting | anthropic/o3 | 2m 6s | 0 | 16k | 940 | 0 | 0 | $0.06 |',
      '| refactoring | running | anthropic/sonnet-4.5 | 8s | 0 | 15k | 900 | 0 | 0 | price not known |',
      '### Models',
      '- finder: context summarised once',
      '- librarian: anthropic/claude-sonnet-4-5 -> openai/gpt-5: overloaded: anthropic answers 529 since 14:03; status.anthropic.com says more (models.fallback in .mimir/config.yml:12)',
      '- oracle: 1 attempt failed ($0.0042), 1 wait',
    ]);
    expect(reportText(state, 'html', String)).toContain('<h3>Models</h3>');
  });

  it('has the same as JSON, main and the sums of the run among it', () => {
    expect(reportJson(state)).toMatchObject({
      spent: {
        usage: { input: 61_200, output: 3940, cacheRead: 41_000, cacheWrite: 6000 },
        cost: 0.2435,
        priced: false,
      },
      main: { id: 'ROOT', cost: 0.0912 },
      agents: [
        { id: 'ROOT::S1', compactions: 1 },
        {
          id: 'ROOT::S2',
          fallbacks: [
            {
              from: 'anthropic/claude-sonnet-4-5',
              to: 'openai/gpt-5',
              rule: 'models.fallback in .mimir/config.yml:12',
            },
          ],
        },
        { id: 'ROOT::S3', waits: 1, failedTries: { calls: 1, cost: 0.0042, usage: { input: 1200, output: 40 } } },
        { id: 'ROOT::S4', cost: null },
        { id: 'ROOT::S5' },
        { id: 'ROOT::S6' },
      ],
    });
  });

  it('keeps a table a table, whatever an agent is called', () => {
    const [id, agent] = [...state.agents][1] ?? [];
    if (id === undefined || agent === undefined) throw new Error('no agent');
    const odd = { ...state, agents: new Map(state.agents).set(id, { ...agent, name: 'a|b\n| c' }) };
    expect(reportMarkdown(odd)).toContain('\n| a/b / c | running |');
  });
});

describe('what was spent in words', () => {
  it('says nothing where nothing is to be said', () => {
    const none = spentBy([]);
    expect([usageText(none.usage), problemsText(none), costText(none)]).toEqual(['', '', '$0.00']);
    expect([costText({ cost: 0, priced: false }), costText({ cost: 0.5, priced: false })]).toEqual([
      'price not known',
      'at least $0.50',
    ]);
  });
});

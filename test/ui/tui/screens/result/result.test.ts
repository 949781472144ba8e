/** The end of a run: its sections, what they say in each ending, and what keys lead to. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { whyNotCommit } from '../../../../../src/app/actions/message.ts';
import { RoleName, ROOT } from '../../../../../src/domain/ids.ts';
import { foldAll } from '../../../../../src/events/fold.ts';
import type { RunState } from '../../../../../src/events/state.ts';
import { ASCII, UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import { bindingFor } from '../../../../../src/ui/tui/frame/keymap.ts';
import { withAuthors } from '../../../../../src/app/views/authors.ts';
import { comparedSums, comparedTasks, unfinishedWork } from '../../../../../src/app/views/run-summary.ts';
import type { Context, Effect } from '../../../../../src/ui/tui/frame/screen.ts';
import { resultScreen } from '../../../../../src/ui/tui/screens/result/result.ts';
import type { ResultView } from '../../../../../src/ui/tui/screens/result/view.ts';
import { loadColours } from '../../../../../src/ui/tui/components/text/markdown.ts';
import { TABS } from '../../../../../src/ui/tui/screens/result/view.ts';
import { lineWidth, plain } from '../../../../../src/app/views/text/line.ts';
import { contextOf } from '../../../../support/look.ts';
import { modelRun } from '../../../../support/model-run.ts';
import { finished, uses } from '../../../../support/recorded-run.ts';

const story = contextOf(finished().events);
const models = contextOf(modelRun().events);

/** The summary of a stopped run is the reason of its stop. */
function ended(status: NonNullable<RunState['finished']>['status'], of: Context = story): Context {
  const why = status === 'stopped' ? { summary: 'stopped by you' } : {};
  return { ...of, state: { ...of.state, finished: of.state.finished && { ...of.state.finished, status, ...why } } };
}
const press = (
  key: string,
  context: Context = story,
  ui: ResultView = resultScreen.first,
): Effect<ResultView> | string => {
  const binding = bindingFor(resultScreen.keys, key);
  return binding?.whyNot(ui, context) ?? binding?.run(ui, context, key) ?? {};
};
const textOf = (ui: ResultView, context: Context, width: number, height: number): string =>
  `${resultScreen
    .body(ui, context, { width, height })
    .lines.map((line) => plain(line))
    .join('\n')}\n`;

describe('the result screen', () => {
  it.each(TABS)('shows %s at 120x40, 80x24 and 40x10', async (tab) => {
    for (const [width, height] of [
      [120, 40],
      [80, 24],
      [40, 10],
    ] as const) {
      const text = textOf({ tab, top: 0 }, story, width, height - 2);
      await expect(text).toMatchFileSnapshot(`goldens/${tab.toLowerCase()}-${width}x${height}.txt`);
    }
  });

  it.each(['failed', 'stopped'] as const)(
    'says what happened, what was kept and what to do when it %s',
    async (how) => {
      const text = textOf(resultScreen.first, ended(how), 120, 38);
      await expect(text).toMatchFileSnapshot(`goldens/${how}.txt`);
    },
  );

  it('says an error that ended several agents once, and gives no advice that it does not fit', () => {
    const why = 'anthropic rejected the API key (limit of tries)';
    const agents = new Map(
      [...story.state.agents].map(([id, agent]) => [
        id,
        agent.parent === null
          ? agent
          : ({ ...agent, status: 'failed', outcome: 'failed', error: why, reason: '' } as const),
      ]),
    );
    const failed = ended('failed', { ...story, state: { ...story.state, agents } });
    const text = textOf(resultScreen.first, failed, 200, 58);
    const answer = text.split('\n').map((row) => row.slice(0, 120));
    // Above the report and, of those who left work open, below it.
    expect(answer.filter((row) => row.includes('anthropic does not')).length).toBeLessThanOrEqual(2);
    expect(text).not.toContain('--max-cost');
    expect(unfinishedWork(failed.state).length).toBe(1);
  });

  it('begins with what was changed, net of what agents took back, and how many checks passed', () => {
    const hunk = { from: { at: 1, lines: 1 }, to: { at: 1, lines: 2 }, removed: ['a\n'], added: ['b\n', 'c\n'] };
    const version = { blob: 'x', mode: '100644' };
    const agents = [...story.state.agents.keys()].slice(1, 2);
    const steps = [{ agents, before: version, after: version }];
    const file = { path: 'src/a.ts', start: version, now: version, steps };
    const mine = {
      ...file,
      path: 'mine.md',
      start: null,
      steps: [],
      hunks: [{ agents: [], ...hunk, added: Array(12).fill('m\n') }],
    };
    const others = [1, 2, 3].map((nth) => ({
      ...file,
      path: `other${nth}`,
      hunks: [{ agents, ...hunk, removed: [] }],
    }));
    const files = [{ ...file, hunks: [{ agents, ...hunk }] }, ...others, mine];
    const state = withAuthors(story.state, { files, uncovered: '"dist/" (2 files)' });
    const rows = textOf(resultScreen.first, ended('completed', { ...story, state }), 120, 15).split('\n');
    expect(rows.slice(2, 8).map((row) => row.slice(2, 68).trimEnd())).toEqual([
      '5 files changed, +20 -2',
      '+ mine.md   +12 -1  the person',
      '  src/a.ts   +2 -1  finder',
      '  other1     +2 -0  finder',
      '  and 2 more',
      '  Not covered, because git ignores these folders: "dist/" (2 files',
    ]);
  });

  it('goes through its sections by Tab and by number', () => {
    const seen: string[] = [];
    let ui = resultScreen.first;
    for (let at = 0; at < TABS.length; at++) {
      seen.push(ui.tab);
      const effect = press('tab', story, ui);
      if (typeof effect !== 'string') ui = effect.ui ?? ui;
    }
    expect([seen, ui.tab]).toEqual([[...TABS], 'Answer']);
    expect(press('4')).toEqual({ ui: { tab: 'Costs', top: 0 } });
    expect(press('left')).toEqual({ ui: { tab: 'Files', top: 0 } });
  });

  it('asks in which form the report is written, and copies or opens the answer', () => {
    const effect = press('x');
    const dialog = typeof effect === 'string' ? undefined : effect.dialog;
    if (dialog?.is !== 'pick') throw new Error('nothing is asked');
    expect(dialog.choices.map(({ value }) => dialog.then(value).app)).toEqual([
      { export: 'md' },
      { export: 'html' },
      { export: 'json' },
    ]);
    const answer = story.state.finished?.summary;
    expect(press('y')).toEqual({ app: { copy: answer, what: 'the answer' } });
    expect(press('e')).toMatchObject({ app: { edit: answer } });
  });

  it('goes on only with what can go on', () => {
    const session = story.state.session;
    expect(press('r', ended('stopped'))).toEqual({
      app: { resume: session },
      toast: {
        level: 'info',
        text: 'Resumed: 2 of 6 tasks are left, est. $0.10, at most $1.67 (budget)',
      },
    });
    expect(press('R', ended('failed'))).toEqual({
      app: { resume: session },
      toast: { level: 'info', text: 'Running 2 tasks again: librarian, reviewer.' },
    });
    expect([press('r', ended('completed')), press('R', ended('completed'))]).toEqual([
      'This run was not stopped.',
      'The run did not fail.',
    ]);
  });

  it('goes on with the reviews that an undo or a merge closed again', () => {
    const done = ended('completed');
    const gate = { agent: ROOT, role: RoleName.parse('security'), tree: 't1', trigger: 'always', open: false } as const;
    const context = {
      ...done,
      state: { ...done.state, gates: [{ ...gate, onFailure: 'block' as const, why: 'changes were undone' }] },
    };
    expect(press('r', context)).toEqual({
      app: { resume: story.state.session },
      toast: { level: 'info', text: 'Resumed: mandatory reviews run again' },
    });
    const drawn = resultScreen.body(resultScreen.first, context, { width: 120, height: 40 }).lines;
    expect(drawn.map((line) => line.map(([text]) => text).join('')).join('\n')).toContain(
      'resume: mandatory reviews run again',
    );
  });

  it('shows code in its colours as soon as they are there', async () => {
    const summary = '```ts\nexport const answer = 42;\n```';
    const { finished: over } = story.state;
    const context = { ...story, state: { ...story.state, finished: over && { ...over, summary } } };
    const spans = (): readonly unknown[] =>
      resultScreen
        .body(resultScreen.first, context, { width: 80, height: 20 })
        .lines.flat()
        .filter(([text, { fg }]) => /export/.test(text) && fg !== 'fg');
    spans();
    await loadColours();
    expect(spans()).toHaveLength(1);
  });

  it('has exactly its size in every section, whatever the size', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...TABS),
        fc.integer({ min: 1, max: 240 }),
        fc.integer({ min: 0, max: 70 }),
        fc.constantFrom(story, models, ended('failed'), ended('rejected', models)),
        fc.boolean(),
        (tab, width, height, context, ascii) => {
          const seen = { ...context, glyphs: ascii ? ASCII : UNICODE };
          const { lines } = resultScreen.body({ tab, top: 0 }, seen, { width, height });
          expect(lines.map(lineWidth)).toEqual(Array.from({ length: height }, () => width));
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('what can be said of a run at its end', () => {
  it('sets estimates beside what was used, for tasks that ran', () => {
    const all = comparedTasks(story.state);
    expect(all.length).toBeGreaterThan(0);
    const { actual, estimate } = comparedSums(all);
    expect(actual.tokens).toBe(all.reduce((sum, one) => sum + one.actual.tokens, 0));
    expect(estimate.tokens).toBe(all.reduce((sum, one) => sum + one.task.estimatedTokens, 0));
  });

  it('names what nobody did', () => {
    const open = unfinishedWork(story.state);
    const undone = [...story.state.agents.values()].filter(
      ({ id, outcome }) => id !== 'ROOT' && outcome !== 'completed',
    );
    expect(open.length).toBeGreaterThanOrEqual(undone.length);
  });
});

describe('the commit of what a run changed', () => {
  const whyNot = (...tools: readonly string[]): string | null => {
    const log = finished();
    tools.forEach((tool, at) => uses(log, 300 + 2 * at, 'ROOT', tool, tool, ''));
    return whyNotCommit(foldAll(log.events));
  };

  it('is offered until it was made, and again once something else was done', () => {
    expect(whyNot()).toBeNull();
    const { state } = story;
    const looked = new Map(
      [...state.agents].map(([id, agent]) => [
        id,
        { ...agent, blocks: agent.blocks.filter((block) => block.is !== 'tool' || block.tool === 'search') },
      ]),
    );
    expect(whyNotCommit({ ...state, agents: looked })).toBe('This run changed no file.');
    expect(whyNot('write_file', 'git_commit')).toBe('The work of this run is committed.');
    expect(whyNot('git_commit', 'write_file')).toBeNull();
  });
});

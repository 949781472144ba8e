/** The opened agent: its tabs, a selected block, a search, what is copied. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentId, CallId, ModelId, RoleName } from '../../../../src/domain/ids.ts';
import { type Page, pageOf } from '../../../../src/ui/tui/frame/keymap.ts';
import { bodySize } from '../../../../src/ui/tui/shell/frame.ts';
import type { Context } from '../../../../src/ui/tui/frame/screen.ts';
import { runScreen } from '../../../../src/ui/tui/screens/run/run.ts';
import { lineWidth, plain } from '../../../../src/app/views/text/line.ts';
import { tabBar, tabsOf } from '../../../../src/ui/tui/components/agents/detail.ts';
import { contextOf, look } from '../../../support/look.ts';
import { midRun, type Recording, says, uses } from '../../../support/recorded-run.ts';

const SIZE = { width: 80, height: 24 };
const ORACLE = ['j', 'j', 'j', 'enter'];

/** The pane of the third agent, one column wide. */
function opened(log: Recording = midRun()): { readonly page: Page; readonly context: Context } {
  const page = pageOf(runScreen, {});
  const context = contextOf(log.events);
  look(page, context, SIZE, ORACLE);
  return { page, context };
}

const DIFF = '@@ -1,2 +1,2 @@\n a\n-b\n+c';
const withEdit = (log: Recording): Recording =>
  uses(
    log,
    140,
    'ROOT::S3',
    'edit_file',
    'edit src/a.ts',
    `src/a.ts: +1 -1 lines, digest now x\n--- a/src/a.ts\n+++ b/src/a.ts\n${DIFF}`,
  );

/** A child of the third agent that its call made. */
function withChild(log: Recording, done: boolean): Recording {
  const agent = AgentId.parse('ROOT::S3::S1');
  const call = CallId.parse('task-call');
  log.at(150, {
    type: 'tool.started',
    agent: AgentId.parse('ROOT::S3'),
    call,
    tool: 'Task',
    label: 'Task(finder): find auth files',
    input: {},
    repeat: 'never',
  });
  log.at(150, {
    type: 'agent.created',
    agent,
    parent: AgentId.parse('ROOT::S3'),
    role: RoleName.parse('finder'),
    name: 'finder 3',
    task: 'find auth files',
    taskId: null,
    tools: ['search'],
    budget: {},
    dependsOn: [],
    model: { asked: 'haiku-4.5', used: ModelId.parse('anthropic/haiku-4.5'), because: null },
    iterations: 20,
    call,
  });
  log.at(188.8, { type: 'agent.status', agent, status: 'running', reason: '' });
  uses(log, 189, agent, 'search', 'search secrets of the child', 'one\ntwo');
  if (done)
    log.at(191.9, {
      type: 'agent.finished',
      agent,
      status: 'completed',
      outcome: 'completed',
      summary: 'Found it.',
      error: null,
      metrics: { startTime: '', endTime: '', duration: 0, tokensUsed: 0, cost: 0, iterations: 1, toolCalls: 1 },
    });
  return log;
}

describe('the tabs', () => {
  it('say what they count, and show the active one whole at any width', () => {
    const { context } = opened(withEdit(midRun()));
    const agent = context.state.agents.get(AgentId.parse('ROOT::S3'));
    if (agent === undefined) throw new Error('no oracle');
    expect(plain(tabBar({ agent, tab: 'Costs' }, context, 90))).toBe(
      'Transcript │ Todos 1/5 │ Tools 3 │ Diffs 1 │ Messages │ Costs │ Info',
    );
    fc.assert(
      fc.property(fc.constantFrom(...tabsOf(agent, context.state)), fc.integer({ min: 16, max: 100 }), (tab, room) => {
        const line = tabBar({ agent, tab }, context, room);
        expect(lineWidth(line)).toBeLessThanOrEqual(room);
        expect(plain(line)).toContain(tab);
      }),
    );
  });

  it('show calls, changes, costs and messages with their numbers', () => {
    const { page, context } = opened(withEdit(midRun()));
    const tools = look(page, context, SIZE, ['l', 'l']).join('\n');
    expect(tools).toContain('edit src/a.ts');
    expect(tools).toContain('+1 -1');
    const diffs = look(page, context, SIZE, ['l']).join('\n');
    expect(diffs).toContain('1 file changed');
    expect(diffs).toContain('-b');
    expect(look(page, context, SIZE, ['l']).join('\n')).toContain('No messages.');
    const costs = look(page, context, SIZE, ['l']).join('\n');
    for (const words of ['charged', 'By model', 'Limits', 'of $0.15', 'Compared with the plan', 'of est. 10k, 3.1×'])
      expect(costs).toContain(words);
  });

  it('open a row of the list by Space, and go through them by j and k', () => {
    const { page, context } = opened();
    const rows = look(page, context, SIZE, ['l', 'l', ' ']);
    expect(rows.filter((row) => row.startsWith('┃▌')).length).toBeGreaterThan(2);
    expect(look(page, context, SIZE, ['j']).find((row) => row.startsWith('┃▌'))).toContain('Bash npm test');
  });
});

describe('a selected block', () => {
  it('is marked at its left, moves with J and K, and is let go by Space or Esc', () => {
    const { page, context } = opened();
    const marks = (keys: readonly string[]): readonly string[] =>
      look(page, context, SIZE, keys).filter((row) => row.startsWith('┃▌'));
    expect(marks([' '])[0]).toContain('Bash npm test');
    expect(marks(['K'])[0]).toContain('Why both win');
    expect(marks(['K'])[0]).toContain('Edit src/auth/store.ts');
    expect(marks(['esc'])).toEqual([]);
  });

  it('is copied by y, and opened in the editor by e', () => {
    const { page, context } = opened();
    look(page, context, SIZE, [' ', 'K']);
    const size = bodySize(SIZE);
    const copied = page.press({ is: 'key', key: 'y' }, context, size);
    expect(JSON.stringify(copied)).toMatch(
      /^\{"app":\{"copy":"## Why.*Both calls read generation 7.*","what":"the answer"\}\}$/s,
    );
    expect(JSON.stringify(page.press({ is: 'key', key: 'e' }, context, size))).toContain(
      'Both calls read generation 7',
    );
  });

  it('gives its code alone by Y', () => {
    const { page, context } = opened(says(midRun(), 150, 'ROOT::S3', 'So:\n\n```ts\nconst a = 1;\n```\n', 1, 0));
    expect(page.press({ is: 'key', key: 'Y' }, context, bodySize(SIZE))).toEqual({
      app: { copy: 'const a = 1;', what: 'the code' },
    });
  });
});

describe('a search', () => {
  it('goes to the next match, round the end, and says when there is none', () => {
    const { page, context } = opened();
    const typed = look(page, context, SIZE, ['/', 'w', 'i', 'n']);
    expect(typed.join('\n')).toContain('/win▌');
    expect(look(page, context, SIZE, ['enter']).join('\n')).toContain('Why both win');
    expect(look(page, context, SIZE, ['n', 'N']).join('\n')).toContain('Why both win');
    expect(look(page, context, SIZE, ['/', 'q', 'q', 'q', 'enter']).join('\n')).toContain('not found');
    expect(look(page, context, SIZE, ['esc']).join('\n')).not.toContain('/qqq');
  });
});

describe('a call that made a sub-agent', () => {
  it('shows live how far it is, and no more of it than that (T014, T016, T017, T020, I017, I018)', () => {
    const { page, context } = opened(withChild(midRun(), false));
    const text = look(page, context, SIZE)
      .filter((row) => row.startsWith('┃'))
      .join('\n');
    expect(text).toContain('> Task(finder): find auth files');
    expect(text).toMatch(/\[finder\] find auth files +\.\.\. 1 tool, 3\.2s/);
    expect(text).not.toContain('secrets of the child');
  });

  it('says how it ended, and is one key away (T015)', () => {
    const { page, context } = opened(withChild(midRun(), true));
    expect(look(page, context, SIZE).join('\n')).toMatch(/- done \(1 tool, 3\.1s\)/);
    const child = look(page, context, SIZE, [' ', 'enter']).join('\n');
    expect(child).toContain('search secrets of the child');
    expect(child).toContain('MIMIR  finder 3');
  });
});

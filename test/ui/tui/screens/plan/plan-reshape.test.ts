import { describe, expect, it } from 'vitest';
import type { PlanEdit } from '../../../../../src/domain/plan/plan-edit.ts';
import type { RunState } from '../../../../../src/events/state.ts';
import type { Dialog, Effect } from '../../../../../src/ui/tui/frame/screen.ts';
import { planScreen } from '../../../../../src/ui/tui/screens/plan/plan.ts';
import { FIRST, type PlanUi } from '../../../../../src/ui/tui/screens/plan/ui.ts';
import { plain } from '../../../../../src/app/views/text/line.ts';
import { graph, RACE, task } from '../../../../support/plans.ts';
import { approving, contextOf } from './context.ts';

const at = (id: string): PlanUi => ({ ...FIRST, selected: task(id) });
function press(key: string, ui: PlanUi = FIRST, state: RunState = approving()): Effect<PlanUi> {
  const context = contextOf(state);
  const able = planScreen.keys.find((one) => one.keys.includes(key) && one.whyNot(ui, context) === null);
  if (able === undefined) throw new Error(`${key} can't be used`);
  return able.run(ui, context, key);
}
function dialog<K extends Dialog['is']>(
  kind: K,
  { dialog: found }: Effect<PlanUi>,
): Extract<Dialog, { readonly is: K }> {
  const isKind = (one: Dialog): one is Extract<Dialog, { readonly is: K }> => one.is === kind;
  if (found === undefined || !isKind(found)) throw new Error(`no dialog ${kind}`);
  return found;
}
const edits = (edit: PlanEdit): unknown => ({ commands: [{ do: 'edit plan', edit }] });

describe('reshaping a plan', () => {
  it('splits a task into the lines of a field, one after the other or side by side', () => {
    const asked = dialog('form', press('s', at('task-4')));
    const [parts, order] = asked.fields;
    expect([asked.title, parts?.is === 'text' && parts.value.split('\n').length, order?.is]).toEqual([
      'Split #4 oracle',
      2,
      'choice',
    ]);
    const values = (text: string, how: string) => ({ texts: { parts: text, order: how }, checks: {} });
    expect(asked.check(values('only one', 'chain'))).toBe('Parts: enter at least two lines.');
    expect(asked.check(values('Reproduce it\n\n Explain it', 'chain'))).toBe(null);
    expect(asked.then(values('Reproduce it\n\n Explain it', 'chain'))).toEqual(
      edits({ is: 'split', task: task('task-4'), descriptions: ['Reproduce it', 'Explain it'], inOrder: true }),
    );
    expect(asked.then(values('a\nb', 'beside'))).toEqual(
      edits({ is: 'split', task: task('task-4'), descriptions: ['a', 'b'], inOrder: false }),
    );
  });

  it('offers the sentences of a text as its parts', () => {
    const asked = dialog('form', press('s', at('a'), approving(graph('a', 'b:a'))));
    expect(asked.fields[0]?.is === 'text' && asked.fields[0].value).toBe('do a');
  });

  it('joins another task, and strikes those that would make a circle', () => {
    const state = approving(graph('a', 'b:a', 'c:b', 'd:a'));
    const asked = dialog('pick', press('S', at('a'), state));
    expect(asked.choices.map(({ label, whyNot }) => [label, whyNot])).toEqual([
      ['#2 finder', null],
      ['#4 finder', null],
      ['#3 finder', 'cannot merge: #2 finder is between them'],
    ]);
    expect(asked.then('d')).toEqual(edits({ is: 'join', task: task('a'), other: task('d') }));
    expect(asked.then('c').toast?.text).toContain('is between them');
  });

  it('shows what the same plan would cost on other models, and makes one of them the plan', () => {
    const asked = dialog('compare', press('$', at('task-4')));
    const heads = asked.columns.map(({ title, heads: cells }) => [
      title,
      ...cells.slice(0, 2).map((line) => plain(line)),
    ]);
    expect(heads.map(([title]) => title)).toEqual(['Current', 'Cheapest', 'Role default', 'Best']);
    expect(heads[0]).toEqual(['Current', '$0.70', '4m 36s']);
    expect([asked.next, asked.columns[0]?.whyNot]).toEqual(['$', 'This is the current plan.']);
    expect(asked.columns[1]?.notes.map((line) => plain(line))[0]).toBe('Cheapest allowed model for each task');
    const made = asked.then(1).commands?.[0];
    expect(made?.do === 'edit plan' && made.edit.is).toBe('models');
  });

  it('edits the text in the person’s own editor, and says at once what is wrong with it', () => {
    const { app } = press('E', at('task-5'));
    if (typeof app !== 'object' || !('edit' in app)) throw new Error('no editor');
    expect(app.edit).toBe('Extract TokenStore and move rotation into it');
    expect(app.then('Extract it\n')).toEqual(
      edits({ is: 'describe', task: task('task-5'), description: 'Extract it' }),
    );
    expect(app.then(`${app.edit}\n`)).toEqual({});
    expect(app.then(' ').toast?.text).toBe('#5 refactoring: The task is empty.');
  });

  it('keeps the plan as a template, with words to fill in', () => {
    const asked = dialog('form', press('w'));
    const values = (name: string, words: string) => ({ texts: { name, description: 'Often', words }, checks: {} });
    expect(asked.fields[0]?.is === 'text' && asked.fields[0].value).toBe('fix-the-token-refresh-race');
    expect(asked.check(values('Not a name', ''))).toContain('Name: use lower-case letters');
    expect(asked.check(values('2-step-fix', ''))).toBeNull();
    expect(asked.check(values('fix', 'path = src/nowhere'))).toBe('Variables: no task contains "src/nowhere"');
    expect(asked.check(values('fix', 'TokenStore\ntokenstore = TokenStore'))).toBe(
      'Variables: tokenstore is defined twice',
    );
    expect(asked.then(values('fix', 'store = TokenStore\nRFC 6819'))).toEqual({
      app: {
        keep: {
          name: 'fix',
          description: 'Often',
          plan: RACE,
          arguments: [
            { name: 'store', text: 'TokenStore' },
            { name: 'rfc-6819', text: 'RFC 6819' },
          ],
        },
      },
    });
  });

  it('raises what the whole run may use, where the estimate is over it', () => {
    const asked = dialog('form', press('B'));
    expect(asked.fields.map((field) => (field.is === 'text' ? field.value : ''))).toEqual(['', '$2', '']);
    expect(asked.check({ texts: { tokens: '', cost: '', time: '' }, checks: {} })).toBe('Enter at least one limit.');
    expect(asked.then({ texts: { tokens: '', cost: '5', time: '' }, checks: {} })).toEqual({
      commands: [{ do: 'set budget', agent: 'ROOT', budget: { maxCost: 5 } }],
    });
  });

  it('moves between panes and gives one of them more room', () => {
    const size = { width: 120, height: 38 };
    const text = (ui: PlanUi): string =>
      planScreen
        .body(ui, contextOf(approving()), size)
        .lines.map((line) => plain(line))
        .join('\n');
    const schedule = press('3').ui ?? FIRST;
    expect(schedule.pane).toBe('schedule');
    expect(press('down', schedule).ui?.selected).toBe('task-2');
    const half = press('+', schedule).ui ?? FIRST;
    const full = press('+', half).ui ?? FIRST;
    expect([half.zoom, full.zoom, press('_', full).ui?.zoom]).toEqual(['half', 'full', 'half']);
    expect(text(full)).not.toContain('Plan 10 tasks');
    expect(text(schedule)).toContain('Plan 10 tasks');
    expect([press('tab').ui?.pane, press('tab', schedule).ui?.pane]).toEqual(['inspector', 'list']);
  });
});

import { describe, expect, it } from 'vitest';
import { applyEdit } from '../../../../../src/domain/plan/apply-edit.ts';
import type { PlanEdit } from '../../../../../src/domain/plan/plan-edit.ts';
import { EMPTY, type RunState } from '../../../../../src/events/state.ts';
import type { Dialog, Effect } from '../../../../../src/ui/tui/frame/screen.ts';
import { hintsOf } from '../../../../../src/ui/tui/frame/keymap.ts';
import { pageOf } from '../../../../../src/ui/tui/frame/keymap.ts';
import { plain } from '../../../../../src/app/views/text/line.ts';
import { planScreen } from '../../../../../src/ui/tui/screens/plan/plan.ts';
import { FIRST, type PlanUi } from '../../../../../src/ui/tui/screens/plan/ui.ts';
import { contextFor, graph, RACE, task } from '../../../../support/plans.ts';
import { approving, contextOf } from './context.ts';

/** The one that can be used now, else the first that has the key, as on the screen. */
const binding = (key: string, state: RunState, ui: PlanUi): (typeof planScreen.keys)[number] => {
  const all = planScreen.keys.filter(({ keys }) => keys.includes(key));
  const found = all.find((one) => one.whyNot(ui, contextOf(state)) === null) ?? all[0];
  if (found === undefined) throw new Error(`no key ${key}`);
  return found;
};
const press = (key: string, state: RunState = approving(), ui: PlanUi = FIRST): Effect<PlanUi> =>
  binding(key, state, ui).run(ui, contextOf(state), key);
const whyNot = (key: string, state: RunState = approving(), ui: PlanUi = FIRST): string | null =>
  binding(key, state, ui).whyNot(ui, contextOf(state));
const dialog = <K extends Dialog['is']>(kind: K, effect: Effect<PlanUi>): Extract<Dialog, { readonly is: K }> => {
  const found = effect.dialog;
  if (found?.is !== kind) throw new Error(`no dialog ${kind}`);
  const isKind = (one: Dialog): one is Extract<Dialog, { readonly is: K }> => one.is === kind;
  if (!isKind(found)) throw new Error(`no dialog ${kind}`);
  return found;
};
/** What agreeing leads to. */
const answer = (asked: Extract<Dialog, { readonly is: 'confirm' }>): unknown => asked.then.bind(asked)();
const edits = (edit: PlanEdit): unknown => ({ commands: [{ do: 'edit plan', edit }] });
const at = (id: string): PlanUi => ({ ...FIRST, selected: task(id) });
const applied = (state: RunState, edit: PlanEdit): RunState => {
  const plan = state.plan && applyEdit(state.plan, edit, contextFor());
  if (!plan?.ok) throw new Error('not applied');
  return approving(plan.value);
};

describe('keys of the plan screen', () => {
  it.each(['enter', 'Y', 'y'])('accepts exactly the plan that is shown with %s (O102, D25)', (key) => {
    expect(press(key).commands).toEqual([{ do: 'approve plan', digest: approving().planDigest }]);
  });

  it('says that the run is still being opened before its first event, and not that a plan is drafted', () => {
    expect(whyNot('enter', EMPTY)).toBe('The run is still being opened.');
  });

  it('accepts no plan that was not on the screen yet, or has only just come onto it', () => {
    const at0 = contextOf(approving());
    const after = (ms: number): typeof at0 => ({ ...at0, now: at0.now + ms });
    const page = pageOf(planScreen, {});
    const size = { width: 120, height: 38 };
    const enter = (ms: number): unknown => {
      page.settle(after(ms), size);
      return page.press({ is: 'key', key: 'enter' }, after(ms), size);
    };
    const early = { toast: { level: 'info', text: 'Just arrived: press Enter again to start.', about: 'screen' } };
    expect(enter(0)).toEqual(early);
    expect(enter(5000)).toEqual(early);
    page.painted(after(5000));
    expect(enter(5299)).toEqual(early);
    expect(page.hints(after(5299))[0]).toEqual({ keys: '⏎', hint: 'accept', soon: true });
    expect(page.moving(after(5299))).toBe(true);
    page.painted(after(5299));
    expect(enter(5300)).toEqual({ commands: [{ do: 'approve plan', digest: at0.state.planDigest }] });
    expect(page.hints(after(5300))[0]).toEqual({ keys: '⏎', hint: 'accept' });
    expect(page.moving(after(5300))).toBe(false);
  });

  it.each(['n', 'esc'])('cancels with %s, and asks first when the plan was edited (O103, D25)', (key) => {
    expect(press(key).commands).toEqual([{ do: 'reject plan' }]);
    const state = approving();
    const tracked = press('down', state).ui ?? FIRST;
    const after = applied(state, { is: 'drop', task: task('task-3') });
    const asked = dialog('confirm', press(key, after, tracked));
    expect([asked.title, answer(asked)]).toEqual(['Discard this plan?', { commands: [{ do: 'reject plan' }] }]);
  });

  it('ends the run when it is cancelled while it is planned, and goes back when it runs', () => {
    expect(press('esc', approving(RACE, { phase: 'planning' })).commands).toEqual([
      { do: 'stop run', reason: 'cancelled while it was planned' },
    ]);
    expect(press('esc', approving(RACE, { phase: 'running' }))).toEqual({ app: { show: 'run' } });
    expect(press('esc', approving(RACE, { phase: 'finished' }))).toEqual({ app: { show: 'result' } });
  });

  it('refuses to accept what is over the cap, with what can be done', () => {
    expect(whyNot('enter', approving(RACE, { budget: { maxCost: 0.1 } }))).toBe(
      'The estimate of $0.70 is over the budget of $0.10. Choose cheaper models (M, $), delete tasks (d) or raise the budget (B).',
    );
    expect(whyNot('enter', approving(RACE, { budget: { maxTokens: 1000 } }))).toContain(
      'over the budget of 1.0k tokens',
    );
    expect(whyNot('enter', approving(RACE, { budget: { maxDuration: 1000 } }))).toContain('over the budget of 1s');
    expect(whyNot('enter')).toBe(null);
  });

  it('changes nothing while the plan is made, once it has run, and where the run can not be asked', () => {
    const keys = ['e', 'E', 'M', 'r', 'b', 't', 'D', 'm', 'a', 'd', 's', 'S', '$', 'u', 'U', 'J', 'K'];
    const all = (words: string): readonly string[] => keys.map(() => words);
    const whys = (state: RunState): readonly (string | null)[] => keys.map((key) => whyNot(key, state));
    expect(whys(approving(RACE, { phase: 'running' }))).toEqual(
      all('The plan is already running and cannot be edited.'),
    );
    expect(whys(approving(RACE, { phase: 'finished' }))).toEqual(all('The plan has run and cannot be edited.'));
    expect(whys(approving(RACE, { phase: 'planning', plan: null }))).toEqual(all('The plan is still being drafted.'));
    expect(whyNot('ctrl-r', approving(RACE, { phase: 'running' }))).toBe('The plan is already running.');
  });

  it('edits the task in one form that shows the effect on the cost (O104, D25)', () => {
    const asked = dialog('form', press('e', approving(), at('task-5')));
    const texts = Object.fromEntries(asked.fields.flatMap((one) => ('value' in one ? [[one.name, one.value]] : [])));
    const values = (more: Readonly<Record<string, string>>) => ({ texts: { ...texts, ...more }, checks: {} });
    expect([asked.title, asked.at, texts['task']]).toEqual([
      'Edit #5 refactoring',
      'task',
      'Extract TokenStore and move rotation into it',
    ]);
    expect(asked.check(values({ task: ' ' }))).toBe('The task is empty.');
    expect(asked.then(values({ task: 'Extract it' }))).toMatchObject({
      commands: [{ do: 'edit plan', edit: { is: 'form', task: task('task-5'), description: 'Extract it' } }],
    });
    expect(asked.effect?.(values({ model: 'openai/gpt-5' }))).toMatch(
      /^Cost of the task \$\S+ -> \$\S+, of the plan \$\S+ -> \$\S+$/,
    );
    expect(asked.effect?.(values({ tokens: 'lots' }))).toBeNull();
  });

  it('opens that form at the part of the task that a key is for', () => {
    const opened = ['e', 'm', 'r', 'b', 't', 'D', 'W'].map((key) => dialog('form', press(key)).at);
    expect(opened).toEqual(['task', 'task', 'role', 'tokens', 'tools', 'needs', 'writes']);
  });

  it('offers every model, those that cannot be used last and with the reason', () => {
    const asked = dialog('pick', press('M', approving(), at('task-4')));
    expect(asked.value).toBe('openai/o3');
    expect(asked.choices.map(({ label, note, whyNot }) => [label, note.slice(11), whyNot])).toEqual([
      ['haiku-4.5', '$1 / $5 per M        200k            anthropic', null],
      ['sonnet-4.5', '$3 / $15 per M       200k            anthropic', null],
      ['o3', '$2 / $8 per M        200k            openai   ', null],
      ['gpt-5', '$1.25 / $10 per M    200k            openai   ', null],
      ['qwen-3', 'price not known      200k            local    ', null],
      ['offline', 'free                 200k            offline  ', null],
      [
        'o4-mini',
        '$1 / $4 per M        200k            openai   ',
        'denied by enforcement.allowedModels (project, .mimir/config.yml:4)',
      ],
    ]);
    expect(asked.then('openai/gpt-5')).toEqual(edits({ is: 'model', task: task('task-4'), model: 'openai/gpt-5' }));
  });

  it('reads budgets as people write them, and says what is wrong at the field', () => {
    const asked = dialog('form', press('b'));
    const [name, description] = ['finder', 'Look'];
    const values = (tokens: string, cost: string, time: string) => ({
      texts: { task: description, role: name, model: 'anthropic/haiku-4.5', tokens, cost, time },
      checks: { needs: [] },
    });
    const budgetOf = (...typed: Parameters<typeof values>): unknown =>
      asked
        .then(values(...typed))
        .commands?.map((one) => (one.do === 'edit plan' && one.edit.is === 'form' ? one.edit.budget : one));
    expect(budgetOf('64k', '$0,50', '10m')).toEqual([{ maxTokens: 64_000, maxCost: 0.5, maxDuration: 600_000 }]);
    expect(budgetOf('', '', '')).toEqual([{}]);
    expect(asked.check(values('lots', '', ''))).toBe('Token limit: enter a number such as 64000 or 64k');
    expect(asked.check(values('', 'cheap', ''))).toBe('Cost limit: enter dollars such as 0.50');
    expect(asked.check(values('', '', '10'))).toBe('Time limit: enter a time such as 90s, 10m or 1h');
    expect(asked.check(values('', '7', ''))).toContain('one agent may use at most 1');
  });

  it('offers the other tasks as dependencies; a cycle cannot be chosen', () => {
    const needs = dialog('form', press('D', approving(graph('a', 'b:a', 'c:b', 'd')), at('a')));
    const field = needs.fields.find((one) => one.name === 'needs');
    expect(field?.is === 'checks' && field.choices.map(({ label, whyNot }) => [label, whyNot])).toEqual([
      ['#2 finder', 'depends on #1: would create a cycle'],
      ['#3 finder', 'depends on #1: would create a cycle'],
      ['#4 finder', null],
    ]);
    const texts = { task: 'a', role: 'finder', model: 'anthropic/haiku-4.5', tokens: '', cost: '', time: '' };
    expect(needs.check({ texts, checks: { needs: ['c'] } })).toContain('Circular dependency detected in agent graph');
  });

  it('sets everything by hand in one form (O106)', () => {
    const asked = dialog('form', press('m', approving(), at('task-2')));
    expect(asked.fields.map(({ name }) => name)).toEqual([
      'task',
      'role',
      'model',
      'effort',
      'tokens',
      'cost',
      'time',
      'tools',
      'needs',
      'writes',
      'checks',
      'attempts',
    ]);
    const texts = { task: 'Read', role: 'finder', model: 'anthropic/sonnet-4.5', tokens: '9k', cost: '', time: '' };
    expect(asked.check({ texts, checks: { needs: [] } })).toBe(null);
    expect(asked.then({ texts, checks: { needs: ['task-1'] } })).toEqual(
      edits({
        is: 'form',
        task: task('task-2'),
        description: 'Read',
        role: 'finder',
        model: 'sonnet-4.5',
        budget: { maxTokens: 9000 },
        dependsOn: [task('task-1')],
      }),
    );
  });

  it('adds an agent', () => {
    const asked = dialog('form', press('a'));
    const values = { texts: { task: 'Check', role: 'reviewer' }, checks: { needs: ['task-1'] } };
    expect(asked.check({ ...values, texts: { task: '' } })).not.toBe(null);
    expect(asked.then(values)).toEqual(
      edits({ is: 'add', description: 'Check', role: 'reviewer', dependsOn: [task('task-1')] }),
    );
  });

  it('drops a task after naming those that wait for it', () => {
    const asked = dialog('confirm', press('d', approving(), at('task-4')));
    expect([asked.title, ...asked.lines.map((line) => plain(line))]).toEqual([
      'Delete #4 oracle?',
      '#4 oracle  Explain the race: why do two refreshes both win?',
      '',
      '2 tasks depend on it and will depend on what it needs:',
      '#6 tester  Write race, replay and expiry tests',
      '#8 reviewer  Security review of the store and the diff',
    ]);
    expect(answer(asked)).toEqual(edits({ is: 'drop', task: task('task-4') }));
    expect(whyNot('d', approving(graph('a')))).toBe('A plan needs at least one task.');
  });

  it('moves tasks, and says why one cannot be moved', () => {
    expect(press('J', approving(), at('task-2')).commands).toEqual([
      { do: 'edit plan', edit: { is: 'move', task: 'task-2', by: 1 } },
    ]);
    expect(press('K', approving(), at('task-4')).commands).toEqual([
      { do: 'edit plan', edit: { is: 'move', task: 'task-4', by: -1 } },
    ]);
    expect(press('J', approving(), at('task-5')).ui?.selected).toBe('task-5');
    expect(press('K', approving(graph('a', 'b:a')), at('b')).toast?.text).toBe(
      '#2 finder depends on #1 finder, so it cannot come first',
    );
  });

  it('takes edits back and makes them again', () => {
    const first = approving();
    expect(whyNot('u', first)).toBe('Nothing to undo.');
    const ui = press('e', first, at('task-3')).ui ?? FIRST;
    const second = applied(first, { is: 'describe', task: task('task-3'), description: 'Bump' });
    expect(whyNot('u', second, ui)).toBe(null);
    const undone = press('u', second, ui);
    expect(undone.commands).toEqual([{ do: 'edit plan', edit: { is: 'replace', plan: RACE } }]);
    expect(whyNot('u', first, undone.ui)).toBe('Nothing to undo.');
    expect(press('U', first, undone.ui).commands).toEqual([
      { do: 'edit plan', edit: { is: 'replace', plan: second.plan } },
    ]);
    const again = approving(RACE, { planMs: 7000 });
    expect(whyNot('u', again, undone.ui)).toBe('Nothing to undo.');
  });

  it('plans again with a hint', () => {
    const asked = dialog('text', press('ctrl-r'));
    expect([asked.lines, asked.check('')]).toEqual([1, null]);
    expect(asked.then(' fewer agents ')).toEqual({ commands: [{ do: 'plan again', hint: 'fewer agents' }] });
  });

  it('moves through the list, and scrolls the task when that pane has the keys', () => {
    const keys = ['down', 'j', 'up', 'k', 'pagedown', 'pageup', 'G', 'g'];
    const rows: number[] = [];
    let ui: PlanUi = FIRST;
    for (const key of keys) {
      ui = press(key, approving(), ui).ui ?? ui;
      rows.push(ui.row);
    }
    expect(rows).toEqual([1, 2, 1, 0, 8, 0, 9, 0]);
    const inspector = press('tab', approving(), ui).ui ?? ui;
    const below = press('down', approving(), inspector).ui;
    expect([inspector.pane, below?.scroll, below?.row]).toEqual(['inspector', 1, 0]);
    expect(press('up', approving(), inspector).ui?.scroll).toBe(0);
  });

  it('selects by click and scrolls with the wheel', () => {
    const size = { width: 80, height: 22 };
    const input = (event: Parameters<NonNullable<typeof planScreen.input>>[2]): PlanUi | undefined =>
      planScreen.input?.(FIRST, contextOf(approving()), event, size)?.ui;
    expect(input({ is: 'click', x: 20, y: 4 })?.selected).toBe('task-4');
    expect(input({ is: 'wheel', x: 20, y: 4, by: 1 })?.selected).toBe('task-2');
    expect(input({ is: 'click', x: 20, y: 15 })?.pane).toBe('inspector');
    expect(input({ is: 'key', key: 'x' })).toBe(undefined);
  });

  it('has no key that means two things at once, and a footer that says what can be done', () => {
    for (const phase of ['approving', 'running'] as const) {
      const able = planScreen.keys.filter((one) => one.whyNot(FIRST, contextOf(approving(RACE, { phase }))) === null);
      const keys = able.flatMap((one) => one.keys);
      expect(new Set(keys).size).toBe(keys.length);
    }
    const hints = hintsOf(planScreen.keys, FIRST, contextOf(approving())).map(({ keys, hint }) => `${keys} ${hint}`);
    expect(hints).toEqual([
      '⏎ accept',
      'e edit',
      'M model',
      'm edit all',
      'a add',
      'd delete',
      's split',
      'S merge',
      '$ what if',
      'P permit',
      'Esc cancel',
      '^R regenerate',
    ]);
  });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sanitiseProject } from '../../../../../src/app/views/text/sanitise-state.ts';
import { ASCII, UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import { bindingFor } from '../../../../../src/ui/tui/frame/keymap.ts';
import type { Effect } from '../../../../../src/ui/tui/frame/screen.ts';
import { startScreen, type StartUi } from '../../../../../src/ui/tui/screens/start/start.ts';
import { lineWidth, plain } from '../../../../../src/app/views/text/line.ts';
import { editorText } from '../../../../../src/ui/tui/text/editor.ts';
import { SessionId } from '../../../../../src/domain/ids.ts';
import { EMPTY } from '../../../../../src/events/state.ts';
import { hostileText } from '../../../../support/arbitraries.ts';
import { contextOf, PROJECT_SERVICE, textOf } from '../plan/context.ts';

const SIZE = { width: 80, height: 22 };
const context = contextOf();

/** As the app does it: plain keys go to the field while it has the focus, else the table is asked first. */
const press = (ui: StartUi, key: string): Effect<StartUi> => {
  const plainKey = key.length === 1;
  const binding = plainKey && startScreen.typing?.(ui, context) ? undefined : bindingFor(startScreen.keys, key);
  if (binding !== undefined) return binding.run(ui, context, key);
  return startScreen.input?.(ui, context, { is: 'key', key }, SIZE) ?? {};
};
const typed = (keys: readonly string[], from: StartUi = startScreen.first): StartUi =>
  keys.reduce((ui, key) => press(ui, key).ui ?? ui, from);
const text = (ui: StartUi): string => editorText(ui.editor);

describe('the start screen', () => {
  it.each([
    [80, 24],
    [120, 40],
    [40, 10],
  ])('says what to do, what one may take, and where one is at %i x %i', async (width, height) => {
    const body = startScreen.body(startScreen.first, context, { width, height: height - 2 });
    await expect(textOf(body)).toMatchFileSnapshot(`goldens/start-${width}x${height}.txt`);
  });

  it('starts what was typed with Enter; letters such as q are text', () => {
    const ui = typed('quit quickly'.split(''));
    expect(press(ui, 'enter')).toEqual({ app: { start: 'quit quickly' } });
    expect(startScreen.typing?.(ui, context)).toBe(true);
  });

  it('breaks lines with Alt-Enter and takes pastes whole', () => {
    const ui = typed(['a', 'alt-enter', 'b']);
    const pasted = startScreen.input?.(ui, context, { is: 'paste', text: '\nrm -rf q\n' }, SIZE)?.ui;
    expect(pasted && text(pasted)).toBe('a\nb\nrm -rf q\n');
  });

  it('says what is missing when there is no task', () => {
    expect(press(typed([' ']), 'enter').toast?.level).toBe('info');
  });

  it('puts a suggestion into the field by its number, and nothing when something stands there', () => {
    expect(text(typed(['2']))).toBe('Explain how the parts of src/ work together');
    expect(text(typed(['a', '2']))).toBe('a2');
    expect(text(typed(['9']))).toBe('9');
  });

  it('walks with Tab and arrows through suggestions and sessions', () => {
    expect(typed(['tab']).chosen).toEqual({ is: 'suggestion', index: 0 });
    expect(typed(['tab', 'tab']).chosen).toEqual({ is: 'session', index: 0 });
    expect(typed(['tab', 'tab', 'tab']).chosen).toEqual({ is: 'field' });
    expect(typed(['down', 'down', 'down', 'up']).chosen).toEqual({ is: 'suggestion', index: 1 });
    expect(typed(['down', 'up']).chosen).toEqual({ is: 'field' });
    expect(text(typed(['down', 'down', 'enter']))).toBe('Explain how the parts of src/ work together');
  });

  it('takes a number that was typed before there were suggestions for one of them, and never for a task (M7)', () => {
    const early = contextOf(EMPTY, { projectService: { ...PROJECT_SERVICE, suggestions: [] } });
    const enter = bindingFor(startScreen.keys, 'enter');
    const two = startScreen.input?.(startScreen.first, early, { is: 'key', key: '2' }, SIZE)?.ui ?? startScreen.first;
    expect(text(two)).toBe('2');
    expect(enter?.run(two, early, 'enter')).toEqual({
      toast: { level: 'info', text: 'There is no suggestion 2 yet. Type a task.' },
    });
    const taken = enter?.run(two, context, 'enter') ?? {};
    expect(taken.app).toBeUndefined();
    expect(taken.ui && text(taken.ui)).toBe(PROJECT_SERVICE.suggestions[1]);
  });

  it('opens a stopped session and a finished one as they are, and spends nothing (H5)', () => {
    expect(press(typed(['tab', 'tab']), 'enter')).toEqual({ app: { look: 'run-7f3a' } });
    expect(press(typed(['tab', 'tab', 'down']), 'enter')).toEqual({ app: { look: 'run-6b01' } });
  });

  it('asks what to do with a failed session, and gives back the task of a plan that was not approved', () => {
    const ended = (status: 'failed' | 'rejected'): Effect<StartUi> => {
      const sessions = PROJECT_SERVICE.sessions
        .slice(1)
        .map((one) => ({ ...one, ended: { status, cost: 0, agents: 2 } }));
      const seen = contextOf(EMPTY, { projectService: { ...PROJECT_SERVICE, sessions } });
      const ui: StartUi = { ...startScreen.first, chosen: { is: 'session', index: 0 } };
      return bindingFor(startScreen.keys, 'enter')?.run(ui, seen, 'enter') ?? {};
    };
    const { dialog } = ended('failed');
    if (dialog?.is !== 'pick') throw new Error('nothing is asked');
    expect(dialog.choices.map(({ value }) => dialog.then(value))).toEqual([
      { app: { look: 'run-6b01' } },
      { app: { resume: 'run-6b01' } },
    ]);
    const rejected = ended('rejected').ui;
    expect(rejected && text(rejected)).toBe('Document the storage layer');
  });

  it('lists former tasks to search, and puts the one that is taken into the field', () => {
    const { dialog } = press(typed([]), 'ctrl-r');
    if (dialog?.is !== 'pick') throw new Error('nothing is asked');
    expect([dialog.next, dialog.choices.map(({ label }) => label)]).toEqual([
      'ctrl-r',
      ['Fix the token refresh race', 'Document the storage layer'],
    ]);
    expect(dialog.then('Document the storage layer')).toEqual({ app: { fill: 'Document the storage layer' } });
  });

  it('completes a path behind an @ before keys mean anything else', () => {
    const seen = contextOf(EMPTY, { files: () => ['src/a.ts', 'src/b.ts'] });
    const on = (ui: StartUi, key: string): StartUi => bindingFor(startScreen.keys, key)?.run(ui, seen, key).ui ?? ui;
    const ui = typed(['@', 's']);
    expect(textOf(startScreen.body(ui, seen, SIZE))).toContain('▌ src/a.ts');
    expect(text(on(on(ui, 'down'), 'tab'))).toBe('@src/b.ts ');
    expect(text(on(on(ui, 'esc'), 'tab'))).toBe('@s');
  });

  it('opens the own editor with the whole text, and takes back what was saved', () => {
    expect(press(typed(['a']), 'ctrl-g').app).toEqual({ field: 'a' });
    const back = startScreen.input?.(typed(['a']), context, { is: 'edited', text: 'two\nlines\n' }, SIZE)?.ui;
    expect(back && text(back)).toBe('two\nlines');
  });

  it('begins from a kept plan, after asking for what it needs', () => {
    const template = { name: 'audit', description: 'Audit a folder', tasks: 3, from: '.mimir/plans/audit.yml' };
    const asks = [{ name: 'folder', description: 'which folder', default: '' }];
    const templates = [
      { ...template, arguments: asks },
      { ...template, name: 'plain', arguments: [] },
    ];
    const seen = contextOf(EMPTY, { projectService: { ...PROJECT_SERVICE, templates } });
    const binding = bindingFor(startScreen.keys, 'ctrl-o');
    expect(binding?.whyNot(startScreen.first, context)).toContain('No templates yet');
    const { dialog } = binding?.run(startScreen.first, seen, 'ctrl-o') ?? {};
    if (dialog?.is !== 'pick') throw new Error('nothing is asked');
    expect(dialog.then('plain')).toEqual({ app: { template: 'plain', values: {} } });
    const form = dialog.then('audit').dialog;
    if (form?.is !== 'form') throw new Error('nothing is asked');
    expect(form.check({ texts: { folder: ' ' }, checks: {} })).toBe('folder is missing');
    expect(form.then({ texts: { folder: 'src' }, checks: {} })).toEqual({
      app: { template: 'audit', values: { folder: 'src' } },
    });
  });

  it('scrolls through many sessions and says which are shown', () => {
    const sessions = Array.from({ length: 20 }, (_, at) => ({
      id: SessionId.parse(`run-${at}`),
      task: `Task number ${at}`,
      when: '2026-11-20T18:03:00Z',
      state: 'finished' as const,
      ended: { status: 'completed' as const, cost: at / 100, agents: 3 },
    }));
    const seen = contextOf(EMPTY, { projectService: { ...PROJECT_SERVICE, sessions } });
    const ui: StartUi = { ...startScreen.first, chosen: { is: 'session', index: 17 } };
    const shown = textOf(startScreen.body(ui, seen, { width: 100, height: 38 }));
    expect(shown).toContain('Task number 17');
    expect(shown).toMatch(/\d+-\d+ of 20/);
    expect(shown).toContain('$0.17');
    expect(startScreen.position?.(ui, seen)).toBe('18/20');
  });

  it('tells who is here for the first time how it goes, and what is not there', async () => {
    const repository = { isGit: false, files: 0 };
    const seen = contextOf(EMPTY, {
      projectService: { ...PROJECT_SERVICE, suggestions: [], sessions: [], notes: [], repository },
    });
    const body = startScreen.body(startScreen.first, seen, { width: 120, height: 38 });
    await expect(textOf(body)).toMatchFileSnapshot('goldens/start-first-time.txt');
  });

  it('shows the branch with what changed since its last commit, and what a run may use', () => {
    const git = { branch: 'topic\u001b[2J/名前', commits: ['Begin'], changed: 0 };
    const shownAt = (changed: number, height: number): string => {
      const repository = { isGit: true, files: 3, git: { ...git, changed } };
      const seen = contextOf(EMPTY, {
        projectService: sanitiseProject({ ...PROJECT_SERVICE, repository, budget: { maxCost: 2.5 } }),
      });
      return textOf(startScreen.body(startScreen.first, seen, { width: 80, height }));
    };
    expect(shownAt(0, 38)).toMatch(/Project +tokens.*topic.*名前 no changes/);
    expect(shownAt(1, 38)).toMatch(/topic.*名前 1 changed file\b/);
    expect(shownAt(1, 22)).toMatch(/Project +tokens +topic.*名前 1 changed file\b/);
    expect(shownAt(1, 22)).toContain('mode confirm   budget $2.50 per run');
    expect(shownAt(0, 38)).not.toContain('\u001b');
  });

  it('brings back former tasks in the empty field only', () => {
    expect(text(typed(['up']))).toBe('Fix the token refresh race');
    expect(text(typed(['up', 'up']))).toBe('Document the storage layer');
    expect(text(typed(['up', 'up', 'up']))).toBe('Document the storage layer');
    expect(text(typed(['up', 'up', 'down']))).toBe('Fix the token refresh race');
    expect(text(typed(['up', 'down']))).toBe('');
    expect(text(typed(['x', 'up']))).toBe('x');
  });

  it('quits with q only where q is no letter; typing goes back to the field', () => {
    const list = typed(['tab']);
    expect(press(list, 'q')).toEqual({ app: 'quit' });
    const back = typed(['tab', 'x']);
    expect([text(back), back.chosen]).toEqual(['x', { is: 'field' }]);
    expect(typed(['tab', 'esc']).chosen).toEqual({ is: 'field' });
  });

  it('chooses by click', () => {
    const lines = textOf(startScreen.body(startScreen.first, context, SIZE)).split('\n');
    const y = lines.findIndex((line) => line.includes('Find untested code'));
    const effect = startScreen.input?.(startScreen.first, context, { is: 'click', x: 10, y }, SIZE);
    expect(effect?.ui?.chosen).toEqual({ is: 'suggestion', index: 2 });
  });

  it('puts the cursor behind what was typed', () => {
    const { lines, cursor } = startScreen.body(typed('hello'.split('')), context, SIZE);
    const line = plain(lines[cursor?.y ?? 0] ?? []);
    expect(line.slice(0, cursor?.x)).toMatch(/❯ hello$/);
  });

  it('names the provider when there is one', () => {
    const online = contextOf(EMPTY, { projectService: { ...PROJECT_SERVICE, provider: 'anthropic' } });
    const words = textOf(startScreen.body(startScreen.first, online, SIZE));
    expect(words).toContain('Model    anthropic');
    expect(words).not.toContain('OFFLINE');
  });

  it('has exactly the size it is given, whatever it shows', () => {
    const size = fc.record({ width: fc.integer({ min: 1, max: 300 }), height: fc.integer({ min: 1, max: 100 }) });
    const lobbies = fc.record({
      project: hostileText,
      cwd: hostileText,
      sandbox: hostileText,
      suggestions: fc.array(hostileText, { maxLength: 6 }),
      notes: fc.array(hostileText, { maxLength: 5 }),
      provider: fc.constantFrom('offline (no provider)', 'anthropic'),
    });
    fc.assert(
      fc.property(lobbies, size, fc.array(hostileText, { maxLength: 2 }), fc.boolean(), (more, size, texts, ascii) => {
        const glyphs = ascii ? ASCII : UNICODE;
        const seen = contextOf(EMPTY, { projectService: sanitiseProject({ ...PROJECT_SERVICE, ...more }), glyphs });
        const ui = texts.reduce<StartUi>(
          (last, text) => startScreen.input?.(last, seen, { is: 'paste', text }, size)?.ui ?? last,
          startScreen.first,
        );
        const { lines, cursor } = startScreen.body(ui, seen, size);
        expect(lines.map(lineWidth)).toEqual(Array.from({ length: size.height }, () => size.width));
        expect(cursor === null || cursor === undefined || (cursor.x < size.width && cursor.y < size.height)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });
});

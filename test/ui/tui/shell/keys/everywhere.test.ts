/** What is the same on every screen: palette, mouse, themes, copies, the editor, notices, hints, the key that lights up. */
import { describe, expect, it } from 'vitest';
import { runApp } from '../../../../../src/ui/tui/shell/app.ts';
import { allActions } from '../../../../../src/ui/tui/shell/keys/actions.ts';
import { found } from '../../../../../src/ui/tui/dialogs/commands/palette.ts';
import { UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import { happeningOf, wordsOf } from '../../../../../src/ui/tui/shell/overlays/notices.ts';
import { isLit } from '../../../../../src/ui/tui/frame/keymap.ts';
import type { Lobby } from '../../../../../src/ports/project-service.ts';
import { foldAll } from '../../../../../src/events/fold.ts';
import type { MimirEvent } from '../../../../../src/events/event.ts';
import { AgentId } from '../../../../../src/domain/ids.ts';
import { ok } from '../../../../../src/domain/result.ts';
import type { FakeTerminal } from '../../../../support/fake-terminal.ts';
import { fakeTerminal } from '../../../../support/fake-terminal.ts';
import type { FakeRun } from '../../../../support/fake-run.ts';
import { fakeRun, LOBBY, settled } from '../../../../support/fake-run.ts';
import { openSession } from '../../../../support/app-session.ts';
import {
  approval,
  asks as asksIn,
  finished,
  midRun,
  planned,
  Recording,
  START,
  started,
} from '../../../../support/recorded-run.ts';
import { theme } from '../../../../support/theme.ts';
import type { FakeWorld } from '../../../../support/world.ts';
import { fakeWorld } from '../../../../support/world.ts';

interface Opened {
  readonly terminal: FakeTerminal;
  readonly run: FakeRun;
  readonly world: FakeWorld;
}

/** A session whose lobby can do more than the smallest one. */
async function opened(more: Partial<Lobby>, { task = false, still = true } = {}): Promise<Opened> {
  const terminal = fakeTerminal(100, 30);
  const run = fakeRun({ ...LOBBY, themes: ['mimir-dark', 'mimir-light'] });
  const world = fakeWorld({ start: START + 100_000 });
  void runApp({
    terminal,
    lobby: { ...run.lobby, ...more },
    world,
    glyphs: UNICODE,
    look: { theme: 'mimir-dark', mouse: true, still },
    notices: { bell: true, desktop: true },
    ...(task ? { firstTask: 'Fix it' } : {}),
    schedule: (parts) => ({
      now: () => parts.paint(),
      soon: () => parts.paint(),
      clock: () => undefined,
      stop: () => undefined,
    }),
  });
  await settled();
  return { terminal, run, world };
}

describe('the palette', () => {
  it('lists every action of the screen and of the app, with the key or why it can not be done', async () => {
    const { terminal } = await openSession(midRun(), { height: 90 });
    terminal.press(':');
    for (const { help } of allActions().filter(({ action }) => ['run.kill', 'app.mouse'].includes(action)))
      expect(terminal.text().replaceAll(/\s+/g, ' ')).toContain(help.slice(0, 30));
    terminal.type('resume the selected');
    expect(terminal.text()).toContain("not now: main isn't interrupted.");
    terminal.press('enter');
    expect(terminal.text()).toContain('Actions');
  });

  it('finds by a few letters, marks them, and does it', async () => {
    const { terminal } = await openSession(midRun());
    terminal.press('ctrl-p');
    terminal.type('mouse on');
    const marked = terminal.frame().lines.flatMap((line) => line.filter(([, { underline }]) => underline === true));
    expect(marked.map(([text]) => text).join('')).toContain('Mouse on');
    terminal.press('enter');
    expect(terminal.done).toEqual(['mouse off']);
    expect(terminal.text()).not.toContain('Actions');
  });

  it('opens over a field, and leaves what was typed alone', async () => {
    const { terminal } = await openSession(null);
    terminal.type('task');
    terminal.press('ctrl-p', 'esc');
    expect(terminal.text()).toContain('❯ task');
  });

  it('puts the best match first', () => {
    const entries = allActions()
      .filter(({ where }) => where !== 'Copy mode')
      .map(({ action, help }) => ({ action, help, keys: '', why: null, run: () => ({}) }));
    expect(found(entries, 'copy mode')[0]?.entry.action).toBe('app.copy');
    expect(found(entries, '')).toHaveLength(entries.length);
    expect(found(entries, 'zzzqqq')).toEqual([]);
  });
});

describe('the screen as the person wants it', () => {
  it('says as long as the mouse is off', async () => {
    const { terminal } = await opened({});
    terminal.press('f2');
    expect(terminal.rows().at(-1)).toContain('mouse off');
    terminal.press('f2');
    expect(terminal.rows().at(-1)).not.toContain('mouse off');
    expect(terminal.done).toEqual(['mouse off', 'mouse on']);
  });

  it('shows a theme while it is selected, and the former one after Esc', async () => {
    const tried: string[] = [];
    const themed = (name: string): ReturnType<Lobby['theme'] & {}> => {
      tried.push(name);
      return ok(theme);
    };
    const { terminal, run } = await opened({ theme: themed }, { task: true });
    await run.play(midRun().events);
    terminal.press('t', 'down', 'esc', 't', 'down', 'enter');
    expect(tried).toEqual(['mimir-light', 'mimir-dark', 'mimir-light']);
    expect(terminal.text()).toContain('Theme: mimir-light');
  });

  it('lights the pressed key up for a moment, unless nothing may move', async () => {
    const lit = ({ terminal }: Opened): string =>
      (terminal.frame().lines.at(-1) ?? [])
        .filter(([, { inverse }]) => inverse === true)
        .map(([text]) => text)
        .join('');
    const moving = await opened({}, { still: false });
    moving.terminal.press('tab');
    moving.terminal.press('?');
    moving.terminal.press('up');
    expect(lit(moving)).toBe('↑↓');
    await moving.world.advance(200);
    expect(lit(moving)).toBe('');
    const still = await opened({});
    still.terminal.press('f1', 'up');
    expect(lit(still)).toBe('');
    expect([isLit('^R', 'R'), isLit('⏎/Esc', 'Esc'), isLit('F1', '1'), isLit('F1', 'F1')]).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });

  it('keeps what only tells off an open box, and shows it again behind it', async () => {
    const { terminal } = await openSession(midRun(), { width: 80, height: 24 });
    terminal.press('z', 'o');
    expect(terminal.text()).toContain('Density: ');
    terminal.press(':');
    expect(terminal.text()).toContain('what do you want to do?');
    expect(terminal.text()).not.toContain('Density: ');
    expect(terminal.text()).toMatch(/╭─ Actions ─+ 1\/\d+ ─╮/);
    terminal.press('esc');
    expect(terminal.text()).toContain('Density: ');
  });

  it('keeps toasts off what stands at the bottom of the start screen', async () => {
    const { terminal } = await opened({});
    const before = terminal.rows().slice(-9, -1);
    terminal.press('ctrl-c');
    expect(terminal.text()).toContain('Ctrl-C again to leave.');
    expect(
      terminal
        .rows()
        .slice(-9, -1)
        .filter(
          (row, at) =>
            row !== before[at] && (before[at] ?? '').trim() !== '' && !row.startsWith((before[at] ?? '').trimEnd()),
        ),
    ).toEqual([]);
  });
});

describe('a text in the own editor', () => {
  const dialog = { is: 'key', key: 'ctrl-g' } as const;

  it('comes back into the field, or the reason why not', async () => {
    const { terminal } = await openSession(planned(started(new Recording())));
    terminal.press('e');
    terminal.edits(null);
    terminal.send(dialog);
    await settled();
    expect(terminal.text()).toContain('The editor ended with 1. Nothing was changed.');
    terminal.edits('words from the editor');
    terminal.send(dialog);
    await settled();
    expect(terminal.text()).toContain('words from the editor');
  });
});

describe('a notice', () => {
  const log = midRun();
  const state = foldAll(log.events);
  const after = (body: Parameters<Recording['at']>[1]): MimirEvent => {
    const more = new Recording();
    more.at(300, body);
    const [event] = more.events;
    if (event === undefined) throw new Error('no event');
    return event;
  };
  const asks = (agent: string): MimirEvent =>
    after({
      type: 'approval.requested',
      agent: AgentId.parse(agent),
      approval: `q-${agent}`,
      call: null,
      request: approval({}),
    });

  it('names agent, question and cost; several are one', () => {
    const one = happeningOf(asks('ROOT::S3'), state, state);
    expect(one === null ? '' : wordsOf([one], state)).toBe('oracle asks: may I run npm test? · $0.33');
    const two = happeningOf(asks('ROOT::S1'), state, state);
    expect(one === null || two === null ? '' : wordsOf([one, two], state)).toBe(
      '2 agents need you: oracle, finder · $0.33',
    );
    expect(happeningOf(after({ type: 'session.mode', mode: 'human' }), state, state)).toBeNull();
  });

  it('is told only while nobody looks, and a burst of two seconds as one', async () => {
    const { terminal, run, world } = await opened({}, { task: true });
    const told = (): readonly string[] => terminal.done.filter((what) => what.startsWith('notify'));
    await run.play(planned(started(new Recording())).events);
    expect(told()).toEqual([]);
    terminal.send({ is: 'blur' });
    await run.play([asks('ROOT::S3'), asks('ROOT::S1')]);
    await world.advance(2000);
    expect(told()).toEqual(['notify Mimir: 2 agents need you: ROOT::S3, ROOT::S1 · $0.00 (bell)']);
    terminal.send({ is: 'focus' });
    await run.play([asks('ROOT::S4')]);
    await world.advance(2000);
    expect(told()).toHaveLength(1);
  });

  it('says how the run ended', () => {
    const last = finished().events.at(-1);
    const end = last === undefined ? null : happeningOf(last, state, foldAll(finished().events));
    expect(end?.words).toMatch(/^is done with \d+ agents$/);
  });

  it('is not told of a run that moves to another process', () => {
    const totals = { cost: 0, tokens: 0, agents: 0, duration: 0 };
    const moved = after({
      type: 'session.finished',
      status: 'stopped',
      summary: 'handed over',
      endedBy: { is: 'hand-over' },
      totals,
    });
    expect(happeningOf(moved, state, state)).toBeNull();
  });
});

describe('a first time', () => {
  it('is explained once, in one toast', async () => {
    const seen = new Set<string>();
    const lobby: Partial<Lobby> = { seen: () => new Set(seen), markSeen: (hint) => void seen.add(hint) };
    const first = await opened(lobby, { task: true });
    await first.run.play(planned(started(new Recording())).events);
    expect(first.terminal.text()).toContain('Nothing runs until you accept');
    expect([...seen]).toEqual(['plan']);
    const second = await opened(lobby, { task: true });
    await second.run.play(planned(started(new Recording())).events);
    expect(second.terminal.text()).not.toContain('Nothing runs until you accept');
  });

  it('covers neither the header nor the box that it is about', async () => {
    const { terminal, run } = await opened({ seen: () => new Set(['run']), markSeen: () => undefined }, { task: true });
    await run.play(asksIn(midRun(), 185, 'ROOT::S4', 'a1', approval({})).events);
    const rows = terminal.text().split('\n');
    expect(rows[0]).toMatch(/^ MIMIR {2}run-7f3a › Fix the to.*\$0\.3278/);
    const question = rows.findIndex((row) => row.includes('refactoring wants to run a command'));
    expect(rows.findIndex((row) => row.includes('A turns to the question'))).toBe(question - 1);
  });
});

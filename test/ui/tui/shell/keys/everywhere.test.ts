/** What is the same on every screen: palette, mouse, themes, copies, the editor, notices, hints, the key that lights up. */
import { describe, expect, it } from 'vitest';
import { runApp } from '../../../../../src/ui/tui/shell/app.ts';
import { allActions } from '../../../../support/actions.ts';
import { searchEntries } from '../../../../../src/ui/tui/dialogs/commands.ts';
import { UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import { noticeEventOf, noticeText } from '../../../../../src/app/views/index.ts';
import { isHit } from '../../../../../src/ui/tui/frame/keymap.ts';
import type { ProjectService } from '../../../../../src/ports/project-service.ts';
import { foldAll } from '../../../../../src/events/fold.ts';
import type { MimirEvent } from '../../../../../src/events/event.ts';
import { AgentId } from '../../../../../src/domain/ids.ts';
import { ok } from '../../../../../src/domain/result.ts';
import { type FakeTerminal, fakeTerminal } from '../../../../support/fake-terminal.ts';
import { fakeRun, type FakeRun, PROJECT_SERVICE, settled } from '../../../../support/fake-run.ts';
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
import { type FakeWorld, fakeWorld } from '../../../../support/world.ts';

interface Opened {
  readonly terminal: FakeTerminal;
  readonly run: FakeRun;
  readonly world: FakeWorld;
}

/** A session whose project service can do more than the smallest one. */
async function opened(more: Partial<ProjectService>, { task = false, still = true } = {}): Promise<Opened> {
  const terminal = fakeTerminal(100, 30);
  const run = fakeRun({ ...PROJECT_SERVICE, themes: ['mimir-dark', 'mimir-light'] });
  const world = fakeWorld({ start: START + 100_000 });
  void runApp({
    terminal,
    projectService: { ...run.projectService, ...more },
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
    terminal.type('resume agent');
    expect(terminal.text()).toContain('Not available: main is never interrupted: ');
    terminal.press('enter');
    expect(terminal.text()).toContain('Commands');
  });

  it('finds by a few letters, marks them, and does it', async () => {
    const { terminal } = await openSession(midRun());
    terminal.press('ctrl-p');
    terminal.type('toggle m');
    const marked = terminal.frame().lines.flatMap((line) => line.filter(([, { underline }]) => underline === true));
    expect(marked.map(([text]) => text).join('')).toContain('Toggle m');
    terminal.press('enter');
    expect(terminal.done).toEqual(['mouse off']);
    expect(terminal.text()).not.toContain('Commands');
  });

  it('opens over a field, and leaves what was typed alone', async () => {
    const { terminal } = await openSession(null);
    terminal.type('task');
    terminal.press('ctrl-p', 'esc');
    expect(terminal.text()).toContain('❯ task');
  });

  it('lists first what was run last from it', async () => {
    const { terminal } = await openSession(midRun());
    terminal.press('ctrl-p');
    terminal.type('toggle mouse');
    terminal.press('enter');
    terminal.press('ctrl-p');
    const rows = terminal.text().split('\n');
    expect(rows[rows.findIndex((row) => row.includes('type to filter')) + 1]).toContain('Toggle mouse');
  });

  it('puts the best match first', () => {
    const entries = allActions()
      .filter(({ where }) => where !== 'Copy mode')
      .map(({ action, help }) => ({
        action,
        help,
        group: '',
        more: '',
        value: '',
        keys: '',
        why: null,
        run: () => ({}),
      }));
    expect(searchEntries(entries, 'copy mode')[0]?.entry.action).toBe('app.copy');
    expect(searchEntries(entries, '')).toHaveLength(entries.length);
    expect(searchEntries(entries, 'zzzqqq')).toEqual([]);
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
    const themed = (name: string): ReturnType<ProjectService['theme'] & {}> => {
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
    const keyFlash = ({ terminal }: Opened): string =>
      (terminal.frame().lines.at(-1) ?? [])
        .filter(([, { inverse }]) => inverse === true)
        .map(([text]) => text)
        .join('');
    const moving = await opened({}, { still: false });
    moving.terminal.press('tab');
    moving.terminal.press('?');
    moving.terminal.press('up');
    expect(keyFlash(moving)).toBe('↑↓');
    await moving.world.advance(200);
    expect(keyFlash(moving)).toBe('');
    const still = await opened({});
    still.terminal.press('f1', 'up');
    expect(keyFlash(still)).toBe('');
    expect([isHit('^R', 'R'), isHit('⏎/Esc', 'Esc'), isHit('F1', '1'), isHit('F1', 'F1')]).toEqual([
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
    expect(terminal.text()).toContain('type to filter');
    expect(terminal.text()).not.toContain('Density: ');
    expect(terminal.text()).toMatch(/╭─ Commands ─+ 1\/\d+ ─╮/);
    terminal.press('esc');
    expect(terminal.text()).toContain('Density: ');
  });

  it('keeps toasts off what stands at the bottom of the start screen', async () => {
    const { terminal } = await opened({});
    const before = terminal.rows().slice(-9, -1);
    terminal.press('ctrl-c');
    expect(terminal.text()).toContain('Press Ctrl-C again to quit.');
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
    const one = noticeEventOf(asks('ROOT::S3'), state, state);
    expect(one === null ? '' : noticeText([one], state)).toBe('oracle asks: may I run npm test? · $0.33');
    const two = noticeEventOf(asks('ROOT::S1'), state, state);
    expect(one === null || two === null ? '' : noticeText([one, two], state)).toBe(
      '2 agents need you: oracle, finder · $0.33',
    );
    expect(noticeEventOf(after({ type: 'session.mode', mode: 'human' }), state, state)).toBeNull();
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
    const end = last === undefined ? null : noticeEventOf(last, state, foldAll(finished().events));
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
    expect(noticeEventOf(moved, state, state)).toBeNull();
  });
});

describe('a first time', () => {
  it('is explained once, in one toast', async () => {
    const seen = new Set<string>();
    const hints = { all: () => new Set(seen), mark: (hint: string): void => void seen.add(hint) };
    const first = await opened({ hints }, { task: true });
    await first.run.play(planned(started(new Recording())).events);
    expect(first.terminal.text()).toContain('Nothing runs until you press');
    expect([...seen]).toEqual(['plan']);
    const second = await opened({ hints }, { task: true });
    await second.run.play(planned(started(new Recording())).events);
    expect(second.terminal.text()).not.toContain('Nothing runs until you press');
  });

  it('disappears with the screen and with the question that it is about', async () => {
    const hints = { all: () => new Set(['run']), mark: () => undefined };
    const { terminal, run } = await opened({ hints }, { task: true });
    await run.play(planned(started(new Recording())).events);
    expect(terminal.text()).toContain('Nothing runs until you press');
    const proposed = planned(started(new Recording())).events.length;
    const asking = asksIn(midRun(), 185, 'ROOT::S4', 'a1', approval({}));
    await run.play(asking.events.slice(proposed));
    expect(terminal.text()).not.toContain('Nothing runs until you press');
    expect(terminal.text()).toContain('Press A to answer');
    await run.play(
      asking.at(186, {
        type: 'approval.answered',
        agent: AgentId.parse('ROOT::S4'),
        approval: 'a1',
        answer: 'allowed',
        scope: 'once',
        text: '',
        by: 'you',
      }).events,
    );
    expect(terminal.text()).not.toContain('Press A to answer');
  });

  it('covers neither the header nor the box that it is about', async () => {
    const { terminal, run } = await opened(
      { hints: { all: () => new Set(['plan', 'run']), mark: () => undefined } },
      { task: true },
    );
    await run.play(asksIn(midRun(), 185, 'ROOT::S4', 'a1', approval({})).events);
    const rows = terminal.text().split('\n');
    expect(rows[0]).toMatch(/^ MIMIR {2}Fix the to.*\$0\.33/);
    // In the row of the field, in which nobody writes, below the question.
    expect(rows.at(-2)).toMatch(
      /^ ❯ Message .* • An agent is waiting\. Press A to answer or Esc for later\. {3}i to type $/,
    );
    expect(rows.at(-3)).toMatch(/^╰─ A to answer ─+╯$/);
  });
});

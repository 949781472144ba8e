/** A long transcript is laid out from its end over several frames: a key waits for one of them, and nothing in sight moves. */
import { describe, expect, it } from 'vitest';
import { bodySize } from '../../../../src/ui/tui/shell/frame.ts';
import { type Page, pageOf } from '../../../../src/ui/tui/frame/keymap.ts';
import type { Context } from '../../../../src/ui/tui/frame/screen.ts';
import { runScreen } from '../../../../src/ui/tui/screens/run/run.ts';
import { plain } from '../../../../src/app/views/text/line.ts';
import { openSession } from '../../../support/app-session.ts';
import { contextOf, look } from '../../../support/look.ts';
import { midRun, type Recording, says } from '../../../support/recorded-run.ts';

const SIZE = { width: 80, height: 24 };
const ORACLE = ['j', 'j', 'j', 'enter'];
const ANSWERS = 60;

/** So many answers of 5 kB, each line with its own number. */
function long(log: Recording = midRun()): Recording {
  for (let answer = 0; answer < ANSWERS; answer++) {
    const lines = Array.from({ length: 100 }, (_, line) => `Answer ${answer} line ${line}: the store is read twice.  `);
    says(log, 100, 'ROOT::S3', lines.join('\n'), 100, 0.001);
  }
  return log;
}

/** The rows of one frame: each is made for a moment of its own. */
function frame(page: Page, { ...context }: Context, keys: readonly string[] = []): readonly string[] {
  const size = bodySize(SIZE);
  page.settle(context, size);
  for (const key of keys) page.press({ is: 'key', key }, context, size);
  page.settle(context, size);
  return page.body(context, size).lines.map(plain);
}

/** As many frames as it takes; their number. */
function laidOut(page: Page, context: Context): number {
  let frames = 0;
  for (; page.unfinished() && frames < 100; frames++) frame(page, context);
  return frames;
}

const answers = (rows: readonly string[]): readonly string[] =>
  rows.flatMap((row) => /Answer \d+ line \d+/.exec(row) ?? []);

describe('a long transcript', () => {
  const context = contextOf(long().events);

  it('shows its end in the first frame, and is whole after some more', () => {
    const page = pageOf(runScreen, {});
    const first = frame(page, context, ORACLE);
    expect(answers(first).at(-1)).toBe(`Answer ${ANSWERS - 1} line 99`);
    expect(page.unfinished()).toBe(true);
    const frames = laidOut(page, context);
    expect(frames).toBeGreaterThan(4);
    expect(frames).toBeLessThan(20);
    expect(frame(page, context)).toEqual(first);
    expect(answers(frame(page, context, ['g']))).toEqual([]);
    look(page, context, SIZE, ['pagedown', 'pagedown']);
    expect(page.unfinished()).toBe(false);
  });

  it('stays where it was scrolled to while the rest is laid out above', () => {
    const page = pageOf(runScreen, {});
    const other = contextOf(long().events);
    frame(page, other, ORACLE);
    const scrolled = answers(frame(page, other, ['pageup', 'pageup']));
    expect(page.unfinished()).toBe(true);
    expect(laidOut(page, other)).toBeGreaterThan(3);
    expect(answers(frame(page, other))).toEqual(scrolled);
    expect(frame(page, other).join('\n')).toMatch(/scrolled at \d+\/\d+/);
  });

  it('is searched in whole', () => {
    const page = pageOf(runScreen, {});
    const other = contextOf(long().events);
    frame(page, other, ORACLE);
    frame(page, other, ['/', ...'Answer 0 line 7:'.split(''), 'enter']);
    expect(answers(frame(page, other))).toContain('Answer 0 line 7');
  });

  it('is painted until it is whole, and not again', async () => {
    const { terminal } = await openSession(long(), SIZE);
    terminal.press(...ORACLE);
    const frames = terminal.frames();
    terminal.press('x');
    expect(terminal.frames() - frames).toBe(1);
    expect(terminal.text()).toContain(`Answer ${ANSWERS - 1} line 99`);
  });
});

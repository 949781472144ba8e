/** Whatever the state, the text and the size: exactly as large as the terminal, and nothing in it that acts. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentId } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { inboxOverlay } from '../../src/tui/dialogs/inbox.ts';
import { frameOf } from '../../src/tui/frame.ts';
import { pageOf } from '../../src/tui/page.ts';
import { resultScreen } from '../../src/tui/screens/result.ts';
import { runScreen } from '../../src/tui/screens/run.ts';
import { lineWidth, plain } from '../../src/tui/text/clip.ts';
import { contextOf, look } from '../support/look.ts';
import {
  approval,
  asks,
  created,
  finished,
  planned,
  Recording,
  runs,
  says,
  started,
  uses,
} from '../support/recorded-run.ts';

/** What a model, a tool or a repository may send. */
const hostile = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '{red-fg}{bold}{/}{open}',
    '\u001b[31mred\u001b[2J\u001b]0;title\u0007',
    '\u202eevil\u200b\u{e0041}',
    'e\u0301\u0302\u0303'.repeat(30),
    '👩‍👩‍👧‍👦🇩🇪👍🏽漢字'.repeat(5),
    'tab\there\r\nnew\u0085line\u2028x',
    'x'.repeat(500),
    '',
  ),
);

function hostileRun(texts: readonly string[], done: boolean): readonly MimirEvent[] {
  const text = (index: number): string => texts[index % texts.length] ?? '';
  const log = created(planned(started(new Recording(), text(0))));
  for (const [index, id] of ['ROOT', 'ROOT::S1', 'ROOT::S3', 'ROOT::S5'].entries()) {
    runs(log, 10, id);
    says(log, 11, id, text(index), 100, 0.01);
    uses(log, 12, id, text(index + 1), text(index + 2), text(index + 3));
    log.at(13, {
      type: 'agent.todos',
      agent: AgentId.parse(id),
      todos: [{ description: text(index), status: 'active' }],
    });
  }
  asks(log, 20, 'ROOT::S1', 'a1', approval({ title: text(1), exact: text(2), because: text(3) }));
  return done
    ? [
        ...log.events,
        ...finished()
          .events.slice(-1)
          .map((event) => ({ ...event, summary: texts.join('\n') })),
      ]
    : log.events;
}

describe('every screen', () => {
  it('is exactly as large as the terminal, whatever the text and the size (F05, F07)', () => {
    const sizes = fc.record({ width: fc.integer({ min: 1, max: 300 }), height: fc.integer({ min: 1, max: 100 }) });
    const keys = fc.array(fc.constantFrom('j', 'enter', 'z', 'G', 'k', 'o', 'l', 'right', 'tab', 'i', 'w', '漢'), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(
        sizes,
        fc.array(hostile, { minLength: 1, maxLength: 6 }),
        keys,
        fc.boolean(),
        (size, texts, pressed, done) => {
          const context = contextOf(hostileRun(texts, done), { live: new Map([['ROOT::S3', 'streams\nnow']]) });
          const page = done ? pageOf(resultScreen, {}) : pageOf(runScreen, {});
          look(page, context, size, pressed);
          const inbox = inboxOverlay(null).settle?.(context) ?? null;
          const overlays = inbox === null || pressed.length > 3 ? [] : [inbox];
          const { lines } = frameOf({ page, overlays, toasts: [{ level: 'warn', text: 'toast' }] }, context, size);
          expect(lines.map(lineWidth)).toEqual(Array.from({ length: size.height }, () => size.width));
          expect(lines.map(plain).filter((line) => /\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u.test(line))).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('composes visible cards only: 512 agents cost about as much as eight', () => {
    const log = created(planned(started(new Recording())));
    for (let number = 7; number <= 512; number++) {
      const last = log.events.findLast((event) => event.type === 'agent.created');
      if (last?.type === 'agent.created') log.at(9, { ...last, agent: AgentId.parse(`ROOT::S${number}`) });
    }
    const context = contextOf(log.events);
    const page = pageOf(runScreen, {});
    const size = { width: 120, height: 40 };
    look(page, context, size, ['G']);
    const before = process.cpuUsage();
    for (let frame = 0; frame < 50; frame++) look(page, context, size);
    const { user } = process.cpuUsage(before);
    // Many times what it takes; with all cards composed it is more still.
    expect(user / 1000 / 50).toBeLessThan(60);
  });
});

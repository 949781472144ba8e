/** Whatever the state, the text and the size: exactly as large as the terminal, and nothing in it that acts. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentId, ModelId } from '../../../../src/domain/ids.ts';
import type { MimirEvent } from '../../../../src/events/event.ts';
import { OverlayStack } from '../../../../src/ui/tui/shell/overlay-stack.ts';
import { frameOf } from '../../../../src/ui/tui/shell/frame.ts';
import { pageOf } from '../../../../src/ui/tui/frame/keymap.ts';
import { planScreen } from '../../../../src/ui/tui/screens/plan/plan.ts';
import { resultScreen } from '../../../../src/ui/tui/screens/result/result.ts';
import { runScreen } from '../../../../src/ui/tui/screens/run/run.ts';
import { lineWidth, plain } from '../../../../src/app/views/text/line.ts';
import { toTerminal } from '../../../../src/app/views/text/sanitise.ts';
import { contextOf, look } from '../../../support/look.ts';
import { calls, waits } from '../../../support/model-run.ts';
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
} from '../../../support/recorded-run.ts';

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

/** What providers say, in whatever words: a try that failed, a wait, a fallback, a summary, a call without a price. */
function models(log: Recording, text: (index: number) => string): void {
  const [S1, S3] = ['ROOT::S1', 'ROOT::S3'];
  calls(log, 13, S1, {
    model: ModelId.parse(`openrouter/${'a-long-name-'.repeat(8)}`),
    usage: { input: 1, output: 2, cacheRead: 3_000_000, cacheWrite: 0 },
    priced: false,
    text: text(0),
  });
  const [from, to] = [ModelId.parse('a/b'), ModelId.parse('c/d')];
  log.at(14, { type: 'model.fallback', agent: AgentId.parse(S1), from, to, cause: text(1), rule: text(2) });
  const tokens = { before: 1e6, after: 10 };
  log.at(15, { type: 'context.compacted', agent: AgentId.parse(S1), summary: text(3), kept: 1, tokens });
  waits(log, 16, S3, text(1));
  waits(log, 16, 'ROOT', text(2));
}

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
  models(log, text);
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

import { isTooSmall } from '../../../../src/ui/tui/components/layout.ts';

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
          const harmlessTexts = texts.map((text) => toTerminal(text));
          const context = contextOf(hostileRun(texts, done), {
            live: new Map([['ROOT::S3', 'streams\nnow']]),
            reasoning: new Map(['ROOT', 'ROOT::S3', 'ROOT::S5'].map((id, at) => [id, harmlessTexts[at] ?? ''])),
            activity: () => ({ rate: 12_345.6, steps: [0, 1, 1e9] }),
          });
          const page = done ? pageOf(resultScreen, {}) : pageOf(runScreen, {});
          look(page, context, size, pressed);
          const boxes = new OverlayStack();
          boxes.settle(context);
          if (pressed.length <= 3) boxes.openInbox(context);
          const { all: overlays, top } = boxes;
          const dock = boxes.dock(context, size, page.typing(context));
          const toasts = [{ level: 'warn', text: 'toast' }] as const;
          const { lines } = frameOf({ page, overlays, top, dock, toasts }, context, size);
          expect(lines.map(lineWidth)).toEqual(Array.from({ length: size.height }, () => size.width));
          // The header says what runs and what it costs.
          if (!isTooSmall(size)) expect(plain(lines[0] ?? [])).not.toContain('! toast');
          expect(lines.map(plain).filter((line) => /\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u.test(line))).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('is so while a plan is made: thought about, written, waited for', () => {
    const sizes = fc.record({ width: fc.integer({ min: 1, max: 200 }), height: fc.integer({ min: 1, max: 60 }) });
    fc.assert(
      fc.property(sizes, fc.array(hostile, { minLength: 1, maxLength: 6 }), fc.nat(), (size, texts, cut) => {
        const log = planned(started(new Recording(), texts[0]));
        log.events.splice(2);
        if (cut % 2 === 0) waits(log, 1, 'ROOT', texts[0]);
        const tasks = texts.map((description) => ({ description, role: description }));
        const json = JSON.stringify({ reason: texts[0], tasks });
        const context = contextOf(log.events, {
          live: new Map([['ROOT', cut % 3 === 0 ? '' : toTerminal(json.slice(0, cut % (json.length + 1)))]]),
          reasoning: new Map([['ROOT', toTerminal(texts.join('\n'))]]),
        });
        const { lines } = frameOf({ page: pageOf(planScreen, {}), overlays: [], toasts: [] }, context, size);
        expect(lines.map(lineWidth)).toEqual(Array.from({ length: size.height }, () => size.width));
        expect(lines.map(plain).filter((line) => /\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u.test(line))).toEqual([]);
      }),
      {
        numRuns: 150,
        // A role of several lines on a narrow screen, seen once.
        examples: [[{ width: 40, height: 8 }, ['tab\there\r\nnew\u0085line\u2028x', '', '𐀀'], 2_147_483_623]],
      },
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

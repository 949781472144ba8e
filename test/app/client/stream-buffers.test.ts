/** What enters the screen's state is harmless, whole or in pieces. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentId } from '../../../src/domain/ids.ts';
import type { Tick } from '../../../src/ports/controls.ts';
import { cleanEvent, sanitiseData } from '../../../src/app/views/text/sanitise-state.ts';
import { Live } from '../../../src/app/client/stream-buffers.ts';
import { runLayout } from '../../../src/ui/tui/components/layout.ts';
import { UNICODE } from '../../../src/ui/tui/text/glyphs.ts';
import { lineWidth, plain } from '../../../src/app/views/text/line.ts';
import { markdown } from '../../../src/ui/tui/components/text/markdown.ts';
import { approval, asks, midRun, Recording } from '../../support/recorded-run.ts';

const ROOT = AgentId.parse('ROOT');
const [FINDER, REVIEWER] = [AgentId.parse('ROOT::S1'), AgentId.parse('ROOT::S2')];
const tick = (delta: string, is: Tick['is'] = 'text'): Tick => ({ agent: ROOT, is, delta });

describe('what streams', () => {
  it('is caught wherever a sequence is split (F03)', () => {
    const evil = 'a\u001b]0;title\u0007b\u001b[31mc\u009b2Jd';
    for (let cut = 0; cut <= evil.length; cut++) {
      const live = new Live();
      live.take(tick(evil.slice(0, cut)), 0);
      live.take(tick(evil.slice(cut)), 0);
      expect(live.texts().get('ROOT')).toBe('abcd');
    }
  });

  it('keeps the end of it only', () => {
    const live = new Live();
    for (let line = 0; line < 20_000; line++) {
      live.take(tick(`line ${line}\n`), 0);
      live.take({ ...tick(`line ${line}\n`), agent: FINDER }, 0);
      live.take({ agent: REVIEWER, is: 'reasoning', delta: `line ${line}\n` }, 0);
    }
    const [main = '', finder = ''] = ['ROOT', 'ROOT::S1'].map((id) => live.texts().get(id));
    const thoughts = live.reasoning().get('ROOT::S2') ?? '';
    for (const [text, kept] of [
      [main, 96_000],
      [finder, 16_000],
      [thoughts, 8000],
    ] as const) {
      expect(text.length).toBeLessThanOrEqual(kept);
      expect(text.length).toBeGreaterThan(kept - 500);
      expect(text.startsWith('line ')).toBe(true);
      expect(text.endsWith('line 19999\n')).toBe(true);
    }
  });

  it('begins anew with output after text, and is gone when the log has it', () => {
    const live = new Live();
    live.take(tick('thinking'), 0);
    live.take(tick('output', 'output'), 0);
    expect(live.texts().get('ROOT')).toBe('output');
    const said = midRun().events.find((event) => event.type === 'agent.message');
    if (said) live.settle(said);
    expect(live.texts().size).toBe(0);
  });

  it('names the tool of a call that is written, harmless and cut, and how long it is by now; until the log has it', () => {
    const live = new Live();
    const piece = (tool: string, delta: string): Tick => ({ agent: ROOT, is: 'call', tool, delta });
    live.take(tick('why', 'reasoning'), 0);
    live.take(piece('write_\u001b]0;x\u0007file', '{"path":'), 0);
    live.take(piece('write_\u001b]0;x\u0007file', '"a.ts"}'), 0);
    expect([live.calls().get('ROOT'), live.reasoning().size]).toEqual([{ tool: 'write_file', size: 15 }, 0]);
    live.take(piece('x'.repeat(500), '{'), 0);
    expect(live.calls().get('ROOT')).toEqual({ tool: `${'x'.repeat(39)}…`, size: 1 });
    const told = midRun().events.find((event) => event.type === 'model.finished');
    if (told) live.settle(told);
    expect(live.calls().size).toBe(0);
    live.take(piece('read', '{'), 0);
    live.take(tick('So.'), 0);
    expect(live.calls().size).toBe(0);
  });

  it('is reasoning until text comes, and again beside text that was said before it', () => {
    const live = new Live();
    const seen = (): unknown => [live.texts().get('ROOT'), live.reasoning().get('ROOT')];
    live.take(tick('why', 'reasoning'), 0);
    live.take(tick('\n', 'text'), 0);
    live.take(tick(' \u001b[31mnot?', 'reasoning'), 0);
    expect(seen()).toEqual(['\n', 'why not?']);
    live.take(tick('So.'), 0);
    expect(seen()).toEqual(['\nSo.', undefined]);
    live.take(tick('hm', 'reasoning'), 0);
    live.take(tick(''), 0);
    expect(seen()).toEqual(['\nSo.', 'hm']);
    const [, done] = midRun().events.filter((event) => event.type === 'model.finished');
    if (done?.type === 'model.finished') live.settle({ ...done, agent: ROOT });
    expect(seen()).toEqual(['\nSo.', undefined]);
  });

  it('counts how busy an agent is over the last seconds', () => {
    const live = new Live();
    live.take(tick('x'.repeat(240)), 10_000);
    const last = (now: number): unknown => {
      const { rate, steps } = live.activity('ROOT', now);
      return { rate, of: steps.length, steps: steps.slice(-6) };
    };
    expect(last(10_000)).toEqual({ rate: 60, of: 60, steps: [0, 0, 0, 0, 0, 240] });
    expect(last(12_000)).toEqual({ rate: 20, of: 60, steps: [0, 0, 0, 240, 0, 0] });
    expect(last(13_000)).toEqual({ rate: 15, of: 60, steps: [0, 0, 240, 0, 0, 0] });
    expect(live.activity('ROOT', 60_000).rate).toBe(0);
  });
});

describe('the boundary', () => {
  it('leaves harmless events as they are, object for object', () => {
    for (const event of midRun().events) expect(cleanEvent(event)).toBe(event);
  });

  it('drops what would act, and shows it where a person decides', () => {
    const request = approval({ title: 'a\u001b[2Jb', exact: 'rm \u202ex' });
    const [, event] = asks(new Recording(), 1, 'ROOT', 'a1', request).events;
    if (event?.type !== 'approval.requested') throw new Error('not asked');
    const cleaned = cleanEvent(event);
    expect(cleaned).toMatchObject({ request: { title: 'a\\x1b[2Jb', exact: 'rm \ufdd0\\u{202e}\ufdd1x' } });
  });

  it('has no control character in any string afterwards', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const texts: string[] = [];
        JSON.parse(JSON.stringify(sanitiseData(value)), (key, one: unknown) => {
          texts.push(key, typeof one === 'string' ? one : '');
          return one;
        });
        expect(texts.filter((text) => /(?!\n)\p{Cc}/u.test(text))).toEqual([]);
      }),
    );
  });
});

describe('the layout of the run screen', () => {
  it('fills every size without overlap', () => {
    const wishes = fc.record({
      opened: fc.boolean(),
      log: fc.constantFrom('auto', 'shown', 'hidden'),
      focus: fc.constantFrom('cards', 'detail', 'side', 'log'),
      zoom: fc.constantFrom('normal', 'half', 'full'),
      overview: fc.boolean(),
      graph: fc.boolean(),
      listRows: fc.integer({ min: 0, max: 120 }).map((rows) => (height: number) => Math.min(rows, height)),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 40, max: 300 }),
        fc.integer({ min: 4, max: 120 }),
        wishes,
        (width, height, wish) => {
          const layout = runLayout(width, height, { ...wish, terminalRows: height + 3 });
          const rects = [layout.cards, layout.detail, layout.side, layout.log].filter((rect) => rect !== null);
          expect(rects.reduce((sum, rect) => sum + rect.width * rect.height, 0)).toBe(width * height);
          expect(
            rects.every(({ x, y, width: w, height: h }) => x >= 0 && y >= 0 && x + w <= width && y + h <= height),
          ).toBe(true);
        },
      ),
    );
  });
});

describe('light Markdown', () => {
  it('shows headings, lists, code, bold and quotes without their signs', () => {
    const text =
      '\n# Title\n\n\n- **one** and `two`\n1. three\n> said\n\n_so_ snake_case_name\n```\nx = 1\n```\n[a](http://b)\n\n';
    expect(markdown(text, 40, UNICODE).map(plain)).toEqual([
      'Title',
      '',
      '• one and two',
      '1. three',
      '│ said',
      '',
      'so snake_case_name',
      '│ x = 1',
      'a (http://b)',
    ]);
  });

  it('never makes a line longer than asked', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 4, max: 80 }), (text, width) => {
        expect(markdown(sanitiseData(text), width, UNICODE).every((line) => lineWidth(line) <= width)).toBe(true);
      }),
    );
  });
});

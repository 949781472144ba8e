import { Chalk } from 'chalk';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../../src/domain/ids.ts';
import { fold, foldAll } from '../../../src/events/fold.ts';
import { EMPTY } from '../../../src/events/state.ts';
import { htmlOf } from '../../../src/app/reports/report.ts';
import { jsonLine } from '../../../src/app/process/io.ts';
import { linesOf } from '../../../src/ui/lines/event-lines.ts';
import { reportMarkdown } from '../../../src/app/reports/report.ts';
import { hostileText } from '../../support/arbitraries.ts';
import { history } from '../../support/events.ts';
import { finished } from '../../support/recorded-run.ts';

const SESSION = SessionId.parse('session');
const paint = new Chalk({ level: 0 });
/** Characters that a terminal obeys or that hide what stands there; line breaks are the lines' own. */
const OBEYED = /(?!\n)[\p{Cc}\p{Bidi_Control}\u200b\u2028\u2029\u2060\ufeff]/u;

describe('a line for a person', () => {
  it('holds nothing that a terminal obeys, whatever the events say', () => {
    fc.assert(
      fc.property(history, (bodies) => {
        let state = EMPTY;
        for (const [index, body] of bodies.entries()) {
          const event = { v: 1, seq: index + 1, time: '2026-01-01T00:00:00.000Z', session: SESSION, ...body } as const;
          state = fold(state, event);
          expect(linesOf(event, state, { paint }).filter((line) => OBEYED.test(line))).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a line of JSON', () => {
  it('is one line that says the same, with no 8-bit control in it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), hostileText, (value, text) => {
        const line = jsonLine({ value, text });
        expect(line).not.toMatch(/\p{Cc}/u);
        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify({ value, text })));
      }),
    );
  });

  it('writes the escapes that old terminals obey as text', () => {
    expect(jsonLine('\u009b2J\u007f')).toBe(String.raw`"\u009b2J\u007f"`);
  });
});

describe('a report as a page', () => {
  const body = (html: string): string => html.slice(html.indexOf('<body>') + 6, html.indexOf('</body>'));

  it('has no tag but those of Markdown, all of them closed, and leads nowhere, whatever the text', () => {
    const OWN =
      /<(?:\/?(?:p|h[1-6]|ul|ol|li|table|thead|tbody|tr|th|td|pre|code|strong|em|del|blockquote)|br|hr)(?: (?:start|align|class)="[^"<>]*")?>/g;
    const odd = ['```', '# x', '- a', '| a | b |', '**', '<b onload=x>', '`a`', '![x](https://x.y/z.png)', '[x](y)'];
    const text = fc.array(fc.oneof(hostileText, fc.constantFrom(...odd))).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, (markdown) => {
        const html = body(htmlOf('t', markdown));
        expect(html.replaceAll(OWN, '')).not.toMatch(/[<>"']/);
        expect(unclosed(html)).toEqual([]);
      }),
    );
  });

  it('renders Markdown', () => {
    const markdown =
      '# Title\n\nOne `a < b` and **bold**.\n\n- first\n  more\n- second\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```\nx < y\n```\n\n---\n';
    expect(body(htmlOf('t', markdown)).replaceAll('\n', '')).toBe(
      '<h1>Title</h1><p>One <code>a &lt; b</code> and <strong>bold</strong>.</p><ul><li>first<br>more</li><li>second</li></ul>' +
        '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table><pre><code>x &lt; y</code></pre><hr>',
    );
  });

  it('can not be ended early by its title', () => {
    expect(htmlOf('</title><script>x</script>', '')).toContain(
      '<title>&lt;/title&gt;&lt;script&gt;x&lt;/script&gt;</title>',
    );
  });
});

describe('a report of a run that was stopped', () => {
  const state = foldAll(finished('stopped').events);

  it('says why it has none, and what its agents had answered until then', () => {
    const answer = reportMarkdown(state).split('\n\n---\n')[0];
    expect(answer?.split('\n').slice(0, 5)).toEqual([
      '**No report was written: stopped by you**',
      '',
      'Until then its agents had answered:',
      '',
      '## finder',
    ]);
    expect(answer).toContain('ROOT::S3 is done.');
    expect(answer).not.toContain('killed');
  });
});

describe('a report of a run that did not get far', () => {
  it('says so', () => {
    expect(reportMarkdown(EMPTY)).toMatch(/^_The run ended before its report\._\n/);
  });
});

const unclosed = (html: string): readonly string[] => {
  const open: string[] = [];
  for (const [, end, name = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)(?: [^>]*)?>/g)) {
    if (name === 'br' || name === 'hr') continue;
    if (end !== '/') open.push(name);
    else if (open.at(-1) === name) open.pop();
    else open.push(`/${name}`);
  }
  return open;
};

/** What models write, as lines: parsed, coloured, linked, and harmless whatever it is. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ASCII, UNICODE } from '../../../../src/ui/tui/text/glyphs.ts';
import { lineWidth, plain } from '../../../../src/app/views/text/line.ts';
import { toTerminal } from '../../../../src/app/views/text/sanitise.ts';
import { codeLines, codeOf, growing, loadColours, markdown } from '../../../../src/ui/tui/components/text/markdown.ts';
import { linked, linkOf } from '../../../../src/ui/tui/components/text/inline.ts';

const shown = (text: string, width = 40): readonly string[] =>
  markdown(text, width, UNICODE).map((line) => plain(line).trimEnd());

describe('Markdown', () => {
  it('nests lists, numbers them and ticks tasks', () => {
    expect(shown('9. nine\n10. ten\n    - [x] done\n    - [ ] open and long enough to be wrapped\n')).toEqual([
      ' 9. nine',
      '10. ten',
      '    • ✓ done',
      '    • ○ open and long enough to be',
      '        wrapped',
    ]);
  });

  it('wraps the name of a column before what stands in it', () => {
    const table = '| File | Passes stale token |\n|---|---|\n| src/auth/tokens.ts:12 | no |\n';
    expect(shown(table, 34)).toEqual([
      'File                  │ Passes',
      '                      │ stale',
      '                      │ token',
      '──────────────────────┼───────────',
      'src/auth/tokens.ts:12 │ no',
    ]);
  });

  it('draws tables by the width there is, and as a list where there is none', () => {
    const table = '| Case | Winners |\n|:--|--:|\n| serial | 1 |\n| two at once, far away | 2 |\n';
    expect(shown(table, 24)).toEqual([
      'Case           │ Winners',
      '───────────────┼────────',
      'serial         │       1',
      'two at once,   │       2',
      'far away       │',
    ]);
    expect(shown(table, 9)).toEqual([
      'Case:',
      '  serial',
      'Winners:',
      '  1',
      '',
      'Case: two',
      '  at',
      '  once,',
      '  far',
      '  away',
      'Winners:',
      '  2',
    ]);
  });

  it('leaves HTML as text, and links nowhere but to the web and to files', () => {
    expect(shown('<b>bold</b> [a](javascript:alert) <script>x</script>', 60)).toEqual([
      '<b>bold</b> a (javascript:alert) <script>x</script>',
    ]);
    const links = markdown(
      '[a](javascript:x) [b](https://example.org/é) `src/a.ts:12` ../x.ts',
      90,
      UNICODE,
      '/home/me/my shop',
    ).flatMap((line) => line.flatMap(([text, { link }]) => (link === undefined ? [] : [[text, link]])));
    expect(links).toEqual([
      ['b', 'https://example.org/%C3%A9'],
      ['src/a.ts:12', 'file:///home/me/my%20shop/src/a.ts'],
    ]);
  });

  it('does not jump while it streams: what was drawn above the last block stays (I018)', () => {
    const text = 'First one.\n\nSecond\n- a\n- **b** and `c`\n\n```ts\nconst a = 1;\n```\n\nThe end.\n';
    let before: readonly string[] = [];
    for (let end = 1; end <= text.length; end++) {
      const now = shown(text.slice(0, end));
      // The line before the one that grows may still be joined with it.
      const kept = Math.max(0, before.length - 2);
      expect(now.slice(0, kept)).toEqual(before.slice(0, kept));
      before = now;
    }
  });

  it('says the same of a text that grows as of one that is whole', () => {
    const block = 'Some words.\n\n- one\n- two\n\n```ts\nconst a = 1;\n\nconst b = 2;\n```\n\n';
    const text = `${block.repeat(60)}The end of`;
    const lines = (of: typeof markdown): readonly string[] => of(text, 50, UNICODE).map(plain);
    expect(lines(growing)).toEqual(lines(markdown));
    expect(growing(`${text} it`, 50, UNICODE).length).toBe(lines(markdown).length);
  });

  it('is no wider than asked and has no control characters, whatever it is (F05)', () => {
    const pieces = fc.constantFrom(
      '# ',
      '- ',
      '1. ',
      '> ',
      '| a | b |\n|--|--|\n| ',
      '```ts\n',
      '\n',
      '\n\n',
      '**',
      '`',
      '[x](',
      'http://a.b',
      '漢字 ',
      '👩‍👩‍👧',
      ' word ',
      '\u001b[31m',
      '<b>',
      '\t',
    );
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 30 }),
        fc.integer({ min: 1, max: 60 }),
        fc.constantFrom(UNICODE, ASCII),
        (parts, width, glyphs) => {
          const lines = markdown(toTerminal(parts.join('')), width, glyphs, '/p');
          expect(lines.filter((line) => lineWidth(line) > width)).toEqual([]);
          expect(lines.map(plain).filter((line) => /\p{Cc}/u.test(line))).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('code', () => {
  it('is coloured by its language once those are loaded, and says the same', async () => {
    await loadColours();
    const code = 'const a = "x < y & z"; // why\nreturn 12';
    const lines = codeLines(code, 'ts title="a"', 60);
    expect(lines.map(plain).join('\n')).toBe(code);
    expect(
      lines
        .flatMap((line) => line.map(([text, { fg }]) => [text.trim(), fg]))
        .filter(([text]) => ['const', '"x < y & z"', '// why', '12'].includes(text ?? '')),
    ).toEqual([
      ['const', 'role:oracle'],
      ['"x < y & z"', 'ok'],
      ['// why', 'faint'],
      ['12', 'warn'],
    ]);
    expect(codeLines('+a\n-b', 'diff', 20).map((line) => line[0]?.[1].fg)).toEqual(['ok', 'err']);
    expect(codeLines('x', 'nothing-known', 20).map(plain)).toEqual(['x']);
  });

  it('is taken out of a text as it stands in it', () => {
    expect(codeOf('a\n\n```js\nx = 1\n```\n\nb\n\n```\ny\n```\n')).toBe('x = 1\n\ny');
  });
});

describe('what nests deeper than anybody writes', () => {
  const steps = (count: number, line: (step: number) => string): string =>
    Array.from({ length: count }, (_, step) => line(step)).join('\n');

  it.each([
    ['quotes', '> '.repeat(3000)],
    ['lists in one line', '- '.repeat(3000)],
    ['numbered lists in one line', '1. '.repeat(3000)],
    ['quotes with lists', '> - '.repeat(2000)],
    ['lists in lists', steps(1000, (step) => `${'  '.repeat(step)}- a`)],
    ['emphasis without an end', '*'.repeat(5000)],
    ['emphasis in emphasis', `${'*_'.repeat(2500)}a${'_*'.repeat(2500)}`],
  ])('is text, takes no second and ends nothing: %s (F07, F09)', (_, signs) => {
    const text = `Found it.\n\n${signs}the end`;
    const before = process.cpuUsage();
    const lines = markdown(text, 60, UNICODE);
    // Many times what it takes; parsed to the bottom, the lists in lists alone take ten seconds.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(1500);
    expect(lines.map(plain).join('\n')).toMatch(/^Found it\.[^]*the end$/);
    expect(Math.max(...lines.map(lineWidth))).toBeLessThanOrEqual(60);
    expect(codeOf(`${text}\n\n\`\`\`\nx = 1\n\`\`\`\n`)).toMatch(/^(?:x = 1)?$/);
  });

  it('begins after ten', () => {
    expect(shown('> '.repeat(10) + 'deep')).toEqual([`${'│ '.repeat(10)}deep`]);
  });
});

describe('a link', () => {
  it('is percent-encoded, so that nothing in it ends its sequence', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        for (const made of [linkOf(`src/${text}.ts:3`, '/p'), linkOf(`https://a.b/${text}`, '/p')])
          if (made !== null) expect(made).toMatch(/^(?:file|https?):[\x21-\x7e]+$/);
      }),
    );
  });

  it('is made of paths that look like files of the project, not of words with a dot', () => {
    const found = (text: string): readonly string[] =>
      linked([text, {}], '/p').flatMap(([part, { link }]) => (link === undefined ? [] : [part]));
    expect(
      found('see ./src/a.ts, README.md and lib/x.unknown:7; e.g. this, v1.2 or a@b.org, /etc/passwd, ../up.ts'),
    ).toEqual(['./src/a.ts', 'README.md', 'lib/x.unknown:7']);
  });
});

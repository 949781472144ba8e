/** Reading, listing and searching, on real files and with the real ripgrep. */
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/tools/files/replace-file.ts';
import { makeFolder, makeRepository } from '../../support/repos.ts';
import { workbench } from '../workbench.ts';

const numbers = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

describe('read_file', () => {
  it('numbers the lines that were asked for and says how to go on', async () => {
    const tools = workbench(makeFolder({ 'a.txt': numbers(12) }));
    expect((await tools.use('read_file', { path: 'a.txt', from: 9, lines: 2 })).text).toBe(
      `a.txt (lines 9-10 of 12, digest ${digestOf(numbers(12))})\n 9\tline 9\n10\tline 10\n(2 more; continue with from: 11)`,
    );
    expect((await tools.use('read_file', { path: 'a.txt', from: 99 })).text).toBe(
      `a.txt: no line 99; it has 12 lines, digest ${digestOf(numbers(12))}`,
    );
  });

  it('gives whole lines within the room it has, and reading on misses none (I004)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 2000, max: 9000 }),
        async (lengths, room) => {
          const lines = lengths.map((length, index) => `${index} ${'x'.repeat(length)}`);
          const tools = workbench(makeFolder({ a: `${lines.join('\n')}\n` }));
          const seen: string[] = [];
          for (let from: number | null = 1; from !== null; ) {
            const { text } = await tools.use('read_file', { path: 'a', from }, { room });
            expect(Buffer.byteLength(text)).toBeLessThanOrEqual(room);
            seen.push(...[...text.matchAll(/^ *\d+\t(.*)$/gm)].map(([, line = '']) => line));
            const [, next] = /continue with from: (\d+)\)$/.exec(text) ?? [];
            from = next === undefined ? null : Number(next);
          }
          expect(seen).toEqual(lines);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('says what is empty, missing, a folder or binary', async () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]);
    const tools = workbench(makeFolder({ empty: '', 'p.png': png, 'd/x': '' }));
    const texts = [];
    for (const name of ['empty', 'p.png', 'gone', 'd']) texts.push((await tools.use('read_file', { path: name })).text);
    expect(texts).toEqual([
      `empty: empty file, digest ${digestOf('')}`,
      `p.png: binary file, 7 bytes, digest ${digestOf(png)}`,
      'gone: no such file',
      'd: is a folder; list it',
    ]);
  });

  it('reads a gigabyte of nothing and the head of a large file without holding either', async () => {
    const folder = makeFolder({ sparse: '', 'big.log': 'a log line of some length\n'.repeat(500_000) });
    truncateSync(path.join(folder, 'sparse'), 1024 ** 3);
    const tools = workbench(folder);
    const begun = performance.now();
    expect((await tools.use('read_file', { path: 'sparse' })).text).toBe(
      'sparse: binary file, 1073741824 bytes, not read in full: larger than 10 MiB',
    );
    expect((await tools.use('read_file', { path: 'big.log', from: 2, lines: 1 })).text).toBe(
      'big.log (lines 2-2 of a file of 13000000 bytes, not read in full: larger than 10 MiB)\n2\ta log line of some length\n(more; continue with from: 3)',
    );
    expect(performance.now() - begun).toBeLessThan(30_000);
    const edit = await tools.use('edit_file', { path: 'big.log', old_text: 'a', new_text: 'b' });
    expect(edit.ok).toBe(false);
  });

  it('gives every line as it is, whatever chunks it came in', async () => {
    const folder = makeFolder();
    const tools = workbench(folder);
    const line = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => !/[\n\r\0]/.test(text));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 65_500, max: 65_540 }),
        async (lines, gap) => {
          // The border of the first chunk falls somewhere into these lines.
          const text = `${'x'.repeat(gap)}\n${lines.join('\n')}\n`;
          writeFileSync(path.join(folder, 'f'), text);
          const read = await tools.use('read_file', { path: 'f', from: 2 });
          const shown = read.text
            .split('\n')
            .slice(1)
            .map((row) => row.slice(row.indexOf('\t') + 1));
          expect(shown).toEqual(lines.map((line) => line.toWellFormed()));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('cuts a line of two megabytes and stays within 64 KiB', async () => {
    const tools = workbench(
      makeFolder({ 'min.js': 'x'.repeat(2_000_000), 'long.txt': `${'y'.repeat(1900)}\n`.repeat(800) }),
    );
    const read = (await tools.use('read_file', { path: 'min.js' })).text;
    expect(read).toMatch(/^min\.js \(lines 1-1 of 1, digest [0-9a-f]{16}\)\n1\tx{2000}… \(line of 2000000 bytes\)$/);
    const long = (await tools.use('read_file', { path: 'long.txt' })).text;
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(64 * 1024);
    expect(long).toMatch(/^long.txt \(lines 1-(\d+) of 800,[^]*\n *\1\ty+\n\(\d+ more; continue with from: \d+\)$/);
    expect(long).not.toContain('left out');
  });

  it('stops when it is told to', async () => {
    const stop = new AbortController();
    stop.abort();
    const tools = workbench(makeFolder({ 'a.txt': 'x\n' }));
    expect(await tools.use('read_file', { path: 'a.txt' }, { signal: stop.signal })).toEqual({
      ok: false,
      text: 'a.txt: stopped',
    });
    for (const [name, input] of [
      ['write_file', { path: 'new.txt', content: '' }],
      ['list_files', {}],
      ['search', { pattern: 'x' }],
      ['git', { subcommand: 'log' }],
    ] as const) {
      expect((await tools.use(name, input, { signal: stop.signal })).ok).toBe(false);
    }
  });
});

describe('list_files', () => {
  const files = {
    '.gitignore': 'built/\n*.log\n',
    'built/out.js': '',
    'a.log': '',
    'src/a.ts': '',
    'src/b.log': '',
    'src/deep/b.ts': '',
    'docs/c.md': '',
    '.github/ci.yml': '',
    '.env': 'KEY=1',
    'we\nird 名.txt': '',
  };

  it('shows what is not ignored, sorted, one a line', async () => {
    const tools = workbench(makeRepository(files));
    expect((await tools.use('list_files', {})).text).toBe(
      ['.github/ci.yml', '.gitignore', 'docs/c.md', 'src/a.ts', 'src/deep/b.ts', String.raw`we\nird 名.txt`].join('\n'),
    );
    expect((await tools.use('list_files', { path: 'src/', glob: '*.ts' })).text).toBe('src/a.ts\nsrc/deep/b.ts');
    expect((await tools.use('list_files', { glob: '.env' })).text).toBe('no files in . match .env');
  });

  it('counts the rest by folder', async () => {
    const many = Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`d${index % 3}/f${index}.ts`, '']));
    const folder = makeFolder(many);
    const text = (await workbench(folder).use('list_files', { limit: 2 })).text;
    expect(text).toBe(
      'd0/f0.ts\nd0/f1002.ts\n(1498 more, 1500 files in all)\n  d0/ 500 files\n  d1/ 500 files\n  d2/ 500 files',
    );
  });

  it('refuses what is outside and says what is wrong with a glob', async () => {
    const tools = workbench(makeFolder(files));
    expect((await tools.use('list_files', { path: '..' })).ok).toBe(false);
    expect((await tools.use('list_files', { path: 'gone' })).text).toBe('gone: no such file');
    expect((await tools.use('list_files', { glob: '{a' })).text).toContain('error parsing glob');
  });

  it('follows no link to a folder outside', async () => {
    const folder = makeFolder({ 'in/a': '' });
    const outside = makeFolder({ 'secret.txt': 'x' });
    symlinkSync(outside, path.join(folder, 'link'));
    expect((await workbench(folder).use('list_files', {})).text).toBe('in/a');
    expect((await workbench(folder).use('list_files', { path: 'link' })).ok).toBe(false);
  });
});

describe('search', () => {
  it('shows matches as file:line: text, with context when asked', async () => {
    const tools = workbench(
      makeRepository({ 'src/a.ts': 'one\ntwo x\nthree\nfour\nfive x\n', 'b.txt': 'x\r\n', 'c:1.txt': 'x' }),
    );
    expect((await tools.use('search', { pattern: 'x$' })).text).toBe(
      'b.txt:1: x\nc:1.txt:1: x\nsrc/a.ts:2: two x\nsrc/a.ts:5: five x',
    );
    expect((await tools.use('search', { pattern: 'x', path: 'src', context: 1 })).text).toBe(
      'src/a.ts-1- one\nsrc/a.ts:2: two x\nsrc/a.ts-3- three\nsrc/a.ts-4- four\nsrc/a.ts:5: five x',
    );
    expect((await tools.use('search', { pattern: 'x', path: 'src/a.ts', limit: 1 })).text).toBe(
      'src/a.ts:2: two x\n(stopped after 1 matching line; narrow the search or raise the limit)',
    );
  });

  it('takes plain text, case and globs', async () => {
    const tools = workbench(makeFolder({ 'a.ts': 'f(x)\n', 'b.js': 'F(X)\n', '.env': 'f(x)\n', bin: 'f(x)\0' }));
    expect((await tools.use('search', { pattern: 'f(x)', fixed: true })).text).toBe('a.ts:1: f(x)');
    expect((await tools.use('search', { pattern: 'f(x)', fixed: true, ignore_case: true, glob: '*.js' })).text).toBe(
      'b.js:1: F(X)',
    );
    expect((await tools.use('search', { pattern: '-v' })).text).toBe('nothing matches -v');
    expect((await tools.use('search', { pattern: 'f(', path: '.' })).text).toContain('unclosed group');
    expect((await tools.use('search', { pattern: 'f', path: '.env' })).ok).toBe(false);
  });

  it('is not led by configuration, links, or patterns that explode', async () => {
    const folder = makeFolder({ 'a.txt': `${'a'.repeat(30_000)}b\n` });
    symlinkSync(makeFolder({ 'secret.txt': 'aaa' }), path.join(folder, 'link'));
    const begun = performance.now();
    const found = await workbench(folder).use('search', { pattern: '^(a+)+$' });
    expect(found).toEqual({ ok: true, text: 'nothing matches ^(a+)+$' });
    expect(performance.now() - begun).toBeLessThan(10_000);
    const look = await workbench(folder).use('search', { pattern: '(?=a)a' });
    expect(look.ok).toBe(false);
  });

  it('stays within its caps over thousands of long lines', async () => {
    const tools = workbench(
      makeFolder({ 'a.txt': `${'needle '.repeat(1000)}\n`.repeat(2000), 'huge.txt': 'needle '.repeat(400_000) }),
    );
    const found = (await tools.use('search', { pattern: 'needle', limit: 1000 })).text;
    expect(Buffer.byteLength(found)).toBeLessThanOrEqual(64 * 1024);
    const huge = (await tools.use('search', { pattern: 'needle', path: 'huge.txt' })).text;
    expect(huge).toBe('(1 line of more than 1 MiB not shown)');
  });
});

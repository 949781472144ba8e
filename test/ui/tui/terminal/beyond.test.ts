/** What reaches further than the screen: clipboard, notices, links, the colour behind. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clipboardBytes, noticeBytes, passThrough } from '../../../../src/ui/tui/terminal/open.ts';
import { backgroundFrom, capabilities } from '../../../../src/ui/tui/terminal/styles.ts';
import { saveCopy } from '../../../../src/app/process/files.ts';
import { Styles } from '../../../../src/ui/tui/terminal/styles.ts';
import { anyText } from '../text/texts.ts';
import { theme } from '../../../support/theme.ts';
import { openStrict } from '../../../support/vt.ts';

const XTERM = { TERM: 'xterm-256color' };
const TMUX = { TERM: 'tmux-256color', TMUX: '/tmp/tmux-0/default,1,0' };
const SCREEN = { TERM: 'screen', STY: '1.pts' };

describe('the clipboard', () => {
  it('takes a text in base64, and through tmux and screen', () => {
    expect(clipboardBytes('é', XTERM)).toBe('\u001b]52;c;w6k=\u0007');
    expect(clipboardBytes('é', TMUX)).toBe('\u001b]52;c;w6k=\u0007\u001bPtmux;\u001b\u001b]52;c;w6k=\u0007\u001b\\');
    const long = clipboardBytes('x'.repeat(1000), SCREEN) ?? '';
    expect(long.split('\u001b\\').every((piece) => piece.length < 250)).toBe(true);
    expect(long.replaceAll('\u001bP', '').replaceAll('\u001b\\', '')).toBe(clipboardBytes('x'.repeat(1000), XTERM));
  });

  it('takes no text that terminals would cut', () => {
    expect(clipboardBytes('x'.repeat(55_500), XTERM)).not.toBeNull();
    expect(clipboardBytes('x'.repeat(55_600), XTERM)).toBeNull();
  });

  it('has a file beside it, private, always with the last copy', () => {
    const folder = mkdtempSync(`${tmpdir()}/mimir-copy-`);
    writeFileSync(`${folder}/clipboard.txt`, 'before', { mode: 0o644 });
    expect(saveCopy('after\n', folder)).toContain('clipboard.txt');
    expect(readFileSync(`${folder}/clipboard.txt`, 'utf8')).toBe('after\n');
    expect(statSync(`${folder}/clipboard.txt`).mode & 0o777).toBe(0o600);
    expect(saveCopy('x', '/dev/null/folder')).toBeNull();
    rmSync(`${folder}/clipboard.txt`);
    symlinkSync(`${folder}/theirs`, `${folder}/clipboard.txt`);
    expect(saveCopy('mine', folder)).toContain('clipboard.txt');
    expect(readdirSync(folder)).toEqual(['clipboard.txt']);
    rmSync(`${folder}/clipboard.txt`);
    mkdirSync(`${folder}/clipboard.txt`);
    expect([saveCopy('a secret', folder), readdirSync(folder)]).toEqual([null, ['clipboard.txt']]);
    rmSync(folder, { recursive: true });
  });
});

describe('a notice', () => {
  const notice = { title: 'Mimir', body: 'reviewer asks: may I run a; b?', bell: false, desktop: true };

  it('is told as each terminal knows it', () => {
    expect(noticeBytes(notice, XTERM)).toBe('\u001b]9;Mimir: reviewer asks: may I run a; b?\u0007');
    expect(noticeBytes(notice, { TERM: 'foot' })).toBe('\u001b]777;notify;Mimir;reviewer asks: may I run a, b?\u0007');
    expect(noticeBytes(notice, TMUX)).toBe(passThrough(noticeBytes(notice, XTERM), TMUX));
    expect(noticeBytes({ ...notice, bell: true }, { TERM: 'linux' })).toBe('\u0007');
    expect(noticeBytes({ ...notice, desktop: false }, XTERM)).toBe('');
  });

  it('never ends early, whatever is in it', () => {
    fc.assert(
      fc.property(anyText, anyText, fc.constantFrom(XTERM, { TERM: 'foot' }), (title, body, env) => {
        const bytes = noticeBytes({ title, body, bell: false, desktop: true }, env);
        expect(bytes.slice(1, -1)).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});

describe('a link', () => {
  const styles = new Styles(theme, 24, true);
  const step = (link: string): string => styles.step(0, styles.id({ link }));

  it('is begun and ended around its text, and is refused where it is no address of ours', () => {
    expect(step('file:///home/me/a%20b.ts')).toBe('\u001b]8;;file:///home/me/a%20b.ts\u001b\\');
    const linked = styles.id({ link: 'https://example.org/x' });
    expect(styles.step(linked, 0)).toBe('\u001b]8;;\u001b\\');
    for (const wrong of ['javascript:x', 'file:///a b', 'https://x/\u0007', 'https://x/%zz', 'https://x/é', 'file://'])
      expect(step(wrong)).toBe('');
    expect(new Styles(theme, 24).id({ link: 'https://example.org/x' })).toBe(0);
  });

  it('sends nothing that the strict terminal refuses', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.webUrl()), (link) => {
        const id = styles.id({ link, fg: 'ok' });
        openStrict(20, 2).write(`\u001b[?2026h${styles.step(0, id)}x${styles.step(id, 0)}\u001b[?2026l`);
      }),
    );
    expect(() => openStrict(20, 2).write('\u001b[?2026h\u001b]8;;file:///x\u001b\\x\u001b[?2026l')).toThrow(
      'not ended',
    );
    expect(() => openStrict(20, 2).write('\u001b[?2026h\u001b]8;;x:y\u001b\\\u001b[?2026l')).toThrow('not allowed');
  });
});

describe('the background', () => {
  it('is what the terminal answers, else what COLORFGBG says', () => {
    expect(backgroundFrom('\u001b]11;rgb:ffff/ffff/eeee\u001b\\')).toBe('light');
    expect(backgroundFrom('\u001b]11;rgb:1c/1c/20\u0007')).toBe('dark');
    expect(backgroundFrom('\u001b]10;rgb:ffff/ffff/ffff\u0007')).toBeNull();
    const by = (COLORFGBG: string): unknown => capabilities({ ...XTERM, COLORFGBG }).background;
    expect(['0;15', '15;0', '0;default;7', '15;8', '', 'x;default'].map(by)).toEqual([
      'light',
      'dark',
      'light',
      'dark',
      null,
      null,
    ]);
  });
});

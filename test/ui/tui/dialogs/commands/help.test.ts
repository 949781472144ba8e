/** The help: two columns, as wide as its keys are. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { APP_KEYS } from '../../../../../src/ui/tui/shell/app-keys.ts';
import { helpLines } from '../../../../../src/ui/tui/dialogs/commands.ts';
import { UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import { helpOf } from '../../../../../src/ui/tui/frame/keymap.ts';
import { RUN_KEYS } from '../../../../../src/ui/tui/screens/run/keys.ts';
import { openSession } from '../../../../support/app-session.ts';
import { midRun } from '../../../../support/recorded-run.ts';
import { lineWidth, plain } from '../../../../../src/app/views/text/line.ts';

describe('the help', () => {
  it('puts many keys into several rows beside what they do', () => {
    const rows = [
      { keys: '↑ ↓ k j PgUp PgDn ^U ^D', help: 'Select a card, or scroll the opened agent.' },
      { keys: '⏎', help: 'Open it.' },
    ];
    expect(helpLines([{ title: 'Run', rows }], ['A note.'], 40).map((line) => plain(line).trimEnd())).toEqual([
      'Run',
      '  ↑ ↓ k j    Select a card, or scroll',
      '  PgUp PgDn  the opened agent.',
      '  ^U ^D',
      '  ⏎          Open it.',
      '',
      'A note.',
    ]);
  });

  it('goes on beside itself where there is room, down one column and then the next', () => {
    const rows = ['a', 'b', 'c', 'd', 'e'].map((keys) => ({ keys, help: `Does ${keys}.` }));
    const lines = helpLines([{ title: 'Run', rows }], ['A note.'], 76).map((line) => plain(line).trimEnd());
    expect(lines).toEqual([
      `Run${' '.repeat(39)}c  Does c.`,
      `  a  Does a.${' '.repeat(30)}d  Does d.`,
      `  b  Does b.${' '.repeat(30)}e  Does e.`,
      '',
      'A note.',
    ]);
  });

  it('is never wider than asked, and leaves out no key', () => {
    const parts = [...helpOf(RUN_KEYS, UNICODE), ...helpOf(APP_KEYS, UNICODE)];
    const all = parts.flatMap(({ rows }) => rows.flatMap(({ keys }) => keys.split(' ')));
    fc.assert(
      fc.property(fc.integer({ min: 34, max: 200 }), (width) => {
        const lines = helpLines(parts, [], width);
        expect(Math.max(...lines.map(lineWidth))).toBeLessThanOrEqual(width);
        const shown = lines.map(plain).join(' ').split(/\s+/);
        expect(all.filter((key) => !shown.includes(key))).toEqual([]);
      }),
    );
  });

  it('opens by its own key over a box as well, says its keys, and leaves it as it was', async () => {
    const { terminal } = await openSession(null);
    terminal.press('ctrl-p');
    terminal.type('mouse');
    terminal.press('f1');
    expect(terminal.text()).toMatch(/─ Help ─[\s\S]*Commands[\s\S]*⏎ +run/);
    terminal.press('f1');
    expect(terminal.text()).not.toContain('─ Help ─');
    expect(terminal.text()).toContain('❯ mouse');
  });

  it('is filtered by words, and says which keys are the person’s own', async () => {
    const { terminal } = await openSession(midRun(), { keys: { 'run.kill': 'ctrl-x' } });
    terminal.press('?', '/');
    terminal.type('kill');
    expect(terminal.text()).toContain('(your key');
    expect(terminal.text()).toContain('/kill');
    expect(terminal.text()).not.toContain('Redraw screen');
    terminal.press('enter', 'j', 'esc');
    expect(terminal.text()).toContain('Help');
    terminal.press('/');
    terminal.type('zzz');
    expect(terminal.text()).toContain('No matching keys. Esc clears the filter.');
    terminal.press('esc', 'esc');
    expect(terminal.text()).not.toContain('Help');
  });
});

/** Footer and help come from the tables of keys: they can't say anything else. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldAll } from '../../../../src/events/fold.ts';
import { APP_KEYS, ownKeyFaults } from '../../../../src/ui/tui/shell/app-keys.ts';
import { ASCII, glyphsFor, UNICODE } from '../../../../src/ui/tui/text/glyphs.ts';
import {
  footerLine,
  helpOf,
  hintsOf,
  isPlain,
  keyFaults,
  keyLabel,
  rebind,
} from '../../../../src/ui/tui/frame/keymap.ts';
import { pageOf } from '../../../../src/ui/tui/frame/keymap.ts';
import type { Context } from '../../../../src/ui/tui/frame/screen.ts';
import { planScreen } from '../../../../src/ui/tui/screens/plan/plan.ts';
import { resultScreen } from '../../../../src/ui/tui/screens/result/result.ts';
import { RUN_KEYS } from '../../../../src/ui/tui/screens/run/keys.ts';
import { FIRST } from '../../../../src/ui/tui/screens/run/state.ts';
import { runScreen } from '../../../../src/ui/tui/screens/run/run.ts';
import { startScreen } from '../../../../src/ui/tui/screens/start/start.ts';
import { type Line, lineWidth, plain } from '../../../../src/app/views/text/line.ts';
import { PROJECT_SERVICE } from '../../../support/fake-run.ts';
import { midRun, START } from '../../../support/recorded-run.ts';

const context: Context = {
  state: foldAll(midRun().events),
  projectService: PROJECT_SERVICE,
  now: START + 192_000,
  glyphs: UNICODE,
  live: new Map(),
};
const tables = [startScreen.keys, planScreen.keys, runScreen.keys, resultScreen.keys, APP_KEYS];

describe('the key tables', () => {
  it('name each action once, in at most four words without a full stop', () => {
    const all = tables.flat();
    const actions = all.map(({ action }) => action);
    expect(actions.filter((action, index) => actions.indexOf(action) !== index)).toEqual([]);
    expect(all.filter(({ help }) => !/^[A-Z][\w-]*,?(?: [\w-]+){0,3}$/.test(help)).map(({ action }) => action)).toEqual(
      [],
    );
  });

  it('give the help: every key and every sentence, but for what the cursor keys do', () => {
    const rows = helpOf(RUN_KEYS, UNICODE).flatMap((part) => part.rows);
    const cursor = RUN_KEYS.filter(({ keys }) => ['up', 'left'].includes(keys[0] ?? ''));
    expect(cursor.map(({ action }) => action)).toEqual([
      'filter.move',
      'log.scroll',
      'detail.scroll',
      'run.tab',
      'run.move',
      'message.history',
    ]);
    const named = RUN_KEYS.filter((binding) => !cursor.includes(binding));
    const all = named.map(({ keys, help }) => ({ keys: keys.map((key) => keyLabel(key, UNICODE)).join(' '), help }));
    expect(new Set(rows.map((row) => JSON.stringify(row)))).toEqual(new Set(all.map((row) => JSON.stringify(row))));
  });

  it('give the palette without the cursor keys, what the footer names first', () => {
    const entries = pageOf(runScreen, {}).entries(context);
    expect(entries.filter(({ action }) => /\.(?:move|scroll)$/.test(action))).toEqual([]);
    expect(entries.find(({ why }) => why !== '')?.action).toBe('run.open');
  });

  it('give the footer: what can be done now, in their order', () => {
    const hints = hintsOf(RUN_KEYS, { ...FIRST, selected: null }, context);
    const able = RUN_KEYS.filter((binding) => binding.hint !== '' && binding.whyNot(FIRST, context) === null);
    expect(hints.map(({ hint }) => hint)).toEqual(able.map(({ hint }) => hint));
    expect(plain(footerLine(hints, '1/8', 80, UNICODE))).toBe(
      ' ↑↓ select  ⏎ open  Tab pane  i message  s interrupt  / filter  T graph …   1/8 ',
    );
  });

  it('fit the footer into any width', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 300 }),
        fc.string({ maxLength: 6 }).map((text) => text.replace(/[^ -~]/g, '')),
        (width, position) => {
          const hints = hintsOf(RUN_KEYS, FIRST, context);
          expect(lineWidth(footerLine(hints, position, width, UNICODE))).toBe(width);
        },
      ),
    );
  });

  it('keep the hint of the help where not all of them fit', () => {
    const help = { keys: '?', hint: 'help' };
    const hints = [{ keys: 'e', hint: 'edit' }, { keys: 'M', hint: 'model' }, help, { keys: 'q', hint: 'quit' }];
    const footer = (width: number): string => plain(footerLine(hints, '', width, UNICODE, { kept: help })).trimEnd();
    expect([40, 30, 22, 18, 10, 5].map(footer)).toEqual([
      ' e edit  M model  ? help  q quit',
      ' e edit  M model … ? help',
      ' e edit … ? help',
      ' e edit … ? help',
      '  … ? help',
      '  …',
    ]);
  });

  it('keep the place of what can be used in a moment, greyed and without its key', () => {
    const edit = { keys: 'e', hint: 'edit' };
    const footer = (soon: object): Line => footerLine([{ keys: '⏎', hint: 'accept', ...soon }, edit], '', 24, UNICODE);
    expect(plain(footer({}))).toBe(' ⏎ accept  e edit       ');
    expect(plain(footer({ soon: true }))).toBe('   accept  e edit       ');
    expect(footer({ soon: true })[1]).toEqual(['  accept', { fg: 'faint', bg: 'raised' }]);
  });

  it('show only the keys of the message while one is written', () => {
    const page = pageOf(runScreen, {});
    const size = { width: 80, height: 22 };
    page.settle(context, size);
    page.press({ is: 'key', key: 'i' }, context, size);
    expect(page.hints(context)).toEqual([
      { keys: '⏎', hint: 'send' },
      { keys: 'Tab', hint: 'when' },
      { keys: 'Esc', hint: 'save draft' },
      { keys: '^C', hint: 'clear' },
    ]);
  });
});

describe('keys', () => {
  it('are named as people read them, on their keyboard (O124)', () => {
    expect(
      ['enter', 'ctrl-r', 'alt-enter', 'backtab', ' ', 'pageup', 'x'].map((key) => keyLabel(key, UNICODE)),
    ).toEqual(['⏎', '^R', 'Alt-⏎', 'Shift-Tab', 'Space', 'PgUp', 'x']);
    expect(keyLabel('enter', ASCII)).toBe('Enter');
    const labels = ['linux', 'darwin'].flatMap((platform) =>
      [false, true].map((ascii) => keyLabel('alt-enter', glyphsFor({ ascii, platform }))),
    );
    expect(labels).toEqual(['Alt-⏎', 'Alt-Enter', 'Opt-⏎', 'Opt-Enter']);
  });

  it('are text for a field or not', () => {
    expect(['a', '漢', ' ', '?', '-', 'enter', 'ctrl-c', 'f1', 'up'].filter(isPlain)).toEqual([
      'a',
      '漢',
      ' ',
      '?',
      '-',
    ]);
  });

  it("can be the user's own, or none", () => {
    const own = { 'run.kill': 'K', 'run.plan': 'none' };
    const table = rebind(RUN_KEYS, own);
    expect(table.find(({ action }) => action === 'run.kill')?.keys).toEqual(['K']);
    expect(table.find(({ action }) => action === 'run.plan')?.keys).toEqual([]);
  });

  it('are told of when they can not be what the user wants', () => {
    const own = { 'run.kill': 's', 'run.fly': 'w' };
    expect(keyFaults([rebind(RUN_KEYS, own)], own)).toEqual([
      'keys: unknown action "run.fly"',
      'keys: s is used by run.kill and run.interrupt',
    ]);
    expect(ownKeyFaults({ 'copy.word': 'n' })).toEqual(['keys: n is used by copy.word and copy.next']);
  });
});

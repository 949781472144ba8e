/** Boxes over a screen: what keys do to them, and that they fit. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Choice, Context, Dialog, FormValues } from '../../../../../src/ui/tui/frame/screen.ts';
import { overlayFor } from '../../../../../src/ui/tui/dialogs/open.ts';
import type { Overlay } from '../../../../../src/ui/tui/frame/overlay.ts';
import { trustOverlay } from '../../../../../src/ui/tui/dialogs/confirm.ts';
import type { TrustQuestion } from '../../../../../src/ports/project-service.ts';
import { EMPTY } from '../../../../../src/events/state.ts';
import { UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import { lineWidth, plain, span } from '../../../../../src/app/views/text/line.ts';
import { PROJECT_SERVICE } from '../../../../support/fake-run.ts';

const context: Context = { state: EMPTY, projectService: PROJECT_SERVICE, now: 0, glyphs: UNICODE, live: new Map() };
const SIZE = { width: 80, height: 24 };
const TRUST: TrustQuestion = {
  state: 'changed',
  digest: 'd',
  brings: ['role deploy: read (.mimir/agents/deploy.md)', '漢字'.repeat(80)],
  diff: `-old\n+${'new '.repeat(90)}`,
};

interface Pressed {
  readonly overlay: Overlay | null;
  /** Toasts and what `then` answered, in order. */
  readonly said: readonly string[];
}

/** Names of keys; anything longer than a key that isn't a name is typed letter by letter. */
function press(dialog: Dialog, ...keys: readonly string[]): Pressed {
  const said: string[] = [];
  let overlay: Overlay | null = overlayFor(dialog, context);
  const letters = keys.flatMap((key) => (key.startsWith('=') ? key.slice(1).split('') : [key]));
  for (const key of letters) {
    if (overlay === null) throw new Error(`closed before ${key}`);
    const pressed: ReturnType<Overlay['press']> = overlay.press({ is: 'key', key }, context, SIZE);
    overlay = pressed.overlay;
    if (pressed.effect?.toast) said.push(pressed.effect.toast.text);
  }
  return { overlay, said };
}

const rows = (overlay: Overlay | null): readonly string[] => overlay?.view(context, SIZE).lines.map(plain) ?? [];
const answer = (text: string): { readonly toast: { readonly level: 'info'; readonly text: string } } => ({
  toast: { level: 'info', text },
});

const CHOICES: readonly Choice[] = [
  { value: 'a', label: 'haiku-4.5', note: '$0.80', whyNot: null },
  { value: 'b', label: 'o3', note: '', whyNot: 'no key' },
  { value: 'c', label: 'sonnet-4.5', note: '$3.00', whyNot: null },
];

const text: Dialog = {
  is: 'text',
  title: 'Describe',
  hint: 'What it should do.',
  value: 'old',
  lines: 3,
  yes: 'save',
  check: (value) => (value.trim() === '' ? 'it is empty' : null),
  then: answer,
};
const pick: Dialog = { is: 'pick', title: 'Model', choices: CHOICES, value: 'c', then: answer };
const confirm = (word: string): Dialog => ({
  is: 'confirm',
  title: 'Kill?',
  lines: [[span('It is gone then.')]],
  yes: 'kill',
  no: 'keep',
  word,
  then: () => answer('killed'),
});
const formText = (values: FormValues): string => JSON.stringify(values);
const form: Dialog = {
  is: 'form',
  title: 'Task 1',
  fields: [
    { is: 'text', name: 'words', label: 'Words', value: 'find', lines: 1, hint: '' },
    { is: 'choice', name: 'model', label: 'Model', value: 'a', choices: CHOICES },
    { is: 'checks', name: 'tools', label: 'Tools', values: ['a'], choices: CHOICES },
  ],
  check: ({ texts }) => (texts['words'] === '' ? 'Words: it is empty' : null),
  then: (values) => answer(formText(values)),
};

describe('a text', () => {
  it('is sent by Enter, with the breaks of Alt-Enter', () => {
    expect(press(text, '=er', 'alt-enter', '=x', 'enter')).toEqual({ overlay: null, said: ['older\nx'] });
  });

  it('stays with the reason while something is wrong with it', () => {
    const { overlay, said } = press(text, 'ctrl-u', 'enter');
    expect(rows(overlay).join('\n')).toContain('! it is empty');
    expect(said).toEqual([]);
  });

  it('is left by Esc', () => {
    expect(press(text, 'esc')).toEqual({ overlay: null, said: [] });
  });
});

describe('a list', () => {
  it('starts at the value, moves by arrows and filters by typing', () => {
    expect(press(pick, 'enter').said).toEqual(['c']);
    expect(press(pick, 'up', 'up', 'enter').said).toEqual(['a']);
    expect(press(pick, '=haik', 'enter').said).toEqual(['a']);
  });

  it('says why something can not be chosen and stays open', () => {
    const { overlay, said } = press(pick, 'up', 'enter');
    expect(said).toEqual(['o3: no key']);
    expect(overlay).not.toBeNull();
  });

  it('clears the filter by the first Esc and closes by the second', () => {
    const { overlay } = press(pick, '=zzz', 'esc');
    expect(rows(overlay).join('\n')).toContain('haiku-4.5');
    expect(press(pick, '=zzz', 'esc', 'esc').overlay).toBeNull();
    // What is selected then is the present value again: Enter changes nothing by mistake.
    expect(press(pick, '=zzz', 'esc', 'enter').said).toEqual(['c']);
  });
});

describe('a list of models', () => {
  const models: Dialog = { ...pick, value: 'b', heads: ['model', 'price'], folds: true };

  it('names its columns, and folds what can not be used until something is typed', () => {
    expect(rows(press(models).overlay).map((row) => row.trimEnd())).toEqual([
      '╭─ Model ──────────────────────────────────────────────────────────── 2/3 ─╮',
      '│ ❯ type to filter                                                         │',
      '│   model       price                                                      │',
      '│   haiku-4.5   $0.80                                                      │',
      '│ ▌ o3          no key                                                     │',
      '│   sonnet-4.5  $3.00                                                      │',
      '╰──────────────────────────────────────────────────────────────────────────╯',
    ]);
    const folded = rows(press({ ...models, value: 'a' }).overlay).join('\n');
    expect(folded).toContain('1 more unavailable: type to list them');
    expect(folded).not.toContain('o3');
    expect(rows(press({ ...models, value: 'a' }, '=o3').overlay).join('\n')).toContain('▌ o3          no key');
  });

  it('goes on to the next by the key that opened it, and takes with Tab as well', () => {
    expect(press({ ...pick, value: 'a', next: 'ctrl-r' }, 'ctrl-r', 'ctrl-r', 'tab').said).toEqual(['c']);
  });
});

describe('a yes or no', () => {
  it('takes Enter, n and Esc for the safe choice', () => {
    for (const key of ['enter', 'n', 'esc']) expect(press(confirm(''), key)).toEqual({ overlay: null, said: [] });
    expect(press(confirm(''), 'y').said).toEqual(['killed']);
  });

  it('wants the word where it can not be undone', () => {
    expect(press(confirm('kill'), 'y').said).toEqual([]);
    expect(press(confirm('kill'), '=kill', 'enter').said).toEqual(['killed']);
    expect(rows(press(confirm('kill'), '=kil', 'enter').overlay).join('\n')).toContain('Type "kill" to confirm.');
  });
});

describe('a form', () => {
  it('saves all fields by Ctrl-S: typed, chosen and checked', () => {
    const { said } = press(form, '=er', 'tab', 'right', 'tab', 'down', ' ', 'down', ' ', 'ctrl-s');
    expect(said).toEqual(['{"texts":{"words":"finder","model":"c"},"checks":{"tools":["a","c"]}}']);
  });

  it('asks before changes are thrown away, and only then', () => {
    expect(press(form, 'esc').overlay).toBeNull();
    const { overlay } = press(form, '=x', 'esc');
    expect(rows(overlay).join('\n')).toContain('Discard changes?');
    expect(press(form, '=x', 'esc', 'enter').overlay).not.toBeNull();
    expect(press(form, '=x', 'esc', 'y').overlay).toBeNull();
  });

  it('says what is wrong when it is saved', () => {
    expect(rows(press(form, 'ctrl-u', 'ctrl-s').overlay).join('\n')).toContain('! Words: it is empty');
  });
});

describe('something to read', () => {
  it('scrolls and says where one is', () => {
    const long: Dialog = {
      is: 'read',
      title: 'Help',
      lines: Array.from({ length: 90 }, (_, row) => [span(`row ${row}`)]),
    };
    expect(rows(press(long, 'G').overlay).join('\n')).toContain('row 89');
    expect(rows(press(long, 'G').overlay)[0]).toContain('-90 of 90');
    expect(press(long, '?').overlay).toBeNull();
  });
});

describe('every box', () => {
  it('is a rectangle that fits on the screen, its cursor inside', () => {
    const sizes = fc.record({ width: fc.integer({ min: 40, max: 200 }), height: fc.integer({ min: 8, max: 80 }) });
    const mode: Dialog = { is: 'mode', agent: null };
    const boxes = [text, pick, confirm(''), confirm('kill'), form, mode].map((one) => () => overlayFor(one, context));
    const dialogs = fc.constantFrom(...boxes, () => trustOverlay(TRUST));
    const keys = fc.array(fc.constantFrom('tab', 'down', 'x', '漢', 'alt-enter', ' '), { maxLength: 12 });
    fc.assert(
      fc.property(sizes, dialogs, keys, (size, dialog, pressed) => {
        let overlay: Overlay | null = dialog();
        for (const key of pressed) overlay = overlay?.press({ is: 'key', key }, context, size).overlay ?? overlay;
        const { lines, cursor } = overlay?.view(context, size) ?? { lines: [], cursor: null };
        const widths = new Set(lines.map(lineWidth));
        expect(widths.size).toBe(1);
        expect(Math.max(...widths)).toBeLessThanOrEqual(size.width);
        expect(lines.length).toBeLessThanOrEqual(size.height);
        if (cursor) expect([cursor.x < size.width, cursor.y > 0, cursor.y < lines.length]).toEqual([true, true, true]);
      }),
    );
  });
});

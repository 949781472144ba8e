/** The field: what keys do to the text, and where the cursor stands when it is drawn. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Input } from '../../../../src/ui/tui/terminal/terminal.ts';
import { lineWidth, plain } from '../../../../src/app/views/text/line.ts';
import {
  edit,
  type Editor,
  editorHeight,
  editorText,
  openEditor,
  viewEditor,
} from '../../../../src/ui/tui/text/editor.ts';
import { graphemes } from '../../../../src/app/views/text/width.ts';
import { anyText } from './texts.ts';

const key = (name: string): Input => ({ is: 'key', key: name });

/** Types keys one after the other; keys that aren't the field's change nothing. */
const after = (editor: Editor, ...keys: readonly string[]): Editor =>
  keys.reduce((now, name) => edit(now, key(name)) ?? now, editor);

/** The text with `|` where the cursor stands. */
const shown = (editor: Editor): string =>
  editor.lines
    .map((line, row) => (row === editor.row ? `${line.slice(0, editor.column)}|${line.slice(editor.column)}` : line))
    .join('\n');

describe('a field', () => {
  it('moves by what a person sees as one character', () => {
    const field = openEditor('a👩‍👩‍👧‍👦e\u0301');
    expect(shown(after(field, 'left'))).toBe('a👩‍👩‍👧‍👦|e\u0301');
    expect(shown(after(field, 'left', 'left'))).toBe('a|👩‍👩‍👧‍👦e\u0301');
    expect(shown(after(field, 'left', 'backspace'))).toBe('a|e\u0301');
    expect(shown(after(field, 'home', 'delete', 'right'))).toBe('👩‍👩‍👧‍👦|e\u0301');
  });

  it('knows the keys of a shell', () => {
    const field = openEditor('fix src/auth.ts now');
    expect(shown(after(field, 'ctrl-a'))).toBe('|fix src/auth.ts now');
    expect(shown(after(field, 'alt-b', 'alt-b'))).toBe('fix src/auth.|ts now');
    expect(shown(after(field, 'ctrl-w', 'ctrl-w'))).toBe('fix |');
    expect(shown(after(field, 'ctrl-w', 'ctrl-a', 'ctrl-y'))).toBe('now|fix src/auth.ts ');
    expect(shown(after(field, 'ctrl-u', 'x', 'ctrl-y'))).toBe('xfix src/auth.ts now|');
    expect(shown(after(field, 'ctrl-a', 'alt-f', 'ctrl-k'))).toBe('fix|');
    expect(shown(after(field, 'alt-backspace', 'alt-b', 'alt-d'))).toBe('fix src/auth.| ');
  });

  it('takes back a word, a paste or a cut at a time', () => {
    const typed = after(openEditor(), 'o', 'n', 'e', ' ', 't', 'w', 'o');
    expect(editorText(typed)).toBe('one two');
    expect(editorText(after(typed, 'ctrl-_'))).toBe('one');
    const pasted = edit(typed, { is: 'paste', text: '\u001b[31m red\r\nq' }) ?? typed;
    expect(editorText(pasted)).toBe('one two red q');
    expect(editorText(after(pasted, 'ctrl-_'))).toBe('one two');
    expect(editorText(after(typed, 'ctrl-u', 'ctrl-_'))).toBe('one two');
  });

  it('leaves to others what is theirs', () => {
    const field = openEditor('x');
    expect(
      ['enter', 'esc', 'tab', 'up', 'down', 'alt-enter', 'f1', 'ctrl-c'].map((name) => edit(field, key(name))),
    ).toEqual(Array.from({ length: 8 }, () => null));
    expect(edit(field, { is: 'focus' })).toBeNull();
    expect(edit(openEditor(), key('ctrl-d'))).toBeNull();
  });

  it('has several lines when it may', () => {
    const field = after(openEditor('first line', true), 'alt-enter', 'x', 'ctrl-j', 'l', 'a', 's', 't');
    expect(shown(field)).toBe('first line\nx\nlast|');
    expect(shown(after(field, 'up', 'up'))).toBe('firs|t line\nx\nlast');
    expect(edit(after(field, 'up', 'up'), key('up'))).toBeNull();
    expect(shown(after(field, 'home', 'backspace'))).toBe('first line\nx|last');
    expect(shown(after(field, 'ctrl-home', 'ctrl-k', 'delete'))).toBe('|x\nlast');
    expect(shown(after(field, 'home', 'left', 'ctrl-k'))).toBe('first line\nx|last');
  });

  it('stays whole under any keys', () => {
    const names = [
      'left',
      'right',
      'up',
      'down',
      'home',
      'end',
      'backspace',
      'delete',
      'alt-b',
      'alt-f',
      'ctrl-w',
      'ctrl-k',
    ];
    const input = fc.oneof(
      fc.constantFrom(...names, 'ctrl-u', 'ctrl-y', 'ctrl-_', 'alt-enter', 'alt-d').map(key),
      anyText.map((text): Input => ({ is: 'paste', text })),
      fc.constantFrom('a', ' ', '漢', '👍🏽', '\u0301').map(key),
    );
    fc.assert(
      fc.property(
        fc.array(input, { maxLength: 40 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 40 }),
        (inputs, many, w) => {
          const field = inputs.reduce<Editor>((now, next) => edit(now, next) ?? now, openEditor('', many));
          const line = field.lines[field.row] ?? '';
          const places = graphemes(line).reduce<readonly number[]>(
            (sum, part) => [...sum, (sum.at(-1) ?? 0) + part.length],
            [0],
          );
          expect(places).toContain(field.column);
          const { lines, cursor } = viewEditor(field, { width: w, height: 4 });
          expect(lines.map(lineWidth)).toEqual([w, w, w, w]);
          expect(cursor.x >= 0 && cursor.x < w && cursor.y >= 0 && cursor.y < 4).toBe(true);
        },
      ),
    );
  });
});

describe('a field on the screen', () => {
  it('wraps softly and shows the cursor', () => {
    const field = openEditor('one two three', true);
    const { lines, cursor } = viewEditor(field, { width: 8, height: 3 });
    expect(lines.map(plain)).toEqual(['one two ', 'three   ', '        ']);
    expect(cursor).toEqual({ x: 5, y: 1 });
    expect(editorHeight(field, 8)).toBe(2);
    expect(viewEditor(openEditor('12345678', true), { width: 8, height: 3 }).cursor).toEqual({ x: 0, y: 1 });
  });

  it('scrolls sideways on one line, and down in several', () => {
    const { lines, cursor } = viewEditor(openEditor('0123456789'), { width: 5, height: 1 });
    expect(lines.map(plain)).toEqual(['6789 ']);
    expect(cursor).toEqual({ x: 4, y: 0 });
    expect(viewEditor(openEditor('a\nb\nc', true), { width: 3, height: 2 }).lines.map(plain)).toEqual(['b  ', 'c  ']);
  });

  it('says what it is for while it is empty', () => {
    const { lines, cursor } = viewEditor(openEditor(), { width: 8, height: 1, placeholder: 'Message oracle' });
    expect(lines).toEqual([
      [
        ['Message', { fg: 'faint' }],
        ['…', { fg: 'faint' }],
      ],
    ]);
    expect(cursor).toEqual({ x: 0, y: 0 });
  });
});

describe('a long paste', () => {
  const long = Array.from({ length: 42 }, (_, at) => `line ${at}`).join('\n');
  const pasteInto = (editor: Editor, text: string): Editor => edit(editor, { is: 'paste', text }) ?? editor;
  const press = (editor: Editor, ...keys: readonly string[]): Editor =>
    keys.reduce((now, key) => edit(now, { is: 'key', key }) ?? now, editor);

  it('stands in the field as one sign, and is whole in its text', () => {
    const field = press(pasteInto(openEditor('see ', true), long), '!');
    expect(field.lines).toEqual(['see [pasted 42 lines]!']);
    expect(editorText(field)).toBe(`see ${long}!`);
  });

  it('is jumped over and removed as one letter, and comes back by undo', () => {
    const field = pasteInto(openEditor('', true), long);
    expect(press(field, 'left').column).toBe(0);
    expect(press(field, 'left', 'right').column).toBe('[pasted 42 lines]'.length);
    expect(editorText(press(field, 'backspace'))).toBe('');
    expect(editorText(press(field, 'home', 'delete'))).toBe('');
    expect(editorText(press(field, 'ctrl-w'))).toBe('');
    expect(editorText(press(field, 'backspace', 'ctrl-_'))).toBe(long);
  });

  it('has a sign of its own each', () => {
    const field = pasteInto(pasteInto(openEditor('', true), long), long.toUpperCase());
    expect(field.lines).toEqual(['[pasted 42 lines][pasted 42 lines, 2]']);
    expect(editorText(field)).toBe(long + long.toUpperCase());
  });

  it('is never torn, whatever is pressed', () => {
    const keys = fc.constantFrom(
      'left',
      'right',
      'alt-b',
      'alt-f',
      'ctrl-w',
      'alt-d',
      'up',
      'down',
      'x',
      ' ',
      'alt-enter',
    );
    fc.assert(
      fc.property(fc.array(keys, { maxLength: 30 }), (pressed) => {
        const field = press(pasteInto(openEditor('one two\nthree', true), long), ...pressed);
        const signs = field.lines.join('\n').split('[pasted 42 lines]').length - 1;
        const rest = field.lines.join('\n').replaceAll('[pasted 42 lines]', '');
        expect(rest).not.toMatch(/pasted|\d/);
        expect(editorText(field).split('line 41').length - 1).toBe(signs);
      }),
    );
  });

  it('comes back from the own editor as text, without the line break that ends a file', () => {
    const field = edit(openEditor('old', true), { is: 'edited', text: 'new\ntext\n' });
    expect(field && editorText(field)).toBe('new\ntext');
    expect(field && editorText(press(field, 'ctrl-_'))).toBe('old');
  });
});

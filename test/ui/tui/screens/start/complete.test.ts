/** Completion in fields: what stands behind an `@`, what is offered, and what keys make of it. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  behindAt,
  completeKey,
  completeLines,
  type Completing,
  NOT_COMPLETING,
  offerOf,
} from '../../../../../src/ui/tui/components/text/complete.ts';
import { ASCII, UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import { lineWidth, plain } from '../../../../../src/app/views/text/line.ts';
import { startScreen } from '../../../../../src/ui/tui/screens/start/start.ts';
import { type Editor, editorText, openEditor } from '../../../../../src/ui/tui/text/editor.ts';
import { contextOf } from '../plan/context.ts';

const FILES = ['src/', 'src/plan.ts', 'my notes.md', '文档/计划书.md'];
const files = (query: string): readonly string[] => FILES.filter((path) => path.includes(query));
const context = contextOf(undefined, { files });
const field = (text: string): Editor => openEditor(text, true);

const press = (
  text: string,
  keys: readonly string[],
): { readonly editor: Editor; readonly completing: Completing } | null => {
  let now: ReturnType<typeof completeKey> = { editor: field(text), completing: NOT_COMPLETING };
  for (const key of keys) now = now && completeKey(now.editor, now.completing, key, context);
  return now;
};
const taken = (text: string, ...keys: readonly string[]): string | undefined => {
  const done = press(text, keys);
  return done === null ? undefined : editorText(done.editor);
};

describe('what stands behind an @', () => {
  it.each([
    ['see @', ''],
    ['see @src/pl', 'src/pl'],
    ['(@a', 'a'],
    ['@"my no', 'my no'],
    ['第一@', null],
    ['ada@example.org', null],
    ['see @src then', null],
    ['see @"my notes.md"', null],
  ])('in %j is %j', (text, query) => {
    expect(behindAt(field(text))?.query ?? null).toBe(query);
  });
});

describe('completing in a field', () => {
  it('takes the chosen path with Tab or Enter, and goes on behind a folder', () => {
    expect(taken('see @sr', 'tab')).toBe('see @src/');
    expect(taken('see @sr', 'down', 'enter')).toBe('see @src/plan.ts ');
    expect(taken('see @', 'up', 'tab')).toBe('see @文档/计划书.md ');
  });

  it('puts a path with blanks into quotes', () => {
    expect(taken('read @my', 'tab')).toBe('read @"my notes.md" ');
    expect(taken('read @"my n', 'tab')).toBe('read @"my notes.md" ');
  });

  it('leaves Enter alone where the path is written out, and where nothing fits', () => {
    expect(taken('@src/plan.ts', 'enter')).toBeUndefined();
    expect(taken('@nobody', 'enter')).toBeUndefined();
    expect(completeKey(field('@a'), NOT_COMPLETING, 'enter', contextOf(undefined, { files: () => null }))).toBeNull();
  });

  it('stays closed after Esc until another @ is typed', () => {
    const closed = press('see @sr', ['esc']);
    expect(closed && offerOf(closed.editor, closed.completing, context)).toBeNull();
    expect(closed && offerOf(field('see @sr @'), closed.completing, context)?.choices).toEqual(FILES);
  });

  it('offers nothing where nobody can look for files', () => {
    expect(offerOf(field('@'), NOT_COMPLETING, contextOf())).toBeNull();
  });
});

describe('Tab in the field of a project without suggestions and sessions', () => {
  const next = startScreen.keys.find(({ action }) => action === 'start.next');
  const empty = contextOf(undefined, {
    files,
    projectService: { ...context.projectService, suggestions: [], sessions: [] },
  });
  const whyNot = (text: string): string | null | undefined =>
    next?.whyNot({ ...startScreen.first, editor: field(text) }, empty);

  it('takes the offered path, and else has nothing to go on to', () => {
    expect(whyNot('see @sr')).toBeNull();
    expect(whyNot('see')).toBe('No suggestions and no sessions yet.');
  });
});

describe('the box with the paths', () => {
  const linesFor = (text: string, paths: readonly string[] | null, width = 50, height = 10): readonly string[] => {
    const offer = offerOf(field(text), NOT_COMPLETING, { files: () => paths });
    return offer === null ? [] : completeLines(offer, context, width, height).map(plain);
  };

  it('says that it looks, and that nothing fits', () => {
    expect(linesFor('@x', null)[1]).toContain('looking for files…');
    expect(linesFor('@x', [])[1]).toContain('no file matches x');
    expect(linesFor('@', [])[1]).toContain('there are no files here');
  });

  it('marks what is chosen by more than colour', () => {
    expect(linesFor('@', FILES)[1]).toMatch(/^│ ▌ src\//);
  });

  it('has exactly the width it was given and never more lines', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 20 }),
        fc.integer({ min: 1, max: 90 }),
        fc.integer({ min: 0, max: 12 }),
        fc.constantFrom(UNICODE, ASCII),
        (paths, width, height, glyphs) => {
          const offer = offerOf(field('@'), NOT_COMPLETING, { files: () => paths });
          if (offer === null) throw new Error('nothing is offered');
          const lines = completeLines(offer, contextOf(undefined, { glyphs }), width, height);
          expect(lines.length).toBeLessThanOrEqual(height);
          expect(lines.every((line) => lineWidth(line) === width)).toBe(true);
        },
      ),
    );
  });
});

/** What an agent changed, from what its tools said. */
import { describe, expect, it } from 'vitest';
import { AgentId, CallId } from '../../../../src/domain/ids.ts';
import type { Block } from '../../../../src/events/state.ts';
import { changed } from '../../../../src/tools/files/edit-file.ts';
import { unifiedDiff } from '../../../../src/tools/files/diff.ts';
import { diffLines } from '../../../../src/ui/tui/components/text/inline.ts';
import { changesOf } from '../../../../src/app/views/agents/transcript-text.ts';
import { plain } from '../../../../src/app/views/text/line.ts';

/** The result as the tool itself writes it. */
const edit = (name: string, before: string | null, after: string, ok = true): Block => ({
  is: 'tool',
  call: CallId.parse(`c-${name}`),
  tool: before === null ? 'write_file' : 'edit_file',
  label: `edit ${name}`,
  started: 0,
  ok,
  output: changed(unifiedDiff({ name, before, after }), name, 'abc').text,
  ms: 1,
});

describe('the changes of an agent', () => {
  it('are summed by file, in the order of the first change', () => {
    const blocks = [
      edit('src/a.ts', 'one\ntwo\n', 'one\n2\n'),
      edit('src/new.ts', null, 'first\n'),
      edit('src/a.ts', 'one\n2\n', 'one\n2\n3\n'),
    ];
    expect(changesOf({ blocks })).toEqual([
      {
        path: 'src/a.ts',
        added: 2,
        removed: 1,
        made: false,
        gone: false,
        also: [],
        diff: '@@ -1,2 +1,2 @@\n one\n-two\n+2\n@@ -1,2 +1,3 @@\n one\n 2\n+3',
      },
      { path: 'src/new.ts', added: 1, removed: 0, made: true, gone: false, also: [], diff: '@@ -0,0 +1 @@\n+first' },
    ]);
    expect(changesOf({ blocks })).toBe(changesOf({ blocks }));
  });

  it('hold what commands changed, beside the edits of the same file, and say whose else it may be', () => {
    const other = AgentId.parse('ROOT::S2');
    const files = [
      { path: 'src/a.ts', is: 'removed', added: 0, removed: 2, diff: '@@ -1,2 +0,0 @@' },
      { path: 'logo.png', is: 'added', added: 0, removed: 0 },
    ] as const;
    const command: Block = {
      is: 'tool',
      call: CallId.parse('c'),
      tool: 'bash',
      label: 'rm src/a.ts',
      started: 0,
      ok: false,
      output: '',
      ms: 1,
      changed: { files, more: 0, also: [other] },
    };
    expect(changesOf({ blocks: [edit('src/a.ts', 'one\n', 'one\ntwo\n'), command] })).toEqual([
      {
        path: 'src/a.ts',
        added: 1,
        removed: 2,
        made: false,
        gone: true,
        also: [other],
        diff: '@@ -1 +1,2 @@\n one\n+two\n@@ -1,2 +0,0 @@',
      },
      { path: 'logo.png', added: 0, removed: 0, made: true, gone: false, also: [other], diff: '' },
    ]);
  });

  it('leave out what failed, what only reads, and what says nothing of lines', () => {
    const failed = edit('a', 'x', 'y', false);
    const read = { ...edit('a', 'x', 'y'), tool: 'read_file' };
    const said: Block = { is: 'said', text: 'a: +1 -1 lines, digest now x', call: CallId.parse('m') };
    const odd = { ...edit('a', 'x', 'y'), output: 'done' };
    expect(changesOf({ blocks: [failed, read, said, odd] })).toEqual([]);
  });

  it('are drawn with their signs, cut at the edge with an ellipsis', () => {
    const rows = diffLines('@@ -1 +1 @@ f()\n-a long line\n+b', 8);
    expect(rows.map(plain)).toEqual(['@@ -1 +…', '-a long…', '+b']);
    expect(rows.map((row) => row[0]?.[1].fg)).toEqual(['info', 'err', 'ok']);
  });
});

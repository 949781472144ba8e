/** The Diffs tab: the files that an agent changed, each with its counts, and its hunks where it was opened. */
import type { AgentState } from '../../../../events/state.ts';
import { counted } from '../../../../app/views/text/format.ts';
import type { Context } from '../../shell/screen.ts';
import { span, spread } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import type { FileChange } from '../../../../app/views/file-changes.ts';
import { countSpans, diffLines } from '../text/diff.ts';
import { changesOf } from '../../../../app/views/file-changes.ts';
import type { Doc, Part } from '../text/doc.ts';
import { docOf, docOfLines, GAP } from '../text/doc.ts';
import { linkOf } from '../text/links.ts';
import type { ListLook } from './tool-list.ts';

/** Where there are this few, they needn't be opened to be seen. */
const FEW = 3;

/** One part a file; its item is its number in `changesOf`. */
export function changesDoc(agent: AgentState, context: Context, width: number, look: ListLook): Doc {
  const changes = changesOf(agent);
  if (changes.length === 0)
    return docOfLines(
      wrap([span('It changed no file. What a command changed is not seen here.', { fg: 'faint' })], width),
    );
  const added = changes.reduce((sum, change) => sum + change.added, 0);
  const removed = changes.reduce((sum, change) => sum + change.removed, 0);
  const total: Line = spread(
    [span(counted(changes.length, 'file'), { fg: 'title', bold: true }), span(' changed', { fg: 'muted' })],
    countSpans({ added, removed }),
    width,
  );
  const files = changes.flatMap((change, item): readonly Part[] => {
    const open = look.isOpen(item) !== changes.length <= FEW;
    const part = { item, lines: fileLines(change, open, context, width) };
    return open ? [part, GAP] : [part];
  });
  return docOf([{ item: null, lines: [total] }, GAP, ...files]);
}

function fileLines(change: FileChange, open: boolean, { glyphs, state }: Context, width: number): readonly Line[] {
  const link = linkOf(change.path, state.cwd);
  const head = spread(
    [
      span(`${open ? glyphs.todo.active : glyphs.bullet} `, { fg: 'focus' }),
      span(toLabel(change.path), { fg: 'title', bold: true, ...(link === null ? {} : { link }) }),
      span(change.made ? '  new' : '', { fg: 'ok' }),
    ],
    countSpans(change),
    width,
    {},
    glyphs.ellipsis,
  );
  if (!open) return [head];
  const body = diffLines(change.diff, Math.max(1, width - 2), glyphs.ellipsis);
  return [head, ...body.map((line): Line => [span('  '), ...line])];
}

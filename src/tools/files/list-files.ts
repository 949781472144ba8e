/** The `list_files` tool: lists the files of a folder or a glob with ripgrep, without ignored files; the rest is counted. */
import { z } from 'zod';
import type { Tool } from '../../ports/tool.ts';
import type { Root } from '../paths/root.ts';
import { done, refused, shownName } from '../process/output.ts';
import { openFolder } from '../workspace.ts';
import { commonFor, faultOf, seek, type SoughtEnd, unreadIn } from './search.ts';
import { plural } from '../../domain/lists.ts';

const Input = z.strictObject({
  path: z.string().default('.').describe('Folder to list, relative to the project root.'),
  glob: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe('Only files that match, as in .gitignore: `*.ts`, `src/**/*.test.ts`; a leading `!` excludes.'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(2000)
    .default(300)
    .describe('Maximum names to show; the rest is counted by folder.'),
  about: z.string().min(1).max(80).optional().describe('What is listed, in a few words; shown beside the call.'),
});
type Input = z.output<typeof Input>;
const COUNT_CAP = 200_000;
const TIME_LIMIT = 15_000;
/** The most folders that are named when there are more files than are shown. */
const FOLDERS_SHOWN = 30;
const NUL = 0;

export const listFilesTool = (root: Root): Tool<Input> => ({
  name: 'list_files',
  description:
    'Lists files below a folder, sorted by path, one per line, relative to the project root. Files ignored by .gitignore are not shown. Files beyond `limit` are counted by folder: list one of those, or give a glob.',
  input: Input,
  capability: 'read',
  repeat: 'safe',
  label: ({ path, glob, about }) =>
    about === undefined
      ? `list ${path}${glob === undefined ? '' : ` ${glob}`}`
      : `list ${about}${path === '.' ? '' : ` in ${path}`}`,

  async run({ path, glob, limit }, { signal }) {
    const folder = await openFolder(root, path);
    if (!folder.ok) return refused(folder.fault);
    const prefix = folder.value.name === '' ? '' : `${folder.value.name}/`;
    const names: string[] = [];
    const folders = new Map<string, number>();
    let count = 0;
    try {
      const end = await seek({
        args: ['--files', '--null', ...(glob === undefined ? [] : [`--glob=${glob}`]), ...commonFor(folder.value)],
        folder: folder.value,
        separator: NUL,
        timeLimit: TIME_LIMIT,
        signal,
        onRecord(record) {
          const name = record.toString();
          count += 1;
          if (count <= limit) names.push(shownName(prefix + name));
          const cut = name.indexOf('/');
          const top = cut === -1 ? '(here)' : `${shownName(prefix + name.slice(0, cut))}/`;
          folders.set(top, (folders.get(top) ?? 0) + 1);
          return count < COUNT_CAP;
        },
      });
      if (end.why === 'stopped') return refused('stopped');
      const fault = faultOf(end);
      if (fault !== null && count === 0) return refused(fault);
      if (count === 0) return done(`no files in ${path}${glob === undefined ? '' : ` match ${glob}`}${unreadIn(end)}`);
      return done([...names, ...restText({ count, shown: names.length, folders, end })].join('\n'));
    } finally {
      await folder.value.handle.close();
    }
  },
});

function restText(listed: {
  readonly count: number;
  readonly shown: number;
  readonly folders: ReadonlyMap<string, number>;
  readonly end: SoughtEnd;
}): readonly string[] {
  const { count, shown, folders, end } = listed;
  const least = end.why === 'finished' ? '' : 'at least ';
  const unread = unreadIn(end).trim();
  if (count === shown && end.why !== 'finished') return [`(stopped by the ${end.why}: there may be more)`];
  if (count === shown) return unread === '' ? [] : [unread];
  const sorted = [...folders].sort(([, a], [, b]) => b - a);
  const named = sorted.slice(0, FOLDERS_SHOWN).map(([name, files]) => `  ${name} ${plural(files, 'file')}`);
  const others = sorted.length > FOLDERS_SHOWN ? [`  and ${plural(sorted.length - FOLDERS_SHOWN, 'more folder')}`] : [];
  return [`(${least}${count - shown} more, ${least}${plural(count, 'file')} in all)`, ...named, ...others];
}

const LISTING_MS = 5000;

/** Lists at most `most` files, for at most five seconds: relative to the root, without ignored, protected and unreadable ones; links are
 * not followed. `more`: there are more than were listed. */
export async function listProject(root: Root, most: number, signal: AbortSignal) {
  const folder = await openFolder(root, '.');
  if (!folder.ok) return { files: [], more: false };
  const files: string[] = [];
  try {
    const end = await seek({
      args: ['--files', '--null', ...commonFor(folder.value)],
      folder: folder.value,
      separator: 0,
      timeLimit: LISTING_MS,
      signal,
      onRecord(record) {
        if (files.length === most) return false;
        files.push(record.toString());
        return true;
      },
    });
    return { files, more: end.why !== 'finished' };
  } finally {
    await folder.value.handle.close();
  }
}

/** Searches file contents with ripgrep's linear engine; matches come as `file:line: text`, context as `file-line- text`. */
import path from 'node:path';
import { z } from 'zod';
import { ok, type Result } from '../../domain/result.ts';
import type { Tool, ToolOutput } from '../../ports/tool.ts';
import { capLine, counted, done, refused, shownName } from '../process/output.ts';
import { commonFor, faultOf, seek, type SoughtEnd, unreadIn } from './ripgrep.ts';
import type { Root } from '../paths/root.ts';
import { type OpenFile, type OpenFolder, openFile, openFolder } from '../workspace.ts';

const Input = z.strictObject({
  pattern: z.string().min(1).max(1000).describe('Regular expression (Rust syntax), or plain text with `fixed`.'),
  path: z.string().default('.').describe('Folder or file to search, relative to the project root.'),
  glob: z.string().min(1).max(300).optional().describe('Only files that match: `*.ts`, `!*.test.ts`.'),
  fixed: z.boolean().default(false).describe('Take the pattern as plain text.'),
  ignore_case: z.boolean().default(false),
  context: z.number().int().min(0).max(10).default(0).describe('Lines to show before and after each match.'),
  limit: z.number().int().min(1).max(1000).default(100).describe('Most matching lines to show.'),
  about: z.string().min(1).max(80).optional().describe('What is looked for, in a few words: shown beside the search.'),
});
type Input = z.output<typeof Input>;

const TIME_LIMIT = 20_000;
/** Longer lines are cut: matches in generated files tell little. */
const COLUMNS = 500;
const NEWLINE = 10;
const LIMITS = '--engine=default --regex-size-limit=10M --dfa-size-limit=20M --max-filesize=10M --crlf'.split(' ');

const Content = z.union([z.object({ text: z.string() }), z.object({ bytes: z.string() })]);
/** What is needed of `rg --json`; its other records are passed over. */
const Found = z.object({
  type: z.enum(['match', 'context']),
  data: z.object({ path: Content, lines: Content, line_number: z.number().nullable() }),
});
type Found = z.output<typeof Found>;

export const searchTool = (root: Root): Tool<Input> => ({
  name: 'search',
  description:
    'Searches the text of files for a regular expression (or plain text with `fixed: true`) and shows matching lines as `file:line: text`. Files that .gitignore leaves out and binary files are not searched. Narrow with `path` and `glob`; show surroundings with `context`.',
  input: Input,
  capability: 'read',
  repeat: 'safe',
  label: ({ pattern, path, glob, about }) =>
    `search ${about ?? shortened(pattern)}${path === '.' ? '' : ` in ${path}`}${globLabel(about, glob)}`,

  async run(input, { signal }) {
    const place = await openPlace(root, input.path);
    if (!place.ok) return refused(place.fault);
    try {
      return await searchIn(place.value, input, signal);
    } finally {
      await place.value.folder.handle.close();
      await place.value.file?.handle.close();
    }
  },
});

const LABEL_PATTERN = 60;
/** Long patterns tell a person nothing after their beginning. */
const shortened = (pattern: string): string =>
  pattern.length <= LABEL_PATTERN ? pattern : `${pattern.slice(0, LABEL_PATTERN - 1).toWellFormed()}…`;

/** Words that say what is looked for say it without the globs, too. */
const globLabel = (about: string | undefined, glob: string | undefined): string =>
  about !== undefined || glob === undefined ? '' : ` (${shortened(glob)})`;

interface Place {
  readonly folder: OpenFolder;
  /** Searched through its descriptor when a single file was asked for. */
  readonly file: OpenFile | null;
}

async function openPlace(root: Root, given: string): Promise<Result<Place, string>> {
  const folder = await openFolder(root, given);
  if (folder.ok) return ok({ folder: folder.value, file: null });
  const file = await openFile(root, given);
  if (!file.ok) return file;
  const beside = await openFolder(root, path.posix.dirname(file.value.name));
  if (beside.ok) return ok({ folder: beside.value, file: file.value });
  await file.value.handle.close();
  return beside;
}

async function searchIn(place: Place, input: Input, signal: AbortSignal): Promise<ToolOutput> {
  const shown: string[] = [];
  let matches = 0;
  let last: { readonly file: string; readonly line: number } | null = null;
  const end = await seek({
    args: argsFor(input, place),
    folder: place.folder,
    ...(place.file === null ? {} : { input: place.file.handle.fd }),
    separator: NEWLINE,
    timeLimit: TIME_LIMIT,
    signal,
    onRecord(record) {
      const found = foundIn(record);
      if (found === null) return true;
      if (found.type === 'match' && matches === input.limit) return false;
      const file = fileOf(place, found);
      const line = found.data.line_number ?? 0;
      // A gap between two groups of context lines is shown as ripgrep shows it.
      if (input.context > 0 && last !== null && (last.file !== file || line !== last.line + 1)) shown.push('--');
      last = { file, line };
      if (found.type === 'match') matches += 1;
      shown.push(...linesOf(found, file, line));
      return true;
    },
  });
  return searchOutput(shown, matches, end, input);
}

function argsFor(input: Input, { folder, file }: Place): readonly string[] {
  return [
    '--json',
    ...(input.glob === undefined ? [] : [`--glob=${input.glob}`]),
    ...commonFor(folder),
    ...LIMITS,
    ...(input.fixed ? ['--fixed-strings'] : []),
    ...(input.ignore_case ? ['--ignore-case'] : []),
    `--context=${input.context}`,
    `--regexp=${input.pattern}`,
    '--',
    file === null ? './' : '-',
  ];
}

function foundIn(record: Buffer): Found | null {
  const text = record.toString();
  // Only these two kinds are read further; the rest of the stream is begin, end and summary.
  if (!text.startsWith('{"type":"match"') && !text.startsWith('{"type":"context"')) return null;
  const parsed = Found.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data : null;
}

const textOf = (content: z.output<typeof Content>): string =>
  'text' in content ? content.text : Buffer.from(content.bytes, 'base64').toString();

function fileOf(place: Place, found: Found): string {
  if (place.file !== null) return shownName(place.file.name);
  return shownName(path.posix.join(place.folder.name, textOf(found.data.path)));
}

/** A match may span lines; each is shown with its own number. */
function linesOf(found: Found, file: string, first: number): readonly string[] {
  const mark = found.type === 'match' ? ':' : '-';
  const lines = textOf(found.data.lines)
    .replace(/\r?\n$/, '')
    .split('\n');
  return lines.map(
    (line, index) => `${file}${mark}${first + index}${mark} ${capLine(line.replace(/\r$/, ''), COLUMNS)}`,
  );
}

function searchOutput(shown: readonly string[], matches: number, end: SoughtEnd, input: Input): ToolOutput {
  if (end.why === 'stopped') return refused('stopped');
  const fault = faultOf(end);
  if (fault !== null && matches === 0) return refused(fault);
  const notes = [
    end.why === 'enough'
      ? `(stopped after ${counted(matches, 'matching line')}; narrow the search or raise the limit)`
      : '',
    end.why === 'time limit' ? '(stopped after 20 seconds; narrow the search)' : '',
    unreadIn(end).trim(),
    end.skipped > 0 ? `(${counted(end.skipped, 'line')} of more than 1 MiB not shown)` : '',
  ].filter((note) => note !== '');
  if (matches === 0 && end.why === 'finished' && end.skipped === 0)
    return done(`nothing matches ${input.pattern}${unreadIn(end)}`);
  return done([...shown, ...notes].join('\n'));
}

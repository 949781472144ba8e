/** The `search` tool: searches file contents with ripgrep; matches are `file:line: text`, context lines `file-line- text`. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { z } from 'zod';
import { ok, type Result } from '../../domain/result.ts';
import { ByteLines } from '../../domain/text/byte-lines.ts';
import type { Tool, ToolOutput } from '../../ports/tool.ts';
import type { Root } from '../paths/root.ts';
import { capLine, done, HeadAndTail, refused, shownName } from '../process/output.ts';
import { type OpenFile, openFile, type OpenFolder, openFolder } from '../workspace.ts';
import { plural } from '../../domain/lists.ts';

const Input = z.strictObject({
  pattern: z.string().min(1).max(1000).describe('Regular expression (Rust syntax), or plain text with `fixed`.'),
  path: z.string().default('.').describe('Folder or file to search, relative to the project root.'),
  glob: z.string().min(1).max(300).optional().describe('Only files that match: `*.ts`, `!*.test.ts`.'),
  fixed: z.boolean().default(false).describe('Treat the pattern as plain text.'),
  ignore_case: z.boolean().default(false),
  context: z.number().int().min(0).max(10).default(0).describe('Lines to show before and after each match.'),
  limit: z.number().int().min(1).max(1000).default(100).describe('Maximum matching lines to show.'),
  about: z
    .string()
    .min(1)
    .max(80)
    .optional()
    .describe('What is searched for, in a few words; shown beside the search.'),
});
type Input = z.output<typeof Input>;
const TIME_LIMIT = 20_000;
/** Longer lines are cut: matches in generated files are rarely useful. */
const COLUMNS = 500;
const NEWLINE = 10;
const LIMITS = '--engine=default --regex-size-limit=10M --dfa-size-limit=20M --max-filesize=10M --crlf'.split(' ');
const Content = z.union([z.object({ text: z.string() }), z.object({ bytes: z.string() })]);
/** The used parts of `rg --json`; its other records are skipped. */
const Found = z.object({
  type: z.enum(['match', 'context']),
  data: z.object({ path: Content, lines: Content, line_number: z.number().nullable() }),
});
type Found = z.output<typeof Found>;

export const searchTool = (root: Root): Tool<Input> => ({
  name: 'search',
  description:
    'Searches the text of files for a regular expression (or plain text with `fixed: true`) and shows matching lines as `file:line: text`. Files ignored by .gitignore and binary files are not searched. Narrow with `path` and `glob`; show surrounding lines with `context`.',
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
/** The beginning of a long pattern is enough to recognise it. */
const shortened = (pattern: string): string =>
  pattern.length <= LABEL_PATTERN ? pattern : `${pattern.slice(0, LABEL_PATTERN - 1).toWellFormed()}…`;

/** A description from the model makes the glob redundant. */
const globLabel = (about: string | undefined, glob: string | undefined): string =>
  about !== undefined || glob === undefined ? '' : ` (${shortened(glob)})`;

interface Place {
  readonly folder: OpenFolder;
  /** The single file to search, through its descriptor; null for a folder. */
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
      // Two groups of context lines are separated as in ripgrep's own output.
      if (input.context > 0 && last !== null && (last.file !== file || line !== last.line + 1)) shown.push('--');
      last = { file, line };
      if (found.type === 'match') matches += 1;
      shown.push(...linesOf(found, file, line));
      return true;
    },
  });
  return searchOutput(shown, matches, end, input);
}

const argsFor = (input: Input, { folder, file }: Place): readonly string[] => [
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

function foundIn(record: Buffer): Found | null {
  const text = record.toString();
  // The other kinds of records are begin, end and summary.
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

/** A match may span several lines; each is shown with its own number. */
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
      ? `(stopped after ${plural(matches, 'matching line')}; narrow the search or raise the limit)`
      : '',
    end.why === 'time limit' ? '(stopped after 20 seconds; narrow the search)' : '',
    unreadIn(end).trim(),
    end.skipped > 0 ? `(${plural(end.skipped, 'line')} of more than 1 MiB not shown)` : '',
  ].filter((note) => note !== '');
  if (matches === 0 && end.why === 'finished' && end.skipped === 0)
    return done(`nothing matches ${input.pattern}${unreadIn(end)}`);
  return done([...shown, ...notes].join('\n'));
}

// Runs ripgrep inside an open folder and passes its records on as they arrive: without configuration files, with the linear
// engine and a time limit, ending as soon as the caller has enough. The caller parses the records.

interface Sought {
  readonly args: readonly string[];
  /** The working directory, used through its descriptor so that a swapped link leads nowhere. */
  readonly folder: OpenFolder;
  /** A descriptor that becomes standard input and is searched instead of the folder. */
  readonly input?: number;
  /** The byte that ends a record. */
  readonly separator: number;
  readonly timeLimit: number;
  readonly signal: AbortSignal;
  /** Gets one record without its separator; returns false to stop. Records above 1 MiB are skipped. */
  onRecord(record: Buffer): boolean;
}

export interface SoughtEnd {
  readonly why: 'finished' | 'enough' | 'time limit' | 'stopped';
  /** ripgrep's exit code: 0 matches, 1 no match, 2 an error; null when it was killed. */
  readonly exit: number | null;
  /** The beginning and end of its error output. */
  readonly said: string;
  /** Records above 1 MiB that were skipped. */
  readonly skipped: number;
}

/** ripgrep's error about the request (a bad glob or pattern); null when there is none. */
export const faultOf = ({ exit, said }: SoughtEnd): string | null =>
  exit === 2 && said.trim() !== '' ? said.trim().replace(/^rg: /, '') : null;

/** A note about unreadable files, which ripgrep reports by its exit code only. */
export const unreadIn = (end: SoughtEnd): string =>
  end.exit === 2 && faultOf(end) === null ? ' (some files or folders could not be read)' : '';

const RECORD_BYTES = 1024 * 1024;

/** Options of every search: hidden files are included, `.git` and `.env*` are not, and the user's settings are ignored. */
const COMMON =
  '--no-config --hidden --no-require-git --color=never --no-messages --sort=path --iglob=!.git --iglob=!.env*'.split(
    ' ',
  );

/** The common options and the folder's protected names. They come after the caller's globs, because the last match wins. */
export const commonFor = ({ hidden }: OpenFolder): readonly string[] => [
  ...COMMON,
  ...hidden.map((name) => `--glob=!/${name.replaceAll(/[\\*?[\]{}!# ]/g, String.raw`\$&`)}`),
];

/** Resolves when ripgrep has exited. */
export const seek = (sought: Sought): Promise<SoughtEnd> =>
  new Promise((resolve) => {
    const child = spawn(rgPath, [...sought.args], {
      cwd: sought.folder.place,
      env: { LC_ALL: 'C.UTF-8' },
      stdio: [sought.input ?? 'ignore', 'pipe', 'pipe'],
    });
    const said = new HeadAndTail(4096);
    let why: SoughtEnd['why'] = 'finished';
    const endFor = (reason: SoughtEnd['why']): void => {
      if (why === 'finished') why = reason;
      child.kill('SIGKILL');
    };
    const stop = (): void => endFor('stopped');
    const timer = setTimeout(() => endFor('time limit'), sought.timeLimit);
    const records = new ByteLines(RECORD_BYTES, sought.separator);
    let skipped = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      if (why !== 'finished') return;
      for (const { bytes, length } of records.add(chunk)) {
        if (length > RECORD_BYTES) skipped += 1;
        else if (!sought.onRecord(bytes)) {
          endFor('enough');
          return;
        }
      }
    });
    child.stderr?.on('data', (chunk: Buffer) => said.add(chunk));
    const finish = (exit: number | null): void => {
      clearTimeout(timer);
      sought.signal.removeEventListener('abort', stop);
      resolve({ why, exit, said: said.text(), skipped });
    };
    child.once('error', (error) => {
      said.add(Buffer.from(error.message));
      finish(2);
    });
    child.once('close', finish);
    sought.signal.addEventListener('abort', stop);
    if (sought.signal.aborted) stop();
  });

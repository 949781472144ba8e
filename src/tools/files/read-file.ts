/** The `read_file` tool: reads part of a text file with line numbers, in bounded memory whatever the size of the file. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AgentId } from '../../domain/ids.ts';
import { type ByteLine, ByteLines } from '../../domain/text/byte-lines.ts';
import type { SeenFile, Tool } from '../../ports/tool.ts';
import type { Root } from '../paths/root.ts';
import * as result from '../process/output.ts';
import { type OpenFile, openFile } from '../workspace.ts';
import { messageOf } from '../../domain/result.ts';
import { plural } from '../../domain/lists.ts';

export const FilePath = z.string().describe('Path of the file, relative to the project root.');

const Input = z.strictObject({
  path: FilePath,
  from: z.number().int().min(1).max(1_000_000_000).default(1).describe('First line to read, counted from 1.'),
  lines: z.number().int().min(1).max(5000).default(800).describe('How many lines to read.'),
});
type Input = z.output<typeof Input>;

/** How many bytes of a file above 10 MiB are scanned for the requested lines. */
const SCAN_BYTES = 256 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** Four bytes make one character at most: enough to fill the columns that are shown. */
const KEPT_BYTES = result.LINE_COLUMNS * 4;
const NUMBER_BYTES = 12;
/** Bytes reserved for the first and the last line of the result, so that the shown part is never cut again. */
const FRAME_BYTES = 600;

export const readFileTool = (root: Root, seen: Seen): Tool<Input> => ({
  name: 'read_file',
  description:
    'Reads a text file with line numbers (number, tab, text). For long files, read a part with `from` and `lines`. The head line shows the digest that edit_file and write_file check. Read a file before you edit it. Binary files return only size and digest; files named .env* are refused.',
  input: Input,
  capability: 'read',
  repeat: 'safe',
  label: ({ path }) => `read ${path}`,

  async run({ path, from, lines }, { agent, signal, room = result.RESULT_BYTES }) {
    const file = await openFile(root, path);
    if (!file.ok) return result.refused(file.fault);
    try {
      const bytes = Math.min(room, result.RESULT_BYTES) - FRAME_BYTES;
      const part = await readPart(file.value, { from, lines, bytes }, signal);
      if (part.stopped) return result.refused(`${path}: stopped`);
      const output = result.done(partText(file.value, part, from));
      if (part.digest === null) return output;
      const saw = { file: file.value.name, digest: part.digest };
      seen.note(agent, saw.file, saw.digest);
      return { ...output, saw };
    } catch (error) {
      return result.refused(`${path}: cannot be read (${messageOf(error)})`);
    } finally {
      await file.value.handle.close();
    }
  },
});

interface Part {
  readonly binary: boolean;
  readonly lines: readonly string[];
  /** The number of lines in the file; null when it was not read to its end. */
  readonly total: number | null;
  /** Digest of the whole file; null for a file above 10 MiB. */
  readonly digest: string | null;
  readonly stopped: boolean;
}

interface Asked {
  readonly from: number;
  readonly lines: number;
  /** The most bytes that the lines may take in the result. */
  readonly bytes: number;
}

/** Reads on to the end for the digest and the count, unless the file is too large for that. */
async function readPart(file: OpenFile, asked: Asked, signal: AbortSignal): Promise<Part> {
  const whole = file.size <= result.WHOLE_FILE_BYTES;
  const hash = createHash('sha256');
  const lines = new ByteLines(KEPT_BYTES);
  const picked = new LinePicker(asked);
  let binary: boolean | null = null;
  const ended = await scan(file, signal, (bytes) => {
    binary ??= result.isBinary(bytes);
    if (whole) hash.update(bytes);
    if (!binary) for (const line of lines.add(bytes)) picked.add(line);
    return whole || !(binary || picked.full);
  });
  if (lines.unfinished > 0) picked.add(lines.rest());
  return {
    binary: binary ?? false,
    lines: picked.lines,
    total: ended && binary !== true ? picked.seen : null,
    digest: whole ? hash.digest('hex').slice(0, 16) : null,
    stopped: signal.aborted,
  };
}

/** Passes the file on in chunks until `onBytes` returns false; true when the end of the file was reached. */
async function scan(file: OpenFile, signal: AbortSignal, onBytes: (bytes: Buffer) => boolean): Promise<boolean> {
  // Small files are the usual case, so the buffer is not larger than the file.
  const chunk = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK_BYTES, file.size)));
  let at = 0;
  // A file that grows meanwhile is read up to its first known size.
  while (at < Math.min(file.size, SCAN_BYTES) && !signal.aborted) {
    const { bytesRead } = await file.handle.read(chunk, 0, Math.min(CHUNK_BYTES, file.size - at), at);
    if (bytesRead === 0) break;
    at += bytesRead;
    if (!onBytes(chunk.subarray(0, bytesRead))) break;
  }
  return at >= file.size;
}

/** Collects the requested lines, each cut to the columns that are shown. */
class LinePicker {
  readonly lines: string[] = [];
  /** The number of lines so far. */
  seen = 0;
  readonly #asked: Asked;
  #bytes = 0;
  #filled = false;

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  /** True when all requested lines, or as many as the result can hold, are collected. */
  get full(): boolean {
    return this.#filled || this.lines.length >= this.#asked.lines;
  }

  add({ bytes, length }: ByteLine): void {
    this.seen += 1;
    if (this.seen < this.#asked.from || this.full) return;
    const text = result.decode(bytes.subarray(0, KEPT_BYTES)).replace(/\r$/, '');
    const line =
      length > KEPT_BYTES
        ? `${text.slice(0, result.LINE_COLUMNS)}… (line of ${length} bytes)`
        : result.capLine(text, result.LINE_COLUMNS);
    this.#bytes += Buffer.byteLength(line) + NUMBER_BYTES;
    // The first line is always shown; otherwise reading on could never get past it.
    this.#filled = this.lines.length > 0 && this.#bytes > this.#asked.bytes;
    if (!this.#filled) this.lines.push(line);
  }
}

function partText(file: OpenFile, part: Part, from: number): string {
  const name = result.shownName(file.name);
  const digest = part.digest === null ? 'not read in full: larger than 10 MiB' : `digest ${part.digest}`;
  if (part.binary) return `${name}: binary file, ${file.size} bytes, ${digest}`;
  if (file.size === 0) return `${name}: empty file, ${digest}`;
  const of = part.total === null ? `a file of ${file.size} bytes` : `${part.total}`;
  if (part.lines.length === 0)
    return `${name}: no line ${from}; ${part.total === null ? of : `it has ${plural(part.total, 'line')}`}, ${digest}`;
  const last = from + part.lines.length - 1;
  const width = String(last).length;
  const numbered = part.lines.map((line, index) => `${String(from + index).padStart(width)}\t${line}`);
  const rest = part.total === null ? null : part.total - last;
  const more = rest === 0 ? [] : [`(${rest === null ? 'more' : `${rest} more`}; continue with from: ${last + 1})`];
  return [`${name} (lines ${from}-${last} of ${of}, ${digest})`, ...numbered, ...more].join('\n');
}

// What each agent last read of each file, by digest: an edit of anything newer is refused as stale.

export interface Seen {
  note(agent: AgentId, file: string, digest: string): void;
  /** The digest that this agent read last; null when it has not read the whole file. */
  digest(agent: AgentId, file: string): string | null;
  /** Forgets everything (agents of another run may have the same ids), and knows `files` instead, oldest first. */
  restore(files: readonly (SeenFile & { readonly agent: AgentId })[]): void;
}

export function seenFiles(): Seen {
  const byAgent = new Map<AgentId, Map<string, string>>();
  const note: Seen['note'] = (agent, file, digest) => {
    const files = byAgent.get(agent) ?? new Map<string, string>();
    byAgent.set(agent, files.set(file, digest));
  };
  return {
    note,
    restore(files) {
      byAgent.clear();
      for (const { agent, file, digest } of files) note(agent, file, digest);
    },
    digest: (agent, file) => byAgent.get(agent)?.get(file) ?? null,
  };
}

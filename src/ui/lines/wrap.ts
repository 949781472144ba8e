/**
 * Lines for a terminal as wide as it is now, broken at words by columns, what follows hung below its beginning. What is meant to be copied
 * is never broken: code, tables, JSON and exact actions stay as they are, commands and longer words whole. In a pipe nothing is broken.
 */
import { clusterWidth, graphemes, isSimple, widthOf } from '../../app/views/text/width.ts';

/** Of a stream: how a text is said on it. */
export const fitting =
  (stream: { readonly isTTY?: boolean; readonly columns?: number }) =>
  (text: string): string => {
    const { isTTY = false, columns = 0 } = stream;
    return isTTY && columns > 0 ? wrapped(text, columns) : text;
  };

/** A text of one or several lines, styles allowed, in lines of at most `columns`. Of several, which are a text of its own, only lists hang. */
export function wrapped(text: string, columns: number): string {
  if (text.length <= columns && isSimple(text)) return text;
  const lines = text.split('\n');
  const least = lines.filter((line) => line !== '').length > 1 ? 0 : HANG;
  let fenced = false;
  return lines
    .map((line) => {
      const fence = /^\s*(?:```|~~~)/.test(line);
      if (fence) fenced = !fenced;
      return fence || fenced ? line : broken(line, columns, least);
    })
    .join('\n');
}

const ESCAPE = '\u001b';
const HANG = 2;
/** In narrow terminals nothing hangs deeper than a third. */
const DEEPEST = 1 / 3;

/** The painter's own: whatever others wrote is harmless already. In brackets, for what is cut there to keep it. */
const STYLES = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`, 'g');
const bare = (text: string): string => text.replaceAll(STYLES, '');

/** Tables, JSON, exact actions and what a tool is called with. */
const COPIED = /^(?:\s*[|{}"]|\s*\[\s*(?:["{[\d-]|\]?$)|  : |\[[^\]]*\] {3}(?!- ))/;

/** Blanks, and then the sign of a list, a quotation or a number. */
const BEGINNING = /^\s*(?:(?:[-*+>!]|#?\d+[.)]?)\s+)?/;

function broken(line: string, columns: number, least: number): string {
  const plain = bare(line);
  if (widthOf(plain) <= columns || COPIED.test(plain)) return line;
  const beginning = BEGINNING.exec(plain)?.[0].length ?? 0;
  const hang = Math.min(Math.max(beginning, least), Math.floor(columns * DEEPEST));
  return rowsOf(partsOf(line, columns - hang), columns, hang).join(`\n${' '.repeat(hang)}`);
}

function rowsOf(parts: readonly Part[], columns: number, hang: number): readonly string[] {
  const rows: string[] = [];
  let [row, used, words] = ['', 0, 0];
  for (const { blanks, text, width } of parts) {
    if (words > 0 && used + blanks.length + width > columns) {
      rows.push(row);
      [row, used, words] = [text, hang + width, 1];
    } else {
      row += blanks + text;
      used += blanks.length + width;
      words += 1;
    }
  }
  return [...rows, row];
}

/** What is never broken, and the blanks in front of it. */
interface Part {
  readonly blanks: string;
  readonly text: string;
  readonly width: number;
}

/** A command of ours with its first words, a text in backquotes, a word. */
const WORDS = /( *)([^\s`]*`[^`]+`[^\s`]*|\S*\bmimir \S+(?: \S+)?|\S+)/g;

function partsOf(line: string, most: number): readonly Part[] {
  return [...line.matchAll(WORDS)].flatMap(([, blanks = '', text = '']) => {
    const width = widthOf(bare(text));
    if (width <= most && !isLettered(text)) return [{ blanks, text, width }];
    return [...text.matchAll(/( *)(\S+)/g)].flatMap(([, inner = '', word = ''], at) =>
      lettersOf(at === 0 ? blanks : inner, word),
    );
  });
}

/** Is it written without blanks between its words, and no path? */
const isLettered = (text: string): boolean =>
  !isSimple(text) && !text.includes('/') && graphemes(text).some((one) => clusterWidth(one) === 2);

/** What doesn't begin a line where there are no blanks between words. */
const CLOSING = /^[、。，．！？：；）」』】〉》ー]$/;

/** A word; of one with wide letters each of them, with what belongs to it. */
function lettersOf(blanks: string, word: string): readonly Part[] {
  if (!isLettered(word)) return [{ blanks, text: word, width: widthOf(bare(word)) }];
  const parts: Part[] = [];
  let open = false;
  for (const text of lettersIn(word)) {
    const width = isStyle(text) ? 0 : clusterWidth(text);
    const last = parts.at(-1);
    if (last === undefined) parts.push({ blanks, text, width });
    else if (width === 0 || CLOSING.test(text) || (open && width === 1))
      parts[parts.length - 1] = { ...last, text: last.text + text, width: last.width + width };
    else parts.push({ blanks: '', text, width });
    if (width > 0) open = width === 1;
  }
  return parts;
}

const lettersIn = (word: string): readonly string[] =>
  word.split(STYLES).flatMap((piece) => (isStyle(piece) ? [piece] : graphemes(piece)));
const isStyle = (text: string): boolean => text.startsWith(ESCAPE);

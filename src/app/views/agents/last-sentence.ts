/** Of a text that still streams, the last sentence that is whole: a card shows what is said, not how far a line has come. */

/** A row of a table, a rule, an edge of code, the sign of a list with nothing behind it. */
const NO_SENTENCE = /^(?:\||[-=_*\s]*$|`{3}|~{3}|(?:[-*+]|\d+[.)])\s*$)/;
const FENCE = /^\s*(?:`{3}|~{3})/;
/** Characters of the end that are looked at: an answer may be long, and is looked at for each picture. */
const LOOKED_AT = 4000;

/** Empty where there is none yet. Code and tables are left out. */
export function lastSentence(text: string): string {
  const lines = text.slice(-LOOKED_AT).split('\n');
  const whole: string[] = [];
  let inCode = false;
  for (const [at, line] of lines.entries()) {
    if (FENCE.test(line)) inCode = !inCode;
    else if (!inCode && !NO_SENTENCE.test(line.trim())) whole.push(at < lines.length - 1 ? line : ended(line));
  }
  return whole.flatMap(sentencesOf).at(-1) ?? '';
}

/** A line that is still being written, as far as its last sentence has ended. */
const ended = (line: string): string => /^.*[\p{L}\p{N})\]"'`*][.!?:](?=\s|$)/u.exec(line)?.[0] ?? '';

/** Two words at least: `1.` and `OK` tell nothing. The number of a list's item is no sentence of its own. */
const sentencesOf = (line: string): readonly string[] =>
  line
    .trim()
    .replace(/^(?:[-*+>]|\d+[.)]|#{1,6})\s+/, '')
    .split(/(?<=[\p{L}\p{N})\]"'`*][.!?])\s+/u)
    .filter((part) => /\S\s+\S/.test(part.trim()));

/** Scripts of `sed`, `awk` and `jq` that only read. What is not understood does more. */

const MORE = 'its script may write or run something';

/** Why a script of `sed` does more than read and print; null when it does no more. */
export function whySed(script: string): string | null {
  let depth = 0;
  for (let at = 0; ; ) {
    at += lengthOf(/^[\s;]*/, script, at);
    if (at >= script.length) return depth === 0 ? null : MORE;
    const start = afterAddresses(script, at);
    const end = start === null ? null : afterCommand(script, start);
    if (start === null || end === null) return MORE;
    depth += DEPTH.get(script.charAt(start)) ?? 0;
    if (depth < 0) return MORE;
    at = end;
  }
}

const DEPTH: ReadonlyMap<string, number> = new Map([
  ['{', 1],
  ['}', -1],
]);
const lengthOf = (pattern: RegExp, script: string, at: number): number =>
  pattern.exec(script.slice(at))?.[0].length ?? 0;

/** Null when an address is not understood. */
function afterAddresses(script: string, from: number): number | null {
  const first = afterAddress(script, from);
  if (first === null) return null;
  let at = first;
  const comma = /^\s*,\s*/.exec(script.slice(at));
  if (first > from && comma !== null) {
    const second = afterAddress(script, at + comma[0].length);
    if (second === null || second === at + comma[0].length) return null;
    at = second;
  }
  return at + lengthOf(/^\s*(?:!\s*)?/, script, at);
}

function afterAddress(script: string, from: number): number | null {
  const line = /^(?:\$|[+~]?\d+(?:~\d+)?)/.exec(script.slice(from));
  if (line !== null) return from + line[0].length;
  if (script.charAt(from) !== '/') return from;
  const end = afterMark(script, from + 1, '/');
  return end === null ? null : end + lengthOf(/^[IM]*/, script, end);
}

/** Behind the next mark that no backslash stands before; brackets mean nothing here. */
function afterMark(script: string, from: number, mark: string): number | null {
  for (let at = from; at < script.length; at += 1) {
    const letter = script.charAt(at);
    if (letter === '\n') return null;
    if (letter === '\\') at += 1;
    else if (letter === mark) return at + 1;
  }
  return null;
}

/** Printing, deleting lines, keeping them, replacing text. Everything else of the language may write or run. */
function afterCommand(script: string, at: number): number | null {
  const command = script.charAt(at);
  if (command === '{') return at + 1;
  if (/[pPdDnNgGhHx=}]/.test(command)) return ended(script, at + 1);
  if (/[qQ]/.test(command)) return ended(script, at + 1 + lengthOf(/^ *\d*/, script, at + 1));
  return /[sy]/.test(command) ? afterReplacement(script, at + 1, command === 's') : null;
}

function afterReplacement(script: string, at: number, flags: boolean): number | null {
  const mark = script.charAt(at);
  if (!/^[/|,#:@!%_]$/.test(mark)) return null;
  const middle = afterMark(script, at + 1, mark);
  const end = middle === null ? null : afterMark(script, middle, mark);
  return end === null ? null : ended(script, end + (flags ? lengthOf(/^[gpIiMm\d]*/, script, end) : 0));
}

/** Where a command may end: nothing else may stand there. */
const ended = (script: string, at: number): number | null => (/^\s*(?:[;}\n]|$)/.test(script.slice(at)) ? at : null);

/** Of awk: no program, no file beside those that it is given, no other way to name a function, no environment. */
const AWK_MORE = /system|getline|[@|\\]\n|[@|]|ARGV|ARGC|ENVIRON|nextfile|extension/;

/** The same for `awk`. A ">" is a comparison only before the first action. */
export function whyAwk(script: string): string | null {
  const plain = script.replaceAll('||', '').replaceAll('>=', '');
  const brace = plain.indexOf('{');
  const condition = brace === -1 ? plain : plain.slice(0, brace);
  const writes =
    (brace !== -1 && plain.slice(brace).includes('>')) || (condition.includes('>') && /["/\\]/.test(condition));
  return AWK_MORE.test(plain) || writes ? MORE : null;
}

/** The same for `jq`, which reads modules by name, and the environment. */
export const whyJq = (script: string): string | null =>
  /\b(?:import|include|modulemeta|get_search_list|env|ENV)\b/.test(script)
    ? 'its script reads modules or the environment'
    : null;

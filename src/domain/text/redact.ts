/** Removes secrets from text before it is written or shown: known keys in the forms in which programs print them, and anything that looks
 * like a key. A key that was split or encrypted on purpose is not found; no text filter can do that. */
import BY_FOLDER from './credentials.json' with { type: 'json' };

/** Replaces a key. */
export const HIDDEN = '[key]';

/** Shorter "keys" such as `none` or `ollama` are words; removing them everywhere would make texts unreadable. */
export const SHORTEST_HIDDEN = 8;

/** Whether this key is too short to be distinguished from a word, so that it is not removed from texts. */
export const isTooShortToHide = (key: string): boolean => key.length < SHORTEST_HIDDEN;

export interface Redactor {
  /** The text without secrets; the same text if it contains none. */
  readonly clean: (text: string) => string;
  /** The text without the known keys only, because a text that just looks like a key may be a line of the project. */
  readonly known: (text: string) => string;
  /** How many characters at the end of a text may be the beginning of a secret whose rest is still to come. */
  readonly open: (text: string) => number;
}

/** Plain data with every string cleaned; the keys of objects stay. */
export const cleanData = (data: unknown, clean: Redactor['clean']): unknown =>
  JSON.parse(JSON.stringify(data, (_, value: unknown): unknown => (typeof value === 'string' ? clean(value) : value)));

/** A filter for these known keys and anything that looks like a key. */
export function openRedactor(keys: readonly string[]): Redactor {
  const forms = [...new Set(keys.filter((key) => !isTooShortToHide(key)).flatMap(formsOf))];
  // Longest first: one form may begin another.
  forms.sort((a, b) => b.length - a.length);
  const known = forms.length === 0 ? null : new RegExp(forms.map(overLines).join('|'), 'g');
  const holdsKnown = (text: string): boolean => {
    if (forms.some((form) => text.includes(form))) return true;
    if (!BREAK.test(text)) return false;
    const joined = text.replaceAll(BREAKS, '');
    return forms.some((form) => joined.includes(form));
  };
  const withoutKnown = (text: string): string =>
    known !== null && text.length >= SHORTEST_HIDDEN && holdsKnown(text) ? text.replaceAll(known, HIDDEN) : text;
  return {
    known: withoutKnown,
    clean(text) {
      if (text.length < SHORTEST_HIDDEN) return text;
      const without = withoutKnown(text);
      return SUSPECT.test(without) ? withoutShapes(without) : without;
    },
    open: (text) => Math.max(openShape(text), ...forms.map((form) => openForm(text, form))),
  };
}

/** A key as it is, and its forms in JSON, in a URL, in hexadecimal, and inside base64. */
function formsOf(key: string): readonly string[] {
  const bytes = Buffer.from(key, 'utf8');
  return [key, JSON.stringify(key).slice(1, -1), ...encodedForms(key), bytes.toString('hex')].filter(
    (form) => form.length >= SHORTEST_HIDDEN,
  );
}

/** As it is in a URL, and in base64 wherever it begins there: 3 bytes become 4 letters, so there are three ways. */
export function encodedForms(key: string): readonly string[] {
  const bytes = Buffer.from(key.toWellFormed(), 'utf8');
  const base64 = [0, 1, 2].map((before) => {
    const all = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // Letters that hold bits of a neighbour are not the key's.
    const end = (before + bytes.length) % 3 === 0 ? all.length : all.length - 1;
    return all.slice(Math.ceil((before * 8) / 6), end);
  });
  const inUrls = base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'));
  return [...new Set([encodeURIComponent(key.toWellFormed()), ...base64, ...inUrls])];
}

/** What may be between two letters of a wrapped key: a line end, also as in JSON, and an indent. */
const BREAK_SOURCE = String.raw`(?:(?:\\?\r?\n|\\r?\\n|\\n)[ \t]*)`;
const BREAK = /\n|\\n/;
const BREAKS = new RegExp(BREAK_SOURCE, 'g');

const overLines = (form: string): string =>
  Array.from(form, (letter) => letter.replace(/[\\^$.*+?()[\]{}|/-]/, String.raw`\$&`)).join(`${BREAK_SOURCE}?`);

/** A fast check before slower ones. */
const SUSPECT = /sk-|gh[opsur]_|github_pat_|A[KS]IA|xox[a-z]-|glpat-|AIza|npm_|eyJ|earer\s|EARER\s|PRIVATE KEY/;

/** Not in the middle of a word: a hash or an id is no token. */
const START = String.raw`(?<![\w-])`;
const SHAPES = new RegExp(
  [
    // With a digit in it: words joined by hyphens are none.
    String.raw`${START}(?:sk|rk|pk)-(?=[\w-]*\d)[\w-]{20,}`,
    String.raw`${START}gh[opsur]_[A-Za-z0-9]{30,}`,
    String.raw`${START}github_pat_\w{22,}`,
    String.raw`${START}A[KS]IA[A-Z0-9]{16}(?!\w)`,
    String.raw`${START}xox[a-z]-[\w-]{10,}`,
    String.raw`${START}glpat-[\w-]{20,}`,
    String.raw`${START}AIza[\w-]{35}`,
    String.raw`${START}npm_[A-Za-z0-9]{36}(?!\w)`,
    String.raw`${START}eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}`,
  ].join('|'),
  'g',
);
const BEARER = /\b(bearer\s{1,4})(?=[\w.~+/-]*\d)[\w.~+/-]{16,}=*/gi;
/** The beginning and end of a private key, and the form of its lines if the end is missing. */
const KEY_BEGINS = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_ENDS = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_LINES = /(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})*/y;
const LONGEST_KEY = 20_000;

const withoutShapes = (text: string): string =>
  withoutPrivateKeys(text).replaceAll(BEARER, `$1${HIDDEN}`).replaceAll(SHAPES, HIDDEN);

/** Each to its end. Ends are looked for once: a text that is nothing but beginnings takes no longer than another. */
function withoutPrivateKeys(text: string): string {
  const ends = [...text.matchAll(KEY_ENDS)].map((found) => ({ at: found.index, after: found.index + found[0].length }));
  let [result, done, next] = ['', 0, 0];
  for (const { index, 0: begin } of text.matchAll(KEY_BEGINS)) {
    if (index < done) continue;
    const from = index + begin.length;
    while ((ends[next]?.at ?? from) < from) next += 1;
    const end = ends[next];
    result += `${text.slice(done, index)}[private key]`;
    done = end !== undefined && end.at - from <= LONGEST_KEY ? end.after : behindLines(text, from);
  }
  return done === 0 ? text : result + text.slice(done);
}

function behindLines(text: string, from: number): number {
  KEY_LINES.lastIndex = from;
  return from + (KEY_LINES.exec(text)?.[0].length ?? 0);
}

/** The end of a text from which on a token may be growing, its first letters among it. */
const GROWING = /(?<![\w-])(?:sk-|rk-|pk-|gh[opsur]_|github_pat_|A[KS]IA|xox|glpat-|AIza|npm_|eyJ)[\w.-]*$/;
const GROWING_BEARER = /\bbearer\s{1,4}[\w.~+/-]*$/i;
const GROWING_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}$/;
const OPEN_KEY = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/g;
const BEGINNINGS =
  'sk- rk- pk- ghp_ gho_ ghs_ ghu_ ghr_ github_pat_ AKIA ASIA xox glpat- AIza npm_ eyJ bearer Bearer BEARER -----BEGIN'.split(
    ' ',
  );

function openShape(text: string): number {
  const growing = [GROWING, GROWING_BEARER, GROWING_BEGIN].map((shape) => shape.exec(text)?.[0].length ?? 0);
  return Math.max(openKey(text), ...growing, ...BEGINNINGS.map((beginning) => openForm(text, beginning)));
}

/** A private key whose end is still to come, from the first beginning behind the last end on. */
function openKey(text: string): number {
  const from = Math.max(0, text.lastIndexOf('-----END '), text.length - LONGEST_KEY - 100);
  for (const { index, 0: begin } of text.slice(from).matchAll(OPEN_KEY)) {
    const behind = text.length - from - index - begin.length;
    if (behind <= LONGEST_KEY) return behind + begin.length;
  }
  return 0;
}

/** How much of `form`, not the whole of it, the text ends with. */
function openForm(text: string, form: string): number {
  const first = form.charAt(0);
  for (let at = text.indexOf(first, text.length - form.length + 1); at !== -1; at = text.indexOf(first, at + 1))
    if (form.startsWith(text.slice(at))) return text.length - at;
  return 0;
}

// Places of credentials in a home directory: no rule makes them readable for commands, even if it allows a folder above.

/** Relative to the home directory, by folder; a folder includes everything in it. */
export const CREDENTIALS: readonly string[] = Object.entries(BY_FOLDER).flatMap(([folder, names]) =>
  names.split(' ').map((name) => `${folder}${name}`),
);

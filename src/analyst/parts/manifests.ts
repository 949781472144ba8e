/** How manifests are read: the rows of `data/manifests.json`, and what a manifest declares by them. */
import ROWS from '../data/manifests.json' with { type: 'json' };
import type { Hit } from '../tools.ts';
import { captured, escaped } from '../words.ts';

export interface Dependency {
  readonly name: string;
  /** As its section is called; empty where the whole file is one. */
  readonly kind: string;
  readonly hit: Hit;
  /** How a use of it looks, and in which files; null when no use can be told from its name. */
  readonly use: { readonly pattern: string; readonly glob: string } | null;
}

interface Reader {
  readonly glob: string;
  readonly file: RegExp;
  /** The line that opens a section; its first group is the kind. Null: the whole file is one. */
  readonly opens: RegExp | null;
  /** The line that closes it. Null: the line that opens it holds the names itself. */
  readonly closes: RegExp | null;
  /** A name in a line. */
  readonly name: RegExp;
  readonly use: string | null;
}

const READERS: readonly Reader[] = ROWS.manifests.map(({ file, opens, closes, name, use }) => ({
  glob: file,
  file: new RegExp(`^${file.replaceAll('.', '\\.').replaceAll('*', '.*')}$`),
  opens: opens === null ? null : new RegExp(opens),
  closes: closes === null ? null : new RegExp(closes),
  name: new RegExp(name, 'g'),
  use,
}));

const GLOBS = [...new Set(READERS.map(({ glob }) => glob))];
/** A glob for all manifests, and how many kinds of them there are. */
export const MANIFESTS = { glob: `{${GLOBS.join(',')}}`, kinds: GLOBS.length };

/** Whether a file of this name (without its folder) is a manifest. */
export const isManifest = (name: string): boolean => READERS.some(({ file }) => file.test(name));

/** What the lines of a manifest declare. Dependencies of plugins are not the project's. */
export function declaredIn(path: string, lines: readonly Hit[]): readonly Dependency[] {
  const name = path.split('/').at(-1) ?? '';
  const own = (name === 'pom.xml' ? withoutBuild(lines) : lines).filter(
    ({ text }) => !/^\s*(?:#|\/\/|dnl\b|-[a-z-])/.test(text),
  );
  return READERS.filter(({ file }) => file.test(name)).flatMap((reader) =>
    within(own, reader).flatMap(([kind, hit]) =>
      namesIn(hit.text, reader).map((one) => ({ name: one, kind, hit, use: usePattern(one, reader.use) })),
    ),
  );
}

const namesIn = (text: string, { opens, closes, name }: Reader): readonly string[] => {
  const list = opens !== null && closes === null ? text.replace(/^[^[]*\[/, '') : text;
  return [...list.matchAll(name)].map(([, one = '']) => one).filter((one) => one !== 'python');
};

function withoutBuild(lines: readonly Hit[]): readonly Hit[] {
  const from = lines.findIndex(({ text }) => /^\s*<build>/.test(text));
  const to = lines.findIndex(({ text }) => /^\s*<\/build>/.test(text));
  return from === -1 ? lines : lines.filter((_, at) => at < from || at > to);
}

/** Lines between one that opens a section and one that closes it, each with the kind of the section. */
function within(lines: readonly Hit[], { opens, closes }: Reader): readonly (readonly [kind: string, hit: Hit])[] {
  if (opens === null) return lines.map((hit) => ['', hit]);
  const found: (readonly [string, Hit])[] = [];
  let current = '';
  for (const hit of lines) {
    const opened = captured(opens, hit.text);
    if (closes === null) found.push(...(opened === '' ? [] : [[opened, hit] as const]));
    else if (opened !== '') current = opened;
    else if (closes.test(hit.text)) current = '';
    else if (current !== '') found.push([current, hit]);
  }
  return found;
}

/** Names under which libraries are imported where they differ. */
const IMPORTED_AS = new Map(Object.entries(ROWS.importedAs));

/** What a dependency is imported as, in each language, as a pattern. */
const IMPORT_NAMES: Readonly<Record<keyof typeof ROWS.uses, (name: string) => string>> = {
  js: (name) => escaped(name.replace(/^@types\//, '')),
  py: (name) => `(?i:${escaped(name).replaceAll('-', '_')})`,
  go: escaped,
  rust: (name) => name.replaceAll('-', '_'),
  ruby: (name) => escaped(name).replaceAll('-', '[-/_]'),
  php: (name) => {
    const [vendor = name, own = ''] = name.replaceAll('-', '').split('/').map(escaped);
    return vendor === own ? `${vendor}\\\\\\w+` : `${vendor}\\\\(?:(?:component|bundle|bridge)\\\\)?${own}`;
  },
  java: (name) => {
    const [first = name, second = ''] = name.split('-').map(escaped);
    return `[\\w.]*\\b${first}\\d*\\.(?:[\\w.]*\\b${second})?`;
  },
};

const isUsed = (kind: string | null): kind is keyof typeof IMPORT_NAMES => kind !== null && kind in IMPORT_NAMES;

function usePattern(name: string, kind: string | null): Dependency['use'] {
  if (!isUsed(kind)) return null;
  const own = IMPORTED_AS.get(name.toLowerCase()) ?? IMPORT_NAMES[kind](name);
  return { pattern: ROWS.uses[kind].pattern.replaceAll('NAME', () => own), glob: ROWS.uses[kind].files };
}

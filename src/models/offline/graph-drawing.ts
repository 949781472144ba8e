/** Draws the import graph of a repository: lists the sources, searches their imports in portions, links them. Bounded. */
import { linksOf, IMPORT_PATTERNS } from './import-graph.ts';
import type { Link } from './import-graph.ts';
import { foreignAmong, globFor, isTest, languagesIn, SOURCE_GLOB } from './languages.ts';
import type { LanguageName } from './languages.ts';
import { filesOf, hitsOf, isCut, list, search } from './looking.ts';
import type { Ask, Brief, Seen, Step } from './step.ts';
import { topicIn } from './topic.ts';
import { listed, plural } from './words.ts';

const MOST_NAMES = 1000;
const MOST_IMPORTS = 800;
/** Files whose imports fit into one search's result. */
const PER_SEARCH = 40;
const MOST_SEARCHES = 9;

/** One reply may hold sixteen calls, the todo list's among them. */
export const MOST_ASKS = 14;

/** What is known of the links, and of how much. */
export interface Graph {
  readonly links: readonly Link[];
  /** The sources that were looked at. */
  readonly names: readonly string[];
  /** Sources that were linked, and how many there are. */
  readonly files: number;
  readonly count: number;
  readonly cut: boolean;
  /** Whether the task is about a path: those outside are linked and not spoken of. */
  has(path: string): boolean;
  readonly seen: readonly (Seen | undefined)[];
}

/** Two steps: what is there, and who imports whom. */
export function* drawing(brief: Brief): Generator<Step, Graph, readonly Seen[]> {
  const roles = [...new Set<string>(brief.findings.map(({ role }) => role))];
  const [all, goMod] = yield {
    say:
      roles.length > 0
        ? `I have what ${listed(roles)} found. To see how those places hang together I list all sources.`
        : 'Nobody found anything before me, so I start from the list of sources.',
    todo: 0,
    asks: [
      list(MOST_NAMES, { glob: SOURCE_GLOB, about: 'sources' }),
      search('^module\\s', { glob: 'go.mod', limit: 1, about: 'the Go module' }),
    ],
  };
  const { names, count } = filesOf(all);
  // Tests hang on everything and nothing on them: they would only hide what matters.
  const foreign = foreignAmong(names);
  const files = names.filter((name) => !foreign(name) && !isTest(name));
  const languages = languagesIn(files).filter((name) => IMPORT_PATTERNS[name] !== undefined);
  const asks = languages.flatMap((name) => searchesFor(name, files));
  const first = asks.slice(0, MOST_ASKS);
  const imports = yield {
    say:
      languages.length === 0
        ? 'No language whose imports I can read.'
        : `${plural(files.length, 'source')}. I read their imports and link each file with those it uses.`,
    todo: 1,
    asks: first,
  };
  const hits = imports.flatMap((seen) => hitsOf(seen).filter(({ path }) => !foreign(path)));
  const { folders } = topicIn(brief.task);
  const there = folders.filter((folder) => files.some((file) => file.startsWith(folder)));
  return {
    links: linksOf([...hitsOf(goMod), ...hits], new Set(files)),
    names: files,
    files: files.length,
    count: count - names.length + files.length,
    cut: imports.some(isCut) || first.length < asks.length,
    has: (path) => there.length === 0 || there.some((folder) => path.startsWith(folder)),
    seen: [all, ...imports],
  };
}

/** Searches for the imports of `files`: one for a small repository; for a larger one several, each for some of its folders. */
export function searchesFor(name: LanguageName, files: readonly string[]): readonly Ask[] {
  const own = files.filter((file) => languagesIn([file]).includes(name));
  const pattern = IMPORT_PATTERNS[name] ?? '';
  if (own.length <= PER_SEARCH)
    return [search(pattern, { glob: globFor([name]), limit: MOST_IMPORTS, about: 'imports' })];
  const portions: { folders: string[]; files: number }[] = [];
  for (const [folder, inside] of Map.groupBy(own, folderOf)) {
    const last = portions.at(-1);
    if (last !== undefined && (last.files + inside.length <= PER_SEARCH || portions.length === MOST_SEARCHES)) {
      last.folders.push(folder);
      last.files += inside.length;
    } else portions.push({ folders: [folder], files: inside.length });
  }
  const kinds = globFor([name]);
  return portions.map(({ folders }) => {
    const short = folders
      .slice(0, 2)
      .map((folder) => folder || 'the top')
      .join(', ');
    const globs = folders.map((folder) => `/${folder}${kinds}`);
    return search(pattern, {
      glob: fitting(globs, kinds),
      limit: MOST_IMPORTS,
      about: `imports in ${short}${folders.length > 2 ? ` and ${folders.length - 2} more` : ''}`.slice(0, 80),
    });
  });
}

/** A glob may have 300 characters: with more folders than that, the search goes everywhere. */
function fitting(globs: readonly string[], kinds: string): string {
  const glob = globs.length === 1 ? (globs[0] ?? kinds) : `{${globs.join(',')}}`;
  return glob.length <= 300 ? glob : kinds;
}

/** The folder of a path, with its slash; empty at the top. */
const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

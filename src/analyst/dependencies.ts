/** Declared dependencies, each with the line that names it, and the lines that use it. What can't be told from a line is left out. */
import { inventory } from './imports.ts';
import { globFor, isComment, isForeign, isTest, rankOf } from './languages.ts';
import { behind, claim, faults, hitsOf, isCut, linesOf, list, read, search, section } from './tools.ts';
import type { Hit } from './tools.ts';
import type { Looking, Part, Seen, Work } from './turns.ts';
import { captured, code, escaped, listed, plural } from './words.ts';

interface Dependency {
  readonly name: string;
  readonly kind: string;
  readonly hit: Hit;
  /** How a use of it looks, and in which files; null when no use can be told from its name. */
  readonly use: { readonly pattern: string; readonly glob: string } | null;
}

const MOST_MANIFESTS = 12;
const MOST_ASKED = 120;
const PER_TURN = 30;
const MANIFEST_LINES = 400;

/**
 * How manifests are read, one row each: file, line that opens a section (its first group is the kind; `-` for the whole file), line that
 * closes it (`same` where the line itself holds the names), name in a line, and how a use of the name looks.
 */
const ROWS = String.raw`
package.json      ;; ^\s*"((?:dev|peer|optional)?[dD]ependencies)"\s*:\s*\{\s*$ ;; ^\s*\} ;; ^\s*"([^"]+)"\s*: ;; js
requirements*.txt ;; - ;; - ;; ^([A-Za-z][\w.-]*)\s*(?:[[=<>~!;@( ]|$) ;; py
pyproject.toml    ;; ^\s*((?:optional-)?dependencies|requires|dev|tests?|docs)\s*=\s*\[\s*$ ;; ^\s*\] ;; ^\s*["']([A-Za-z][\w.-]*) ;; py
pyproject.toml    ;; ^((?:dependencies|requires))\s*=\s*\[.+\] ;; same ;; ["']([A-Za-z][\w.-]*)[^"']*["'] ;; py
pyproject.toml    ;; ^\[tool\.poetry\.(.*dependencies)\] ;; ^\[ ;; ^([A-Za-z][\w.-]*)\s*= ;; py
setup.py          ;; ^\s*["']?((?:install|tests|setup|extras)_require[sd]?)["']?\s*[=:]\s*[[{]\s*$ ;; ^\s*[\]}] ;; ^\s*["']([A-Za-z][\w.-]*) ;; py
setup.py          ;; ^\s*((?:install|tests|setup)_requires?)\s*=\s*\[.+\] ;; same ;; ["']([A-Za-z][\w.-]*)[^"']*["'] ;; py
setup.cfg         ;; ^((?:install|tests|setup)_requires?)\s*=\s*$ ;; ^\S ;; ^\s+([A-Za-z][\w.-]*) ;; py
go.mod            ;; - ;; - ;; ^(?:require\s+|\t)([\w.-]+\.[\w.-]+/\S+)\s+v\S+(?!.*// indirect)\s*$ ;; go
Cargo.toml        ;; ^\[((?:[\w.'"()-]+\.)?(?:dev-|build-)?dependencies)\] ;; ^\[ ;; ^([\w-]+)(?:\.workspace)?\s*= ;; rust
pom.xml           ;; ^\s*<(dependency)>\s*$ ;; </dependency> ;; <artifactId>([^<]+)</artifactId> ;; java
build.gradle*     ;; - ;; - ;; ^\s*\w*(?:mplementation|api|ompileOnly|untimeOnly|compile)\s*\(?\s*["'][^"':]+:([^"':]+) ;; java
Gemfile           ;; - ;; - ;; ^\s*gem\s*\(?\s*["']([\w-]+)["'] ;; ruby
*.gemspec         ;; - ;; - ;; \.add_(?:development_|runtime_)?dependency\s*\(?\s*["']([\w-]+)["'] ;; ruby
composer.json     ;; ^\s*"(requir(?:e|e-dev))"\s*:\s*\{\s*$ ;; ^\s*\} ;; ^\s*"([\w.-]+/[\w.-]+)" ;; -
*.csproj          ;; - ;; - ;; <PackageReference\s+Include="([^"]+)" ;; -
CMakeLists.txt    ;; - ;; - ;; ^\s*find_package\s*\(\s*(\w+) ;; -
configure.ac      ;; - ;; - ;; ^\s*(?:AC_CHECK_LIB\(\s*\[?|PKG_CHECK_MODULES\([^,]*,\s*\[?)([\w.+-]+) ;; -
meson.build       ;; - ;; - ;; \bdependency\s*\(\s*'([\w.+-]+)' ;; -
`;

interface Reader {
  readonly glob: string;
  readonly file: RegExp;
  readonly opens: RegExp | null;
  readonly closes: RegExp | 'same';
  readonly name: RegExp;
  readonly use: string;
}

const READERS: readonly Reader[] = ROWS.trim()
  .split('\n')
  .map((row) => {
    const [glob = '', opens = '', closes = '', name = '', use = ''] = row.split(' ;; ').map((cell) => cell.trim());
    return {
      glob,
      file: new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll('*', '.*')}$`),
      opens: opens === '-' ? null : new RegExp(opens),
      closes: closes === 'same' ? 'same' : new RegExp(closes),
      name: new RegExp(name, 'g'),
      use,
    };
  });
export const MANIFESTS = `{${[...new Set(READERS.map(({ glob }) => glob))].join(',')}}`;
const LOCKS =
  '{package-lock.json,yarn.lock,pnpm-lock.yaml,npm-shrinkwrap.json,poetry.lock,uv.lock,Pipfile.lock,go.sum,Cargo.lock,Gemfile.lock,composer.lock}';

/** Names under which libraries are imported where they differ: `package=import`. */
const OTHER_NAMES = new Map(
  String.raw`pyyaml=yaml pillow=PIL beautifulsoup4=bs4 scikit-learn=sklearn opencv-python=cv2 python-dateutil=dateutil python-dotenv=dotenv attrs=attrs?
setuptools=(?:setuptools|pkg_resources) pycryptodome=Crypto @types/node=node:\w+ jsr305=javax\.annotation guava=com\.google\.common
mockito-core=org\.mockito commons-io=org\.apache\.commons\.io junit=(?:org\.)?junit javax.servlet-api=javax\.servlet`
    .split(/\s+/)
    .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const),
);

/** How a use of a name looks in each language; `NAME` is what it is imported as. */
const USES: Readonly<Record<string, readonly [pattern: string, glob: string, own: (name: string) => string]>> = {
  js: [
    `(?:from|import|require|require\\.resolve)\\s*\\(?\\s*["']NAME(?:["']|/)`,
    globFor(['js']),
    (name) => escaped(name.replace(/^@types\//, '')),
  ],
  py: ['^\\s*(?:from|import)\\s+NAME(?:\\.|\\s|,|$)', '*.py', (name) => `(?i:${escaped(name).replaceAll('-', '_')})`],
  go: ['"NAME(?:/[^"]*)?"', '*.go', escaped],
  rust: ['\\bNAME::|\\buse\\s+NAME\\b|\\bextern crate NAME\\b', '*.rs', (name) => name.replaceAll('-', '_')],
  ruby: [
    '\\brequire\\s*\\(?\\s*["\']NAME',
    '{*.rb,*.rake,Rakefile,*.ru}',
    (name) => escaped(name).replaceAll('-', '[-/_]'),
  ],
  java: [
    '^import\\s+(?:static\\s+)?NAME',
    globFor(['java']),
    (name) =>
      `[\\w.]*\\b${escaped(name.split('-')[0] ?? name)}\\d*\\.(?:[\\w.]*\\b${escaped(name.split('-')[1] ?? '')})?`,
  ],
};

function usePattern(name: string, kind: string): Dependency['use'] {
  const row = USES[kind];
  if (row === undefined) return null;
  const [pattern, glob, own] = row;
  return { pattern: pattern.replaceAll('NAME', () => OTHER_NAMES.get(name.toLowerCase()) ?? own(name)), glob };
}

/** What the lines of a manifest declare. Dependencies of plugins are not the project's. */
function declaredIn(path: string, lines: readonly Hit[]): readonly Dependency[] {
  const readers = READERS.filter(({ file }) => file.test(path.split('/').at(-1) ?? ''));
  const from = lines.findIndex(({ text }) => /^\s*<build>/.test(text));
  const own =
    path.endsWith('pom.xml') && from !== -1
      ? lines.filter((_, at) => at < from || at > lines.findIndex(({ text }) => /^\s*<\/build>/.test(text)))
      : lines;
  return readers.flatMap((reader) =>
    within(own, reader)
      .filter(([, { text }]) => !/^\s*(?:#|\/\/|dnl\b|-[a-z-])/.test(text))
      .flatMap(([kind, hit]) =>
        [...hit.text.replace(reader.closes === 'same' ? /^[^[]*\[/ : '', '').matchAll(reader.name)].flatMap(
          ([, name = '']) => (name === 'python' ? [] : [{ name, kind, hit, use: usePattern(name, reader.use) }]),
        ),
      ),
  );
}

/** Lines between one that opens a section and one that closes it, each with the kind of the section. */
function within(
  lines: readonly Hit[],
  { opens, closes, glob }: Reader,
): readonly (readonly [kind: string, hit: Hit])[] {
  if (opens === null) return lines.map((hit) => [glob, hit]);
  if (closes === 'same')
    return lines.flatMap((hit) => (opens.test(hit.text) ? [[captured(opens, hit.text), hit]] : []));
  const found: (readonly [string, Hit])[] = [];
  let current = '';
  for (const hit of lines) {
    const opened = captured(opens, hit.text);
    if (opened !== '') current = opened;
    else if (current !== '' && closes.test(hit.text)) current = '';
    else if (current !== '') found.push([current, hit]);
  }
  return found;
}

export const dependencies: Part = {
  todos: ['Read the manifests', 'Search for uses of each dependency', 'Look for those without an import'],
  work: counting,
};

function* counting({ task }: { readonly task: string }): Work {
  const project = yield* inventory(task);
  const [manifestList, lockList] = yield {
    say: 'I look for manifests and lock files.',
    todo: 0,
    asks: [
      list(200, { glob: MANIFESTS, path: project.path, about: 'manifests of 16 kinds' }),
      list(50, { glob: LOCKS, path: project.path, about: 'lock files' }),
    ],
  };
  const paths = names(manifestList)
    .filter((path) => !isForeign(path) && !isTest(path))
    .toSorted((a, b) => a.split('/').length - b.split('/').length)
    .slice(0, MOST_MANIFESTS);
  const texts = yield {
    say: paths.length === 0 ? 'There is no manifest to read.' : `I read ${listed(paths)}.`,
    todo: 0,
    asks: paths.map((path) => read(path, 1, MANIFEST_LINES)),
  };
  const found = texts.flatMap((seen, at) => declaredIn(paths[at] ?? '', linesOf(seen)));
  const asked = found.filter(({ use }) => use !== null).slice(0, MOST_ASKED);
  const uses = yield* usesOf(asked);
  const idle = asked.filter((one) => realUses(one, uses).length === 0).slice(0, PER_TURN);
  const named = yield {
    say:
      idle.length === 0
        ? 'Each has an import.'
        : `Is ${listed(idle.slice(0, 3).map(({ name }) => name))}${idle.length > 3 ? ' and others' : ''} named anywhere else?`,
    todo: 2,
    asks: idle.map(({ name, hit }) =>
      search(`(?:^|[^\\w@/-])${escaped(name)}(?:[^\\w-]|$)`, {
        limit: 40,
        about: `${code(name)} outside of ${hit.path}`,
      }),
    ),
  };
  if (paths.length === 0) return `No manifest is there that I can read ${behind(manifestList)}.`;
  const rows = found.map((one) => row(one, { asked, uses, idle, named }));
  return [
    headText(
      found,
      idle.filter((one, at) => mention(one, named[at]) === undefined),
      idle.length,
      paths,
      manifestList,
    ),
    ...[...Map.groupBy(rows, ({ one }) => `${one.hit.path}, ${one.kind}`)].flatMap(([heading, all]) =>
      section(
        heading.replace(/^(.*), \1$/, '$1'),
        all.map(({ text }) => text),
      ),
    ),
    ...section('Lock files', [
      names(lockList).length === 0
        ? `- none ${behind(lockList)}`
        : `- ${names(lockList).join(', ')} ${behind(lockList)}`,
    ]),
    ...faults([...project.seen, manifestList, lockList, ...texts, ...uses.values(), ...named]),
  ].join('\n');
}

const names = (seen: Seen | undefined): readonly string[] =>
  seen?.ok === true && !seen.text.startsWith('no files')
    ? seen.text.split('\n').filter((line) => !/^\(| {2}/.test(line))
    : [];

function* usesOf(asked: readonly Dependency[]): Looking<ReadonlyMap<Dependency, Seen>> {
  const uses = new Map<Dependency, Seen>();
  for (let at = 0; at < asked.length; at += PER_TURN) {
    const some = asked.slice(at, at + PER_TURN);
    const seen = yield {
      say: `I search for imports of ${listed(some.slice(0, 3).map(({ name }) => name))}${some.length > 3 ? ` and ${some.length - 3} others` : ''}.`,
      todo: 1,
      asks: some.map(({ name, use }) =>
        search(use?.pattern ?? '', { glob: use?.glob ?? '*', limit: 100, about: `imports of ${code(name)}` }),
      ),
    };
    some.forEach((one, index) => {
      const look = seen[index];
      if (look !== undefined) uses.set(one, look);
    });
  }
  return uses;
}

const realUses = (one: Dependency, uses: ReadonlyMap<Dependency, Seen>): readonly Hit[] =>
  hitsOf(uses.get(one))
    .filter((hit) => !isComment(hit) && !hit.path.includes('node_modules/') && hit.path !== one.hit.path)
    .toSorted((a, b) => rankOf(a.path) - rankOf(b.path));

interface Known {
  readonly asked: readonly Dependency[];
  readonly uses: ReadonlyMap<Dependency, Seen>;
  readonly idle: readonly Dependency[];
  readonly named: readonly Seen[];
}

function row(
  one: Dependency,
  { asked, uses, idle, named }: Known,
): { readonly one: Dependency; readonly text: string } {
  const begin = `- ${one.name}: declared at ${claim(one.hit)}`;
  if (!asked.includes(one)) return { one, text: `${begin}; its use can't be told from its name` };
  const [first, ...more] = realUses(one, uses);
  const files = new Set([first, ...more].map((hit) => hit?.path)).size;
  const only = first !== undefined && isTest(first.path) ? ', all of them tests' : '';
  if (first !== undefined)
    return {
      one,
      text: `${begin}; imported in ${isCut(uses.get(one)) ? 'at least ' : ''}${plural(files, 'file')}${only}, for example ${claim(first)}`,
    };
  const look = named[idle.indexOf(one)];
  const also = mention(one, look);
  return {
    one,
    text: `${begin}; no import by its name was found ${behind(uses.get(one))}${look === undefined ? '' : also === undefined ? `, and it is named nowhere else ${behind(look)}` : `, but it is named at ${claim(also)}`}`,
  };
}

/** Another line that names it: of its own manifest first, then of other files but locks. */
function mention({ hit }: Dependency, look: Seen | undefined): Hit | undefined {
  const others = hitsOf(look).filter(
    ({ path, line }) => !(path === hit.path && line === hit.line) && !/lock|\.sum$/.test(path),
  );
  return others.find(({ path }) => path === hit.path) ?? others.toSorted((a, b) => rankOf(a.path) - rankOf(b.path))[0];
}

function headText(
  found: readonly Dependency[],
  lost: readonly Dependency[],
  idle: number,
  paths: readonly string[],
  manifests: Seen | undefined,
): string {
  if (found.length === 0)
    return `${listed(paths)} ${paths.length === 1 ? 'declares' : 'declare'} no dependency in a form that I can read ${behind(manifests)}.`;
  const [first] = found;
  const unseen =
    idle === 0
      ? ''
      : lost.length === 0
        ? ` ${plural(idle, 'has', 'have')} no import by its name, but each is named elsewhere.`
        : ` Neither an import nor another mention was found of ${listed(lost.map(({ name }) => name))}; the searches are below.`;
  return `${plural(found.length, 'dependency is', 'dependencies are')} declared in ${listed([...new Set(found.map(({ hit }) => hit.path))])}, the first at ${first === undefined ? '' : claim(first.hit)}.${unseen}`;
}

/**
 * Reads what manifests declare, line by line, so that each dependency keeps the line that names it; and knows how each
 * ecosystem writes the use of one. What can't be told from a line is left out.
 */
import type { Hit } from './claims.ts';
import { globFor } from './languages.ts';
import { captured, escaped } from './words.ts';

export interface Dependency {
  readonly name: string;
  readonly version: string;
  readonly forDevelopment: boolean;
  readonly hit: Hit;
  /** How a use of it looks, and in which files; null when no import can be told from its name. */
  readonly use: { readonly pattern: string; readonly glob: string } | null;
}

/** Names of manifests, for a listing. */
export const MANIFESTS =
  '{package.json,pyproject.toml,requirements*.txt,setup.py,setup.cfg,Pipfile,go.mod,Cargo.toml,pom.xml,build.gradle,build.gradle.kts,Gemfile,composer.json,mix.exs,pubspec.yaml,Package.swift,CMakeLists.txt,*.csproj,*.gemspec,deno.json}';

type Reader = (lines: readonly Hit[]) => readonly Dependency[];

/** Dependencies that the lines of a manifest declare, in their order. */
export function dependenciesIn(path: string, lines: readonly Hit[]): readonly Dependency[] {
  const name = path.split('/').at(-1) ?? '';
  const reader = READERS.find(([pattern]) => pattern.test(name))?.[1];
  return reader?.(lines) ?? [];
}

const READERS: readonly (readonly [RegExp, Reader])[] = [
  [/^package\.json$/, npm],
  [/^requirements.*\.txt$/, requirements],
  [/^pyproject\.toml$/, pyproject],
  [/^go\.mod$/, goMod],
  [/^Cargo\.toml$/, cargo],
  [/^pom\.xml$/, maven],
  [/^build\.gradle(?:\.kts)?$/, gradle],
  [/^Gemfile$|\.gemspec$/, gems],
];

function npm(lines: readonly Hit[]): readonly Dependency[] {
  return inSections(
    lines,
    (text) => captured(/^\s*"((?:dev|peer|optional)?[dD]ependencies)"\s*:\s*\{\s*$/, text),
    /^\s*\}/,
  ).flatMap(({ section, hit }) => {
    const found = /^\s*"([^"]+)"\s*:\s*"([^"]*)"/.exec(hit.text);
    if (found === null) return [];
    const [, name = '', version = ''] = found;
    const use = {
      pattern: `(?:from|import|require\\(|import\\()\\s*["']${escaped(name)}(?:["']|/)`,
      glob: globFor(['js']),
    };
    return [{ name, version, forDevelopment: section.startsWith('dev'), hit, use }];
  });
}

/** Names under which Python packages are imported where they differ. */
const PY_NAMES: Readonly<Record<string, string>> = {
  pyyaml: 'yaml',
  pillow: 'PIL',
  beautifulsoup4: 'bs4',
  'scikit-learn': 'sklearn',
  'opencv-python': 'cv2',
  'python-dateutil': 'dateutil',
  'python-dotenv': 'dotenv',
  protobuf: 'google.protobuf',
  attrs: 'attr',
};

function python(text: string, forDevelopment: boolean, hit: Hit): readonly Dependency[] {
  const found = /^\s*["']?([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*([=<>~!^].*?)?["']?,?\s*(?:[;#].*)?$/.exec(text);
  if (found === null) return [];
  const [, name = '', version = ''] = found;
  const module = PY_NAMES[name.toLowerCase()] ?? name.toLowerCase().replaceAll('-', '_');
  return [
    {
      name,
      version,
      forDevelopment,
      hit,
      use: { pattern: `^\\s*(?:from|import)\\s+${escaped(module)}(?:\\.|\\s|,|$)`, glob: '*.py' },
    },
  ];
}

function requirements(lines: readonly Hit[]): readonly Dependency[] {
  return lines
    .filter(({ text }) => !/^\s*(?:#|-|$)/.test(text))
    .flatMap((hit) => python(hit.text, /dev|test/.test(hit.path), hit));
}

function pyproject(lines: readonly Hit[]): readonly Dependency[] {
  const lists = inSections(
    lines,
    (text) => captured(/^((?:optional-)?dependencies|dev|test|tests)\s*=\s*\[\s*$/, text),
    /^\s*\]/,
  );
  const tables = inSections(lines, (text) => captured(/^\[tool\.poetry\.(.*dependencies)\]/, text), /^\[/);
  return [
    ...lists.flatMap(({ section, hit }) => python(hit.text, section !== 'dependencies', hit)),
    ...tables.flatMap(({ section, hit }) => {
      const name = captured(/^([A-Za-z][\w.-]*)\s*=/, hit.text);
      return name === '' || name === 'python' ? [] : python(name, section !== 'dependencies', hit);
    }),
  ];
}

function goMod(lines: readonly Hit[]): readonly Dependency[] {
  return lines.flatMap((hit) => {
    const found = /^(?:require\s+|\t)([\w.-]+\.[\w.-]+\/\S+)\s+(v\S+)(\s*\/\/ indirect)?/.exec(hit.text);
    if (found === null || found[3] !== undefined) return [];
    const [, name = '', version = ''] = found;
    return [
      { name, version, forDevelopment: false, hit, use: { pattern: `"${escaped(name)}(?:/[^"]*)?"`, glob: '*.go' } },
    ];
  });
}

function cargo(lines: readonly Hit[]): readonly Dependency[] {
  return inSections(
    lines,
    (text) => captured(/^\[((?:[\w.-]+\.)?(?:dev-|build-)?dependencies)\]/, text),
    /^\[/,
  ).flatMap(({ section, hit }) => {
    const found = /^([\w-]+)\s*=\s*(?:"([^"]*)"|\{.*?(?:version\s*=\s*"([^"]*)")?.*\})/.exec(hit.text);
    if (found === null) return [];
    const [, name = ''] = found;
    const crate = name.replaceAll('-', '_');
    const use = { pattern: `\\b${crate}::|\\buse\\s+${crate}\\b|\\bextern crate ${crate}\\b`, glob: '*.rs' };
    return [{ name, version: found[2] ?? '', forDevelopment: section.includes('dev-'), hit, use }];
  });
}

function maven(lines: readonly Hit[]): readonly Dependency[] {
  return inSections(lines, (text) => captured(/^\s*<(dependency)>\s*$/, text), /<\/dependency>/).flatMap(({ hit }) => {
    const name = captured(/<artifactId>([^<]+)<\/artifactId>/, hit.text);
    return name === '' ? [] : [{ name, version: '', forDevelopment: false, hit, use: null }];
  });
}

function gradle(lines: readonly Hit[]): readonly Dependency[] {
  return lines.flatMap((hit) => {
    const found =
      /^\s*(\w*(?:mplementation|api|ompileOnly|untimeOnly|compile))\s*\(?\s*["']([^"':]+:[^"':]+)(?::([^"']+))?["']/.exec(
        hit.text,
      );
    if (found === null) return [];
    return [
      {
        name: found[2] ?? '',
        version: found[3] ?? '',
        forDevelopment: (found[1] ?? '').startsWith('test'),
        hit,
        use: null,
      },
    ];
  });
}

function gems(lines: readonly Hit[]): readonly Dependency[] {
  return lines.flatMap((hit) => {
    const found =
      /^\s*(?:gem|\w+\.add_(?:development_|runtime_)?dependency)\s*\(?\s*["']([\w-]+)["'](?:\s*,\s*["']([^"']+)["'])?/.exec(
        hit.text,
      );
    if (found === null) return [];
    const [, name = '', version = ''] = found;
    return [
      {
        name,
        version,
        forDevelopment: hit.text.includes('development'),
        hit,
        use: { pattern: `require\\s*\\(?["']${escaped(name)}`, glob: '*.rb' },
      },
    ];
  });
}

/** Lines between one that opens a section (its name is given) and one that closes it. */
function inSections(
  lines: readonly Hit[],
  opens: (text: string) => string,
  closes: RegExp,
): readonly { readonly section: string; readonly hit: Hit }[] {
  const found: { section: string; hit: Hit }[] = [];
  let section = '';
  for (const hit of lines) {
    const opened = opens(hit.text);
    if (opened !== '') section = opened;
    else if (section !== '' && closes.test(hit.text)) section = '';
    else if (section !== '') found.push({ section, hit });
  }
  return found;
}

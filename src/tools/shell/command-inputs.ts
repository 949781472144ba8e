/**
 * Which files decide what a command does: `package.json` of `npm test`, `Makefile` of `make`, the script of `sh x.sh`. A
 * standing yes is bound to their content. Found by plain words, so never all of them: the box is what holds a command.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';

export interface InputFile {
  /** Relative to the root where it is below it. */
  readonly path: string;
  /** Of its first mebibyte and its size; `missing` where there is no such file, so that a new one counts as a change. */
  readonly digest: string;
}

const MOST_FILES = 32;
const MOST_BYTES = 1024 * 1024;

/** Digests of the files that `command`, run in `root` or in `start` below it, declares as its inputs. Reads only; never fails. */
export async function commandInputs(root: string, command: string, start = root): Promise<readonly InputFile[]> {
  const files = new Set<string>();
  let folder = start;
  for (const words of commandsIn(command)) {
    const program = withoutWrapper(words);
    const [name, place] = program;
    if (name === 'cd' && place !== undefined) folder = path.resolve(folder, place);
    for (const file of filesOf(program, folder, root)) files.add(file);
  }
  const some = [...files].toSorted().slice(0, MOST_FILES);
  return Promise.all(some.map(async (file) => ({ path: nameOf(root, file), digest: await digestOf(file) })));
}

const nameOf = (root: string, file: string): string =>
  file.startsWith(`${root}${path.sep}`) ? path.relative(root, file) : file;

/** The words of each simple command, quotes taken off; nothing of what only a shell could know. */
function commandsIn(command: string): readonly (readonly string[])[] {
  return command
    .split(/[;|&\n(){}]+/)
    .map((part) => [...part.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replaceAll(/['"]/g, '')))
    .filter((words) => words.length > 0);
}

const WRAPPERS: ReadonlySet<string> = new Set(
  'env timeout nohup nice time command exec sudo stdbuf setsid xargs npx bunx'.split(' '),
);

/** Without assignments, and without what only starts another program. */
function withoutWrapper(words: readonly string[]): readonly string[] {
  let at = 0;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const passing =
      /^\w+=/.test(word) || WRAPPERS.has(word) || (at > 0 && /^(?:-\S*|\d+(?:\.\d+)?[smhd]?)$/.test(word));
    if (!passing) break;
  }
  return words.slice(at);
}

/** Programs that take their orders from files of these names, in the folder they run in or above it. */
const BY_NAME: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    npm: 'package.json .npmrc',
    pnpm: 'package.json .npmrc pnpm-workspace.yaml',
    yarn: 'package.json .yarnrc.yml',
    bun: 'package.json bunfig.toml',
    deno: 'deno.json deno.jsonc package.json',
    make: 'GNUmakefile makefile Makefile',
    gmake: 'GNUmakefile makefile Makefile',
    cmake: 'CMakeLists.txt CMakePresets.json',
    ninja: 'build.ninja',
    just: 'justfile Justfile .justfile',
    task: 'Taskfile.yml Taskfile.yaml',
    cargo: 'Cargo.toml build.rs .cargo/config.toml',
    go: 'go.mod',
    mvn: 'pom.xml',
    gradle: 'build.gradle build.gradle.kts settings.gradle settings.gradle.kts',
    rake: 'Rakefile',
    bundle: 'Gemfile',
    composer: 'composer.json',
    mix: 'mix.exs',
    dotnet: 'Directory.Build.props',
    pytest: 'conftest.py pytest.ini pyproject.toml setup.cfg tox.ini',
    tox: 'tox.ini pyproject.toml',
    nox: 'noxfile.py',
    poetry: 'pyproject.toml',
    uv: 'pyproject.toml',
    vitest: 'vitest.config.ts vitest.config.js vite.config.ts vite.config.js package.json',
    jest: 'jest.config.js jest.config.ts package.json',
    tsc: 'tsconfig.json',
    eslint: 'eslint.config.js eslint.config.mjs package.json',
  }).map(([program, names]) => [program, names.split(' ')]),
);

const INTERPRETERS =
  /^(?:ba|da|z|k)?sh$|^(?:python|node|ruby|perl|php|deno|bun|lua|tsx|ts-node|Rscript|source|\.)(?:\d[\d.]*)?$/;

function filesOf(words: readonly string[], folder: string, root: string): readonly string[] {
  const [program = '', ...rest] = words;
  const name = path.basename(program);
  const own = program.includes('/') ? [path.resolve(folder, program)] : [];
  const named = rest.flatMap((word, at) =>
    /^(?:-f|--file|--makefile|--manifest-path)$/.test(word) ? rest.slice(at + 1, at + 2) : [],
  );
  const script = INTERPRETERS.test(name) ? rest.filter((word) => !word.startsWith('-')).slice(0, 1) : [];
  const known = (BY_NAME.get(name) ?? []).flatMap((file) =>
    upwards(folder, root).map((place) => path.join(place, file)),
  );
  return [...own, ...known, ...[...named, ...script].map((file) => path.resolve(folder, file))];
}

/** The folder and all above it up to the root; only itself where it isn't below it. */
function upwards(folder: string, root: string): readonly string[] {
  const places = [folder];
  while (places.length < MOST_FILES && (places.at(-1) ?? root).startsWith(`${root}${path.sep}`))
    places.push(path.dirname(places.at(-1) ?? root));
  return places;
}

async function digestOf(file: string): Promise<string> {
  try {
    // A pipe must not hold this up, and what a device says is no content.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      const found = await handle.stat();
      if (!found.isFile()) return 'no file';
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(found.size, MOST_BYTES)), 0);
      const hash = createHash('sha256').update(buffer.subarray(0, bytesRead));
      return hash.update(`:${found.size}`).digest('hex');
    } finally {
      await handle.close();
    }
  } catch {
    return 'missing';
  }
}

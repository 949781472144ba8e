/**
 * Makes `dist/`: the published program, bundled from src/cli.ts. Split, so that a verb loads only what it uses; blessed
 * and ripgrep stay packages of their own (the one loads its widgets by name, the other is a program).
 */
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const program = join(dist, 'mimir.js');
// Node 24.0 still warns that its SQLite is new; nothing but Mimir writes on the screen.
// Left alone, the space for young objects grows with many agents to where it costs a third of all memory and saves no time.
const SHEBANG = '#!/usr/bin/env -S node --disable-warning=ExperimentalWarning --max-semi-space-size=8\n';

/** zod brings its messages in sixty languages, loaded at every start; Mimir speaks one. */
const oneLanguage = {
  name: 'one language',
  setup: (esbuild) => {
    esbuild.onLoad({ filter: /node_modules\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/** The package's own files are read now instead of at every start. In a checkout the sources are read as they are. */
const prepared = {
  name: 'prepared',
  setup: (esbuild) => {
    esbuild.onLoad({ filter: /src\/config\/prepared\.ts$/ }, async ({ path }) => {
      const { prepare } = await import('../src/config/prepare.ts');
      const maps = Object.entries(prepare(root)).map(([name, map]) => `${name}: new Map(${JSON.stringify([...map])})`);
      const source = readFileSync(path, 'utf8');
      const empty = /(?<=export const PREPARED: Prepared = ).*(?=;\n)/;
      if (!empty.test(source)) throw new Error(`${path} has no place for what is prepared`);
      return { contents: source.replace(empty, () => `{ ${maps.join(', ')} }`), loader: 'ts' };
    });
  },
};

/**
 * Node's own modules as they are: for an `import` Node reads every property of them, and some of those (`webcrypto`, the
 * streams of `node:fs`) load other modules only because of that.
 */
const plainBuiltIns = {
  name: 'plain built-in modules',
  setup: (esbuild) => {
    esbuild.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'built-in' } : undefined,
    );
    esbuild.onLoad({ filter: /.*/, namespace: 'built-in' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }));
  },
};

/** The canvas of the charts asks for its memory in a way that Node warns of outside of node_modules. */
const quietCanvas = {
  name: 'quiet canvas',
  setup: (esbuild) => {
    esbuild.onLoad({ filter: /drawille-blessed-contrib\/index\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace('new Buffer(', 'Buffer.alloc('),
      loader: 'js',
    }));
  },
};

/** Packages that the screen brings and no first picture needs: run by the first call, since marked takes 10 ms of a start. */
const late = {
  name: 'late',
  setup: (esbuild) => {
    const later = (name, names) =>
      names.map((one) => `export const ${one} = (...given) => require('${name}').${one}(...given);`).join('');
    const packages = {
      marked: "export const Lexer = { lex: (...given) => require('marked').Lexer.lex(...given) };",
      fuzzysort: later('fuzzysort', ['go', 'prepare', 'snapshot']),
    };
    esbuild.onResolve({ filter: /^(?:marked|fuzzysort)$/ }, ({ path, kind }) =>
      kind === 'require-call' ? undefined : { path, namespace: 'late' },
    );
    esbuild.onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => ({ contents: packages[path], resolveDir: root }));
  },
};

rmSync(dist, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  // The thread is started by its name, beside the parts.
  entryPoints: { mimir: 'src/cli.ts', 'parts/ask-now-thread': 'src/control/ask-now-thread.ts' },
  outdir: 'dist',
  chunkNames: 'parts/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  plugins: [oneLanguage, prepared, plainBuiltIns, quietCanvas, late],
  external: ['blessed', '@vscode/ripgrep'],
  // Names stay, so that the trace in a bug report can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  metafile: true,
  // Packages that are CommonJS inside ask for Node's own modules by `require`.
  banner: { js: 'import{createRequire as $require}from"node:module";const require=$require(import.meta.url);' },
  logLevel: 'warning',
});
writeFileSync(program, SHEBANG + readFileSync(program, 'utf8').replace(/^#!.*\n/, ''));
chmodSync(program, 0o755);
writeFileSync(join(dist, 'LICENSES.txt'), licences(Object.keys(metafile.inputs)));

/** The licences of the packages that are inside, as their authors ask. */
function licences(inputs) {
  const packages = inputs.flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []);
  return [...new Set(packages)]
    .sort((a, b) => a.localeCompare(b))
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
      const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file && existsSync(join(root, folder, file)) ? readFileSync(join(root, folder, file), 'utf8') : '';
      return `${name} ${version} (${license})\n\n${text.trim()}\n`;
    })
    .join(`\n${'-'.repeat(78)}\n\n`);
}

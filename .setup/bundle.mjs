/**
 * Makes `dist/`: the published program, bundled from src/main.ts. In parts, so that a verb loads only what it uses (ways.mjs
 * says which); blessed and ripgrep stay packages of their own (the one loads its widgets by name, the other is a program).
 */
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { filesByWay } from './ways.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const program = join(dist, 'mimir.js');
/**
 * Read by any Node from 14 on, so that an old one says what is missing: `parts/cli.js` is for Node 24 alone. Left alone, the
 * space for young objects grows with many agents to where it costs a third of all memory and saves no time. What gives memory
back to the system while nothing happens is done once after the start; Node's own would do it again. Node 24.0 still
 * warns that its SQLite is new, and nothing but Mimir writes on the screen.
 */
const PROGRAM = `#!/usr/bin/env -S node --max-semi-space-size=8 --no-memory-reducer
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error('mimir: Mimir needs Node 24 or later, and this is Node ' + process.versions.node + ' (' + process.execPath + ')');
  process.exitCode = 2;
} else {
  process.removeAllListeners('warning');
  process.on('warning', (one) => one.name === 'ExperimentalWarning' || console.error(String(one.stack)));
  await import('./parts/cli.js');
}
`;

/** zod brings its messages in sixty languages, loaded at every start; Mimir speaks one. */
const oneLanguage = {
  name: 'one language',
  load: {
    filter: { id: /node_modules\/zod\/v4\/locales\/index\.js$/ },
    handler: () => "export { default as en } from './en.js';",
  },
};

/** The package's own files are read now instead of at every start. In a checkout the sources are read as they are. */
let isPrepared = false;
const prepared = {
  name: 'prepared',
  // Without it the program would parse these files at every start, and nobody would notice.
  buildEnd() {
    if (!isPrepared) throw new Error('no source has a place for what is prepared: name its file in `prepared`');
  },
  load: {
    filter: { id: /src\/config\/files\/parse-cache\.ts$/ },
    async handler(path) {
      const { prepare } = await import('../src/config/settings/prepare.ts');
      const maps = Object.entries(prepare(root)).map(([name, map]) => `${name}: new Map(${JSON.stringify([...map])})`);
      const source = readFileSync(path, 'utf8');
      const empty = /(?<=export const PREPARED: Prepared = ).*(?=;\n)/;
      if (!empty.test(source)) throw new Error(`${path} has no place for what is prepared`);
      isPrepared = true;
      return { code: source.replace(empty, () => `{ ${maps.join(', ')} }`), moduleType: 'ts' };
    },
  },
};

/**
 * Node's own modules, with only those properties read that are used: for an `import` Node reads every one, and some of those
 * (`webcrypto`, the streams of `node:fs`) load other modules only because of that. `node:module` comes before all else.
 */
const plainBuiltIns = {
  name: 'plain built-in modules',
  resolveId: {
    filter: { id: /^node:(?!module$)/ },
    handler: (id, _, { kind }) => (kind === 'import-statement' ? { id: `\0built-in:${id}` } : undefined),
  },
  load: {
    filter: { id: /^\0built-in:/ },
    handler(id) {
      const name = id.slice('\0built-in:'.length);
      const names = Object.keys(process.getBuiltinModule(name)).filter((one) => one !== 'default');
      return [
        `const all = process.getBuiltinModule('${name}');`,
        'const of = (name) => all[name];',
        'export default all;',
        ...names.map((one) => `export const ${one} = /* @__PURE__ */ of('${one}');`),
      ].join('\n');
    },
  },
};

/** The canvas of the charts asks for its memory in a way that Node warns of, and writes escapes in a way that modules can't. */
const quietCanvas = {
  name: 'quiet canvas',
  load: {
    filter: { id: /drawille-(?:canvas-)?blessed-contrib\/index\.js$/ },
    handler: (path) =>
      readFileSync(path, 'utf8').replace('new Buffer(', 'Buffer.alloc(').replaceAll(String.raw`\033`, String.raw`\x1b`),
  },
};

/** Packages that the screen brings and no first picture needs: run by the first call, since marked takes 10 ms of a start. */
const late = {
  name: 'late',
  resolveId: {
    filter: { id: /^(?:marked|fuzzysort)$/ },
    handler: (id, _, { kind }) => (kind === 'require-call' ? undefined : { id: join(root, `late-${id}.js`) }),
  },
  load: {
    filter: { id: /\/late-(?:marked|fuzzysort)\.js$/ },
    handler: (path) =>
      path.endsWith('marked.js')
        ? `export const Lexer = { lex: (...given) => require('marked').Lexer.lex(...given) };
           export class Marked {
             constructor(how) { this.how = how; }
             parse(text, how) { return new (require('marked').Marked)(this.how).parse(text, how); }
           }`
        : ['go', 'prepare', 'snapshot']
            .map((one) => `export const ${one} = (...given) => require('fuzzysort').${one}(...given);`)
            .join('\n'),
  },
};

rmSync(dist, { recursive: true, force: true });
const bundle = await rolldown({
  cwd: root,
  // Started by its name, by `mimir.js`.
  input: { 'parts/cli': 'src/main.ts' },
  platform: 'node',
  // Packages that the durable engine uses where they are installed, for traces and logs of its own.
  external: [/^blessed(?:\/|$)/, '@vscode/ripgrep', /^@opentelemetry\/(?!api)/, /^winston/, 'pg-native'],
  plugins: [oneLanguage, prepared, plainBuiltIns, quietCanvas, late],
  preserveEntrySignatures: false,
  // An entrance only passes names on: nothing behind it is loaded because of another name.
  treeshake: { moduleSideEffects: [{ test: /\/src\/.*\/index\.ts$/, sideEffects: false }] },
  transform: { target: 'node24' },
  logLevel: 'warn',
});
const { output } = await bundle.write({
  dir: dist,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'parts/[name]-[hash].js',
  codeSplitting: {
    // A part that a module needs is not drawn into its file: it may belong to more ways.
    includeDependenciesRecursively: false,
    groups: [{ debugName: 'ways', name: filesByWay(root) }],
  },
  // Names stay, so that the trace in a bug report can be read.
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  comments: false,
});
await bundle.close();
writeFileSync(program, PROGRAM);
chmodSync(program, 0o755);
writeFileSync(join(dist, 'LICENSES.txt'), licences(output.flatMap(({ moduleIds }) => moduleIds ?? [])));

/** The licences of the packages that are inside, as their authors ask. */
function licences(modules) {
  const packages = modules.flatMap((id) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []);
  return [...new Set(packages)]
    .sort((a, b) => a.localeCompare(b))
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : '';
      return `${name} ${version} (${license})\n\n${text.trim()}\n`;
    })
    .join(`\n${'-'.repeat(78)}\n\n`);
}

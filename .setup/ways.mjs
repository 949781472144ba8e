/**
 * Which modules of the published program stand in one file. A file costs Node a millisecond or two to find and link, and
 * bundlers make one for each set of entries that share something: a hundred for one reply. Here only the ways in which
 * people use the program count, so each reads a dozen. What belongs to none of them stays in small files of its own.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** By name of a way: the modules it begins with. What they import without waiting belongs to it too. */
const WAYS = {
  always: ['src/cli/dispatch.ts'],
  screen: ['src/cli/open-screen.ts', 'src/ui/tui/terminal/blessed-screen.ts'],
  run: [command('run'), 'src/app/project/open-project.ts', 'src/app/project/open-runs.ts', 'src/ui/lines/follow.ts'],
  engine: [
    'src/app/project/begin-run.ts',
    'src/app/client/run-api.ts',
    'src/app/workspace/model-port.ts',
    'src/remote/server.ts',
  ],
  session: [
    ...['children', 'complete', 'kill', 'lists', 'me', 'progress', 'send', 'spawn', 'what'].map(command),
    'src/app/process/program.ts',
    'src/app/client/session-client.ts',
    'src/app/client/person-client.ts',
  ],
  anthropic: ['src/models/anthropic/adapter.ts'],
  openai: ['src/models/openai/adapter.ts'],
};

function command(name) {
  return `src/cli/commands/${name}.ts`;
}

/** For rolldown's groups: the file that a module belongs into, null for one of its own. Throws when a way begins nowhere. */
export function filesByWay(root) {
  let files = null;
  return (id, graph) => {
    files ??= filesOf(root, graph);
    return files.get(id) ?? null;
  };
}

function filesOf(root, graph) {
  const ways = new Map();
  for (const [way, begins] of Object.entries(WAYS)) {
    for (const id of reachedFrom(root, begins, graph)) ways.set(id, [...(ways.get(id) ?? []), way]);
  }
  // Modules of the same ways are read together or not at all.
  return new Map([...ways].map(([id, names]) => [id, names[0] === 'always' ? 'always' : names.join('-')]));
}

function reachedFrom(root, begins, graph) {
  const todo = begins.map((begin) => join(root, begin));
  for (const [at, id] of todo.entries()) {
    if (graph.getModuleInfo(id) === null) throw new Error(`${begins[at]} is gone: .setup/ways.mjs names it`);
  }
  const reached = new Set();
  while (todo.length > 0) {
    const id = todo.pop();
    if (reached.has(id)) continue;
    reached.add(id);
    todo.push(...importsOf(id, graph));
  }
  return reached;
}

/** The modules behind the names that one imports: an entrance (`index.ts`) stands for those files only whose names are used. */
function importsOf(id, graph) {
  const imported = graph.getModuleInfo(id)?.importedIds ?? [];
  if (!imported.some(isEntrance)) return imported;
  const used = namesFrom(id);
  return imported.flatMap((other) => (isEntrance(other) ? behind(other, used.get(other) ?? []) : [other]));
}

const isEntrance = (id) => /\/src\/.*\/index\.ts$/.test(id);

const behind = (entrance, names) =>
  [...namesFrom(entrance)]
    .filter(([, exported]) => exported.some((name) => names.includes(name)))
    .map(([file]) => file);

/** By file: the names that a source imports from it, or passes on from it; types are not among them. */
function namesFrom(id) {
  const text = readFileSync(id, 'utf8');
  const from = new Map();
  const add = (file, names) =>
    from.set(join(dirname(id), file), [...(from.get(join(dirname(id), file)) ?? []), ...names]);
  for (const [, names, file] of text.matchAll(/^(?:import|export) \{([^}]*)\} from '(\.[^']+)';$/gm)) {
    const values = names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '));
    add(
      file,
      values.map((name) => name.split(' as ')[0]),
    );
  }
  for (const [, space, file] of text.matchAll(/^import \* as (\w+) from '(\.[^']+)';$/gm))
    add(
      file,
      Array.from(text.matchAll(new RegExp(String.raw`\b${space}\.(\w+)`, 'g')), ([, name]) => name),
    );
  for (const [, file] of text.matchAll(/^export \* from '(\.[^']+)';$/gm))
    add(file, exportedBy(join(dirname(id), file)));
  return from;
}

const exportedBy = (id) =>
  Array.from(
    readFileSync(id, 'utf8').matchAll(/^export (?:async )?(?:const|function|class) (\w+)/gm),
    ([, name]) => name,
  );

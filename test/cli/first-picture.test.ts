import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');
/** What stays when types are taken away; an `import()` is not among it. */
const LOADS = /^(?:import|export) (?!type\b)(?:[^'";]*? from )?'([^']+)';/gm;

/** Everything that is loaded with `file`: own modules as paths below `src`, packages by name. */
function loadedWith(file: string, found = new Set<string>()): ReadonlySet<string> {
  found.add(relative(SRC, file));
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(LOADS)) {
    const own = join(dirname(file), name);
    if (!name.startsWith('.')) found.add(name);
    else if (existsSync(own) && !found.has(relative(SRC, own))) loadedWith(own, found);
  }
  return found;
}

test('the first picture waits for no engine, no sandbox, no shell grammar and no built-in analyst', () => {
  const loaded = [...loadedWith(join(SRC, 'cli/open-screen.ts'))];
  expect(loaded).toContain('ui/tui/shell/app.ts');
  expect(
    loaded.filter((name) =>
      /^(?:unbash$|engine\/|tools\/(?:sandbox|index|run-program)|models\/open|analyst\/|policy\/(?:decide|commands))/.test(
        name,
      ),
    ),
  ).toEqual([]);
});

/** What the bundler reads beforehand is what a start would read, and is used only for the very same text. */
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/settings/load.ts';
import { prepare } from '../../../src/config/settings/prepare.ts';
import { PREPARED, type Prepared } from '../../../src/config/files/parse-cache.ts';
import { loadTheme } from '../../../src/config/themes.ts';
import { PACKAGE, freshDirectory } from '../some-place.ts';

const folders = [path.join(PACKAGE, 'themes')];

const maps = (): readonly Map<string, unknown>[] => [PREPARED.layers, PREPARED.roles, PREPARED.themes];
const sizes = (): readonly number[] => maps().map(({ size }) => size);

function take(prepared: Prepared): void {
  for (const [key, layer] of prepared.layers) PREPARED.layers.set(key, layer);
  for (const [key, role] of prepared.roles) PREPARED.roles.set(key, role);
  for (const [key, theme] of prepared.themes) PREPARED.themes.set(key, theme);
}

afterEach(() => {
  for (const map of maps()) map.clear();
});

/** All that loading gives for a person without files. */
function loadedFrom(packageRoot: string): unknown {
  const home = freshDirectory();
  const result = loadConfig({ packageRoot, projectRoot: freshDirectory(), env: { HOME: home } });
  if (!result.ok) return result;
  const { places: _, staticConfig: __, ...rest } = result.value;
  return rest;
}

describe('what is prepared', () => {
  it('is empty in a checkout, where sources change', () => {
    expect(sizes()).toEqual([0, 0, 0]);
  });

  it('is plain JSON, as it is written into the bundle', () => {
    const { layers, roles, themes } = prepare(PACKAGE);
    const all = [...layers, ...roles, ...themes];
    expect(JSON.parse(JSON.stringify(all))).toStrictEqual(all);
  });

  it('gives the same configuration and themes as the files, to the last value', () => {
    const read = [loadedFrom(PACKAGE), loadTheme(folders, 'mimir-dark'), loadTheme(folders, 'mimir-light')];
    take(prepare(PACKAGE));
    const prepared = [loadedFrom(PACKAGE), loadTheme(folders, 'mimir-dark'), loadTheme(folders, 'mimir-light')];
    expect(prepared).toStrictEqual(read);
  });

  it('is used instead of reading: one file of settings, all roles, all themes', () => {
    take(prepare(PACKAGE));
    expect(sizes()).toEqual([1, 12, 6]);
    for (const [key, { role, notes }] of PREPARED.roles) {
      PREPARED.roles.set(key, { role: { ...role, description: 'prepared' }, notes });
    }
    const result = loadConfig({ packageRoot: PACKAGE, projectRoot: freshDirectory(), env: { HOME: freshDirectory() } });
    expect(result.ok && result.value.roles.map(({ description }) => description)).toEqual(
      Array.from({ length: 12 }, () => 'prepared'),
    );
  });

  it('is not used for a file that was changed since', () => {
    take(prepare(PACKAGE));
    const root = freshDirectory();
    cpSync(path.join(PACKAGE, '.mimir'), path.join(root, '.mimir'), { recursive: true });
    writeFileSync(path.join(root, '.mimir/agents/rush.md'), '---\ndescription: Changed.\n---\nOther words.\n');
    const result = loadConfig({ packageRoot: root, projectRoot: freshDirectory(), env: { HOME: freshDirectory() } });
    expect(result.ok && result.value.roles.find(({ name }) => name === 'rush')?.description).toBe('Changed.');
  });
});

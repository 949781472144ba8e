import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { packageRoot, packageVersion } from '../../../src/app/process/program.ts';
import { freshFolder } from '../../support/folder.ts';

const CHECKOUT = join(import.meta.dirname, '../../..');

describe("Mimir's own folder", () => {
  it('is the checkout when it runs from source', () => {
    expect(packageRoot()).toBe(CHECKOUT);
    expect(packageVersion()).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('is the installed package when it runs from the bundle, whatever package.json files lie around it', () => {
    const folder = freshFolder();
    const own = join(folder, 'node_modules/mimir');
    mkdirSync(join(own, 'dist/parts'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "name": "somebody" }');
    writeFileSync(join(own, 'package.json'), '{ "name": "mimir", "version": "9.8.7" }');
    writeFileSync(join(own, 'dist/package.json'), 'not even JSON');
    expect(packageRoot(pathToFileURL(join(own, 'dist/parts/main.js')).href)).toBe(own);
    expect(packageVersion(own)).toBe('9.8.7');
  });

  it('is missed in words when it is not there', () => {
    expect(() => packageRoot(pathToFileURL('/nowhere/dist/mimir.js').href)).toThrow(
      "Mimir's own files are missing above /nowhere/dist: install it again",
    );
  });
});

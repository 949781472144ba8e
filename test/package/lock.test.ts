/** The lock file names what every platform needs: newer versions of npm refuse one that does not. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string(), optionalDependencies: z.record(z.string(), z.string()).optional() }),
  ),
});

it('the lock names each optional package that another one names', () => {
  const { packages } = Lock.parse(
    JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8')),
  );
  const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        !Object.hasOwn(packages, `node_modules/${name}`) && !Object.hasOwn(packages, `${place}/node_modules/${name}`),
    ),
  );
  expect(missing).toEqual([]);
});

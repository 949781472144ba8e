import { globSync } from 'node:fs';
import { sep } from 'node:path';
import { defineConfig } from 'vitest/config';
import { SlowFoldersFirst } from './support/order.ts';

const root = new URL('..', import.meta.url).pathname;

const every = {
  root,
  setupFiles: ['test/support/every-case.ts'],
  testTimeout: 120_000,
  hookTimeout: 60_000,
};

/** Folders whose tests leave nothing behind in their process: it serves many files, and loads the sources once. */
const SHARED = ['analyst', 'config', 'domain', 'engine', 'events', 'models', 'policy', 'ui/tui'];
/** Those of them that start programs or are about the process itself. */
const ISOLATED = /^test\/(?:engine\/(?:task-isolation|workspaces\/)|policy\/commands\/|ui\/tui\/terminal\/)/;

const all = globSync('test/**/*.test.ts', { cwd: root }).map((file) => file.split(sep).join('/'));
const shared = all.filter(
  (file) => SHARED.some((folder) => file.startsWith(`test/${folder}/`)) && !ISOLATED.test(file),
);
const rest = all.filter((file) => !shared.includes(file));

export default defineConfig({
  root,
  test: {
    sequence: { sequencer: SlowFoldersFirst },
    // The count at the end of `.ci/run` comes from the report.
    reporters: ['default', ['json', { outputFile: 'node_modules/.vitest/report.json' }]],
    projects: [
      {
        root,
        test: {
          ...every,
          name: 'programs',
          include: rest,
          globalSetup: ['test/support/bundled.ts'],
          // Half of their time they wait for a terminal, a process or a pace: four keep two cores busy.
          maxWorkers: 4,
          // Real terminals and processes on a machine that others load: a second try, which the report names.
          retry: process.env['CI'] === 'true' ? 1 : 0,
        },
      },
      {
        root,
        test: {
          ...every,
          name: 'shared',
          include: shared,
          isolate: false,
          env: { MIMIR_TEST_SHARED: '1' },
          restoreMocks: true,
          unstubEnvs: true,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

import { defineConfig } from 'vitest/config';
import { SlowRoomsFirst } from './support/order.ts';

const root = new URL('..', import.meta.url).pathname;

const every = {
  root,
  setupFiles: ['test/support/every-case.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

/** Rooms whose tests leave nothing behind in their process: it serves many files, and loads the sources once. */
const SHARED = ['analyst', 'app', 'config', 'domain', 'engine', 'events', 'models', 'policy', 'tui'];
/** Those of them that start programs or are about the process itself. */
const NOT_SHARED = ['engine/task-isolation', 'policy/commands*', 'tui/term/*'];

const files = (names: readonly string[]): string[] => names.map((name) => `test/${name}.test.ts`);
const shared = files(SHARED.map((room) => `${room}/**/*`));
const notShared = files(NOT_SHARED);
/** All that aren't in `SHARED`: a room that is new is looked for here. */
const rest = files([`!(${SHARED.join('|')})/**/*`, '*']);

export default defineConfig({
  root,
  test: {
    sequence: { sequencer: SlowRoomsFirst },
    // The count at the end of `.ci/run` comes from the report.
    reporters: ['default', ['json', { outputFile: 'node_modules/.vitest/report.json' }]],
    projects: [
      {
        root,
        test: {
          ...every,
          name: 'programs',
          include: [...rest, ...notShared],
          globalSetup: ['test/support/bundled.ts'],
          // Half of their time they wait for a terminal, a process or a pace: four keep two cores busy.
          maxWorkers: 4,
        },
      },
      {
        root,
        test: {
          ...every,
          name: 'rooms',
          include: shared,
          exclude: notShared,
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

import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    globalSetup: ['test/support/bundled.ts'],
    setupFiles: ['test/support/every-case.ts'],
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores: more workers only make the terminals of the journeys wait for each other.
    maxWorkers: 2,
    // The count at the end of `.ci/run` comes from the report.
    reporters: ['default', ['json', { outputFile: 'node_modules/.vitest/report.json' }]],
  },
});

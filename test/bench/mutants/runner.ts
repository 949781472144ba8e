/** The process that runs tests for `trial.ts`: one Vitest for many faults, which reads again only what was changed. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BaseSequencer, createVitest, type TestCase, type TestSpecification } from 'vitest/node';
import { z } from 'zod';

const Asked = z.strictObject({
  /** Files below the working folder. */
  tests: z.array(z.string()),
  /** Changed since the last time. */
  changed: z.array(z.string()),
  /** Ends with the first test that fails. */
  bail: z.boolean(),
  /** Records which functions each test file calls. */
  records: z.boolean(),
});
/** What is asked of it, one at a time. */
export type Asked = z.infer<typeof Asked>;

export const Answer = z.strictObject({
  failed: z.array(z.string()),
  /** Nothing failed but tests that did not come to an end. */
  late: z.boolean(),
  /** Milliseconds of each test file. */
  took: z.record(z.string(), z.number()),
});
export type Answer = z.infer<typeof Answer>;

/** Milliseconds that one test may take: many times what any takes, for a busy machine. */
const HANGS = 60_000;

/** As they were asked for: the first are those that notice most. */
class AsAsked extends BaseSequencer {
  override sort = (files: TestSpecification[]): Promise<TestSpecification[]> => Promise.resolve(files);
}

const messagesOf = (test: TestCase): readonly string[] => (test.result().errors ?? []).map(({ message }) => message);

if (process.send !== undefined) {
  const root = process.cwd();
  const vitest = await createVitest('test', {
    config: 'test/vitest.config.ts',
    watch: false,
    reporters: [],
    testTimeout: HANGS,
    maxWorkers: 1,
    sequence: { sequencer: AsAsked },
  });
  await vitest.standalone();
  const specifications = await vitest.globTestSpecifications();
  const usual = vitest.projects.map(({ config }) => config.setupFiles);
  const recording = fileURLToPath(import.meta.resolve('./calls.ts'));
  process.on('message', (message) => void run(Asked.parse(message)));
  process.on('disconnect', () => process.exit());
  process.send({ failed: [], late: false, took: {} });

  async function run({ tests, changed, bail, records }: Asked): Promise<void> {
    for (const file of changed) vitest.invalidateFile(`${root}/${file}`);
    vitest.projects.forEach(({ config }, index) => {
      config.bail = bail ? 1 : 0;
      config.setupFiles = [...(usual[index] ?? []), ...(records ? [recording] : [])];
    });
    const chosen = tests.flatMap((test) => specifications.filter(({ moduleId }) => relative(root, moduleId) === test));
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(chosen);
    // Those of the runs before are among the modules.
    const ran = testModules
      .map((module) => ({ module, test: relative(root, module.moduleId) }))
      .filter(({ test }) => tests.includes(test));
    const failed = ran.filter(({ module }) => !module.ok()).map(({ test }) => test);
    const took = Object.fromEntries(ran.map(({ module, test }) => [test, module.diagnostic().duration]));
    const errors = [
      ...unhandledErrors.map((error) => (error instanceof Error ? error.message : '')),
      ...ran.flatMap(({ module }) => [...module.children.allTests('failed')].flatMap(messagesOf)),
    ];
    const answer: Answer = {
      failed: unhandledErrors.length > 0 && failed.length === 0 ? tests : failed,
      late: errors.length > 0 && errors.every((message) => message.includes('timed out in')),
      took,
    };
    process.send?.(answer);
  }
}

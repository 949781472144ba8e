/** The process that runs tests for `trial.ts`: one Vitest for many faults, which reads again only what was changed. */
import { relative } from 'node:path';
import { BaseSequencer, createVitest, type TestSpecification } from 'vitest/node';
import { z } from 'zod';

const Asked = z.strictObject({
  /** Files below the working folder. */
  tests: z.array(z.string()),
  /** Changed since the last time. */
  changed: z.array(z.string()),
  /** Ends with the first test that fails. */
  bail: z.boolean(),
});
/** What is asked of it, one at a time. */
export type Asked = z.infer<typeof Asked>;

export const Answer = z.strictObject({ failed: z.array(z.string()) });

/** A test that is slow on a busy machine has noticed nothing: who waits for the answer has a limit. */
const NEVER = 3_600_000;

/** As they were asked for: the first are those that notice most. */
class AsAsked extends BaseSequencer {
  override sort = (files: TestSpecification[]): Promise<TestSpecification[]> => Promise.resolve(files);
}

if (process.send !== undefined) {
  const root = process.cwd();
  const vitest = await createVitest('test', {
    config: 'test/vitest.config.ts',
    watch: false,
    reporters: [],
    testTimeout: NEVER,
    maxWorkers: 1,
    sequence: { sequencer: AsAsked },
  });
  await vitest.standalone();
  const specifications = await vitest.globTestSpecifications();
  process.on('message', (message) => void run(Asked.parse(message)));
  process.on('disconnect', () => process.exit());
  process.send({ failed: [] });

  async function run({ tests, changed, bail }: Asked): Promise<void> {
    for (const file of changed) vitest.invalidateFile(`${root}/${file}`);
    for (const { config } of vitest.projects) config.bail = bail ? 1 : 0;
    const chosen = tests.flatMap((test) => specifications.filter(({ moduleId }) => relative(root, moduleId) === test));
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(chosen);
    // Those of the runs before are among the modules.
    const failed = testModules
      .filter((module) => !module.ok())
      .map(({ moduleId }) => relative(root, moduleId))
      .filter((file) => tests.includes(file));
    process.send?.({ failed: unhandledErrors.length > 0 && failed.length === 0 ? tests : failed });
  }
}

/** In which order test files start: folders with long ones first, so that the end is not one long file that all others wait for. */
import { relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The longest files, which mostly wait; then folders by how long their files take; all others come after. */
const LONG = [
  'journeys/cluster.test.ts',
  'journeys/run-elsewhere.test.ts',
  'distributed/steps.test.ts',
  'tools/trees/workspaces.test.ts',
  'security/n-kill.test.ts',
  'conformance',
  'app/publish',
  'journeys',
  'security',
  'distributed',
  'engine/workspaces',
  'golden',
  'package',
  'cli',
  'app',
  'ui/lines',
  'tools',
  'store',
];
const TESTS = new URL('..', import.meta.url).pathname;

export class SlowFoldersFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const file = relative(TESTS, moduleId).split(sep).join('/');
  const rank = LONG.findIndex((one) => file === one || file.startsWith(`${one}/`));
  return rank === -1 ? LONG.length : rank;
}

/** In which order test files start: folders with long ones first, so that the end is not one long file that all others wait for. */
import { relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders by how long their files take; all others come after. */
const LONG = ['journeys', 'conformance', 'security', 'golden', 'package', 'cli', 'app', 'ui/lines', 'tools', 'store'];
const TESTS = new URL('..', import.meta.url).pathname;

export class SlowFoldersFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const file = relative(TESTS, moduleId).split(sep).join('/');
  const rank = LONG.findIndex((folder) => file.startsWith(`${folder}/`));
  return rank === -1 ? LONG.length : rank;
}

/** In which order test files start: rooms with long ones first, so that the end is not one long file that all others wait for. */
import { relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Rooms by how long their files take; all others come after. */
const LONG = ['journeys', 'security', 'golden', 'package', 'verbs', 'tools', 'store'];
const TESTS = new URL('..', import.meta.url).pathname;

export class SlowRoomsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONG.indexOf(relative(TESTS, moduleId).split(sep)[0] ?? '');
  return rank === -1 ? LONG.length : rank;
}

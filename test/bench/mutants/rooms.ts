/** Which tests a room's faults are shown to. */
import { globSync } from 'node:fs';
import { join } from 'node:path';

export interface Room {
  readonly name: string;
  /** Globs below the checkout. */
  readonly sources: readonly string[];
  /** Test files and folders below the checkout. */
  readonly tests: readonly string[];
}

export const ROOMS: readonly Room[] = [
  { name: 'policy', sources: ['src/policy/**/*.ts'], tests: ['test/policy', 'test/security/d-*.test.ts'] },
  {
    name: 'engine',
    sources: ['src/engine/gate/**/*.ts', 'src/engine/agents/{scheduler,slots,agent-loop}.ts'],
    tests: ['test/engine'],
  },
  { name: 'store', sources: ['src/store/*.ts'], tests: ['test/store'] },
  {
    name: 'redaction',
    sources: ['src/domain/text/redact.ts', 'src/models/http/fault.ts'],
    tests: ['test/engine/gate/redaction.test.ts', 'test/domain/text', 'test/models/http'],
  },
  {
    name: 'secrets',
    sources: ['src/app/workspace/secrets.ts', 'src/cli/crash-report.ts'],
    tests: ['test/app/workspace/secrets.test.ts', 'test/cli/crash-report.test.ts'],
  },
];

/** Files of which a sample takes thrice as many: what they decide is done without anyone looking again. */
const CLOSER = /\/(?:permit|decide|reserve|use|call|agent-loop|scheduler|recorder|redact)\.ts$/;

/** How many times the least number of mutants a sample has of this file. */
export const weightOf = (source: string): number => (CLOSER.test(source) ? 3 : 1);

export const sourcesOf = ({ sources }: Room, root: string): readonly string[] =>
  sources.flatMap((pattern) => globSync(pattern, { cwd: root })).toSorted();

/** All test files of the room. */
export const testsOf = ({ tests }: Room, root: string): readonly string[] =>
  tests.flatMap((test) => globSync(test.endsWith('.ts') ? test : join(test, '**/*.test.ts'), { cwd: root })).toSorted();

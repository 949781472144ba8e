/** Which tests a room's faults are shown to. */
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface Room {
  readonly name: string;
  /** Globs below the checkout. */
  readonly sources: readonly string[];
  /** Test files and folders below the checkout. */
  readonly tests: readonly string[];
}

export const ROOMS: readonly Room[] = [
  { name: 'policy', sources: ['src/policy/*.ts'], tests: ['test/policy'] },
  {
    name: 'engine',
    sources: ['src/engine/gate*.ts', 'src/engine/scheduler.ts', 'src/engine/agent-loop.ts'],
    tests: ['test/engine'],
  },
  { name: 'store', sources: ['src/store/*.ts'], tests: ['test/store'] },
  {
    name: 'redaction',
    sources: ['src/engine/redaction.ts', 'src/models/redact.ts'],
    tests: ['test/engine/redaction.test.ts', 'test/models'],
  },
];

export const sourcesOf = ({ sources }: Room, root: string): readonly string[] =>
  sources.flatMap((pattern) => globSync(pattern, { cwd: root })).toSorted();

const wordsOf = (file: string): readonly string[] => basename(file).replace(/\..*/, '').split('-');

/** Those of its tests that are named after the source, which notice most and soon: all of the room where there are none. */
export function nearTests(room: Room, source: string, root: string): readonly string[] {
  const words = wordsOf(source);
  const near = room.tests
    .flatMap((test) => globSync(test.endsWith('.ts') ? test : join(test, '*.test.ts'), { cwd: root }))
    .filter((file) => {
      const own = wordsOf(file);
      return own[0] === words[1] || own.every((word) => words.includes(word));
    });
  return near.length === 0 ? room.tests : near.toSorted();
}

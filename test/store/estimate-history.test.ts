/** What was learned of estimates: kept beside the log, and never in its way. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentId, ModelId, RoleName, SessionId } from '../../src/domain/ids.ts';
import { keepLessons, type Lesson, lessonsOf } from '../../src/store/estimate-history.ts';
import { openLog } from '../../src/store/log.ts';
import { databaseOf } from '../../src/store/database.ts';
import { freshFolder, openFilesIn } from '../support/folder.ts';

const lesson = (run: string, agent: string, tokens: number, more: Partial<Lesson> = {}): Lesson => ({
  run,
  agent: AgentId.parse(agent),
  role: RoleName.parse('finder'),
  model: ModelId.parse('anthropic/haiku-4.5'),
  tokens,
  seconds: 1.5,
  cost: null,
  ...more,
});

function place(): Parameters<typeof lessonsOf>[0] {
  const home = freshFolder();
  mkdirSync(join(home, 'shop'));
  return { stateDir: join(home, 'state'), project: join(home, 'shop') };
}

describe('what was learned', () => {
  it('is nothing where there is no log yet, and is kept in the log’s own database', () => {
    const at = place();
    expect([lessonsOf(at), keepLessons(at, [lesson('a', 'ROOT::S1', 1)])]).toEqual([[], false]);
    const log = openLog(at);
    expect(lessonsOf(at)).toEqual([]);
    expect(keepLessons(at, [lesson('a', 'ROOT::S1', 1.25, { cost: 0.5 }), lesson('a', 'ROOT::S2', 2)])).toBe(true);
    log.close();
    const { agent: _one, ...first } = lesson('a', 'ROOT::S1', 1.25, { cost: 0.5 });
    const { agent: _two, ...second } = lesson('a', 'ROOT::S2', 2);
    expect(lessonsOf(at)).toEqual([first, second]);
  });

  it('makes no database, and leaves none open', () => {
    const at = place();
    mkdirSync(dirname(databaseOf(at)), { recursive: true });
    expect(keepLessons(at, [lesson('a', 'ROOT::S1', 1)])).toBe(false);
    expect(keepLessons(at, [])).toBe(true);
    expect(readdirSync(dirname(databaseOf(at)))).toEqual([]);
    openLog(at).close();
    expect(keepLessons(at, [lesson('a', 'ROOT::S1', 1)])).toBe(true);
    expect(lessonsOf(at)).toHaveLength(1);
    expect(openFilesIn(at.stateDir)).toEqual([]);
  });

  it('is taught once by an agent, however often its run goes on', () => {
    const at = place();
    openLog(at).close();
    keepLessons(at, [lesson('a', 'ROOT::S1', 1)]);
    keepLessons(at, [lesson('a', 'ROOT::S1', 3), lesson('b', 'ROOT::S1', 4)]);
    expect(lessonsOf(at).map(({ run, tokens }) => [run, tokens])).toEqual([
      ['a', 3],
      ['b', 4],
    ]);
  });

  it('is nothing of figures that are none, which keep no others out', () => {
    const at = place();
    openLog(at).close();
    const odd = [Number.NaN, Number.POSITIVE_INFINITY, 0, -1].map((tokens, index) =>
      lesson(`odd-${index}`, 'ROOT::S1', tokens),
    );
    expect(
      keepLessons(at, [
        ...odd,
        lesson('odd', 'ROOT::S1', 1, { cost: Number.NaN }),
        lesson('free', 'ROOT::S1', 1, { cost: 0 }),
        lesson('a', 'ROOT::S1', 2),
      ]),
    ).toBe(true);
    expect(lessonsOf(at).map(({ run, tokens }) => [run, tokens])).toEqual([['a', 2]]);
  });

  it('is the newest 2000', () => {
    const at = place();
    openLog(at).close();
    keepLessons(
      at,
      Array.from({ length: 2100 }, (_, index) => lesson(`run-${index}`, 'ROOT::S1', index + 1)),
    );
    const kept = lessonsOf(at);
    expect([kept.length, kept[0]?.run, kept.at(-1)?.run]).toEqual([2000, 'run-100', 'run-2099']);
  });

  it('leaves out rows that another version wrote otherwise', () => {
    const at = place();
    openLog(at).close();
    keepLessons(at, [lesson('a', 'ROOT::S1', 1)]);
    const database = new DatabaseSync(databaseOf(at));
    database.exec(
      "INSERT INTO learned VALUES ('b', 'x', 'no role!', 'm', 1, 1, 1), ('c', 'x', 'finder', 'p/m', -1, 1, 1)",
    );
    database.close();
    expect(lessonsOf(at).map(({ run }) => run)).toEqual(['a']);
  });

  it('is without a cost where the one in the row is none', () => {
    const at = place();
    openLog(at).close();
    keepLessons(at, [lesson('a', 'ROOT::S1', 1, { cost: 2 })]);
    const database = new DatabaseSync(databaseOf(at));
    database.exec(
      "INSERT INTO learned VALUES ('b', 'x', 'finder', 'p/m', 1, 1, -1), ('c', 'x', 'finder', 'p/m', 1, 1, 0)",
    );
    database.close();
    expect(lessonsOf(at).map(({ run, cost }) => [run, cost])).toEqual([
      ['a', 2],
      ['b', null],
      ['c', null],
    ]);
  });

  it('is done without where the database is broken or held by another, and nothing is thrown', () => {
    const broken = place();
    openLog(broken).close();
    writeFileSync(databaseOf(broken), 'no database at all'.repeat(500));
    expect([lessonsOf(broken), keepLessons(broken, [lesson('a', 'ROOT::S1', 1)])]).toEqual([[], false]);
    const held = place();
    const log = openLog(held);
    const other = new DatabaseSync(databaseOf(held));
    other.exec('BEGIN IMMEDIATE');
    expect(keepLessons(held, [lesson('a', 'ROOT::S1', 1)])).toBe(false);
    other.exec('ROLLBACK');
    other.close();
    expect(log.sessions()).toEqual([]);
    expect(log.claim(SessionId.parse('abcd')).ok).toBe(true);
    log.close();
  });
});

/** Who may have steps carried out: every worker can write to the database, so only what a person has signed runs. */
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openCluster, publicKeyOf } from '../../src/distributed/index.ts';
import { isSigned, type Step, signed } from '../../src/distributed/step.ts';
import { needs } from '../support/needs.ts';
import { type Bench, NO_LOG, openBench } from './scripted.ts';

const key = (): ReturnType<typeof generateKeyPairSync>['privateKey'] => generateKeyPairSync('ed25519').privateKey;
const STEP: Step = {
  id: 'one',
  name: 'tool bash',
  repeat: 'never',
  body: '{"command":"ls"}',
  parts: ['a'],
  tree: { chain: 'c', n: 1, commit: 'f' },
  live: false,
};

describe('the signature of a step', () => {
  it('holds for the step and the run that was signed', () => {
    expect(isSigned(signed(STEP, 'run', key()), 'run')).toBe(true);
  });

  it.each<[what: string, change: Partial<Step>]>([
    ['id', { id: 'two' }],
    ['name', { name: 'tool read_file' }],
    ['way of repeating', { repeat: 'safe' }],
    ['body', { body: '{"command":"rm -r ."}' }],
    ['parts', { parts: ['b'] }],
    ['state of the tree', { tree: { chain: 'c', n: 2, commit: 'f' } }],
    ['being watched', { live: true }],
  ])('does not hold with another %s', (_, change) => {
    expect(isSigned({ ...signed(STEP, 'run', key()), ...change }, 'run')).toBe(false);
  });

  it('does not hold in another run, by another key, or where it is no signature', () => {
    const step = signed(STEP, 'run', key());
    expect(isSigned(step, 'other')).toBe(false);
    expect(isSigned({ ...step, key: publicKeyOf(key()) }, 'run')).toBe(false);
    expect(isSigned({ ...step, key: 'none', signature: '' }, 'run')).toBe(false);
  });
});

describe('a worker', () => {
  needs('postgres');
  let open: Bench | null = null;
  afterEach(() => open?.end());

  it('carries out nothing for another person in a run that one has begun', async () => {
    const at = (open = await openBench());
    await at.worker('a');
    await at.db.run(`update mimir.run set key = 'that of another person'`);
    expect(await at.step('one', '1')).toBe('refused');
    expect(at.lines()).toEqual([]);
  });

  it('is not asked by somebody who begins a run of the same name', async () => {
    const at = (open = await openBench());
    const trouble = (): void => undefined;
    const other = {
      db: at.db,
      pool: 'default',
      version: '1',
      run: 'run',
      process: 'q',
      host: 'here',
      place: 'here',
      key: key(),
      trouble,
      log: NO_LOG,
    };
    await at.db.run(`insert into mimir.result (step, run, body) values ('of the first', 'run', '{}')`);
    await expect(openCluster(other)).rejects.toThrow('another person has begun a run of this name');
    const left = 'select run from mimir.run union all select run from mimir.result';
    expect(await at.db.rows(z.object({ run: z.string() }), left)).toEqual([{ run: 'run' }, { run: 'run' }]);
  });

  it('carries out steps only of the people whom its configuration names, where it names any', async () => {
    const at = (open = await openBench());
    await at.worker('a', { people: [publicKeyOf(key())] });
    expect(await at.step('one', '1')).toBe('refused');
    expect(at.lines()).toEqual([]);
  });
});

/** Turns: what is to run alone waits for all before it, and what comes later waits for it. */
import { expect, it } from 'vitest';
import { turns } from '../../src/domain/serial-queue.ts';

it('runs what is alone after all before it, and the rest beside each other', async () => {
  const inTurn = turns();
  const log: string[] = [];
  const doors = new Map<string, () => void>();
  const act = (name: string) => async (): Promise<string> => {
    log.push(`${name} begins`);
    await new Promise<void>((done) => doors.set(name, done));
    log.push(`${name} ends`);
    return name;
  };
  const passed = async (name: string): Promise<void> => {
    while (!doors.has(name)) await Promise.resolve();
    doors.get(name)?.();
  };
  const all = [
    inTurn(false, act('one')),
    inTurn(false, act('two')),
    inTurn(true, act('alone')),
    inTurn(false, act('three')),
  ];
  for (const name of ['two', 'one', 'alone', 'three']) await passed(name);
  expect(await Promise.all(all)).toEqual(['one', 'two', 'alone', 'three']);
  expect(log).toEqual([
    'one begins',
    'two begins',
    'two ends',
    'one ends',
    'alone begins',
    'alone ends',
    'three begins',
    'three ends',
  ]);
});

it('goes on after what has failed', async () => {
  const inTurn = turns();
  const failed = inTurn(true, () => Promise.reject(new Error('no')));
  const next = inTurn(true, () => Promise.resolve('next'));
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('next');
});

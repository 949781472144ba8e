/** What the rules of a run say of paths, as a worker gets it. */
import { expect, it } from 'vitest';
import { closedIn } from '../../../src/app/cluster/body.ts';
import { placesOf } from '../../../src/config/index.ts';
import { builtIn } from '../../../src/policy/index.ts';

const project = { root: '/home/ann/work', places: placesOf({ HOME: '/home/ann' }, '/home/ann') };
const from = builtIn('a rule');
const rules = (...paths: readonly string[]) => paths.map((value) => ({ value, from }));
const WRITTEN = ['src', './lib/../etc', '/home/ann/work/a b', '~/work/own', '/home/ann/works', '~/.ssh', '/etc', '..x'];
const NAMED = ['src', 'etc', 'a b', 'own', '..x'];
const ABOVE = ['/', '~', '/home/ann/work', '.', '..'];

it('names paths in the project by their names in it, and leaves out those beside it', () => {
  expect(
    closedIn(project, {
      denyRead: rules(...WRITTEN),
      denyWrite: rules(...WRITTEN),
      allowWrite: [
        { value: WRITTEN, from },
        { value: ['/etc'], from },
      ],
      passthrough: [],
    }),
  ).toEqual({
    denyRead: rules(...NAMED),
    denyWrite: rules(...NAMED),
    allowWrite: [
      { value: NAMED, from },
      { value: [], from },
    ],
  });
});

it.each(ABOVE)('means the whole project where %s is opened or may not be written, and does not hide it', (written) => {
  const given = { denyRead: rules(written), denyWrite: rules(written), allowWrite: [{ value: [written], from }] };
  expect(closedIn(project, { ...given, passthrough: [] })).toEqual({
    denyRead: [],
    denyWrite: rules('.'),
    allowWrite: [{ value: ['.'], from }],
  });
});

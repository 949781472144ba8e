/** Takes back what an answer allowed for the session. */
import type { Action } from './action.ts';

export const withdrawGrant: Action<{ readonly grant: string }> = {
  name: 'Withdraw grant',
  help: 'List what your answers allow for this session, and withdraw it.',
  keys: ['ctrl-g'],
  word: 'grants',
  whyNot({ finished, grants }) {
    if (finished !== null) return 'the run has ended';
    return grants.length === 0 ? 'nothing is allowed for this session' : null;
  },
  command: (_, { grant }) => ({ do: 'withdraw grant', grant }),
};

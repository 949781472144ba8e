/** Answers questions of agents and withdraws grants for the session. */
import type { Command } from '../../ports/controls.ts';
import type { Question } from '../views/index.ts';
import { type Action, ENDED, type Interaction, rowOf } from './action.ts';

export const answerQuestion: Interaction & { readonly none: string } = {
  ...rowOf('app.answer'),
  none: 'No open questions.',
};

export type Answer = Pick<Extract<Command, { readonly do: 'answer' }>, 'allow' | 'scope' | 'text'>;

/** The commands that give one answer to every asker of a question who was shown. An approval for the session is sent
 * once, since the run then approves equal questions; file changes are approved for each agent separately. */
export function answerCommands({ first }: Question, shown: readonly string[], answer: Answer): readonly Command[] {
  const isShared = answer.scope !== 'once' && first.request.action !== 'write';
  return (isShared ? shown.slice(0, 1) : shown).map((approval) => ({ do: 'answer', approval, ...answer }));
}

export const withdrawGrant: Action<{ readonly grant: string }> = {
  ...rowOf('run.grants'),
  whyNot({ finished, grants }) {
    if (finished !== null) return ENDED;
    return grants.length === 0 ? 'No session grants.' : null;
  },
  command: (_, { grant }) => ({ do: 'withdraw grant', grant }),
};

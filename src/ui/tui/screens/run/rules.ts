/** Keys of the run screen about the rules: the pin of an agent, and reviews that a person starts. */
import type { ForcedNode } from '../../../../domain/agents/mandatory-review.ts';
import { ROOT } from '../../../../domain/ids.ts';
import { isFinal } from '../../../../events/queries.ts';
import type { Binding, Context, Effect } from '../../shell/screen.ts';
import { selectedOf } from './state.ts';
import type { RunUi } from './state.ts';

export const RULE_KEYS: readonly Binding<RunUi>[] = [
  {
    keys: ['P'],
    action: 'run.pin',
    hint: '',
    help: 'Hold the selected agent, and all below it, to a stricter mode than the run; or take that back.',
    whyNot: whyNotPin,
    run: (ui, context) => {
      const agent = selectedOf(ui, context);
      return agent ? { dialog: { is: 'mode', agent: agent.id } } : {};
    },
  },
  {
    keys: ['V'],
    action: 'run.review',
    hint: '',
    help: 'Start a review that the rules leave to you, of all that changed in this run.',
    whyNot: whyNotReview,
    run: (_, context) => review(context),
  },
];

function whyNotPin(ui: RunUi, context: Context): string | null {
  if (context.state.finished) return 'The run has ended.';
  const agent = selectedOf(ui, context);
  if (agent === undefined) return 'There is no agent yet.';
  if (agent.id === ROOT) return 'Main has the mode of the run: Shift-Tab changes it.';
  return isFinal(agent) ? `${agent.name} has ended already.` : null;
}

const byHand = ({ state }: Context): readonly ForcedNode[] =>
  (state.plan?.forced ?? []).filter(({ triggers }) => triggers.includes('manual'));

function whyNotReview(_: RunUi, context: Context): string | null {
  if (context.state.finished) return 'The run has ended.';
  return byHand(context).length === 0 ? 'The rules here leave no review to you.' : null;
}

/** The only one at once; of several the person chooses. */
function review(context: Context): Effect<RunUi> {
  const forced = byHand(context);
  const [first, second] = forced;
  if (first === undefined) return {};
  if (second === undefined) return { commands: [{ do: 'review', role: first.role }] };
  return {
    dialog: {
      is: 'pick',
      title: 'Which review?',
      choices: forced.map(({ role, because }) => ({ value: role, label: role, note: because, whyNot: null })),
      value: first.role,
      then(value) {
        const chosen = forced.find(({ role }) => role === value);
        return chosen === undefined ? {} : { commands: [{ do: 'review', role: chosen.role }] };
      },
    },
  };
}

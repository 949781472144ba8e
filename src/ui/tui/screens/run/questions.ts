/** What the run screen asks before it stops something. */
import { withdrawGrant } from '../../../../app/actions/withdraw-grant.ts';
import { grantText } from '../../../../app/views/questions/answers.ts';
import type { AgentState, RunState } from '../../../../events/state.ts';
import type { DialogEffect } from '../../shell/overlays/dialog.ts';
import { counted } from '../../../../app/views/text/format.ts';
import { span } from '../../../../app/views/text/clip.ts';

/** Before one agent, and those below it, is stopped for good. */
export function killQuestion(agent: AgentState): DialogEffect {
  const below = agent.children.length;
  const whom = below === 0 ? agent.name : `${agent.name} and the ${counted(below, 'agent')} below it`;
  return {
    dialog: {
      is: 'confirm',
      title: `Kill ${agent.name}?`,
      lines: [
        [span(`${whom} will be stopped for good: no resume, only a retry.`, { fg: 'fg' })],
        [span('What it did so far stays in the log; files that it changed stay changed.', { fg: 'muted' })],
      ],
      yes: 'kill',
      no: 'keep it running',
      word: '',
      then: () => ({ commands: [{ do: 'kill', agent: agent.id }] }),
    },
  };
}

/** Before the whole run is stopped: it takes a word. */
export function stopQuestion(): DialogEffect {
  return {
    dialog: {
      is: 'confirm',
      title: 'Stop all agents?',
      lines: [
        [span('Every agent is stopped and the run ends.', { fg: 'fg' })],
        [span('Its state is kept: mimir resume goes on from the last recorded turn.', { fg: 'muted' })],
      ],
      yes: 'stop the run',
      no: 'keep it running',
      word: 'kill',
      then: () => ({ commands: [{ do: 'stop run', reason: 'stopped by the person' }] }),
    },
  };
}

/** What answers allow for the session; the chosen one is withdrawn. */
export const grantsQuestion = (state: RunState): DialogEffect => ({
  dialog: {
    is: 'pick',
    title: 'Allowed for this session: Enter withdraws it',
    choices: state.grants.map((grant) => ({
      value: grant.id,
      label: grantText(grant),
      note: `answered to ${state.agents.get(grant.agent)?.name ?? grant.agent}`,
      whyNot: null,
    })),
    value: '',
    then: (grant) => ({ commands: [withdrawGrant.command(state, { grant })] }),
  },
});

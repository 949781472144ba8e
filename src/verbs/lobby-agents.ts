/** Custom agents in a session: what there is, and making and deleting them; the next run has the configuration as it is then. */
import type { Loaded } from '../config/load.ts';
import type { Result } from '../domain/result.ts';
import { fail, ok } from '../domain/result.ts';
import type { Receipt, Refusal } from '../ports/controls.ts';
import type { Lobby, LobbyInfo } from '../ports/lobby.ts';
import { agentsHere } from './agents-here.ts';
import type { Workshop } from './workshop.ts';

type Of = Pick<Workshop, 'project' | 'config'>;

const known = new WeakMap<Loaded, NonNullable<LobbyInfo['agents']>>();

/** Looked at once for each configuration: a screen asks at every picture. */
export function agentsIn({ project, config }: Of): NonNullable<LobbyInfo['agents']> {
  const before = known.get(config);
  if (before !== undefined) return before;
  const found = agentsHere(project, config);
  known.set(config, found);
  return found;
}

type Renewed = { readonly ok: true } | { readonly ok: false; readonly fault: Refusal };

/** `renew` opens the workshop anew. What was done stands, also where the configuration can't be used with it. */
export const agentsOf = (
  workshop: () => Of,
  renew: () => Promise<Renewed>,
): Pick<Lobby, 'createAgent' | 'deleteAgent'> => ({
  async createAgent(wish) {
    const { createAgent } = await import('./keep-agent.ts');
    return renewed(createAgent(workshop().project, workshop().config, wish), renew);
  },
  async deleteAgent(name) {
    const { deleteAgent } = await import('./keep-agent.ts');
    return renewed(deleteAgent(workshop().project, workshop().config, name), renew);
  },
});

async function renewed(
  done: Result<Receipt, Refusal>,
  renew: () => Promise<Renewed>,
): Promise<Result<Receipt, Refusal>> {
  if (!done.ok) return done;
  const next = await renew();
  if (next.ok) return ok({ text: done.value.text });
  return fail({ text: `${done.value.text} But this session goes on without it: ${next.fault.text}` });
}

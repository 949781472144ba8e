/** Custom agents in a session: what there is, and making and deleting them; the next run has the configuration as it is then. */
import { agentNameProblem } from '../../config/roles/agent-files.ts';
import type { Loaded } from '../../config/settings/load.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import type { Receipt, Refusal } from '../../ports/controls.ts';
import type { AgentProposal, Lobby, LobbyInfo } from '../../ports/project-service.ts';
import { agentsHere } from './list.ts';
import type { Workshop } from '../project/open-project.ts';

type Of = Pick<Workshop, 'project' | 'config'>;
type Drafts = Pick<Workshop, 'project' | 'config' | 'drafting'>;

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
  workshop: () => Drafts,
  renew: () => Promise<Renewed>,
  under: Set<Promise<unknown>>,
  leaving: AbortSignal,
): Required<Pick<Lobby, 'createAgent' | 'deleteAgent' | 'draftAgent'>> => ({
  async draftAgent(sentence, how) {
    const drafting = proposed(workshop(), sentence, { ...how, signal: AbortSignal.any([how.signal, leaving]) });
    under.add(drafting);
    try {
      return await drafting;
    } finally {
      under.delete(drafting);
    }
  },
  async createAgent(wish) {
    const { createAgent } = await import('./keep.ts');
    return renewed(createAgent(workshop().project, workshop().config, wish), renew);
  },
  async deleteAgent(name) {
    const { deleteAgent } = await import('./keep.ts');
    return renewed(deleteAgent(workshop().project, workshop().config, name), renew);
  },
});

/** As the session was opened: `--model` of its start counts. */
async function proposed(
  { project, config, drafting }: Drafts,
  sentence: string,
  { model, signal, ...told }: Parameters<NonNullable<Lobby['draftAgent']>>[1],
): Promise<AgentProposal> {
  const [{ madeDraft, askingWords, draftedWords }, { namesHere }] = await Promise.all([
    import('./draft.ts'),
    import('./keep.ts'),
  ]);
  const others = namesHere(project, config);
  const made = await madeDraft(async () => (model ? ok(drafting) : fail('--no-model')), {
    sentence,
    isTaken: (name) => agentNameProblem(name, others) !== null,
    signal,
    asking: (one) => told.asking(askingWords(one)),
  });
  return { draft: made.draft, said: draftedWords(made) };
}

async function renewed(
  done: Result<Receipt, Refusal>,
  renew: () => Promise<Renewed>,
): Promise<Result<Receipt, Refusal>> {
  if (!done.ok) return done;
  const next = await renew();
  if (next.ok) return ok({ text: done.value.text });
  return fail({ text: `${done.value.text} But this session goes on without it: ${next.fault.text}` });
}

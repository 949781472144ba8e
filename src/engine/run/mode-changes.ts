/** What another mode changes for the agents of a run, in words: which kinds of acts run, ask or are denied from then on. */
import { ROOT } from '../../domain/ids.ts';
import type { Mode } from '../../domain/mode.ts';
import type { Capability } from '../../domain/agents/role.ts';
import { isFinal } from '../../events/queries.ts';
import type { AgentState } from '../../events/state.ts';
import { type Action, decide } from '../../policy/decide.ts';
import { roleNamed } from '../../policy/roles.ts';
import type { Decision } from '../../policy/rules.ts';
import type { ModeOf } from '../gate/tools/approvals.ts';
import type { RunParts } from './parts.ts';
import { permissionsFor } from '../planning/permissions.ts';

type Kind = 'turn' | Capability;

/** In the order in which they matter; with words for their subject. */
const KINDS: readonly (readonly [kind: Kind, subject: string])[] = [
  ['turn', 'model turns'],
  ['read', 'reading and searching'],
  ['git-read', 'looks at git'],
  ['write', 'writes'],
  ['shell', 'commands'],
  ['git-write', 'commits'],
  ['spawn', 'starts of more agents'],
];

/** A line for each kind of act that is judged in another way, with how many agents it is for. */
export function changesOf(parts: RunParts, before: ModeOf, after: ModeOf): readonly string[] {
  const state = parts.recorder.state();
  const open = [...state.agents.values()].filter((one) => one.id !== ROOT && !isFinal(one));
  // Before there is a plan, it is said of those to come: they all follow ROOT.
  const agents = open.length > 0 ? open : [...state.agents.values()].filter(({ id }) => id === ROOT);
  return KINDS.flatMap(([kind, subject]) => {
    const changed = new Map<string, number>();
    for (const agent of agents) {
      const words = changeFor(parts, agent, kind, [before, after]);
      if (words !== null) changed.set(words, (changed.get(words) ?? 0) + 1);
    }
    return [...changed].map(
      ([words, count]) => `${subject} of ${open.length > 0 ? counted(count) : 'all agents'} ${words}`,
    );
  });
}

const counted = (count: number): string => (count === 1 ? '1 agent' : `${count} agents`);

/** Null: judged as before. */
function changeFor(
  { options, recorder }: RunParts,
  agent: AgentState,
  kind: Kind,
  [before, after]: readonly [before: ModeOf, after: ModeOf],
): string | null {
  const capabilities = roleNamed(agent.role, options.roles)?.capabilities ?? [];
  if (kind !== 'turn' && !capabilities.includes(kind)) return null;
  const sandbox = options.tools.sandbox.is === 'none' ? 'none' : boxFor(capabilities);
  const permissions = permissionsFor(recorder.state(), agent.id, options.rules);
  const verdictIn = (mode: Mode): Decision['verdict'] => {
    const circumstances = {
      mode,
      interactive: options.person,
      sandbox,
      capabilities,
      permissions,
      granted: false,
    } as const;
    return decide(actionOf(kind), options.rules, circumstances).verdict;
  };
  const now = verdictIn(after(agent.id));
  if (verdictIn(before(agent.id)) === now) return null;
  const where = kind === 'shell' && sandbox !== 'none' ? ' in the sandbox' : '';
  return { allow: `run${where} without asking`, ask: 'ask you', deny: 'are denied' }[now];
}

const boxFor = (capabilities: readonly Capability[]): 'read-only' | 'read-write' =>
  capabilities.includes('write') ? 'read-write' : 'read-only';

/** A child within the caps, as these hold in every mode; a command that no rule speaks of. */
function actionOf(kind: Kind): Action {
  if (kind === 'turn') return { is: 'turn' };
  return kind === 'spawn' ? { is: 'spawn', depth: 1, agents: 0 } : { is: 'tool', tool: kind, capability: kind };
}

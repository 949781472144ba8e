/**
 * The mode of the run and of its branches: what a change would do, and the change itself. Which mode holds for an agent is
 * read from the state at each decision; deciding by it is policy's.
 */
import { boxFor, type Capability } from '../../domain/agents/role.ts';
import { type AgentId, ROOT } from '../../domain/ids.ts';
import { isLooser, type Mode } from '../../domain/mode.ts';
import { reasonText } from '../../domain/reason.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { modeFor, type Modes, withMode, withPin } from '../../events/modes.ts';
import { isFinal } from '../../events/queries.ts';
import type { AgentState } from '../../events/state.ts';
import { type Action, decide } from '../../policy/decide.ts';
import { roleNamed } from '../../policy/roles.ts';
import type { Decision } from '../../policy/rules.ts';
import type { ModePreview } from '../../ports/controls.ts';
import type { ModeOf } from '../gate/approvals.ts';
import { permissionsFor } from '../planning/permissions.ts';
import type { RunParts } from './parts.ts';

/** What `setMode`, or `pinMode` for `agent`, would do now. For an agent, the mode of the run stands for "no pin". */
export function previewMode(parts: RunParts, mode: Mode, agent?: AgentId): ModePreview {
  const { recorder, options, approvals } = parts;
  const state = recorder.state();
  const next = agent === undefined ? withMode(state, mode) : withPin(state, agent, mode === state.mode ? null : mode);
  const of = agent ?? ROOT;
  return {
    refused: agent === undefined ? problemOf(options, mode) : noPerson(options, mode),
    looser: isLooser(modeFor(next, of), modeFor(state, of)),
    changes: changesOf(parts, modesOf(state), modesOf(next)),
    answers: approvals.running(modesOf(next)),
  };
}

/** For all agents at once; never looser than the rules allow. Open questions that it makes needless are answered by it. */
export function setMode({ recorder, options, approvals }: RunParts, mode: Mode): Result<string, string> {
  const problem = problemOf(options, mode);
  if (problem !== null) return fail(problem);
  if (recorder.state().mode === mode) return fail(`the mode is ${mode} already`);
  recorder.record({ type: 'session.mode', mode });
  const answered = approvals.release(modesOf(recorder.state()), `mode ${mode}`);
  return ok(`mode ${mode} for all agents${answeredText(answered)}`);
}

/** Holds a branch to a mode that is stricter than the run's; null takes it back. A looser one has no effect, and says so. */
export function pinMode(parts: RunParts, agent: AgentId, mode: Mode | null): Result<string, string> {
  const { recorder, approvals, options } = parts;
  const state = recorder.state();
  const problem = mode === null ? null : noPerson(options, mode);
  if (problem !== null) return fail(problem);
  const one = state.agents.get(agent);
  if (one === undefined) return fail(`there is no agent ${agent}`);
  if (one.pin === mode)
    return fail(mode === null ? `${one.name} is not held to a mode` : `${one.name} is held to ${mode}`);
  recorder.record({ type: 'agent.pinned', agent, mode });
  const now = modeFor(recorder.state(), agent);
  const answered = answeredText(approvals.release(modesOf(recorder.state()), `mode ${now}`));
  if (mode === null) return ok(`${one.name} follows the mode above it: ${now}${answered}`);
  if (now === mode) return ok(`${one.name} and all below it are held to ${mode}${answered}`);
  return ok(`${one.name} is held to ${mode}, which changes nothing while ${now} holds above it${answered}`);
}

const modesOf =
  (modes: Modes): ModeOf =>
  (agent) =>
    modeFor(modes, agent);

const answeredText = (count: number): string =>
  count === 0 ? '' : `; ${count === 1 ? '1 open question is' : `${count} open questions are`} answered by it`;

const problemOf = (options: RunParts['options'], mode: Mode): string | null => {
  const { maxMode } = options.rules;
  if (isLooser(mode, maxMode.value)) return `${mode} is not allowed: ${reasonText(maxMode.from)}`;
  return noPerson(options, mode);
};

const noPerson = ({ person }: RunParts['options'], mode: Mode): string | null =>
  mode === 'human' && !person ? 'human needs somebody who answers each turn, and nobody can be asked here' : null;

// What another mode changes for the agents of a run, in words: which kinds of acts run, ask or are denied from then on.

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
function changesOf(parts: RunParts, before: ModeOf, after: ModeOf): readonly string[] {
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

/** A child within the caps, as these hold in every mode; a command that no rule speaks of. */
function actionOf(kind: Kind): Action {
  if (kind === 'turn') return { is: 'turn' };
  return kind === 'spawn' ? { is: 'spawn', depth: 1, agents: 0 } : { is: 'tool', tool: kind, capability: kind };
}

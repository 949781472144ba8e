/** The commands of a run: each is passed to the module that carries it out, which returns a receipt or a refusal. */
import { sandboxFor, type Capability } from '../../domain/agents/role.ts';
import { type AgentId, ROOT } from '../../domain/ids.ts';
import { isLooser, type Mode, reasonText } from '../../domain/reason.ts';
import { fail, ok, type Result, unreachable } from '../../domain/result.ts';
import * as events from '../../events/index.ts';
import { type Decision, roleNamed } from '../../policy/index.ts';
import { type Action, decide } from '../../policy/decide.ts';
import { LogFault, readOrNull } from '../../ports/log.ts';
import { controlAgent } from '../agents/index.ts';
import { type ModeOf, setBudget, withdrawGrant } from '../gate/index.ts';
import { ONLY_A_PERSON } from '../messaging/index.ts';
import type { RunModules } from './open-run.ts';
import * as controls from '../../ports/controls.ts';
import { plural } from '../../domain/lists.ts';

type Done = Result<string, string>;

export function openControls(parts: RunModules): controls.Controls {
  const handOver = openHandOver(parts);
  return {
    session: parts.options.session,
    previewMode: (mode, agent) => Promise.resolve(previewMode(parts, mode, agent)),
    previewPlan: (edits) => Promise.resolve(parts.planning.preview(edits)),
    submit: async (command, by) => {
      const agent = by ?? null;
      const result =
        command.do !== 'hand over'
          ? await submit(parts, command, agent)
          : // An agent cannot hand the run over.
            agent === null
            ? await handOver(command)
            : fail(ONLY_A_PERSON);
      return result.ok ? result : fail({ text: result.fault });
    },
    found: parts.recorder.initial,
    events: (afterSeq, how) => parts.recorder.events(afterSeq, how),
    at: (seq) => readOrNull(() => parts.options.log.at(parts.options.session, seq)),
    ticks: (listener) => parts.gate.ticks(listener),
  };
}

type Submitted = Exclude<controls.Command, { readonly do: 'hand over' }>;
type TextCommand = Exclude<Submitted, controls.AgentCommand>;

async function submit(
  parts: RunModules,
  command: Submitted,
  by: AgentId | null,
): Promise<Result<controls.Receipt, string>> {
  if (parts.recorder.state().finished !== null) return fail('the run has ended');
  try {
    const refusal = by === null ? null : parts.messaging.whyNot(command, by);
    if (refusal !== null) return fail(refusal);
    if (controls.isForAgents(command)) return await parts.messaging.perform(command, by);
    const done = perform(parts, command);
    return done.ok ? ok({ text: done.value }) : done;
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    return fail(`not done, cannot write the log: ${error.message}`);
  }
}

function perform(parts: RunModules, command: TextCommand): Done {
  const { planning, reviews, messaging, gate } = parts;
  switch (command.do) {
    case 'edit plan':
      return planning.edit(command.edit);
    case 'approve plan':
      return planning.approve(command.digest);
    case 'reject plan':
      return planning.decide({ is: 'rejected' }, 'plan rejected');
    case 'try checks':
      return planning.tryChecks(command.digest);
    case 'stop checks':
      return planning.stopChecks();
    case 'plan again':
      return planning.decide({ is: 'again', hint: command.hint }, 'making another plan');
    case 'answer':
      return gate.approvals.answer(command.approval, { ...command, text: command.text ?? '' });
    case 'withdraw grant':
      return withdrawGrant(parts.recorder, command.grant);
    case 'set mode':
      return setMode(parts, command.mode);
    case 'pin mode':
      return pinMode(parts, command.agent, command.mode);
    case 'set budget':
      return setBudget(
        { ...parts, limits: gate.limits, whyNotRevivable: (one) => messaging.children.over(one) },
        command.agent,
        command.budget,
      );
    case 'review':
      return reviews.byHand(command.role);
    case 'amend plan':
      return planning.amend(command);
    case 'set model':
      return planning.setModel(command.agent, command.model);
    case 'changes undone':
      return changesUndone(parts, command);
    case 'stop run':
      parts.stop(command.reason);
      return ok(`stopping; \`mimir resume\` continues it${events.dueWords(parts.recorder.state())}`);
    default:
      return controlAgent(parts, command);
  }
}

/** An agent that goes on is told, or it would take the change for a fault and make it again. */
function changesUndone(
  { recorder, gate }: RunModules,
  { agent, files, restored }: Extract<controls.Command, { readonly do: 'changes undone' }>,
): Done {
  const one = recorder.state().agents.get(agent);
  if (one === undefined) return fail(`there is no agent ${agent}`);
  recorder.record({ type: 'changes.undone', agent, files, ...(restored === undefined ? {} : { restored }) });
  if (!events.isFinal(one)) {
    const done = restored === true ? 'restored your changes' : 'undone changes of yours';
    const rest = restored === true ? '' : ' Do not make them again unless you are asked to.';
    const content = `I have ${done} in: ${files.join(', ')}. Read these files again before you change them.${rest}`;
    gate.inbox.send({ from: 'person', to: agent, content });
  }
  return ok('recorded');
}

// Hands a run to another process: nothing new begins, running calls finish, then the run stops in its present state.

type HandOver = Extract<controls.Command, { readonly do: 'hand over' }>;
const HANDED_OVER = 'handed over';

/** Resolves when the run has stopped, or with the reason why it stays here. Model and tool calls count as running. Waits
 * for a child or a person do not; they continue in the other process. */
function openHandOver(parts: RunModules): (command: HandOver) => Promise<Result<controls.Receipt, string>> {
  const { recorder, stop, gate } = parts;
  const { drain } = gate;
  /** Set while a hand-over is in progress: calls it off. */
  let callOff: (() => void) | null = null;
  const stopAndLeave = (): Promise<Result<controls.Receipt, string>> => {
    stop(HANDED_OVER, { is: 'hand-over' });
    return whenStopped(parts);
  };
  const handOverWhenQuiet = async (): Promise<Result<controls.Receipt, string>> => {
    if (callOff !== null) return fail(`already being handed over; waiting for ${runningText(drain.running())}`);
    const stays = new AbortController();
    callOff = () => stays.abort('stays');
    drain.close();
    const running = runningText(drain.running());
    await drain.quiet();
    callOff = null;
    if (stays.signal.aborted) return fail(`the run stays here; the hand-over was waiting for ${running}`);
    return recorder.state().finished === null ? stopAndLeave() : whenStopped(parts);
  };
  const stay = (): Result<controls.Receipt, string> => {
    if (callOff === null) return fail('no hand-over is in progress');
    callOff();
    drain.open();
    return ok({ text: 'the run stays here' });
  };
  return ({ how }) => {
    if (recorder.state().finished !== null) return Promise.resolve(fail('the run has ended'));
    switch (how) {
      case 'when quiet':
        return handOverWhenQuiet();
      case 'now':
        return stopAndLeave();
      case 'stay':
        return Promise.resolve(stay());
      default:
        return unreachable(how);
    }
  };
}

/** Another caller may have ended the run meanwhile, or it may have finished. */
async function whenStopped({ recorder }: RunModules): Promise<Result<controls.Receipt, string>> {
  const { finished, seq } = recorder.state();
  if (finished === null) for await (const event of recorder.events(seq)) if (event.type === 'session.finished') break;
  const end = recorder.state().finished;
  if (end?.status === 'stopped') return ok({ text: `${HANDED_OVER}; the run continues where it is resumed` });
  return fail(end === null ? 'the run has ended, and its log cannot be written' : 'the run has ended meanwhile');
}

const runningText = (running: readonly string[]): string => (running.length === 0 ? 'nothing' : running.join('; '));

/** What `setMode`, or `pinMode` for `agent`, would change now. For an agent, the run's mode means "no pin". */
function previewMode(parts: RunModules, mode: Mode, agent?: AgentId): controls.ModePreview {
  const { recorder, options } = parts;
  const state = recorder.state();
  const next =
    agent === undefined
      ? events.withMode(state, mode)
      : events.withPin(state, agent, mode === state.mode ? null : mode);
  const of = agent ?? ROOT;
  return {
    refused: agent === undefined ? problemOf(options, mode) : noPerson(options, mode),
    looser: isLooser(events.modeFor(next, of), events.modeFor(state, of)),
    changes: changesOf(parts, modesOf(state), modesOf(next)),
    answers: parts.gate.approvals.countReleasable(modesOf(next)),
  };
}

/** Sets the mode of all agents, never less strict than the rules allow. Open questions that the new mode would not ask are answered. */
function setMode({ recorder, options, gate }: RunModules, mode: Mode): Result<string, string> {
  const problem = problemOf(options, mode);
  if (problem !== null) return fail(problem);
  if (recorder.state().mode === mode) return fail(`the mode is ${mode} already`);
  recorder.record({ type: 'session.mode', mode });
  const answered = gate.approvals.release(modesOf(recorder.state()), `mode ${mode}`);
  return ok(`mode ${mode} for all agents${answeredText(answered)}`);
}

/** Pins a branch to a mode that is stricter than the run's; null removes the pin. A less strict pin has no effect, and the receipt tells so. */
function pinMode(parts: RunModules, agent: AgentId, mode: Mode | null): Result<string, string> {
  const { recorder, gate, options } = parts;
  const state = recorder.state();
  const problem = mode === null ? null : noPerson(options, mode);
  if (problem !== null) return fail(problem);
  const one = state.agents.get(agent);
  if (one === undefined) return fail(`there is no agent ${agent}`);
  if (one.pin === mode)
    return fail(mode === null ? `${one.name} has no pinned mode` : `${one.name} is already pinned to ${mode}`);
  recorder.record({ type: 'agent.pinned', agent, mode });
  const now = events.modeFor(recorder.state(), agent);
  const answered = answeredText(gate.approvals.release(modesOf(recorder.state()), `mode ${now}`));
  if (mode === null) return ok(`${one.name} follows the mode of its parent: ${now}${answered}`);
  if (now === mode) return ok(`${one.name} and its descendants are pinned to ${mode}${answered}`);
  return ok(`${one.name} is pinned to ${mode}, without effect while ${now} applies above it${answered}`);
}

const modesOf =
  (modes: events.Modes): ModeOf =>
  (agent) =>
    events.modeFor(modes, agent);

const answeredText = (count: number): string =>
  count === 0 ? '' : `; answers ${count === 1 ? '1 open question' : `${count} open questions`}`;

const problemOf = (options: RunModules['options'], mode: Mode): string | null => {
  const { maxMode } = options.rules;
  if (isLooser(mode, maxMode.value)) return `${mode} is not allowed: ${reasonText(maxMode.from)}`;
  return noPerson(options, mode);
};

const noPerson = ({ person }: RunModules['options'], mode: Mode): string | null =>
  mode === 'human' && !person ? 'mode human needs a person to answer each turn, and nobody can be asked here' : null;

type Kind = 'turn' | Capability;

const KINDS: readonly (readonly [kind: Kind, subject: string])[] = [
  ['turn', 'model turns'],
  ['read', 'reading and searching'],
  ['git-read', 'git reads'],
  ['write', 'writes'],
  ['shell', 'commands'],
  ['git-write', 'commits'],
  ['spawn', 'new agents'],
];

/** A line for each kind of action that would be decided differently, with the number of agents. */
function changesOf(parts: RunModules, before: ModeOf, after: ModeOf): readonly string[] {
  const state = parts.recorder.state();
  const open = [...state.agents.values()].filter((one) => one.id !== ROOT && !events.isFinal(one));
  // Before there is a plan, ROOT stands for the agents to come, which inherit its mode.
  const agents = open.length > 0 ? open : [...state.agents.values()].filter(({ id }) => id === ROOT);
  return KINDS.flatMap(([kind, subject]) => {
    const changed = new Map<string, number>();
    for (const agent of agents) {
      const change = changeFor(parts, agent, kind, [before, after]);
      if (change !== null) changed.set(change, (changed.get(change) ?? 0) + 1);
    }
    return [...changed].map(
      ([words, count]) => `${subject} of ${open.length > 0 ? plural(count, 'agent') : 'all agents'} ${words}`,
    );
  });
}

/** Null: decided as before. */
function changeFor(
  { options, recorder }: RunModules,
  agent: events.AgentState,
  kind: Kind,
  [before, after]: readonly [before: ModeOf, after: ModeOf],
): string | null {
  const capabilities = roleNamed(agent.role, options.roles)?.capabilities ?? [];
  if (kind !== 'turn' && !capabilities.includes(kind)) return null;
  const sandbox = options.tools.sandbox.is === 'none' ? 'none' : sandboxFor(capabilities);
  const permissions = events.permissionsFor(recorder.state(), agent.id, options.rules);
  const verdictIn = (mode: Mode): Decision['verdict'] => {
    const circumstances = { mode, interactive: options.person, sandbox, capabilities, permissions } as const;
    return decide(actionOf(kind), options.rules, circumstances).verdict;
  };
  const verdict = verdictIn(after(agent.id));
  if (verdictIn(before(agent.id)) === verdict) return null;
  const where = kind === 'shell' && sandbox !== 'none' ? ' in the sandbox' : '';
  return { allow: `run${where} without asking`, ask: 'ask you', deny: 'are denied' }[verdict];
}

/** A typical action of its kind: a child within the limits; a command that no rule mentions. */
function actionOf(kind: Kind): Action {
  if (kind === 'turn') return { is: 'turn' };
  return kind === 'spawn' ? { is: 'spawn', depth: 1, agents: 0 } : { is: 'tool', tool: kind, capability: kind };
}

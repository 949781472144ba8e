/**
 * Leave to use a tool: policy decides, a person is asked where it says so, forced agents judge what would be committed, and
 * policy decides again after each wait, since the world has moved. What comes out is a permit that is good once.
 */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import { type Capability, onlyReads } from '../../../domain/agents/role.ts';
import { depthOf } from '../../../domain/ids.ts';
import type { Mode } from '../../../domain/mode.ts';
import { reasonText } from '../../../domain/reason.ts';
import { type Result, unreachable } from '../../../domain/result.ts';
import { jsonDigest } from '../../../domain/digest.ts';
import type { ToolCall } from '../../../domain/turn.ts';
import type { ApprovalRequest } from '../../../events/event.ts';
import { modeFor } from '../../../events/modes.ts';
import { programsIn } from '../../../policy/commands/programs.ts';
import { moreThanReading } from '../../../policy/commands/reading/reading.ts';
import { decide, type ReadingFacts } from '../../../policy/decide.ts';
import type { Permit } from '../../../policy/permit.ts';
import type { Decision } from '../../../policy/rules.ts';
import type { Proposal, Tool, ToolContext } from '../../../ports/tool.ts';
import type { TreeId } from '../../../ports/tree.ts';
import { recordNotDone, writtenPath } from '../../agents/unanswered.ts';
import { openBelow } from '../../messaging/child-end.ts';
import { permissionsFor } from '../../planning/permissions.ts';
import type { RunContext } from '../context.ts';
import { recordDenied } from '../model/model.ts';
import { type Answer, type Approvals, changedInputs, type InputFile, type ModeOf, NOBODY } from '../approvals.ts';
import type { OpenToolCall } from './interrupted-call.ts';

/** What leave to use a tool is given with. */
export interface PermitParts extends RunContext {
  readonly approvals: Pick<Approvals, 'ask' | 'granted'>;
  /** Can a person be asked? */
  readonly person: boolean;
  /** Stands before each commit. */
  readonly forced: CommitGate;
  /** `capabilitiesOf`: what agents of this role may do; empty where there is no such role. */
  readonly roles: { readonly capabilitiesOf: (role: string) => readonly Capability[] };
}

/** What the gate asks of mandatory reviews: whether a commit that is proposed may be made. */
export interface CommitGate {
  /**
   * Ok: every forced agent whose trigger is `on-commit` let exactly `proposal.tree` pass, or only warns. Otherwise why
   * not, with what has to change, in words for the model. The agent that asks waits, and lends its slot meanwhile.
   */
  beforeCommit(order: WorkOrder, proposal: Proposal, signal: AbortSignal): Promise<Result<void, string>>;
}

/** A call of a tool that the agent has, with its input read. */
export interface Use {
  readonly order: WorkOrder;
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly input: unknown;
  /** The person typed it, or said yes before the run was resumed: what would ask has been answered. */
  readonly said: boolean;
  /** Of a call that had begun before the run was resumed, and goes on now. */
  readonly begun?: OpenToolCall | null;
  /** Of a shell: what was found out about the project, as `permitted` does. */
  readonly reading?: ReadingFacts | undefined;
}

/** What a tool may be used with, or why not, in words for the model. */
export type Passed =
  | {
      readonly ok: true;
      readonly permit: Permit;
      readonly tree: TreeId | null;
      readonly box: 'read-only' | undefined;
      readonly rule: string | undefined;
    }
  | { readonly ok: false; readonly text: string };

const no = (text: string): Passed => ({ ok: false, text });

/**
 * Decides; has made what would be committed; asks the person where it must; has forced agents judge the commit; and decides
 * again after each wait, since the world has moved. The permit is of the last decision.
 */
export async function permitted(parts: PermitParts, given: Use, context: ToolContext): Promise<Passed> {
  const { tool, input, order, said } = given;
  const use = { ...given, reading: await readingFacts(given, context) };
  if (tool.propose === undefined) return allowed(parts, use, context, null, said);
  const first = judge(parts, use, context, { answered: said, tree: null });
  if (first.verdict === 'deny') return no(denied(parts, use, first));
  const proposed = await tool.propose(input, context);
  if (!proposed.ok) return no(proposed.fault);
  const asked = await allowed(parts, use, context, proposed.value, said);
  if (!asked.ok) return asked;
  const judged = await parts.forced.beforeCommit(order, proposed.value, context.signal);
  if (!judged.ok) return no(judged.fault);
  return allowed(parts, use, context, proposed.value, asked.answered);
}

/** Undefined for anything but a command in a sandbox that only reads: then nothing has to be looked at. */
async function readingFacts({ tool, input }: Use, context: ToolContext): Promise<ReadingFacts | undefined> {
  const look = context.box === 'none' ? undefined : tool.reading?.(input, context);
  if (look === undefined || moreThanReading(tool.label(input), look.place) !== null) return undefined;
  return { place: look.place, obstacle: await look.obstacle() };
}

type Allowed = { readonly ok: false; readonly text: string } | (Extract<Passed, { ok: true }> & { answered: boolean });

/** A permit, by the rules or by the person's answer. `answered`: the person has said yes to this very action before. */
async function allowed(
  parts: PermitParts,
  use: Use,
  context: ToolContext,
  proposal: Proposal | null,
  answered: boolean,
): Promise<Allowed> {
  const tree = proposal?.tree ?? null;
  for (let said = answered; ; ) {
    const decision = judge(parts, use, context, { answered: said, tree });
    if (decision.verdict === 'deny') return { ok: false, text: denied(parts, use, decision) };
    if (decision.verdict === 'allow')
      return decision.permit === undefined
        ? { ok: false, text: 'Not run: it was allowed without a permit.' }
        : {
            ok: true,
            permit: decision.permit,
            tree,
            box: decision.box,
            rule: decision.box && decision.because.rule,
            answered: said,
          };
    const problem = await askPerson(parts, use, context, { decision, proposal });
    if (problem !== null) return { ok: false, text: problem };
    said = true;
  }
}

interface ToAsk {
  readonly decision: Extract<Decision, { readonly verdict: 'ask' }>;
  readonly proposal: Proposal | null;
}

/** Null: allowed, by an answer or by one for the session. Else why not, in words for the model. */
async function askPerson(parts: PermitParts, use: Use, context: ToolContext, toAsk: ToAsk): Promise<string | null> {
  const { tool, input, order, call } = use;
  const runs = (modeOf: ModeOf): boolean => wouldRun(parts, use, context, modeOf(order.agent));
  let allowed: readonly InputFile[] | null = null;
  for (;;) {
    const made = await requestFor({ tool, input, role: order.role, ...toAsk }, context);
    if (made === null) return 'Not run: stopped';
    const { inputs } = made;
    const changed = changedSince(parts, use, made, allowed);
    if (changed !== null && changed.length === 0) return null;
    const { request } = changed === null ? made : sinceChanged(made, changed);
    const answer = await parts.approvals.ask(order, call.id, request, context.signal, { inputs, runs });
    if (answer.is !== 'allowed') return refused(parts, use, answer);
    // What it reads may have been changed while the question was open: then the answer was for something else.
    if (inputs.length === 0) return null;
    allowed = inputs;
  }
}

/** What is other now than when a yes was said, a moment ago or for the session; null: none was said. */
function changedSince(
  { approvals }: PermitParts,
  { order }: Use,
  { request, inputs }: AskedRequest,
  allowed: readonly InputFile[] | null,
): readonly string[] | null {
  if (allowed !== null) return changedInputs(allowed, inputs);
  const grant = approvals.granted(order.agent, request, inputs);
  return grant.is === 'no' ? null : grant.is === 'changed' ? grant.paths : [];
}

/** In this mode nobody would be asked: a looser one answers the question. */
const wouldRun = (parts: PermitParts, use: Use, context: ToolContext, mode: Mode): boolean =>
  judge(parts, use, context, { answered: false, tree: null, mode }).verdict === 'allow';

/** Records what nobody was there to answer. */
function refused({ recorder }: PermitParts, use: Use, answer: Answer): string {
  if (answer.is === 'denied' && answer.by === NOBODY) recordNotDone(recorder, use);
  return refusalText(answer);
}

function refusalText({ is, text, by }: Answer): string {
  if (is === 'withdrawn') return 'Not run: the question was withdrawn.';
  if (by !== 'person') return `Not run: ${text}. Do not try it in another way.`;
  return `The person denied this${text === '' ? '.' : `: ${text}`} Do not try it in another way.`;
}

interface Judging {
  readonly answered: boolean;
  readonly tree: TreeId | null;
  /** The one that would hold; absent: the one that holds. */
  readonly mode?: Mode;
}

function judge(parts: PermitParts, use: Use, context: ToolContext, { answered, tree, mode }: Judging): Decision {
  const { recorder, person } = parts;
  const rules = parts.rules();
  const { order, tool, input } = use;
  const state = recorder.state();
  const circumstances = {
    mode: mode ?? modeFor(state, order.agent),
    interactive: person,
    sandbox: context.box,
    capabilities: order.capabilities,
    permissions: permissionsFor(state, order.agent, rules),
    granted: false,
    reading: use.reading,
    answered: answered || (!person && order.commits === true && tool.capability === 'git-write'),
    binds: { agent: order.agent, action: actionOf(use, tree) },
  };
  if (tool.capability === 'spawn') {
    // Its own child is none of the others.
    const own = use.begun?.child ?? null;
    const agents = state.agents.size - (own === null ? 1 : 2);
    const siblings = openBelow(state, order.agent).filter(({ id }) => id !== own).length;
    const reads = startsReader(parts, use);
    return decide({ is: 'spawn', depth: depthOf(order.agent) + 1, agents, siblings, reads }, rules, circumstances);
  }
  const command = tool.capability === 'shell' ? { command: tool.label(input) } : {};
  return decide({ is: 'tool', tool: tool.name, capability: tool.capability, ...command }, rules, circumstances);
}

/** Can the agent that this call starts only read? It never has more than its parent. */
function startsReader(parts: PermitParts, { order, tool, input }: Use): boolean {
  const own = tool.starts === undefined ? [] : parts.roles.capabilitiesOf(tool.starts(input));
  return own.length > 0 && onlyReads(own.filter((each) => order.capabilities.includes(each)));
}

/** The digest of what would be done: a permit is for exactly this. */
export const actionOf = ({ call, tool }: Use, tree: TreeId | null): string =>
  jsonDigest({ tool: tool.name, call: call.id, input: call.input, tree });

type Denial = Extract<Decision, { readonly verdict: 'deny' }>;

function denied(parts: PermitParts, use: Use, { because, unanswered }: Denial): string {
  const { order, tool, call } = use;
  const subject = `${tool.name}${call.tool === tool.name ? '' : ` (${call.tool})`}`;
  recordDenied(parts, { agent: order.agent, subject, action: tool.capability ?? 'own' }, because);
  if (unanswered === true) recordNotDone(parts.recorder, use);
  return `Denied: ${reasonText(because)}`;
}

// What a person is asked about a tool call: exactly what would happen, and what an answer for the session would cover.

/** A call that must be asked about. */
interface Asked {
  readonly tool: Tool;
  readonly input: unknown;
  readonly role: string;
  readonly decision: Extract<Decision, { readonly verdict: 'ask' }>;
  /** What would be committed, of tools that commit. */
  readonly proposal: Proposal | null;
}

interface AskedRequest {
  readonly request: ApprovalRequest;
  /** Of what a standing yes is bound to beside the words. */
  readonly inputs: readonly InputFile[];
}

/** Null for a tool that is never asked about, and when the agent was stopped while it was made. */
async function requestFor(asked: Asked, context: ToolContext): Promise<AskedRequest | null> {
  const { tool, input, role, decision, proposal } = asked;
  const { capability } = tool;
  if (capability === null) return null;
  const label = tool.label(input);
  const exact = proposal === null ? await exactOf(tool, input, context) : proposedText(proposal, label);
  const inputs = tool.inputs === undefined ? [] : await tool.inputs(input, context);
  if (context.signal.aborted) return null;
  const same =
    decision.singly === true ? null : sameKey(capability, { exact, box: context.box, tree: proposal?.tree ?? null });
  const request: ApprovalRequest = {
    action: capability,
    title: `${role}: ${headOf(label)}`,
    exact,
    options: [],
    unsandboxed: capability === 'shell' && context.box === 'none',
    because: reasonText(decision.because),
    ...(same === null ? {} : { same, ...wider(asked, context) }),
  };
  return { request, inputs };
}

/** What else than exactly this an answer for the session may cover. */
function wider({ tool, input, decision }: Asked, context: ToolContext): Pick<ApprovalRequest, 'programs' | 'file'> {
  if (tool.capability === 'write') {
    const path = writtenPath(input);
    return path === null ? {} : { file: path };
  }
  if (tool.capability !== 'shell' || context.box === 'none' || decision.exactly === true) return {};
  const programs = programsIn(tool.label(input), tool.reading?.(input, context).place);
  return programs === null ? {} : { programs };
}

/** The same question again, because files are other than when an equal one was allowed. */
const sinceChanged = ({ request, inputs }: AskedRequest, paths: readonly string[]): AskedRequest => ({
  request: { ...request, because: `allowed before, but changed since: ${paths.join(', ')}; ${request.because}` },
  inputs,
});

const proposedText = ({ words, patch }: Proposal, label: string): string => `${words ?? label}\n\n${patch}`;

const exactOf = (tool: Tool, input: unknown, context: ToolContext): Promise<string> | string =>
  tool.preview === undefined ? tool.label(input) : tool.preview(input, context);

/** An answer for the session: of a command or a commit exactly it, in the same box; of other acts all of their kind. */
function sameKey(
  capability: Capability,
  what: { readonly exact: string; readonly box: ToolContext['box']; readonly tree: string | null },
): string {
  switch (capability) {
    case 'write':
    case 'read':
    case 'git-read':
    case 'spawn':
      return capability;
    case 'git-write':
    case 'shell':
      return `${capability}:${jsonDigest(what)}`;
    default:
      return unreachable(capability);
  }
}

const HEAD = 100;

/** Of a long command its first line: all of it is what the question shows. */
function headOf(label: string): string {
  const [first = ''] = label.split('\n');
  const cut = first.length > HEAD ? first.slice(0, HEAD) : first;
  return cut === label ? label : `${cut}…`;
}

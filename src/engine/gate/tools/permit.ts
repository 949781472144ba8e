/** Permission to use a tool: policy decides, a person is asked where policy requires it, mandatory reviews judge a
 * proposed commit, and policy decides again after each wait. The result is a permit that can be used once. */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import { type Capability, onlyReads } from '../../../domain/agents/role.ts';
import { depthOf } from '../../../domain/ids.ts';
import { type Mode, reasonText } from '../../../domain/reason.ts';
import { defined, fail, ok, type Result, unreachable } from '../../../domain/result.ts';
import { jsonDigest } from '../../../domain/digest.ts';
import type { ToolCall } from '../../../domain/turn.ts';
import { type ApprovalRequest, modeFor, openBelow, permissionsFor } from '../../../events/index.ts';
import { type Decision, type Permit, roleNamed } from '../../../policy/index.ts';
import { programsIn } from '../../../policy/commands/programs.ts';
import { moreThanReading } from '../../../policy/commands/reading/reading.ts';
import { decide, type ReadingFacts } from '../../../policy/decide.ts';
import type { Proposal, Tool, ToolContext } from '../../../ports/tool.ts';
import type { TreeId } from '../../../ports/tree.ts';
import type { GateParts } from '../budget/parts.ts';
import { recordDenied } from '../model/model.ts';
import { type Answer, changedInputs, type InputFile, type ModeOf, UNANSWERED_BY } from '../approvals.ts';
import { isWaitingTool, type OpenToolCall, recordNotDone, writtenPath } from './interrupted-call.ts';

/** A tool call with its parsed input; the agent has the tool. */
export interface Use {
  readonly order: WorkOrder;
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly input: unknown;
  /** The person typed the call, or approved it before the run was resumed, so no question is asked. */
  readonly approved: boolean;
  /** For a call that began before the run was resumed and continues now. */
  readonly interrupted?: OpenToolCall | null;
  /** For shell commands: facts about the project, filled in by `obtainPermit`. */
  readonly reading?: ReadingFacts | undefined;
}

/** The permit with its conditions, or why there is none, in words for the model. `answered`: a person approved this very action. */
export type PermitResult =
  | {
      readonly ok: true;
      readonly permit: Permit;
      readonly tree: TreeId | null;
      readonly sandbox: 'read-only' | undefined;
      readonly rule: string | undefined;
      readonly answered: boolean;
    }
  | { readonly ok: false; readonly text: string };

const refuse = (text: string): PermitResult => ({ ok: false, text });

/** Decides, prepares the proposed commit, asks the person where needed, has mandatory reviews judge the commit, and
 * decides again after each wait. The permit is from the last decision. */
export async function obtainPermit(parts: GateParts, request: Use, context: ToolContext): Promise<PermitResult> {
  const { tool, input, order, approved } = request;
  const use = { ...request, reading: await readingFacts(request, context) };
  if (tool.propose === undefined) return decideAndAsk(parts, use, context, null, approved);
  const first = judge(parts, use, context, { answered: approved, tree: null });
  if (first.verdict === 'deny') return refuse(denied(parts, use, first));
  const proposed = await tool.propose(input, context);
  if (!proposed.ok) return refuse(proposed.fault);
  const asked = await decideAndAsk(parts, use, context, proposed.value, approved);
  if (!asked.ok) return asked;
  const review = await parts.hooks.beforeCommit(order, proposed.value, context.signal);
  if (!review.ok) return refuse(review.fault);
  return decideAndAsk(parts, use, context, proposed.value, asked.answered);
}

/** A permit for a check. Where it is `planned`, the approval of the plan is the answer where a command would be asked about; what rules ask
 * about in any case is asked. */
export async function obtainCheckPermit(
  parts: GateParts,
  request: Use,
  context: ToolContext,
  planned: boolean,
): Promise<PermitResult> {
  const use = { ...request, reading: await readingFacts(request, context) };
  const decision = judge(parts, use, context, { answered: false, tree: null, interactive: true });
  const isAsked = planned && decision.verdict === 'ask' && decision.singly !== true && decision.exactly !== true;
  const isHeld = parts.rules().permissionsHeld?.commands !== undefined;
  if (use.approved || !isAsked || isHeld) return decideAndAsk(parts, use, context, null, use.approved);
  // The plan answers for the rules of this moment alone.
  const permitted = await decideAndAsk(parts, use, context, null, true);
  return permitted.ok ? { ...permitted, answered: false } : permitted;
}

/** Obtains a permit anew that a hand-over held back and that was called off, by the present rules. What a person has answered is not asked again. */
export async function afterDrain(
  { drain }: GateParts,
  use: Use,
  signal: AbortSignal,
  permit: (use: Use) => Promise<PermitResult>,
): Promise<PermitResult> {
  for (let { approved } = use; ; ) {
    const permitted = await permit({ ...use, approved });
    const reopened = permitted.ok && !isWaitingTool(use.tool) ? drain.wait(signal) : null;
    if (!permitted.ok || reopened === null) return permitted;
    approved = permitted.answered;
    await reopened;
  }
}

/** Facts for commands in a sandbox that only reads; undefined for every other call. */
async function readingFacts({ tool, input }: Use, context: ToolContext): Promise<ReadingFacts | undefined> {
  const reading = context.sandbox === 'none' ? undefined : tool.reading?.(input, context);
  if (reading === undefined || moreThanReading(tool.label(input), reading.place) !== null) return undefined;
  return { place: reading.place, obstacle: await reading.obstacle() };
}

async function decideAndAsk(
  parts: GateParts,
  use: Use,
  context: ToolContext,
  proposal: Proposal | null,
  answered: boolean,
): Promise<PermitResult> {
  const tree = proposal?.tree ?? null;
  for (let approved = answered; ; approved = true) {
    const decision = judge(parts, use, context, { answered: approved, tree });
    if (decision.verdict === 'deny') return refuse(denied(parts, use, decision));
    if (decision.verdict === 'allow') {
      const { permit, sandbox, because } = decision;
      if (permit === undefined) return refuse('Not run: no permit was issued.');
      return { ok: true, permit, tree, sandbox, rule: sandbox && because.rule, answered: approved };
    }
    const problem = await askPerson(parts, use, context, { decision, proposal });
    if (problem !== null) return refuse(problem);
  }
}

interface OpenDecision {
  readonly decision: Extract<Decision, { readonly verdict: 'ask' }>;
  readonly proposal: Proposal | null;
}

/** Null: allowed, by an answer or a grant. Otherwise why not, in words for the model. */
async function askPerson(parts: GateParts, use: Use, context: ToolContext, open: OpenDecision): Promise<string | null> {
  const { order, call } = use;
  // A mode in which nobody would be asked answers the question.
  const runs = (modeOf: ModeOf): boolean =>
    judge(parts, use, context, { answered: false, tree: null, mode: modeOf(order.agent) }).verdict === 'allow';
  let allowed: readonly InputFile[] | null = null;
  for (;;) {
    const asked = await requestFor(use, open, context);
    if (!asked.ok) return asked.fault;
    const { inputs } = asked.value;
    const changed = changedSince(parts, use, asked.value, allowed);
    if (changed !== null && changed.length === 0) return null;
    const request = changed === null ? asked.value.request : askedAgain(asked.value.request, changed);
    const answer = await parts.approvals.ask(order, call.id, request, context.signal, { inputs, runs });
    if (answer.is !== 'allowed') return refusalText(parts, use, answer);
    // If its input files changed while the question was open, the answer was for other content.
    if (inputs.length === 0) return null;
    allowed = inputs;
  }
}

/** Files that changed since the action was allowed, by the last answer or by a grant; null where it was not allowed. */
function changedSince(
  { approvals }: GateParts,
  { order }: Use,
  { request, inputs }: AskedRequest,
  allowed: readonly InputFile[] | null,
): readonly string[] | null {
  if (allowed !== null) return changedInputs(allowed, inputs);
  const grant = approvals.granted(order.agent, request, inputs);
  return grant.is === 'no' ? null : grant.is === 'changed' ? grant.paths : [];
}

/** The refusal in words for the model. Records acts that nobody was there to approve. */
function refusalText({ recorder }: GateParts, use: Use, { is, text, by }: Answer): string {
  if (is === 'denied' && by === UNANSWERED_BY) recordNotDone(recorder, use);
  if (is === 'withdrawn') return 'Not run: the question was withdrawn.';
  if (by !== 'person') return `Not run: ${text}. Do not try it in another way.`;
  return `The person denied this${text === '' ? '.' : `: ${text}`} Do not try it in another way.`;
}

interface JudgeOptions {
  readonly answered: boolean;
  readonly tree: TreeId | null;
  readonly mode?: Mode;
  /** Whether to assume that a person can be asked; by default as it is. */
  readonly interactive?: true;
}

function judge(parts: GateParts, use: Use, context: ToolContext, options: JudgeOptions): Decision {
  const { recorder } = parts;
  const { answered, tree } = options;
  const { person } = parts.options;
  const rules = parts.rules();
  const { order, tool, input } = use;
  const state = recorder.state();
  const circumstances = {
    mode: modeFor(state, order.agent),
    interactive: person,
    ...defined({ mode: options.mode, interactive: options.interactive }),
    sandbox: context.sandbox,
    capabilities: order.capabilities,
    permissions: permissionsFor(state, order.agent, rules),
    reading: use.reading,
    answered: answered || (!person && order.commits === true && tool.capability === 'git-write'),
    binds: { agent: order.agent, action: actionOf(use, tree) },
  };
  if (tool.capability === 'spawn') {
    // A continued call's own child does not count as another agent.
    const own = use.interrupted?.child ?? null;
    const agents = state.agents.size - (own === null ? 1 : 2);
    const siblings = openBelow(state, order.agent).filter(({ id }) => id !== own).length;
    const reads = startsReader(parts, use);
    return decide({ is: 'spawn', depth: depthOf(order.agent) + 1, agents, siblings, reads }, rules, circumstances);
  }
  const command = tool.capability === 'shell' ? { command: tool.label(input) } : {};
  return decide({ is: 'tool', tool: tool.name, capability: tool.capability, ...command }, rules, circumstances);
}

/** Whether the child of this call could only read. A child never has more capabilities than its parent. */
function startsReader(parts: GateParts, { order, tool, input }: Use): boolean {
  const own = tool.starts === undefined ? [] : (roleNamed(tool.starts(input), parts.options.roles)?.capabilities ?? []);
  return own.length > 0 && onlyReads(own.filter((each) => order.capabilities.includes(each)));
}

/** Digest of the action; the permit is valid for exactly this action. */
export const actionOf = ({ call, tool }: Use, tree: TreeId | null): string =>
  jsonDigest({ tool: tool.name, call: call.id, input: call.input, tree });

type Denial = Extract<Decision, { readonly verdict: 'deny' }>;

function denied(parts: GateParts, use: Use, { because, unanswered }: Denial): string {
  const { order, tool, call } = use;
  const subject = `${tool.name}${call.tool === tool.name ? '' : ` (${call.tool})`}`;
  recordDenied(parts, { agent: order.agent, subject, action: tool.capability ?? 'own' }, because);
  if (unanswered === true) recordNotDone(parts.recorder, use);
  return `Denied: ${reasonText(because)}`;
}

interface AskedRequest {
  readonly request: ApprovalRequest;
  /** Files whose content a grant is bound to. */
  readonly inputs: readonly InputFile[];
}

/** The question; the fault is why nobody is asked, in words for the model: the act cannot be done, or the agent was stopped meanwhile. */
async function requestFor(
  use: Use,
  { decision, proposal }: OpenDecision,
  context: ToolContext,
): Promise<Result<AskedRequest, string>> {
  const { tool, input, order } = use;
  const { capability } = tool;
  if (capability === null) return fail('Not run: nobody is asked about this tool.');
  const label = tool.label(input);
  const exact = proposal === null ? await exactOf(use, context) : ok(proposedText(proposal, label));
  if (!exact.ok) return exact;
  const inputs = tool.inputs === undefined ? [] : await tool.inputs(input, context);
  if (context.signal.aborted) return fail('Not run: stopped');
  const request: ApprovalRequest = {
    action: capability,
    title: `${order.role}: ${headOf(label)}`,
    exact: exact.value,
    options: [],
    unsandboxed: capability === 'shell' && context.sandbox === 'none',
    because: reasonText(decision.because),
    ...defined({ destroys: decision.destroys }),
    ...grantsFor(use, { decision, proposal }, { capability, exact: exact.value }, context),
  };
  return ok({ request, inputs });
}

const exactOf = async ({ tool, input }: Use, context: ToolContext): Promise<Result<string, string>> =>
  tool.preview?.(input, context) ?? ok(tool.label(input));
const proposedText = ({ words, patch }: Proposal, label: string): string => `${words ?? label}\n\n${patch}`;

/** What an answer for the session may cover; nothing where each action is asked about by itself. */
function grantsFor(
  use: Use,
  { decision, proposal }: OpenDecision,
  { capability, exact }: { readonly capability: Capability; readonly exact: string },
  context: ToolContext,
): Pick<ApprovalRequest, 'same' | 'programs' | 'file'> {
  if (decision.singly === true) return {};
  const same = sameKey(capability, { exact, box: context.sandbox, tree: proposal?.tree ?? null });
  return { same, ...widerGrants(use, decision, context) };
}

/** What an answer for the session may cover besides exactly this action. */
function widerGrants(
  { tool, input }: Use,
  { exactly }: OpenDecision['decision'],
  context: ToolContext,
): Pick<ApprovalRequest, 'programs' | 'file'> {
  if (tool.capability === 'write') {
    const path = writtenPath(input);
    return path === null ? {} : { file: path };
  }
  if (tool.capability !== 'shell' || context.sandbox === 'none' || exactly === true) return {};
  const programs = programsIn(tool.label(input), tool.reading?.(input, context).place);
  return programs === null ? {} : { programs };
}

/** The same question again, because files changed since an equal one was allowed. */
const askedAgain = (request: ApprovalRequest, paths: readonly string[]): ApprovalRequest => ({
  ...request,
  because: `allowed before, but changed since: ${paths.join(', ')}; ${request.because}`,
});

/** The key of an answer for the session: exactly this command or commit in the same sandbox, or every action of the same kind. */
function sameKey(
  capability: Capability,
  what: { readonly exact: string; readonly box: ToolContext['sandbox']; readonly tree: string | null },
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

const LONGEST_TITLE = 100;

/** The first line of a long command; the question shows the whole. */
function headOf(label: string): string {
  const [first = ''] = label.split('\n');
  const cut = first.length > LONGEST_TITLE ? first.slice(0, LONGEST_TITLE) : first;
  return cut === label ? label : `${cut}…`;
}

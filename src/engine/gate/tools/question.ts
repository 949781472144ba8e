/** What a person is asked about a tool call: exactly what would happen, and what an answer for the session would cover. */
import { jsonDigest } from '../../../domain/text/digest.ts';
import { reasonText } from '../../../domain/reason.ts';
import { unreachable } from '../../../domain/result.ts';
import type { Capability } from '../../../domain/agents/role.ts';
import type { ApprovalRequest } from '../../../events/event.ts';
import { programsIn } from '../../../policy/commands/programs.ts';
import type { Decision } from '../../../policy/rules.ts';
import type { Proposal, Tool, ToolContext } from '../../../ports/tool.ts';
import type { InputFile } from './approvals.ts';
import { writtenPath } from '../../agents/unanswered.ts';

/** A call that must be asked about. */
export interface Asked {
  readonly tool: Tool;
  readonly input: unknown;
  readonly role: string;
  readonly decision: Extract<Decision, { readonly verdict: 'ask' }>;
  /** What would be committed, of tools that commit. */
  readonly proposal: Proposal | null;
}

export interface AskedRequest {
  readonly request: ApprovalRequest;
  /** Of what a standing yes is bound to beside the words. */
  readonly inputs: readonly InputFile[];
}

/** Null for a tool that is never asked about, and when the agent was stopped while it was made. */
export async function requestFor(asked: Asked, context: ToolContext): Promise<AskedRequest | null> {
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
export const sinceChanged = ({ request, inputs }: AskedRequest, paths: readonly string[]): AskedRequest => ({
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

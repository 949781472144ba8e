/** Sanitises every string of an event, a state or a project once. The exact action of an approval keeps visible escapes. */
import type { AgentState, ApprovalRequest, MimirEvent, RunState, ToolBlock } from '../../../events/index.ts';
import { ReadLater, Roster } from '../../../events/index.ts';
import type { ProjectInfo } from '../../../ports/project-service.ts';
import { markHidden, toTerminal, escapeHidden } from './sanitise.ts';

/** The event with sanitised strings; the same object if nothing changed. */
export function cleanEvent(event: MimirEvent): MimirEvent {
  if (event.type !== 'approval.requested') return sanitiseData(event);
  const { request, ...rest } = event;
  return { ...sanitiseData(rest), request: cleanRequest(request) };
}

const cleanRequest = ({ exact, options, title, same, ...words }: ApprovalRequest): ApprovalRequest => ({
  ...sanitiseData(words),
  title: escapeHidden(title),
  exact: markHidden(exact),
  // Options are sent back as answers in the form in which they were shown.
  options: options.map((option) => escapeHidden(option)),
  // Only compared, never shown, so different values must stay different.
  ...(same === undefined ? {} : { same: markHidden(same) }),
});

/** The state that results if each of its events is sanitised first. */
export function cleanState(state: RunState): RunState {
  const { agents, approvals, ...rest } = state;
  return {
    ...sanitiseData(rest),
    approvals: approvals.map(({ request, ...one }) => ({ ...sanitiseData(one), request: cleanRequest(request) })),
    agents: Roster.of([...agents.values()].map(cleanAgent)),
  };
}

const cleanAgent = ({ blocks, ...rest }: AgentState): AgentState => ({
  ...sanitiseData(rest),
  blocks: blocks.map((block) => (block.is === 'tool' ? cleanTool(block) : sanitiseData(block))),
});

/** The output may be read from the log and is sanitised when it is shown. */
function cleanTool(block: ToolBlock): ToolBlock {
  const { call, tool, label, started, ok, ms, changed } = block;
  const words = sanitiseData({ call, tool, label, changed });
  return new ReadLater({ ...words, started, ok, ms }, () => toTerminal(block.output));
}

/** Sanitises the information about a project; the content to trust keeps visible escapes. */
export function sanitiseProject(projectService: ProjectInfo): ProjectInfo {
  const { trust, ...rest } = projectService;
  const { brings, diff } = trust;
  return {
    ...sanitiseData(rest),
    trust: { ...trust, brings: brings.map((line) => escapeHidden(line)), diff: escapeHidden(diff) },
  };
}

/** Sanitises every string of plain data; unchanged parts keep their identity. The overload states that the shape stays, which TypeScript cannot infer.
 */
export function sanitiseData<T>(value: T): T;
export function sanitiseData(value: unknown): unknown {
  if (typeof value === 'string') return toTerminal(value);
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const next = items.map((item) => sanitiseData(item));
    return next.every((item, index) => item === items[index]) ? items : next;
  }
  if (typeof value !== 'object' || value === null) return value;
  const next = Object.entries(value).map(
    ([key, item]: [string, unknown]) => [toTerminal(key), sanitiseData(item)] as const,
  );
  const same = Object.entries(value).every(([key, item], index) => next[index]?.[0] === key && next[index][1] === item);
  return same ? value : Object.fromEntries(next);
}

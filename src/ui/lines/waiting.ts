/** What of a run that another process carries waits for a person, said where nobody types: that it waits, and where it is answered. */
import type { SessionId } from '../../domain/ids.ts';
import type { Approval, RunState } from '../../events/state.ts';
import { visible } from '../../app/views/text/sanitise.ts';
import type { Io } from '../../app/process/io.ts';
import { tag } from './words/agents.ts';

/** Called after each event: says the plan and each question that begins to wait, once. */
export function waitingSaid(session: SessionId, { say, paint }: Pick<Io, 'say' | 'paint'>): (state: RunState) => void {
  let plan = false;
  let told: ReadonlySet<string> = new Set();
  const where = `answer it in a terminal: mimir attach ${session}`;
  return (state) => {
    const waits = state.phase === 'approving';
    if (waits && !plan) say(paint.yellow(`The plan waits for you; ${where}`));
    plan = waits;
    for (const one of state.approvals) if (!told.has(one.id)) say(paint.yellow(`${askWords(one, state)}; ${where}`));
    told = new Set(state.approvals.map(({ id }) => id));
  };
}

/** `[tester] asks you: npm test`; its role in front of that would say who asks once more. */
function askWords({ agent, request }: Approval, { agents }: RunState): string {
  const found = agents.get(agent);
  const title = visible(request.title);
  if (found === undefined) return `${agent} asks you: ${title}`;
  const role = `${visible(found.role)}: `;
  return `${tag(found)} asks you: ${title.startsWith(role) ? title.slice(role.length) : title}`;
}

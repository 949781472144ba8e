/**
 * Changes of a plan by number. While it waits for the person each is made at once and can be undone; while it runs the difference is
 * said first, and only a yes makes it, with the digests of what was said.
 */
import { expectedPlan } from '../../app/views/spending/expected-plan.ts';
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import { totalsOf } from '../../domain/plan/plan-view.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import type { RunState } from '../../events/state.ts';
import { formatCost, formatDuration, formatTokens } from '../../app/views/text/format.ts';
import { agentNamed } from './words/agents.ts';
import { SAYS_YES } from '../../app/process/asker.ts';
import type { LineDesk } from './command.ts';

/** Makes the edits, one after the other, or says why not. */
export async function change(desk: LineDesk, ...edits: readonly PlanEdit[]): Promise<void> {
  if (desk.place === 'run') return amend(desk, edits);
  for (const edit of edits) if (!(await desk.submit({ do: 'edit plan', edit }))) return;
}

async function amend(desk: LineDesk, edits: readonly PlanEdit[]): Promise<void> {
  const { controls } = desk;
  if (controls === null) return desk.refuse('there is no run');
  const shown = controls.previewPlan(edits);
  if (!shown.ok) return desk.refuse(`not changed: ${shown.fault}`);
  const { base, digest, changes, plan } = shown.value;
  if (base === digest) return desk.say('That is the plan in force: nothing would change.');
  desk.say('The plan that runs would change:', ...changes.map(({ is, text }) => `- ${is}: ${text}`));
  if (desk.state.plan !== null)
    desk.say(`Now ${sumWords(desk.state.plan, desk.state)}. Then ${sumWords(plan, desk.state)}.`);
  const typed = await desk.ask('Change it? yes, anything else no: ');
  if (!SAYS_YES.test(typed?.trim() ?? '')) return desk.say('Nothing changed.');
  await desk.submit({ do: 'amend plan', edits, base, digest });
}

/** `12k tokens, $0.0504, about 38s` */
export function sumWords(plan: SoundPlan, { maxParallel, choices }: Pick<RunState, 'maxParallel' | 'choices'>): string {
  const { tokens, cost, seconds } = totalsOf(expectedPlan(plan, choices), maxParallel);
  return `${formatTokens(tokens)} tokens, ${cost === null ? 'price not known' : formatCost(cost)}, about ${formatDuration(seconds * 1000)}`;
}

/** The task of a number: of the plan that waits its place in the list; of one that runs the number of its agent. */
export function taskNamed(desk: LineDesk, typed: string): Result<PlanTask, string> {
  const { plan } = desk.state;
  if (plan === null) return fail('there is no plan yet');
  if (desk.place === 'run') {
    const agent = agentNamed(desk.state, typed);
    if (!agent.ok) return agent;
    const task = plan.tasks.find(({ id }) => id === agent.value.taskId);
    return task === undefined ? fail(`${typed} is no task of the plan`) : ok(task);
  }
  const word = typed.replace(/^#/, '');
  const task = plan.tasks[Number(word) - 1] ?? plan.tasks.find(({ id }) => id === word);
  if (task !== undefined && word !== '') return ok(task);
  const many = plan.tasks.length;
  const numbers = many === 1 ? 'there is task 1 only' : `tasks are numbered 1 to ${many}`;
  return fail(typed === '' ? `which task? ${numbers}` : `there is no task ${typed}: ${numbers}`);
}

/** `1, 3` as tasks; the first that there is none of is the fault. */
export function tasksNamed(desk: LineDesk, typed: string): Result<readonly PlanTask[], string> {
  const words = typed.split(/[\s,]+/).filter((word) => word !== '' && !NOTHING.has(word.toLowerCase()));
  const found = words.map((word) => taskNamed(desk, word));
  const wrong = found.find((one) => !one.ok);
  if (wrong !== undefined && !wrong.ok) return wrong;
  return ok(found.flatMap((one) => (one.ok ? [one.value] : [])));
}

const NOTHING: ReadonlySet<string> = new Set(['nothing', 'none', 'and']);

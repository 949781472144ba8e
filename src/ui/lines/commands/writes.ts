/** `writes` and `beside` in line mode: what a task may change, and which order of tasks is removed. */
import { alongsideEdit, setAlongside } from '../../../app/actions/set-alongside.ts';
import { setWrites, writesEdit, writesIn } from '../../../app/actions/set-writes.ts';
import { mayChange, orderedWith, orderLines } from '../../../app/views/plan-order.ts';
import type { PlanTask } from '../../../domain/plan/plan.ts';
import { change, taskNamed, tasksNamed } from '../change.ts';
import type { LineCommand, LineDesk } from '../command.ts';

export const WRITES_COMMANDS: readonly LineCommand[] = [
  {
    name: setWrites.word,
    short: [],
    arguments: 'N [GLOBS|all|nothing]',
    help: 'Says, or sets, which files task N may change: writes 2 src/** docs/*.md.',
    where: ['plan', 'run'],
    actions: ['plan.writes'],
    run: writes,
  },
  {
    name: setAlongside.word,
    short: [],
    arguments: 'N [NUMBERS|none]',
    help: 'Lets task N run beside these although both may change the same files; none puts them in order again.',
    where: ['plan', 'run'],
    actions: ['plan.order'],
    run: beside,
  },
];

async function writes(typed: string, desk: LineDesk): Promise<void> {
  const [task, rest] = taskIn(typed, desk);
  if (task === null) return;
  if (rest === '') return sayWrites(task, desk);
  const args = { task: task.id, writes: writesIn(rest) };
  const why = setWrites.whyNot(desk.state, args);
  if (why !== null) return desk.refuse(why);
  await change(desk, writesEdit(args));
}

async function beside(typed: string, desk: LineDesk): Promise<void> {
  const [task, rest] = taskIn(typed, desk);
  if (task === null) return;
  if (rest === '') return sayWrites(task, desk);
  const others = tasksNamed(desk, /^none$/i.test(rest) ? '' : rest);
  if (!others.ok) return desk.refuse(others.fault);
  const { plan } = desk.state;
  const ordered = plan === null ? [] : orderedWith(plan, task);
  const odd = others.value.find((other) => !ordered.includes(other));
  if (odd !== undefined) return desk.refuse(`there is no order between it and ${odd.role} that could be removed`);
  const args = { task: task.id, others: others.value.map(({ id }) => id) };
  const why = setAlongside.whyNot(desk.state, args);
  if (why !== null) return desk.refuse(why);
  await change(desk, alongsideEdit(args));
}

/** The task that the first word names, and the rest; refused where there is none. */
function taskIn(typed: string, desk: LineDesk): readonly [PlanTask | null, string] {
  const [, first = '', rest = ''] = /^\s*(\S*)\s*([^]*)$/.exec(typed) ?? [];
  const found = taskNamed(desk, first);
  if (!found.ok) desk.refuse(found.fault);
  return [found.ok ? found.value : null, rest.trim()];
}

function sayWrites(task: PlanTask, desk: LineDesk): void {
  const { plan } = desk.state;
  if (plan === null) return desk.refuse('there is no plan yet');
  desk.say(`May change: ${mayChange(task, true) ?? ''}`);
  for (const line of orderLines(plan, task)) desk.say(line);
}

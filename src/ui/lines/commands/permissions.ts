/** What is decided with the plan in line mode: permissions, the commit at the end, changeable files, and which order of tasks is removed. */
import {
  type Action,
  alongsideEdit,
  COMMIT_REQUEST,
  commitAtEnd,
  commitEdit,
  commitWords,
  permissionsEdit,
  setAlongside,
  setPermissions,
  setWrites,
  whyNotTalk,
  writesEdit,
  writesIn,
} from '../../../app/actions/index.ts';
import { withoutAsking } from '../../../app/views/permissions.ts';
import { mayChange, orderedWith, orderLines } from '../../../app/views/plan-order.ts';
import { PERMITTED, type Permitted } from '../../../domain/plan/permissions.ts';
import type { PlanEdit } from '../../../domain/plan/plan-edit.ts';
import { Permission, type Permissions, type PlanTask } from '../../../domain/plan/plan.ts';
import { ok } from '../../../domain/result.ts';
import { change, taskNamed, tasksNamed } from '../change.ts';
import type { LineCommand, LineDesk } from '../command.ts';

export const PERMISSION_COMMANDS: readonly LineCommand[] = [
  {
    name: setPermissions.word,
    short: [],
    arguments: '[N] [edits|commands|all ask|allow]',
    help: 'Says, or decides for all tasks or for task N, what agents may do without asking: permissions edits allow.',
    where: ['plan', 'run'],
    actions: ['plan.permissions'],
    run: permissions,
  },
  {
    name: commitAtEnd.word,
    short: [],
    arguments: '[on|off]',
    help: 'Says, or decides, whether main commits the work at the end of the run, behind the reviews; after the end, has main commit it.',
    where: ['plan', 'run', 'result'],
    actions: ['plan.commit', 'result.commit'],
    run: commit,
  },
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

const KINDS: ReadonlyMap<string, readonly Permitted[]> = new Map<string, readonly Permitted[]>([
  ['edits', ['edits']],
  ['commands', ['commands']],
  ['all', PERMITTED],
]);

async function permissions(typed: string, desk: LineDesk): Promise<void> {
  const [first = '', ...rest] = typed.split(/\s+/).filter((word) => word !== '');
  const isNumber = /^#?\d+$/.test(first);
  const named = isNumber ? taskNamed(desk, first) : ok(null);
  if (!named.ok) return desk.refuse(named.fault);
  const words = isNumber || first === '' ? rest : [first, ...rest];
  if (words.length === 0) return sayPermissions(named.value, desk);
  const wanted = permissionsIn(words);
  if (wanted === null) return desk.refuse('expected edits, commands or all, and ask or allow: permissions edits allow');
  const args = { task: named.value === null ? null : named.value.id, permissions: wanted };
  await decide(setPermissions, args, permissionsEdit(args), desk);
}

async function commit(typed: string, desk: LineDesk): Promise<void> {
  const word = typed.trim();
  if (desk.place === 'result') return commitNow(word, desk);
  const { plan } = desk.state;
  if (plan === null) return desk.refuse('there is no plan yet');
  if (word === '') return desk.say(commitWords(plan) || 'nothing is committed at the end');
  if (word !== 'on' && word !== 'off') return desk.refuse('expected on or off: commit on');
  const args = { commit: word === 'on' };
  await decide(commitAtEnd, args, commitEdit(args), desk);
}

/** A run that has ended is resumed for it; main's message is shown before, as the full screen does it. */
async function commitNow(word: string, desk: LineDesk): Promise<void> {
  const { state } = desk;
  if (word !== '') return desk.refuse('the run has ended: commit alone has main commit its changes');
  const why = whyNotTalk(state);
  if (why !== null || state.session === null) return desk.refuse(why ?? 'there is no run');
  await desk.go({ resume: state.session, followUp: COMMIT_REQUEST });
}

/** `edits allow`, `all ask`; null for anything else. */
function permissionsIn([what = '', to, ...more]: readonly string[]): Permissions | null {
  const kinds = KINDS.get(what);
  const permission = Permission.safeParse(to);
  if (kinds === undefined || !permission.success || more.length > 0) return null;
  return Object.fromEntries(kinds.map((one) => [one, permission.data]));
}

function sayPermissions(task: PlanTask | null, desk: LineDesk): void {
  const { plan } = desk.state;
  if (plan === null) return desk.refuse('there is no plan yet');
  const tasks = task === null ? plan.tasks : [task];
  desk.say(
    ...tasks.map((one) => `${plan.tasks.indexOf(one) + 1}. ${one.role}: ${withoutAsking(plan, one)} without asking`),
  );
}

async function writes(typed: string, desk: LineDesk): Promise<void> {
  const [task, rest] = taskIn(typed, desk);
  if (task === null) return;
  if (rest === '') return sayWrites(task, desk);
  const args = { task: task.id, writes: writesIn(rest) };
  await decide(setWrites, args, writesEdit(args), desk);
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
  await decide(setAlongside, args, alongsideEdit(args), desk);
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

/** Makes the edit of an action, or says why not. */
async function decide<Args>(action: Action<Args>, args: Args, edit: PlanEdit, desk: LineDesk): Promise<void> {
  const why = action.whyNot(desk.state, args);
  if (why !== null) return desk.refuse(why);
  await change(desk, edit);
}

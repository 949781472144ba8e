/** `permissions` and `commit` in line mode: what agents may do without asking, and whether the work is committed, said and decided. */
import { commitAtEnd, commitEdit, commitWords } from '../../../app/actions/commit.ts';
import type { PermissionsArgs } from '../../../app/actions/set-permissions.ts';
import { COMMIT_REQUEST, whyNotTalk } from '../../../app/actions/message-main.ts';
import { permissionsEdit, setPermissions } from '../../../app/actions/set-permissions.ts';
import { withoutAsking } from '../../../app/views/permissions.ts';
import type { Permissions, Permitted } from '../../../domain/permissions.ts';
import { Permission, PERMITTED } from '../../../domain/permissions.ts';
import type { PlanTask } from '../../../domain/plan/plan.ts';
import { ok } from '../../../domain/result.ts';
import { change, taskNamed } from '../change.ts';
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
  await decideOn({ task: named.value === null ? null : named.value.id, permissions: wanted }, desk);
}

async function commit(typed: string, desk: LineDesk): Promise<void> {
  const word = typed.trim();
  if (desk.place === 'result') return commitNow(word, desk);
  const { plan } = desk.state;
  if (plan === null) return desk.refuse('there is no plan yet');
  if (word === '') return desk.say(commitWords(plan) || 'nothing is committed at the end');
  if (word !== 'on' && word !== 'off') return desk.refuse('expected on or off: commit on');
  const args = { commit: word === 'on' };
  const why = commitAtEnd.whyNot(desk.state, args);
  if (why !== null) return desk.refuse(why);
  await change(desk, commitEdit(args));
}

/** A run that has ended is resumed for it; main's message is shown before, as the full screen does it. */
async function commitNow(word: string, desk: LineDesk): Promise<void> {
  const { state } = desk;
  if (word !== '') return desk.refuse('the run has ended: commit alone has main commit its changes');
  const why = whyNotTalk(state);
  if (why !== null || state.session === null) return desk.refuse(why ?? 'there is no run');
  await desk.go({ resume: state.session, followUp: COMMIT_REQUEST });
}

async function decideOn(args: PermissionsArgs, desk: LineDesk): Promise<void> {
  const why = setPermissions.whyNot(desk.state, args);
  if (why !== null) return desk.refuse(why);
  await change(desk, permissionsEdit(args));
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

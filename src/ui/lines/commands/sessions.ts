/** Commands before and after a run: a task, earlier tasks and sessions, templates, trust; the report, its export, and the way to another run. */
import { isFollowUp, messageMain, NO_REPORT, RESOLVE_REQUEST, retryText } from '../../../app/actions/index.ts';
import { whyNotTalk } from '../../../app/actions/index.ts';
import { attachTo } from '../../../app/client/index.ts';
import { world, wrongUse } from '../../../app/process/index.ts';
import { REPORT_PARTS } from '../../../app/reports/index.ts';
import { answerText, plural, unmergedIn } from '../../../app/views/index.ts';
import type { SessionId } from '../../../domain/ids.ts';
import type { ProjectInfo, TemplateInfo } from '../../../ports/project-service.ts';
import { firstLine } from '../agents.ts';
import { splitWords } from '../command.ts';
import type { LineCommand, LineSession } from '../session.ts';
import { askText, at, cancelled, mimirCommand, own, perform, printReceipt, rowOf } from './perform.ts';

const sayPart =
  (part: keyof typeof REPORT_PARTS): LineCommand['run'] =>
  (_, session) =>
    session.say(REPORT_PARTS[part](session.state) || `No ${part} yet.`);

/** What is done with a session of the list; one that runs in another process is followed. */
const withSession =
  (act: (id: SessionId, session: LineSession) => Promise<void>): LineCommand['run'] =>
  (typed, session) => {
    const { id, state } = chosen(sessionsOf(session), typed, 'session', (one) => one.id);
    return state === 'running' ? session.begin(attachTo(session.service, id), world.now()) : act(id, session);
  };

/** A command of Mimir for an agent of the session that is shown, which need not be the newest one. */
const ofThisSession = (key: 'undo' | 'diff'): ReturnType<typeof own> =>
  own(key, (typed, session) => {
    const [agent, ...rest] = splitWords(typed);
    const named = agent === undefined ? [] : [/^-|\//.test(agent) ? agent : `${session.state.session}/${agent}`];
    return session.mimir([key, ...named, ...rest]);
  });

export const SESSION_COMMANDS: readonly LineCommand[] = [
  ...at(
    ['start'],
    own('task', (text, session) => session.begin(session.service.start(required(text, 'task')))),
    own('direct', (text, session) => session.begin(session.service.start(required(text, 'task'), 'direct'))),
    own('history', history),
    own('sessions', (_, session) => {
      const lines = sessionsOf(session).map(
        ({ id, task, when, state }) => `${state}, ${when}, ${id}: ${firstLine(task)}`,
      );
      sayNumbered(lines, 'sessions', session);
    }),
    own(
      'resume a session',
      withSession((id, session) => session.resume(id)),
    ),
    own(
      'open a session',
      withSession((id, session) => session.begin(session.service.look(id), world.now())),
    ),
    own('templates', templates),
    mimirCommand('trust'),
    mimirCommand('custom agents'),
  ),
  ...at(
    ['run', 'result'],
    own('report', (_, session) => {
      if (session.state.finished === null) throw wrongUse(NO_REPORT);
      session.say(answerText(session.state));
    }),
    own('compare', sayPart('estimates')),
    own('changed', sayPart('files')),
    own('export', exportReport),
    rowOf(messageMain, sayToMain),
  ),
  ...at(['plan', 'run', 'result'], own('spend', sayPart('spending'))),
  ...at(
    ['result'],
    own('resume the run', resumeRun),
    own('pr', (typed, session) => session.mimir(['pr', session.state.session ?? '', ...splitWords(typed)])),
    own('merge', merge),
    mimirCommand('trees'),
    ofThisSession('undo'),
    ofThisSession('diff'),
    own('new', (_, session) => session.welcome()),
  ),
];

function sayNumbered(lines: readonly string[], what: string, session: LineSession): void {
  session.say(...(lines.length === 0 ? [`No ${what} yet.`] : lines.map((line, index) => `${index + 1}. ${line}`)));
}

function required(text: string, what: string): string {
  if (text === '') throw wrongUse(`missing argument: ${what}`);
  return text;
}

function chosen<T>(all: readonly T[], typed: string, what: string, nameOf: (one: T) => string): T {
  const found = all[Number(typed) - 1] ?? all.find((one) => nameOf(one) === typed);
  if (found !== undefined) return found;
  throw wrongUse(`${typed === '' ? `which ${what}?` : `there is no ${what} ${typed}:`} ${what}s lists them`);
}

const sessionsOf = ({ service }: LineSession): ProjectInfo['sessions'] => service.info().sessions;

function history(typed: string, session: LineSession): Promise<void> | void {
  const tasks = [...new Set(sessionsOf(session).map(({ task }) => task))];
  if (typed === '') return sayNumbered(tasks.map(firstLine), 'earlier tasks', session);
  const task = tasks[Number(typed) - 1];
  if (task === undefined) throw wrongUse(`there is no earlier task ${typed}`);
  return session.begin(session.service.start(task));
}

function templates(typed: string, session: LineSession): Promise<void> | void {
  const all = session.service.info().templates;
  if (typed !== '') {
    const template = chosen(all, typed, 'template', ({ name }) => name);
    return startTemplate(template, session);
  }
  const lines = all.map(({ name, description, tasks, arguments: wanted, from }) => {
    const asks = wanted.length === 0 ? '' : `; variables: ${wanted.map((one) => one.name).join(', ')}`;
    return `${name}: ${description === '' ? '' : `${description}, `}${plural(tasks, 'task')}${asks} (${from})`;
  });
  sayNumbered(lines, 'templates', session);
}

async function startTemplate({ name, arguments: wanted }: TemplateInfo, session: LineSession): Promise<void> {
  const values: Record<string, string> = {};
  for (const { name: variable, description, default: preset } of wanted) {
    const what = description === '' ? variable : `${variable}, ${description}`;
    const given = await session.ask(`${what}${preset === '' ? '' : ` (Enter is ${preset})`}: `);
    if (given === null) throw cancelled('Nothing started.');
    values[variable] = required(given.trim() || preset, variable);
  }
  await session.begin(session.service.startTemplate(name, values));
}

async function resumeRun(_: string, session: LineSession): Promise<void> {
  const { finished, session: id } = session.state;
  if (finished === null || id === null) throw wrongUse(NO_REPORT);
  if (finished.status === 'failed') session.say(retryText(session.state));
  await session.resume(id);
}

/** As `mimir merge`; with `--agent` the agent resolves the conflicts, in the run that continues. */
async function merge(typed: string, session: LineSession): Promise<void> {
  const words = splitWords(typed);
  if (!words.includes('--agent')) return session.mimir(['merge', ...words]);
  const { state, service } = session;
  const named = words.filter((word) => word !== '--agent').join(' ');
  const open = unmergedIn(state).filter(({ name, taskId }) => [name, taskId, ''].includes(named));
  const [one, ...others] = open;
  if (others.length > 0) throw wrongUse(`name one of them: ${open.map(({ name }) => name).join(', ')}`);
  if (one === undefined || state.session === null || service.changes === undefined) throw wrongUse(NO_TREE);
  const action = { do: 'merge', agent: one.id, choice: 'agent' } as const;
  const shown = await service.changes.preview(state.session, action);
  if (shown.ok && shown.value.answers.length === 1) throw wrongUse('no file changed on both sides: merge it');
  printReceipt(shown.ok ? await service.changes.carryOut(state.session, action, shown.value.digest) : shown, session);
  await session.resume(state.session, RESOLVE_REQUEST, one.id);
}

const NO_TREE = 'there is no such tree to merge: trees lists all';

async function sayToMain(typed: string, session: LineSession): Promise<void> {
  const text = typed === '' ? await askText('Message to main (Enter to cancel): ', 'Nothing sent.', session) : typed;
  if (!isFollowUp(session.state)) return perform(messageMain, { text }, session);
  await followUp(text, session);
}

/** Resumes an ended run with a message to main. */
export async function followUp(text: string, session: LineSession): Promise<void> {
  const { state } = session;
  const why = whyNotTalk(state);
  if (why !== null || state.session === null) throw wrongUse(why ?? NO_REPORT);
  await session.resume(state.session, text);
}

async function exportReport(typed: string, session: LineSession): Promise<void> {
  const { session: id, finished } = session.state;
  const format = (['md', 'json', 'html'] as const).find((one) => one === (typed || 'md'));
  if (format === undefined) throw wrongUse(`"${typed}" is not a format: expected md, json or html`);
  if (finished === null || id === null) throw wrongUse(NO_REPORT);
  printReceipt(await session.service.exportReport(id, format), session);
}

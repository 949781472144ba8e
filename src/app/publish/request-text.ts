/** The texts of a run's pull request: title, body and commit message from its state, and the preview that a person reads before anything is sent. */
import { tokensOf } from '../../domain/budget.ts';
import { listed } from '../../domain/lists.ts';
import { type PrTarget, titleOf } from '../../domain/pull-request.ts';
import { headOf, paragraphs, plainLine, seenText } from '../../domain/text/text.ts';
import type { MimirEvent, PullRequest, RunState } from '../../events/index.ts';
import type { PublishDraft } from '../../tools/index.ts';
import { costText, REPORT_PARTS, spentBy, tableOf } from '../reports/index.ts';
import { answerText, formatDuration, formatTokens, plural, runTime } from '../views/index.ts';
import { statusWord, sumChanges, touchedFiles } from '../views/index.ts';

/** What a person is shown before the request is sent, and what is sent. */
export interface RequestText {
  readonly title: string;
  readonly body: string;
  readonly message: string;
}

/** Bytes; hosts refuse longer bodies. */
const MOST_BODY = 60_000;
const MOST_ANSWER = 20_000;

/** `events` are those of approvals. `clean` removes secrets. */
export function requestText(
  state: RunState,
  draft: PublishDraft,
  events: Iterable<MimirEvent>,
  clean: (text: string) => string,
): RequestText {
  const title = clean(titleOf(state.task));
  const tasks = taskRows(state).map(([number, role, task]) => `${number}. ${role}: ${task}`);
  const message = paragraphs([title, tasks.join('\n'), `Mimir-Session: ${state.session ?? ''}`]);
  const body = paragraphs([
    statusLine(state),
    headOf(answerText(state), MOST_ANSWER),
    section('Plan', tableOf(['#', 'role', 'task', 'result'], taskRows(state))),
    section('Files', fileTable(state, draft)),
    section('Costs and approvals', [...spentLines(state), ...approvalLines(events)].join('\n')),
    section('Agents', REPORT_PARTS.agents(state)),
  ]);
  return { title, message: clean(seenText(message)), body: headOf(clean(seenText(body)), MOST_BODY) };
}

const section = (title: string, text: string): string => (text === '' ? '' : `## ${title}\n\n${text}`);

function statusLine({ finished }: RunState): string {
  if (finished?.status === 'completed') return '';
  return `**The run did not complete: ${finished?.status ?? 'it was cut off'}.**`;
}

const MOST_TASK = 300;

function taskRows({ plan, agents }: RunState): readonly (readonly [string, string, string, string])[] {
  const byTask = new Map([...agents.values()].map((agent) => [agent.taskId, agent]));
  return (plan?.tasks ?? []).map((task, at) => {
    const agent = byTask.get(task.id);
    return [
      String(at + 1),
      task.role,
      plainLine(task.description, MOST_TASK),
      agent === undefined ? '' : statusWord(agent),
    ];
  });
}

function fileTable(state: RunState, { files }: PublishDraft): string {
  const by = new Map(touchedFiles(state).map((file) => [file.path, file.by.join(', ')]));
  return tableOf(
    ['file', 'lines', 'by'],
    files.map(({ path, is, added, removed }) => [
      is === 'changed' ? path : `${path} (${is === 'added' ? 'new' : 'removed'})`,
      `+${added} -${removed}`,
      by.get(path) ?? '',
    ]),
  );
}

function spentLines(state: RunState): readonly string[] {
  const { usage, ...spent } = spentBy(state.agents.values());
  const time = runTime(state);
  const parts = [
    `${formatTokens(tokensOf(usage))} tokens`,
    costText(spent),
    ...(time === 0 ? [] : [formatDuration(time)]),
  ];
  return [`- Spent: ${parts.join(', ')}`, `- Mode: ${state.mode}`];
}

/** Who approved the plan, and how many acts were allowed or denied by whom. */
function approvalLines(events: Iterable<MimirEvent>): readonly string[] {
  const lines: string[] = [];
  const counts = new Map<string, number>();
  for (const event of events) {
    if (event.type === 'plan.approved') lines.push(`- Plan approved by ${event.by}`);
    if (event.type === 'plan.amended') lines.push(`- Plan changed by ${event.by} while it ran`);
    if (event.type !== 'approval.answered') continue;
    const words = `${event.answer} by ${event.by}`;
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  const answers = [...counts].map(([words, count]) => `${count} ${words}`);
  return answers.length === 0 ? lines : [...lines, `- Questions of agents: ${answers.join(', ')}`];
}

/** What decides about the request, for the preview. */
export interface PreviewFacts {
  readonly state: RunState;
  readonly target: PrTarget;
  readonly draft: PublishDraft;
  readonly text: RequestText;
  readonly commands: readonly string[];
  readonly mixed: readonly string[];
  /** Files whose changes hold what looks like a key. */
  readonly suspicious: readonly string[];
  /** Why the rules deny it; null: they do not. */
  readonly denied: string | null;
}

const MOST_FILES = 200;

/** The whole request as text: where it goes, what is in it, title and body, and the commands that leave this machine. */
export function previewLines(facts: PreviewFacts): readonly string[] {
  const { state, target, draft, text, commands, mixed, suspicious, denied } = facts;
  return [
    `${kindOf(target)} of session ${state.session ?? ''} to ${target.address}`,
    '',
    `Branch  ${target.branch}`,
    `Into    ${target.base ?? `the default branch of ${target.remote}`}`,
    ...progressLines(state.pullRequest),
    ...changeLines(draft),
    ...warned('Also in these files, and going along: changes that are not of this run', mixed),
    ...warned('These files hold what looks like a key', suspicious),
    ...aheadLines(draft, target),
    'Your other changes stay as they are, and so does your branch.',
    '',
    `Title   ${text.title}`,
    ...text.body.split('\n').map((line) => `  ${line}`.trimEnd()),
    '',
    ...(denied === null
      ? ['This leaves your machine:', ...commands.map((command) => `  ${command}`)]
      : [`Denied: ${denied}`]),
  ];
}

function changeLines({ files, leftOut }: PublishDraft): readonly string[] {
  const { added, removed } = sumChanges(files);
  const size = `${plural(files.length, 'file')}, +${added} -${removed}`;
  const what = files.length === 0 ? 'no change that is not committed' : size;
  return [
    `Files   ${what}`,
    ...files.slice(0, MOST_FILES).map(({ path, added, removed }) => `  ${path}  +${added} -${removed}`),
    ...(files.length > MOST_FILES ? [`  and ${files.length - MOST_FILES} more`] : []),
    ...leftOut.slice(0, MOST_FILES).map(({ path, because }) => `  left out: ${path} (${because})`),
  ];
}

const aheadLines = ({ ahead, from }: PublishDraft, { remote }: PrTarget): readonly string[] =>
  ahead === null || ahead.length === 0
    ? []
    : [
        `! ${plural(ahead.length, 'commit')} of ${from} that ${remote} does not have:`,
        ...ahead.map((line) => `  ${line}`),
      ];

const warned = (words: string, files: readonly string[]): readonly string[] =>
  files.length === 0 ? [] : [`! ${words}: ${listed(files.slice(0, MOST_FILES))}`];

/** `Pull request`, or on GitLab `Merge request`. */
export const kindOf = ({ program }: Pick<PrTarget, 'program'>): string =>
  program === 'gh' ? 'Pull request' : 'Merge request';

function progressLines(request: PullRequest | undefined): readonly string[] {
  if (request === undefined) return [];
  if (request.url !== null) return [`Open    ${request.url}`];
  return [
    `So far  ${request.done.length === 0 ? 'nothing' : listed(request.done)}${request.why === '' ? '' : `; then: ${request.why.split('\n')[0] ?? ''}`}`,
  ];
}

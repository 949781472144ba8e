/** Commands before a run: a task, suggestions and sessions by number, templates, trust, files of the project. */
import type { LobbyInfo, TemplateInfo } from '../../../ports/project-service.ts';
import { isOpen } from '../../../app/views/trust-question.ts';
import { type LineCommand, type LineDesk, type Place, sayLong } from '../command.ts';
import { firstLine } from '../words/agents.ts';

const START: readonly Place[] = ['start'];

export const START_COMMANDS: readonly LineCommand[] = [
  {
    name: 'task',
    short: [],
    arguments: 'TEXT',
    help: 'Makes a plan for this task; a line that is no command is one as well.',
    where: START,
    actions: ['start.go', 'start.move', 'start.next', 'start.clear', 'start.editor'],
    run: async (text, desk) => (text === '' ? desk.refuse('which task?') : desk.go({ start: text })),
  },
  {
    name: 'suggestions',
    short: [],
    arguments: '',
    help: 'Lists tasks that make sense here; a number alone begins one.',
    where: START,
    actions: [],
    run: (_, desk) => saySuggestions(desk),
  },
  {
    name: 'take',
    short: [],
    arguments: 'N',
    help: 'Makes a plan for suggestion N.',
    where: START,
    actions: [],
    run: take,
  },
  {
    name: 'direct',
    short: [],
    arguments: 'TASK',
    help: 'Asks main directly: one task without a planner, which this approves.',
    where: START,
    actions: ['start.direct'],
    run: (typed, desk) =>
      typed === '' ? desk.refuse('what is main to do? direct TASK') : desk.go({ start: typed, direct: 'direct' }),
  },
  {
    name: 'history',
    short: [],
    arguments: '[N]',
    help: 'Lists former tasks, the newest first; with a number, begins that one anew.',
    where: START,
    actions: ['start.history'],
    run: history,
  },
  {
    name: 'sessions',
    short: [],
    arguments: '',
    help: 'Lists former sessions; resume N goes on with one that was stopped, attach N shows one that runs elsewhere.',
    where: START,
    actions: [],
    run: (_, desk) => sayLong(desk, sessionLines(desk.lobby?.info())),
  },
  {
    name: 'resume',
    short: ['r'],
    arguments: 'N',
    help: 'Goes on with session N of the list.',
    where: START,
    actions: [],
    run: resumeSession,
  },
  {
    name: 'attach',
    short: [],
    arguments: 'N',
    help: 'Follows session N of the list, which another process carries; leaving it ends nothing.',
    where: START,
    actions: [],
    run: async (typed, desk) => {
      const chosen = sessionNamed(typed, desk);
      if (chosen !== null) await desk.go({ attach: chosen.id });
    },
  },
  {
    name: 'templates',
    short: [],
    arguments: '',
    help: 'Lists plans that were kept, with what each asks for.',
    where: START,
    actions: ['start.templates'],
    run: (_, desk) => sayLong(desk, templateLines(desk.lobby?.info())),
  },
  {
    name: 'template',
    short: [],
    arguments: 'N',
    help: 'Begins a run of kept plan N, or of its name, after asking for what it needs.',
    where: START,
    actions: [],
    run: useTemplate,
  },
  {
    name: 'files',
    short: ['@'],
    arguments: '[WORDS]',
    help: 'Lists files of the project by a part of their path, to be named in a task as @path.',
    where: ['start', 'run'],
    actions: [],
    run: sayFiles,
  },
  {
    name: 'trust',
    short: [],
    arguments: '',
    help: 'Says what this project would bring, and asks whether you trust it.',
    where: START,
    actions: ['start.trust'],
    run: trust,
  },
];

/** What stands at the start: where one is, what rules, what can be begun. */
export function startLines(info: LobbyInfo): readonly string[] {
  const {
    project,
    cwd,
    version,
    provider,
    sandbox,
    mode,
    policy = '',
    notes,
    suggestions,
    sessions,
    templates = [],
  } = info;
  const counts = [
    ...(suggestions.length === 0 ? [] : ['a number begins a suggestion']),
    ...(sessions.length === 0 ? [] : ['sessions lists former ones']),
    ...(templates.length === 0 ? [] : ['templates lists kept plans']),
  ];
  return [
    `Mimir ${version}, ${project} in ${cwd}. ${provider}, mode ${mode}${sandbox === '' ? '' : `, sandbox ${sandbox}`}${policy === '' ? '' : `, ${policy}`}.`,
    ...notes.map((note) => `note: ${note}`),
    ...(isOpen(info.trust)
      ? ['This project is not trusted: only its restrictions count. trust says what it would bring.']
      : []),
    ...(suggestions.length === 0 ? [] : ['Suggestions:', ...suggestionLines(info)]),
    ['Type a task', ...counts, 'help lists the commands', 'quit leaves'].join('; ').concat('.'),
  ];
}

const suggestionLines = ({ suggestions }: LobbyInfo): readonly string[] =>
  suggestions.map((task, index) => `${index + 1}. ${task}`);

function saySuggestions(desk: LineDesk): void {
  const info = desk.lobby?.info();
  const lines = info === undefined ? [] : suggestionLines(info);
  if (lines.length === 0) return desk.say('There are no suggestions yet.');
  desk.say(...lines);
}

export async function take(typed: string, desk: LineDesk): Promise<void> {
  const task = desk.lobby?.info().suggestions[Number(typed) - 1];
  if (task === undefined)
    return desk.refuse(
      typed === ''
        ? 'which suggestion? suggestions lists them'
        : `there is no suggestion ${typed}: suggestions lists them`,
    );
  desk.say(`Task: ${task}`);
  await desk.go({ start: task });
}

const tasksOf = (info: LobbyInfo | undefined): readonly string[] => [
  ...new Set((info?.sessions ?? []).map(({ task }) => task)),
];

async function history(typed: string, desk: LineDesk): Promise<void> {
  const tasks = tasksOf(desk.lobby?.info());
  if (typed !== '') {
    const task = tasks[Number(typed) - 1];
    return task === undefined ? desk.refuse(`there is no former task ${typed}`) : desk.go({ start: task });
  }
  if (tasks.length === 0) return desk.say('There are no former tasks here.');
  sayLong(
    desk,
    tasks.map((task, index) => `${index + 1}. ${firstLine(task)}`),
  );
}

function sessionLines(info: LobbyInfo | undefined): readonly string[] {
  const sessions = info?.sessions ?? [];
  if (sessions.length === 0) return ['There are no former sessions here.'];
  return sessions.map(
    ({ id, task, when, state }, index) => `${index + 1}. ${state}, ${when}, ${id}: ${firstLine(task)}`,
  );
}

async function resumeSession(typed: string, desk: LineDesk): Promise<void> {
  const chosen = sessionNamed(typed, desk);
  if (chosen === null) return;
  await desk.go(chosen.state === 'running' ? { attach: chosen.id } : { resume: chosen.id });
}

/** Null, with words, where there is none. */
function sessionNamed(typed: string, desk: LineDesk): LobbyInfo['sessions'][number] | null {
  const sessions = desk.lobby?.info().sessions ?? [];
  const chosen = sessions[Number(typed) - 1] ?? sessions.find(({ id }) => id === typed);
  if (chosen !== undefined) return chosen;
  desk.refuse(
    typed === '' ? 'which session? sessions lists them' : `there is no session ${typed}: sessions lists them`,
  );
  return null;
}

function templateLines(info: LobbyInfo | undefined): readonly string[] {
  const templates = info?.templates ?? [];
  if (templates.length === 0) return ['No plan was kept here: keep NAME keeps one while it is shown.'];
  return templates.map(({ name, description, tasks, arguments: wanted, from }, index) => {
    const asks = wanted.length === 0 ? '' : `; asks for ${wanted.map((one) => one.name).join(', ')}`;
    return `${index + 1}. ${name}: ${description === '' ? '' : `${description}, `}${tasks === 1 ? '1 task' : `${tasks} tasks`}${asks} (${from})`;
  });
}

async function useTemplate(typed: string, desk: LineDesk): Promise<void> {
  const templates = desk.lobby?.info().templates ?? [];
  const chosen = templates[Number(typed) - 1] ?? templates.find(({ name }) => name === typed);
  if (chosen === undefined)
    return desk.refuse(
      typed === '' ? 'which template? templates lists them' : `there is no template ${typed}: templates lists them`,
    );
  const values: Record<string, string> = {};
  for (const one of chosen.arguments) {
    const value = await valueFor(one, desk);
    if (value === null) return desk.say('Nothing begun.');
    values[one.name] = value;
  }
  await desk.go({ template: chosen.name, values });
}

/** Null where none was given, and none is usual. */
async function valueFor(
  { name, description, default: usual }: TemplateInfo['arguments'][number],
  desk: LineDesk,
): Promise<string | null> {
  const what = description === '' ? name : `${name}, ${description}`;
  const given = await desk.ask(`${what}${usual === '' ? '' : ` (Enter is ${usual})`}: `);
  const value = (given ?? '').trim() || usual;
  if (given !== null && value === '') desk.refuse(`${name} must be given`);
  return given === null || value === '' ? null : value;
}

const MOST_FILES = 20;

async function sayFiles(words: string, desk: LineDesk): Promise<void> {
  const found = (await desk.lobby?.files?.(words.replace(/^@/, ''), MOST_FILES)) ?? null;
  if (found === null) return desk.refuse('files can be looked for in a session only');
  if (found.length === 0) return desk.say('No file has these words in its path.');
  sayLong(
    desk,
    found.map((file, index) => `${index + 1}. @${file}`),
  );
}

async function trust(_: string, desk: LineDesk): Promise<void> {
  const question = desk.lobby?.info().trust;
  if (!isOpen(question) || desk.lobby?.trust === undefined) return desk.say('There is nothing to trust here.');
  desk.say(
    'Trusted, this project would bring into your runs:',
    ...question.brings.map((line) => `- ${line}`),
    ...(question.diff === '' ? [] : ['Changed since you trusted it:', question.diff]),
  );
  const typed = await desk.ask('Trust exactly this? y yes, anything else goes on without: ');
  if (typed?.trim() !== 'y') return desk.say('Not trusted: only its restrictions count.');
  const done = await desk.lobby.trust(question.digest);
  if (done.ok) desk.say(done.value.text);
  else desk.refuse(done.fault.text);
}

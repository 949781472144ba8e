/** Commands that are the same everywhere: help, what stands for each action of the full screen, how much is said, leaving. */
import { type LineCommand, type LineDesk, type Place, usageOf, sayLong } from '../command.ts';
import type { Verbosity } from '../memory.ts';
import { WITHOUT_LINES } from './screen-only.ts';

const ALL: readonly Place[] = ['start', 'plan', 'run', 'result'];

/** `table`: all commands, these among them; asked when it is needed. */
export const everywhere = (table: () => readonly LineCommand[]): readonly LineCommand[] => [
  {
    name: 'help',
    short: ['?', 'h'],
    arguments: '[COMMAND]',
    help: 'Lists what can be done here, or says what one command does.',
    where: ALL,
    actions: ['app.help'],
    run: (word, desk) => help(word.trim(), desk, table()),
  },
  {
    name: 'actions',
    short: [],
    arguments: '[WORDS]',
    help: 'Lists every action of the full screen with the command that stands for it.',
    where: ALL,
    actions: ['app.palette'],
    run: (words, desk) => sayActions(words.trim().toLowerCase(), desk, table()),
  },
  verbosity('quiet', 'Says only questions, failures and the end.'),
  verbosity('normal', 'Says also when agents begin and end, and their tools a few at a time.'),
  verbosity('verbose', 'Says every tool, and when a model thinks.'),
  {
    name: 'quit',
    short: ['q', 'exit'],
    arguments: '',
    help: 'Leaves; asks while a run goes on.',
    where: ALL,
    actions: ['app.quit', 'app.stop', 'start.quit'],
    run: (_, desk) => desk.go('quit'),
  },
];

const verbosity = (name: Verbosity, help: string): LineCommand => ({
  name,
  short: [],
  arguments: '',
  help,
  where: ALL,
  actions: [],
  run(_, desk) {
    desk.memory.verbosity = name;
    desk.say(`${name}: ${help}`);
  },
});

function help(word: string, desk: LineDesk, table: readonly LineCommand[]): void {
  if (word === '') {
    const here = table.filter(({ where }) => where.includes(desk.place));
    return sayLong(
      desk,
      [...INTRODUCTIONS[desk.place], ...here.map(usageOf), ...NOTES],
      here.length + NOTES.length + 4,
    );
  }
  const found = table.filter(({ name, short }) => name === word.toLowerCase() || short.includes(word));
  if (found.length === 0) return desk.refuse(`there is no command "${word}": help lists them`);
  for (const one of found) desk.say(usageOf(one), `It can be used at: ${one.where.join(', ')}.`);
}

const INTRODUCTIONS: Readonly<Record<Place, readonly string[]>> = {
  start: ['Type a task, or a number for a suggestion. Commands here:'],
  plan: ['Y or Enter proceeds, n cancels, e edits each task in turn, m as well with models and tokens. Commands here:'],
  run: ['Enter says how it stands. N is the number of an agent: it stays the same. Commands here:'],
  result: ['The run has ended. Commands here:'],
};

const NOTES: readonly string[] = [
  'A beginning of a command is enough where only one has it. A / in front makes a command of a line that would be an answer or a task.',
  'Ctrl-C says how to stop; twice leaves, and the state of the run is kept.',
];

function sayActions(words: string, desk: LineDesk, table: readonly LineCommand[]): void {
  const stands = table.flatMap((command) =>
    command.actions.map((action) => ({ action, line: `${action}: ${usageOf(command)}` })),
  );
  const none = Object.entries(WITHOUT_LINES).map(([action, why]) => ({ action, line: `${action}: nothing, ${why}` }));
  const all = [...stands, ...none].filter(({ line }) => words === '' || line.toLowerCase().includes(words));
  if (all.length === 0) return desk.say('No action has these words.');
  sayLong(
    desk,
    all.sort((a, b) => a.action.localeCompare(b.action)).map(({ line }) => line),
  );
}

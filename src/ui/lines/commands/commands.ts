/** The table of all commands of line mode, from which dispatch and help are made, and the commands that can be used everywhere. */
import {
  at,
  type LineCommand,
  type LineContext,
  noCommand,
  type Place,
  sayLong,
  usageOf,
  type Verbosity,
} from '../command.ts';
import { EDIT_COMMANDS } from './edits.ts';
import { LOOK_COMMANDS } from './look.ts';
import { PLAN_COMMANDS } from './plan.ts';
import { RESULT_COMMANDS } from './results.ts';
import { RUN_COMMANDS } from './run.ts';
import { START_COMMANDS } from './start.ts';

const verbosity = (name: Verbosity, words: string): Omit<LineCommand, 'where'> => ({
  name,
  help: words,
  run(_, context) {
    context.memory.verbosity = name;
    context.say(`${name}: ${words}`);
  },
});

export const LINE_COMMANDS: readonly LineCommand[] = [
  ...START_COMMANDS,
  ...PLAN_COMMANDS,
  ...EDIT_COMMANDS,
  ...LOOK_COMMANDS,
  ...RUN_COMMANDS,
  ...RESULT_COMMANDS,
  ...at(
    ['start', 'plan', 'run', 'result'],
    {
      name: 'help',
      short: ['?', 'h'],
      arguments: '[COMMAND]',
      help: 'List commands, or explain one.',
      actions: ['app.help'],
      run: (word, context) => help(word.trim(), context),
    },
    {
      name: 'actions',
      arguments: '[WORDS]',
      help: 'List the actions of the full screen with their commands.',
      actions: ['app.palette'],
      run: (words, context) => sayActions(words.trim().toLowerCase(), context),
    },
    verbosity('quiet', 'Print only questions, failures and the end.'),
    verbosity('normal', 'Also print when agents start and end, and their tools in groups.'),
    verbosity('verbose', 'Print every tool call, and when a model thinks.'),
    {
      name: 'quit',
      short: ['q', 'exit'],
      help: 'Quit. Asks first while a run is active.',
      actions: ['app.quit', 'app.stop', 'start.quit'],
      run: (_, context) => context.go('quit'),
    },
  ),
];

function help(word: string, context: LineContext): void {
  if (word === '') {
    const here = LINE_COMMANDS.filter(({ where }) => where.includes(context.place));
    return sayLong(
      context,
      [...INTRODUCTIONS[context.place], ...here.map(usageOf), ...NOTES],
      here.length + NOTES.length + 4,
    );
  }
  const found = LINE_COMMANDS.filter(
    ({ name, short }) => name === word.toLowerCase() || short?.includes(word) === true,
  );
  if (found.length === 0) return context.refuse(noCommand(word));
  for (const one of found) context.say(usageOf(one), `Available at: ${one.where.join(', ')}.`);
}

const INTRODUCTIONS: Readonly<Record<Place, readonly string[]>> = {
  start: ['Type a task, or a number for a suggestion. Commands here:'],
  plan: ['Y or Enter accepts, n discards, e edits each task in turn, m also models and tokens. Commands here:'],
  run: ['Enter prints the state. N is the number of an agent, which never changes. Commands here:'],
  result: ['The run has ended. Commands here:'],
};

const NOTES: readonly string[] = [
  'A unique beginning of a command is enough. Put / in front of a command where a line would be an answer or a task.',
  'Ctrl-C shows how to stop. Press it twice to quit; the state of the run is kept.',
];

function sayActions(words: string, context: LineContext): void {
  const covered = LINE_COMMANDS.flatMap((command) =>
    (command.actions ?? []).map((action) => ({ action, line: `${action}: ${usageOf(command)}` })),
  );
  const uncovered = [...WITHOUT_LINES].map(([action, why]) => ({ action, line: `${action}: nothing, ${why}` }));
  const all = [...covered, ...uncovered].filter(({ line }) => words === '' || line.toLowerCase().includes(words));
  if (all.length === 0) return context.say('No action has these words.');
  sayLong(
    context,
    all.sort((a, b) => a.action.localeCompare(b.action)).map(({ line }) => line),
  );
}

/** Actions of the full screen that have no command, by the reason. */
const WITHOUT_BY_REASON: readonly (readonly [why: string, actions: string])[] = [
  ['nothing is drawn', 'app.redraw'],
  [
    'there is no cursor: things are named by number',
    'start.back start.page plan.down plan.up plan.pageDown plan.pageUp',
  ],
  ['there is no cursor: things are named by number', 'plan.first plan.last run.move run.back'],
  ['there is no cursor: things are named by number', 'detail.scroll detail.select detail.block detail.leave'],
  ['there are no panes', 'plan.pane plan.paneNumber plan.zoom plan.unzoom run.pane run.goto run.zoom'],
  ['the terminal selects and searches lines', 'copy.move copy.word copy.select copy.lines copy.block'],
  ['the terminal selects and searches lines', 'copy.search copy.next copy.leave'],
  ['Ctrl-Z belongs to the shell here', 'app.suspend'],
  ['line mode has no themes', 'app.theme'],
  ['the mouse belongs to the terminal here', 'app.mouse'],
  ['commands of the run can be used at once', 'plan.back'],
  ['log prints as many lines as you want', 'log.scroll'],
  ['there are no cards', 'run.density'],
  ['more prints the next part of a long text', 'result.scroll'],
];

export const WITHOUT_LINES: ReadonlyMap<string, string> = new Map(
  WITHOUT_BY_REASON.flatMap(([why, actions]) => actions.split(' ').map((action) => [action, why] as const)),
);

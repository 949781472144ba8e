/** The table of all commands of line mode, from which dispatch and help are made, and the commands that can be used everywhere. */
import { wrongUse } from '../../../app/process/index.ts';
import {
  at,
  isNamed,
  type LineCommand,
  type LineContext,
  mimirCommand,
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

const verbosity = (name: Verbosity, help: string): Omit<LineCommand, 'where'> => ({
  name,
  help,
  run(_, context) {
    context.memory.verbosity = name;
    context.say(`${name}: ${help}`);
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
      arguments: '[WORD]',
      help: 'List the commands, explain one, or list those with a word.',
      run: help,
    },
    mimirCommand('models', '', 'List the models with their prices, and why some cannot be used.'),
    mimirCommand('policy', '[show|explain] [OPTION] [VALUE]', 'Print the rules in force, or explain a decision.'),
    mimirCommand('doctor', '', 'Check what works on this machine.'),
    verbosity('quiet', 'Print only questions, failures and the end.'),
    verbosity('normal', 'Also print when agents start and end, and their tools in groups.'),
    verbosity('verbose', 'Print every tool call, and when a model thinks.'),
    {
      name: 'quit',
      short: ['q', 'exit'],
      help: 'Quit. Asks first while a run is active.',
      run: (_, context) => context.go('quit'),
    },
  ),
];

function help(typed: string, context: LineContext): void {
  const word = typed.trim();
  if (word === '') {
    const here = LINE_COMMANDS.filter(({ where }) => where.includes(context.place)).map(usageOf);
    const lines = [INTRODUCTIONS[context.place], ...here, ...NOTES];
    return sayLong(context, lines, lines.length);
  }
  const named = LINE_COMMANDS.filter((command) => isNamed(command, word));
  const all = named.length > 0 ? named : LINE_COMMANDS.filter((one) => usageOf(one).toLowerCase().includes(word));
  if (all.length === 0) throw wrongUse(noCommand(word));
  context.say(...all.flatMap((one) => [usageOf(one), `  Available at: ${one.where.join(', ')}.`]));
}

const INTRODUCTIONS: Readonly<Record<Place, string>> = {
  start: 'Type a task, or a number for a suggestion. Commands here:',
  plan: 'Y or Enter accepts, n discards, e edits each task in turn, m also models and tokens. Commands here:',
  run: 'Enter prints the state. N is the number of an agent, which never changes. Commands here:',
  result: 'The run has ended. Commands here:',
};

const NOTES: readonly string[] = [
  'A unique beginning of a command is enough. Put / in front of a command where a line would be an answer or a task.',
  'Ctrl-C shows how to stop. Press it twice to quit; the state of the run is kept.',
];

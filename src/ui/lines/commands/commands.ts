/** The table of all commands of line mode, from which dispatch and help are made, and the commands that can be used everywhere. */
import { wrongUse } from '../../../app/process/index.ts';
import { isNamed, noCommand, type Place, usageOf } from '../command.ts';
import type { Verbosity } from '../run.ts';
import type { LineCommand, LineSession } from '../session.ts';
import { EDIT_COMMANDS } from './edits.ts';
import { LOOK_COMMANDS } from './look.ts';
import { at, mimirCommand, type Placeless } from './perform.ts';
import { PLAN_COMMANDS } from './plan.ts';
import { RESULT_COMMANDS } from './results.ts';
import { RUN_COMMANDS } from './run.ts';
import { START_COMMANDS } from './start.ts';

const verbosity = (name: Verbosity, help: string): Placeless => ({
  name,
  help,
  run(_, session) {
    session.verbosity = name;
    session.say(`${name}: ${help}`);
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
      name: 'more',
      arguments: '[all]',
      help: 'Print the next part of a long text.',
      run: (rest, session) => session.sayMore(rest),
    },
    {
      name: 'quit',
      short: ['q', 'exit'],
      help: 'Quit. Asks first while a run is active.',
      run: (_, session) => session.quit(),
    },
  ),
];

function help(typed: string, session: LineSession): void {
  const word = typed.trim();
  if (word === '') {
    const here = LINE_COMMANDS.filter(({ where }) => where.includes(session.place)).map(usageOf);
    return session.say(INTRODUCTIONS[session.place], ...here, ...NOTES);
  }
  const named = LINE_COMMANDS.filter((command) => isNamed(command, word));
  const all = named.length > 0 ? named : LINE_COMMANDS.filter((one) => usageOf(one).toLowerCase().includes(word));
  if (all.length === 0) throw wrongUse(noCommand(word));
  session.say(...all.flatMap((one) => [usageOf(one), `  Available at: ${one.where.join(', ')}.`]));
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

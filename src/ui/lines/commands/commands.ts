/** The table of all commands of line mode, from which dispatch and help are made, and the commands that can be used everywhere. */
import { wrongUse } from '../../../app/process/index.ts';
import { isNamed, noCommand, type Place, usageOf } from '../command.ts';
import type { Verbosity } from '../run.ts';
import type { LineCommand, LineSession } from '../session.ts';
import { LOOK_COMMANDS } from './look.ts';
import { at, mimirCommand, own, OWN_WORDS, type Placeless } from './perform.ts';
import { PLAN_COMMANDS } from './plan.ts';
import { RUN_COMMANDS } from './run.ts';
import { REVIEW_COMMANDS } from './review.ts';
import { SESSION_COMMANDS } from './sessions.ts';

const verbosity = (name: Verbosity): Placeless =>
  own(name, (_, session) => {
    session.verbosity = name;
    session.say(`${name}: ${OWN_WORDS[name].help}`);
  });

export const LINE_COMMANDS: readonly LineCommand[] = [
  ...SESSION_COMMANDS,
  ...REVIEW_COMMANDS,
  ...PLAN_COMMANDS,
  ...LOOK_COMMANDS,
  ...RUN_COMMANDS,
  ...at(
    ['start', 'plan', 'run', 'result'],
    own('help', help),
    mimirCommand('models'),
    mimirCommand('policy'),
    mimirCommand('doctor'),
    verbosity('quiet'),
    verbosity('normal'),
    verbosity('verbose'),
    own('quit', (_, session) => session.quit()),
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
  start: 'Type a task, or a number for a suggestion; Enter prints the suggestions. Commands here:',
  plan: 'Y or Enter accepts, n discards, e edits each task in turn, m also models and tokens. Commands here:',
  run: 'Enter prints the state. N is the number of an agent, which never changes. Commands here:',
  result: 'The run has ended. Commands here:',
};

const NOTES: readonly string[] = [
  'A unique beginning of a command is enough. Put / in front of a command where a line would be an answer or a task.',
  'Ctrl-C shows how to stop. Press it twice to quit; the state of the run is kept.',
];

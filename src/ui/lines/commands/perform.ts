/** What commands of line mode have in common: their words from rows of app/actions, questions before an act, typed texts and receipts. */
import type { Action, Confirmation, Interaction } from '../../../app/actions/index.ts';
import { saidMeanwhile } from '../../../app/client/index.ts';
import { EXIT, Exit, IS_YES, wrongUse } from '../../../app/process/index.ts';
import type { Result } from '../../../domain/result.ts';
import type { Receipt, Refusal } from '../../../ports/controls.ts';
import { type Place, splitWords } from '../command.ts';
import DATA from '../data/commands.json' with { type: 'json' };
import type { LineCommand, LineSession } from '../session.ts';

/** Ends a command that the person cancelled, with what is printed about it. */
export const cancelled = (...lines: readonly string[]): Exit => new Exit(EXIT.notApproved, lines.join('\n'));

/** A typed text; an empty one cancels the command. */
export async function askText(prompt: string, ifEmpty: string, session: LineSession): Promise<string> {
  const text = ((await session.ask(prompt)) ?? '').trim();
  if (text === '') throw cancelled(ifEmpty);
  return text;
}

/** A command without the places where it can be used. */
export type Placeless = Omit<LineCommand, 'where'>;

/** Adds the places where the commands can be used. */
export const at = (where: readonly Place[], ...commands: readonly Placeless[]): readonly LineCommand[] =>
  commands.map((command) => ({ ...command, where }));

/** A command with the words of a row of app/actions. */
export const rowOf = (
  { word, short = [], arguments: wanted = '', help, more = '' }: Interaction,
  run: LineCommand['run'],
): Placeless => ({
  name: word,
  short,
  arguments: wanted,
  help: `${help}.${more === '' ? '' : ` ${more}`}`,
  run,
});

/** A command that is no row of app/actions, with its words from data/commands.json. */
export const own = (key: OwnName, run: LineCommand['run']): Placeless => ({ name: key, ...OWN_WORDS[key], run });

export const OWN_WORDS: Readonly<Record<OwnName, Partial<Placeless> & Pick<Placeless, 'help'>>> = DATA;
type OwnName = keyof typeof DATA;

/** The command of an action. `read` reads the typed arguments. */
export const commandOf = <Args>(action: Action<Args>, read: (typed: string, session: LineSession) => Args): Placeless =>
  rowOf(action, (typed, session) => perform(action, read(typed.trim(), session), session));

/** A command of Mimir that a session runs as it is. */
export const mimirCommand = (key: OwnName): Placeless => {
  const { name = key } = OWN_WORDS[key];
  return own(key, (typed, session) => session.mimir([name, ...splitWords(typed)]));
};

/** Calls `ask`, or asks the question of the action if it has one, and submits its command; throws why it is impossible. */
export async function perform<Args>(
  action: Action<Args>,
  args: Args,
  session: LineSession,
  ask?: () => Promise<void>,
): Promise<void> {
  const { state } = session;
  const why = action.whyNot(state, args);
  if (why !== null) throw wrongUse(why);
  await ask?.();
  const question = action.confirm?.(state, args);
  if (question !== undefined) await confirm(question, session);
  await session.submit(action.command(state, args));
}

/** Prints the receipt; throws why nothing was done. */
export function printReceipt(done: Result<Receipt, Refusal>, session: LineSession): void {
  if (!done.ok) throw wrongUse(done.fault.text);
  session.say(done.value.text);
}

/** Awaits a preview, and prints after a second that the run has not answered yet. */
export const previewed = async <T>(asked: Promise<T> | undefined, session: LineSession): Promise<T | undefined> =>
  await (asked &&
    saidMeanwhile({ complain: (line) => session.say(line) }, 'the run has not said yet what this would do', asked));

/** Asks a question; every answer but the wanted one cancels the command. */
export async function confirm({ title, lines, yes, no, word }: Confirmation, session: LineSession): Promise<void> {
  session.say(...lines);
  const typed = (await session.ask(`${title} Type ${word || 'yes'} to ${yes}, anything else to ${no}: `))?.trim() ?? '';
  if (word === '' ? !IS_YES.test(typed) : typed !== word) throw cancelled('Nothing changed.');
}

/** What a first word that is nearly a command means: asked at a terminal, refused elsewhere. */
import { nearest } from '../domain/text/nearest.ts';
import { EXIT, Exit } from '../app/process/exit.ts';
import type { Io } from '../app/process/io.ts';
import { harmless } from '../app/process/io.ts';

/**
 * The one of `verbs` that `word` stands for, undefined when it is a task. Asks the person when it is only near to one and a
 * terminal is there. Throws `Exit` (2) with the suggestion when nobody can be asked, and for every answer but `y` and `t`.
 */
export async function verbMeantBy(
  word: string,
  rest: readonly string[],
  verbs: readonly string[],
  io: Io,
): Promise<string | undefined> {
  if (verbs.includes(word)) return word;
  const near = nearVerb(word, verbs);
  if (near === null) return undefined;
  const answer = io.terminal ? await answerTo(word, near, rest) : '';
  if (answer === 'y') return near;
  if (answer === 't' && isAlone(rest)) return undefined;
  throw refusal(word, near);
}

/** Throws `Exit` (2) with the suggestion when `word` is nearly a command, without a question. */
export function refuseMistyped(word: string, verbs: readonly string[]): void {
  const near = nearVerb(word, verbs);
  if (near !== null) throw refusal(word, near);
}

/** A single word that is nearly a verb, or begins one, is hardly a task. */
function nearVerb(word: string, verbs: readonly string[]): string | null {
  if (!/^[a-z]+$/i.test(word)) return null;
  const begun = word.length < 3 ? undefined : verbs.find((verb) => verb.startsWith(word.toLowerCase()));
  return begun ?? nearest(word, verbs);
}

/** Several words are a task only when they are quoted. */
const isAlone = (rest: readonly string[]): boolean => rest[0]?.startsWith('-') ?? true;

async function answerTo(word: string, near: string, rest: readonly string[]): Promise<string> {
  const { openAsker } = await import('../app/process/asker.ts');
  const asker = openAsker();
  const task = isAlone(rest) ? `, t plan the task "${harmless(word)}"` : '';
  const typed = await asker.ask(
    `There is no command "${harmless(word)}". Did you mean \`mimir ${near}\`? y yes${task}, anything else no: `,
  );
  asker.close();
  return typed?.trim().toLowerCase() ?? '';
}

const refusal = (word: string, near: string): Exit =>
  new Exit(
    EXIT.wrongUse,
    `there is no command "${word}"\n  did you mean \`mimir ${near}\`? A task of this one word: mimir run "${word}"`,
  );

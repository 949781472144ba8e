/** Letters that a person wrote while nothing ran, or while another process did: taken out of the box into the log, each once. */
import type { Letter } from '../../ports/message-store.ts';
import { post } from './messages.ts';
import type { RunParts } from '../run/parts.ts';

/**
 * Puts all that wait into the log; afterwards the box is told. `at once`: who has ended goes on with it; `later`: whoever goes on
 * with the run sees to that. Returns how many came.
 */
export function takeLetters(parts: RunParts, when: 'at once' | 'later'): number {
  const { mailbox, session } = parts.options;
  const waiting = mailbox?.waiting(session) ?? [];
  if (mailbox === undefined || waiting.length === 0) return 0;
  const known = lettersIn(parts);
  const fresh = waiting.filter(({ id }) => !known.has(id));
  for (const letter of fresh) if (when === 'later' || !isPosted(parts, letter)) kept(parts, letter);
  mailbox.taken(
    session,
    waiting.map(({ id }) => id),
  );
  return fresh.length;
}

/** It may be in the log although it was refused: its reader could not be revived. */
const isPosted = (parts: RunParts, { id, to, text, delivery }: Letter): boolean =>
  post(parts, { from: 'person', to, text, delivery, letter: id }).ok || lettersIn(parts).has(id);

/** Whoever reads nothing any more has it all the same: it stands where people look. */
const kept = ({ inbox }: RunParts, { id, to, text, delivery }: Letter): void =>
  inbox.send({ from: 'person', sender: null, to, kind: 'request', delivery, content: text, letter: id });

/** Do letters wait that the log does not have? */
export function hasLetters(parts: RunParts): boolean {
  const { mailbox, session } = parts.options;
  const waiting = mailbox?.waiting(session) ?? [];
  if (waiting.length === 0) return false;
  const known = lettersIn(parts);
  return waiting.some(({ id }) => !known.has(id));
}

const lettersIn = ({ recorder }: RunParts): ReadonlySet<string> =>
  new Set(recorder.state().messages.flatMap(({ letter }) => letter ?? []));

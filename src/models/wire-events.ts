/**
 * Reads a stream of server-sent events to what each says. Its own reader, not the client library's: whether a stream came to its end
 * or was cut decides what is executed.
 */
import { parsed } from './wire-json.ts';

/** What the last event says on the wires that have one. */
export const DONE = '[DONE]';

/** More than this in one event is no reply. */
const LONGEST_EVENT = 16 * 1024 * 1024;

/** The `data` of each event in `body`. Throws what reading the body throws, and for an event that has no end. */
export async function* eventsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let [rest, looked] = ['', 0];
  let event: string[] = [];
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true });
    let from = 0;
    for (let to = rest.indexOf('\n', looked); to !== -1; to = rest.indexOf('\n', from)) {
      const line = rest.slice(from, to > from && rest[to - 1] === '\r' ? to - 1 : to);
      from = to + 1;
      if (line !== '') event.push(...dataOf(line));
      else if (event.length > 0) {
        yield event.join('\n');
        event = [];
      }
    }
    rest = rest.slice(from);
    looked = rest.length;
    if (rest.length > LONGEST_EVENT) throw new Error('an event is too large');
  }
  // Some servers leave the end of the last line out. What is no whole event then was cut off.
  event.push(...dataOf(rest.trimEnd()));
  const last = event.join('\n');
  if (isWhole(last)) yield last;
}

const isWhole = (event: string): boolean => event !== '' && (event === DONE || parsed(event) !== undefined);

const dataOf = (line: string): readonly string[] => {
  if (!line.startsWith('data:')) return [];
  return [line.startsWith('data: ') ? line.slice(6) : line.slice(5)];
};

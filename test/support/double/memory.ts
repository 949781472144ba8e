/** What the double remembers of earlier requests: conversations, which request made which call, and what is cached. */
import type { Asked, Counted, Part, Read, Wire } from './asked.ts';
import { digest } from './seal.ts';
import { BYTES_PER_TOKEN, tokensOf } from './tokens.ts';

export interface CacheRules {
  /** Tokens below which nothing is cached. */
  readonly minimum: number;
  /** Whether a provider that caches by itself also bills the writing, as newer models of OpenAI do. */
  readonly writes: boolean;
}

export interface Placed {
  readonly conversation: string;
  readonly nth: number;
  /** The request that this one goes on from; null for the first, and where nobody can say. */
  readonly former: Asked | null;
}

export interface Memory {
  /** Finds the conversation of a request: by the calls that the double made in it, else by its key and its first words. */
  place(wire: Wire, read: Read): Placed;
  remember(asked: Asked): void;
  /** `asked` was answered with these calls: who sends them back goes on from it. */
  made(asked: Asked, calls: readonly string[], reasoned: string | null): void;
  /** What went with a call, as `made` was told. */
  reasoned(call: string): string | null;
  /** The request before the last two of a conversation: nobody goes on from it any more. */
  old(conversation: string): readonly Asked[];
  /** Input tokens by class; what this request writes is there for the next. */
  cached(wire: Wire, parts: readonly Part[]): Omit<Counted, 'output'>;
}

export function openMemory(rules: CacheRules): Memory {
  const counts = new Map<string, number>();
  const byCall = new Map<string, { readonly asked: Asked; readonly reasoned: string | null }>();
  const latest = new Map<string, Asked[]>();
  const cache = new Set<string>();
  return {
    place: (wire, read) => {
      const by = read.calls.findLast((call) => byCall.has(call));
      const maker = by === undefined ? undefined : byCall.get(by)?.asked;
      const conversation = maker?.conversation ?? digest(`${wire} ${read.key} ${read.first}`).slice(0, 12);
      const nth = (counts.get(conversation) ?? 0) + 1;
      counts.set(conversation, nth);
      return { conversation, nth, former: maker ?? formerOf(latest.get(conversation) ?? [], read) };
    },
    remember: (asked) => {
      const known = latest.get(asked.conversation);
      if (known) known.push(asked);
      else latest.set(asked.conversation, [asked]);
    },
    old: (conversation) => latest.get(conversation)?.slice(-3, -2) ?? [],
    made: (asked, calls, reasoned) => {
      for (const call of calls) byCall.set(call, { asked, reasoned });
    },
    reasoned: (call) => byCall.get(call)?.reasoned ?? null,
    cached: (wire, parts) => (wire === 'messages' ? byMarks(parts, cache, rules) : byPrefix(parts, cache, rules)),
  };
}

/** Tokens that `parts` put in. The model's name is the key of a cache, not a part of what is read. */
export const inputTokens = (parts: readonly Part[]): number =>
  tokensOf(parts.reduce((sum, part) => sum + bytesOf(part), 0));

/** Without calls there is only the text to go by: the last request that this one continues, else the last that is shorter. */
function formerOf(earlier: readonly Asked[], { turn, parts }: Read): Asked | null {
  const shorter = earlier.filter((one) => one.turn < turn);
  const isContinued = (one: Asked): boolean => one.parts.every(({ json }, index) => parts[index]?.json === json);
  return shorter.findLast(isContinued) ?? shorter.at(-1) ?? null;
}

const bytesOf = ({ of, json }: Part): number => (of === 'model' || of === 'settings' ? 0 : Buffer.byteLength(json));

/** At a breakpoint the longest prefix that an earlier request ended one at is read, looking back twenty blocks; the rest up to the last is written. */
function byMarks(parts: readonly Part[], cache: Set<string>, { minimum }: CacheRules): Omit<Counted, 'output'> {
  let [key, bytes] = ['', 0];
  const places = parts.map((part) => {
    key = digest(key + part.json);
    bytes += bytesOf(part);
    return { key, tokens: tokensOf(bytes), marked: part.marked };
  });
  const all = places.at(-1)?.tokens ?? 0;
  const marks = places.flatMap(({ marked, tokens }, index) => (marked && tokens >= minimum ? [index] : []));
  const found = marks.flatMap((mark) =>
    places.slice(Math.max(0, mark - LOOK_BACK), mark + 1).filter((one) => cache.has(one.key)),
  );
  const cacheRead = Math.max(0, ...found.map(({ tokens }) => tokens));
  const written = Math.max(cacheRead, ...marks.map((mark) => places[mark]?.tokens ?? 0));
  for (const mark of marks) cache.add(places[mark]?.key ?? '');
  return { input: all - written, cacheRead, cacheWrite: written - cacheRead };
}

const LOOK_BACK = 20;

/** The longest prefix seen before, in steps of 128 tokens. */
function byPrefix(
  parts: readonly Part[],
  cache: Set<string>,
  { minimum, writes }: CacheRules,
): Omit<Counted, 'output'> {
  const all = inputTokens(parts);
  const name = parts.filter(({ of }) => of === 'model').map(({ json }) => json);
  const bytes = Buffer.from(parts.flatMap((part) => (bytesOf(part) === 0 ? [] : [part.json])).join(''));
  let [key, cacheRead, reached] = [digest(name.join('')), 0, 0];
  let isKnown = true;
  for (let end = STEP; end <= bytes.length; end += STEP) {
    key = digest(key + bytes.toString('latin1', end - STEP, end));
    if (tokensOf(end) < minimum) continue;
    isKnown &&= cache.has(key);
    reached = tokensOf(end);
    if (isKnown) cacheRead = reached;
    cache.add(key);
  }
  const cacheWrite = writes ? Math.max(0, reached - cacheRead) : 0;
  return { input: all - cacheRead - cacheWrite, cacheRead, cacheWrite };
}

const STEP = 128 * BYTES_PER_TOKEN;

/**
 * What the analyst does with a message that comes while it works: says truthfully that it can't follow it, looks for the
 * words that it names, and answers with the places.
 */
import { claim } from './claims.ts';
import { hitsOf, searchFor } from './looking.ts';
import type { Ask, Seen } from './step.ts';
import { listed, termsIn } from './words.ts';
import type { Term } from './words.ts';

export interface Heard {
  readonly say: string;
  readonly asks: readonly Ask[];
  /** The part of the answer that belongs to the message, from what its searches gave. */
  answer(seen: readonly Seen[]): string;
}

const SENDER = /^Message from (the person who runs you|agent [^\s(]+)[^\n]*:\n/;
const MOST_TERMS = 3;
const MOST_PLACES = 5;

/** Takes note of a user turn that came after the first one. */
export function hear(text: string, tools: ReadonlySet<string>): Heard {
  const sender = SENDER.exec(text)?.[1];
  const said = sender === undefined ? text : text.replace(SENDER, '');
  const words = sender?.startsWith('agent') ? said.replaceAll(/^> /gm, '') : said;
  const terms = tools.has('search') ? termsIn(words, MOST_TERMS) : [];
  const from = sender?.startsWith('agent') ? `A message from ${sender} came in` : 'A message came in';
  const begin = `${from}: "${short(words)}". I am not a language model and can't follow instructions;`;
  if (terms.length === 0) {
    return { say: `${begin} it names nothing that I could look for, so I go on.`, asks: [], answer: () => '' };
  }
  return {
    say: `${begin} I can look for the words it names: ${named(terms)}.`,
    asks: terms.map((term) => searchFor(term)),
    answer: (seen) => answerTo(words, terms, seen),
  };
}

function answerTo(words: string, terms: readonly Term[], seen: readonly Seen[]): string {
  const lines = terms.flatMap((term, index) => {
    const hits = hitsOf(seen[index]).slice(0, MOST_PLACES);
    if (hits.length === 0) return [`- \`${term.text}\`: not found in the files I can see.`];
    return [`- \`${term.text}\`:`, ...hits.map((hit) => `  - ${claim(hit)}`)];
  });
  return [`## About the message "${short(words)}"`, '', ...lines].join('\n');
}

const named = (terms: readonly Term[]): string => listed(terms.map(({ text }) => `\`${text}\``));

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= 80 ? line : `${line.slice(0, 79).toWellFormed()}…`;
}

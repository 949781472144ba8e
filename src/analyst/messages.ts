/** Messages that come in the middle of the work: the analyst can't follow them, only look for the words that they name. */
import { behind, claim } from './evidence.ts';
import { hitsOf, search } from './tools.ts';
import type { Ask, Seen } from './tools.ts';
import { code, escaped, listed, oneLine, stem, termsIn } from './words.ts';

/** A message that came in the middle of the work. */
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
  const sender = SENDER.exec(text)?.[1] ?? '';
  const isAgent = sender.startsWith('agent');
  const words = isAgent ? text.replace(SENDER, '').replaceAll(/^> /gm, '') : text.replace(SENDER, '');
  const terms = tools.has('search') ? termsIn(words, MOST_TERMS) : [];
  const quote = `"${oneLine(words, 80)}"`;
  const begin = `A message${isAgent ? ` from ${sender}` : ''} came in: ${quote}. I am not a language model and can't follow instructions;`;
  const names = terms.map((term) => code(term.text));
  return {
    say:
      terms.length === 0
        ? `${begin} it names nothing that I could look for.`
        : `${begin} I can look for the words it names: ${listed(names)}.`,
    asks: terms.map(({ is, text: term }, at) =>
      search(escaped(is === 'word' ? stem(term) : term), { anyCase: is === 'word', limit: 40, about: names[at] ?? '' }),
    ),
    answer: (seen) =>
      [`## About the message ${quote}`, '', ...names.flatMap((name, at) => placesText(name, seen[at]))].join('\n'),
  };
}

const placesText = (name: string, seen: Seen | undefined): readonly string[] => [
  `- ${name} ${behind(seen)}`,
  ...hitsOf(seen)
    .slice(0, MOST_PLACES)
    .map((hit) => `  - ${claim(hit)}`),
];

/** Names that look alike to a reader: a project's role must not pass for one of Mimir's or the person's. */

/** Letters of other scripts, and signs, by what they look like. */
const LOOKS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    а: 'a',
    е: 'e',
    о: 'o',
    р: 'p',
    с: 'c',
    х: 'x',
    у: 'y',
    к: 'k',
    м: 'm',
    т: 't',
    н: 'h',
    в: 'b',
    і: 'i',
    ї: 'i',
    ј: 'j',
    ѕ: 's',
    ԁ: 'd',
    ԛ: 'q',
    ԝ: 'w',
    һ: 'h',
    г: 'r',
    п: 'n',
    и: 'u',
    ь: 'b',
    α: 'a',
    β: 'b',
    ε: 'e',
    ι: 'i',
    κ: 'k',
    μ: 'u',
    ν: 'v',
    ο: 'o',
    ρ: 'p',
    τ: 't',
    υ: 'u',
    χ: 'x',
    ω: 'w',
    ϲ: 'c',
    η: 'n',
    γ: 'y',
    ı: 'i',
    ł: 'l',
    ø: 'o',
    đ: 'd',
    ħ: 'h',
    ɑ: 'a',
    ɡ: 'g',
    '0': 'o',
    '1': 'i',
    '3': 'e',
    '5': 's',
    l: 'i',
    '|': 'i',
    $: 's',
  }),
);

/** What is left of a name for the eye: case, accents, signs between letters and the script are gone. */
export function lookOf(name: string): string {
  const folded = name.normalize('NFKD').toLowerCase();
  const letters = folded.replaceAll(/./gu, (letter) => LOOKS.get(letter) ?? letter);
  return letters
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** What every answer of the analyst says about itself, near its top and at its bottom; the merge takes it off again. */

export const TOP =
  '_No language model was used: this is the built-in offline analyst. It reads, searches and counts; it does not understand._';
export const BOTTOM = '_Made without a language model: check what matters before you rely on it._';

/** The first paragraph stays first, since lists show it alone. */
export function signed(answer: string): string {
  const end = answer.indexOf('\n');
  const [head, rest] = end === -1 ? [answer, ''] : [answer.slice(0, end), answer.slice(end)];
  return [head, '', `${TOP}${rest}`, '', BOTTOM].join('\n');
}

/** Answers without their signatures, as the role gave them: one that was written to has given several. */
export const unsigned = (answers: string): string =>
  answers
    .replaceAll(`\n\n${TOP}`, '')
    .replaceAll(`\n\n${BOTTOM}`, '')
    .replaceAll(TOP, '')
    .replaceAll(BOTTOM, '')
    .trim();

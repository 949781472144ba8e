/** Faults that change nothing that anyone could notice: they are not planted. Few, and each says why. */

/** A change of a file's lines, without the space around and between words. */
export interface Equivalent {
  readonly file: string;
  readonly now: string;
  readonly becomes: string;
  readonly why: string;
}

const EQUIVALENT: readonly Equivalent[] = [
  {
    file: 'src/policy/rules.ts',
    now: '...(policyHashes === undefined ? {} : { policyHashes }),',
    becomes: '...(false ? {} : { policyHashes }),',
    why: 'A key without a value is not written in JSON, and the log is JSON.',
  },
  {
    file: 'src/policy/commands/reading/special.ts',
    now: "const isMark = text.startsWith('-I') || textOf(given[at - 1]) === '-I';",
    becomes: "const isMark = text.startsWith('-I') || textOf(given[at - 2]) === '-I';",
    why: 'Two words behind -I stands the program, and "{}" is no program that only reads, known or not.',
  },
  {
    file: 'src/engine/gate/model/context-budget.ts',
    now: 'optionFor(models.models(), recorder.state().agents.get(order.agent)?.model.used ?? order.model.used);',
    becomes: 'optionFor(models.models(), recorder.state().agents.get(order.agent)?.model.used);',
    why: 'An agent is recorded before its first turn: the other model is there for the types alone.',
  },
];

/** Is this change one of them? */
export const isEquivalent = (file: string, [now, becomes]: readonly [now: string, becomes: string]): boolean =>
  EQUIVALENT.some((known) => known.file === file && known.now === now && known.becomes === becomes);

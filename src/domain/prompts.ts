/** The texts a model is instructed with, from the package's own `.mimir/prompts/*.md`. */
export interface Prompts {
  /** Goes before every role's own prompt. */
  readonly common: string;
  /** System prompt of the planner. */
  readonly plan: string;
  /** System prompt of the merge that `main` writes at the end. */
  readonly merge: string;
}

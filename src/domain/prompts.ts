/** The texts a model is instructed with: the package's own `.mimir/prompts/*.md`, and the project's conventions. */
export interface Prompts {
  /** Goes before every role's own prompt. */
  readonly common: string;
  /** System prompt of the planner. */
  readonly plan: string;
  /** System prompt of the merge that `main` writes at the end. */
  readonly merge: string;
  /** Asks an agent whose conversation comes near the window for a summary of it. */
  readonly compact: string;
  /** What an agent is told that can spawn children by commands of its shell; nothing: no agent is told of it. */
  readonly children?: string;
  /** The project's instruction files as a section of a system prompt; empty without any, or without trust. */
  readonly instructions: string;
}

/** Exit codes, and the one way in which a verb ends early. */
export const EXIT = {
  done: 0,
  agentFailed: 1,
  wrongUse: 2,
  refused: 3,
  notApproved: 4,
  budget: 5,
  noProvider: 6,
  bug: 70,
  hangUp: 129,
  interrupt: 130,
  terminated: 143,
} as const;

/** Ends the program with `code` and words for the person: what is wrong, where, what to do. Never a stack trace. */
export class Exit extends Error {
  override readonly name = 'Exit';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Work of a command that Ctrl-C stops, one at a time: what else Ctrl-C means is line-follow.ts's. */
export class Stoppable {
  #now: AbortController | null = null;

  async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const control = new AbortController();
    this.#now = control;
    try {
      return await work(control.signal);
    } finally {
      this.#now = null;
    }
  }

  /** False where there is no such work, or it was stopped already. */
  stop(): boolean {
    if (this.#now === null || this.#now.signal.aborted) return false;
    this.#now.abort('stopped');
    return true;
  }
}

/** Waiting for something of the outside that tells nobody when it happens. */

/** Resolves when `holds` does; looked at every few milliseconds, for at most ten seconds. */
export async function until(holds: () => boolean): Promise<void> {
  const end = Date.now() + 10_000;
  while (!holds()) {
    if (Date.now() > end) throw new Error('it did not happen within ten seconds');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Waiting for something of the outside that tells nobody when it happens. */

/** Long, as the machine may have much else to do; still within the time of a test, so that what fails says where it waited. */
const PATIENCE_MS = 40_000;

/** Resolves when `holds` does, with much patience. Looks every few milliseconds, seldom where a look is dear: others work meanwhile. */
export async function until(holds: () => boolean): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  let looked = performance.now();
  while (!holds()) {
    if (Date.now() > end) throw new Error(`it did not happen within ${PATIENCE_MS / 1000} seconds`);
    const pause = Math.min(100, 9 * (performance.now() - looked));
    await new Promise((resolve) => setTimeout(resolve, Math.max(5, pause)));
    looked = performance.now();
  }
}

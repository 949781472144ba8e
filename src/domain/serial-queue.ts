/** A queue that runs one function after the other; a failed one does not stop it. */
export function serialQueue(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const own = last.then(act, act);
    last = own;
    return own;
  };
}

/** The same, except that functions which are not to run alone run beside each other. */
export function turns(): <T>(alone: boolean, act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  const beside = new Set<Promise<unknown>>();
  return (alone, act) => {
    const own = (alone ? Promise.allSettled([last, ...beside]) : last).then(act, act);
    if (alone) last = own;
    else beside.add(own);
    const leave = (): void => void beside.delete(own);
    void own.then(leave, leave);
    return own;
  };
}

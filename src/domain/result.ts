/** Expected failures are values; what is thrown is a bug. */
export type Result<T, Fault> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });
export const fail = <Fault>(fault: Fault): { readonly ok: false; readonly fault: Fault } => ({ ok: false, fault });

/** The result of `act`, or `otherwise` if it throws: for files that may be missing or unreadable. */
export function tried<T>(act: () => T, otherwise: T): T {
  try {
    return act();
  } catch {
    return otherwise;
  }
}

/** The message of a thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The code of a system error (`ENOENT`), or an empty string. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Closes a switch over a union: adding a member stops the compiler here. Throws when reached, which is a bug. */
export function unreachable(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}

/** The record without undefined keys, for records in which unset values are absent. */
export function defined<T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], undefined> };
export function defined(all: object): object {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

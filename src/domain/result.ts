/** Expected failures are values; what is thrown is a bug. */
export type Result<T, Fault> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });
export const fail = <Fault>(fault: Fault): { readonly ok: false; readonly fault: Fault } => ({ ok: false, fault });

/** What `act` gives, `otherwise` where it throws: for looks at files that may be gone or closed. */
export function tried<T>(act: () => T, otherwise: T): T {
  try {
    return act();
  } catch {
    return otherwise;
  }
}

/** What a thrown value says. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The code of a system error (`ENOENT`), or an empty string. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Closes a switch over a union: adding a member stops the compiler here. Throws when reached, which is a bug. */
export function unreachable(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}

/** Without the keys that are undefined: for records in which what nobody said is absent. */
export function defined<T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], undefined> };
export function defined(all: object): object {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Expected failures are values; what is thrown is a bug. */
export type Result<T, Fault> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });
export const fail = <Fault>(fault: Fault): { readonly ok: false; readonly fault: Fault } => ({ ok: false, fault });

/** Closes a switch over a union: adding a member stops the compiler here. Throws when reached, which is a bug. */
export function unreachable(value: never): never {
  throw new Error(`not expected here: ${JSON.stringify(value)}`);
}

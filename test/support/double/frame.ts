/** Server-sent events, and what a wire is told to write them with. */
import type { Script } from './script.ts';

/** One server-sent event and the output tokens that it brings. */
export interface Frame {
  readonly data: string;
  readonly tokens: number;
}

/** What a wire needs to write a reply. `usage`: reported instead of what was counted; null reports none. */
export interface Writing {
  readonly body: unknown;
  readonly usage: { readonly [field: string]: unknown } | null | undefined;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly quirks: NonNullable<Script['quirks']>;
}

/** An event with a name, as Messages and Responses send them. */
export const named = (event: { readonly type: string; readonly [field: string]: unknown }, tokens = 0): Frame => ({
  data: `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  tokens,
});

/** An event without one, as Chat Completions sends them. */
export const nameless = (data: unknown, tokens = 0): Frame => ({ data: `data: ${JSON.stringify(data)}\n\n`, tokens });

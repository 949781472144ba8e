/** What views are made of: a line is spans of text with a style. Widths are columns of a terminal, not characters. */
import type { Token } from '../../../domain/theme.ts';

/** A colour by meaning: a theme token, or a role's own colour. */
export type Ink = Token | `role:${string}`;

export interface Style {
  readonly fg?: Ink;
  readonly bg?: Ink;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly inverse?: boolean;
  /** Where a click on it leads, in terminals that know links: a `file:` or `http(s):` address that Mimir made, percent-encoded. */
  readonly link?: string;
}

export type Span = readonly [text: string, style: Style];
export type Line = readonly Span[];

export interface Cursor {
  readonly x: number;
  readonly y: number;
}

/** A whole screen: exactly as many lines as the terminal has rows, each exactly as wide as it has columns. */
export interface Frame {
  readonly lines: readonly Line[];
  /** Where the text cursor stands, or null when it is hidden. */
  readonly cursor: Cursor | null;
}

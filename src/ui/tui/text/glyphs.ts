/**
 * The signs of the screen in Unicode and in ASCII, each a single code point of one column. `held` replaces the sign of a waiting agent that waits for a
 * provider and not for a person; `lock` marks what policy requires; `alt` is the name of the modifier that terminals send as Alt. */
import SIGNS from './glyphs.json' with { type: 'json' };

export type Glyphs = Readonly<typeof SIGNS.unicode>;
export const UNICODE: Glyphs = SIGNS.unicode;
export const ASCII: Glyphs = SIGNS.ascii;

/** The signs for a terminal and keyboard; a Mac has an Option key. */
export const glyphsFor = ({ ascii, platform }: { readonly ascii: boolean; readonly platform: string }): Glyphs => ({
  ...(ascii ? ASCII : UNICODE),
  alt: platform === 'darwin' ? 'Opt' : 'Alt',
});

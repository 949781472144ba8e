/** The schema of a theme's file. */
import { z } from 'zod';
import { ANSI_NAMES, type Colour, TOKENS } from '../../domain/theme.ts';

const Hex = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'a colour must be "#" and six hex digits, such as "#7fca95"');

const Ansi = z.enum([...ANSI_NAMES, 'default']).nullable();

export const FullColour = z.strictObject({ hex: Hex, ansi: Ansi });

const OneColour = z.union([Hex, FullColour], {
  error: `a colour must be "#rrggbb" or {hex: "#rrggbb", ansi: NAME}; names are ${[...ANSI_NAMES, 'default', 'null'].join(', ')}`,
});

/** Without a name for 16 colours, the terminal's default is the only colour that is surely readable. */
const ColourValue = OneColour.transform(
  (value): Colour => (typeof value === 'string' ? { hex: value, ansi: 'default' } : value),
);

const RoleValue = z.union([z.enum(TOKENS), ColourValue], {
  error: `the colour of a role must be a token (${TOKENS.join(', ')}), "#rrggbb" or {hex, ansi}`,
});

export const ThemeFile = z.strictObject({
  name: z.string().min(1),
  mode: z.enum(['dark', 'light']).optional(),
  extends: z.string().nullable().default(null),
  glyphs: z.enum(['unicode', 'ascii']).optional(),
  colours: z
    .union([z.enum(['all', '16', 'none']), z.literal(16)])
    .transform((colours) => (colours === 16 ? '16' : colours))
    .optional(),
  tokens: z.partialRecord(z.enum(TOKENS), ColourValue).default({}),
  roles: z.record(z.string(), RoleValue).default({}),
});
export interface ThemeFile extends z.output<typeof ThemeFile> {}

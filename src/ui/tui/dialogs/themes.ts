/** The themes to choose from: each is shown while it is selected, Esc brings back the one that was. */
import type { DialogEffect, Context } from '../frame/screen.ts';
import type { Overlay } from '../frame/overlay.ts';
import { pickOverlay } from './pick.ts';

const shown = (name: string): DialogEffect => ({ app: { theme: name } });

export function themesOverlay({ lobby, look }: Context): Overlay {
  const value = look?.theme ?? '';
  const names = lobby.themes ?? [];
  return pickOverlay({
    is: 'pick',
    title: 'Theme',
    value,
    choices: names.map((name) => ({ value: name, label: name, note: name === value ? 'now' : '', whyNot: null })),
    seen: shown,
    then: (name) => ({
      ...shown(name),
      toast: {
        level: 'info',
        text: `Theme: ${name} until you leave. Always: ui: { theme: ${name} } in your configuration`,
      },
    }),
  });
}

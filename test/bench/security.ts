/** `npm run bench security`: the figures of security at full size. */
import { box } from './security/box.ts';
import { decisions } from './security/decisions.ts';
import { explanations } from './security/explanations.ts';
import { files } from './security/files.ts';
import { log } from './security/log.ts';
import type { Size } from './security/part.ts';
import { plans } from './security/plans.ts';
import { orphans } from './security/orphans.ts';
import { output } from './security/output.ts';
import { random } from './security/random.ts';
import { screen } from './security/screen.ts';
import { terminal } from './security/terminal.ts';
import type { Measurement } from './run.ts';
import type { Figure } from './table.ts';

const PARTS: Readonly<Record<string, (size: Size) => readonly Figure[] | Promise<readonly Figure[]>>> = {
  decisions,
  explanations,
  files,
  plans,
  terminal,
  screen,
  random,
  log,
  box,
  orphans,
  output,
};

export const security: Measurement = {
  name: 'security',
  about: 'what must not happen, counted, and how long the guards take',
  async measure({ quick, say }) {
    const figures: Figure[] = [];
    for (const [name, part] of Object.entries(PARTS)) {
      say(`  ${name}`);
      figures.push(...(await part({ quick, say })));
    }
    return figures;
  },
};

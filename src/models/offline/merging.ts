/** Puts the agents' answers together into one report. Says at its top and bottom that no language model was used. */
import type { Purpose } from '../../ports/model.ts';

type Merging = Extract<Purpose, { is: 'merge' }>;

export const mergeText = ({ task, results }: Merging): string =>
  [`# ${task}`, '', ...results.map(({ role, summary }) => `## ${role}\n\n${summary}`)].join('\n');

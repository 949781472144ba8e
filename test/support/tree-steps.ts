/** What a test and `tree-child.ts` say to each other. */
import { z } from 'zod';

export const SESSION = 'histories';

/** The tree of the agent with this number, from 0. */
export const treeOf = (agent: number): string => `${SESSION}.S${agent + 1}.1`;

const agent = z.number();

/** `agent`: -1 is the person, who writes into the project. */
const TreeStep = z.union([
  z.strictObject({ is: z.literal('make'), agent }),
  z.strictObject({ is: z.literal('write'), agent, files: z.record(z.string(), z.string()) }),
  z.strictObject({ is: z.literal('merge'), agent, choice: z.enum(['mine', 'theirs', 'patch']) }),
]);
export type TreeStep = z.output<typeof TreeStep>;

export const TreeOrders = z.strictObject({
  project: z.string(),
  home: z.string(),
  stateDir: z.string(),
  steps: z.array(TreeStep).readonly(),
});
export type TreeOrders = z.input<typeof TreeOrders>;

/** The tabs of an opened agent, in their order. */
export const TABS = ['Transcript', 'Todos', 'Tools', 'Diffs', 'Messages', 'Costs', 'Info'] as const;
export type Tab = (typeof TABS)[number];

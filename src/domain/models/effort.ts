/** How much a model is to think: the three steps that every provider with such a setting knows. Pure. */
export const EFFORTS = ['low', 'medium', 'high'] as const;
export type Effort = (typeof EFFORTS)[number];

/** `effort`, or `max` where that is less; undefined stays undefined: the provider's own default is left alone. */
export const cappedEffort = (effort: Effort | undefined, max: Effort | undefined): Effort | undefined =>
  effort === undefined || max === undefined || EFFORTS.indexOf(effort) <= EFFORTS.indexOf(max) ? effort : max;

/** For records in which an effort that nobody set is absent. */
export const withEffort = (effort: Effort | undefined): { readonly effort?: Effort } =>
  effort === undefined ? {} : { effort };

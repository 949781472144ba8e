/** One mode for the whole hierarchy, kept at ROOT, read at each decision. */
export const MODES = ['human', 'confirm', 'yolo'] as const;
export type Mode = (typeof MODES)[number];
/** True when `a` asks less often than `b`. */
export const isLooser = (a: Mode, b: Mode): boolean => MODES.indexOf(a) > MODES.indexOf(b);

/** The reason of a policy decision: the rule, and where it is written. */
export type Layer = 'default' | 'managed' | 'user' | 'project' | 'command line';

export interface Reason {
  /** The rule in words: `enforcement.allowedModels: [haiku-4.5]`. */
  readonly rule: string;
  readonly layer: Layer;
  /** Null for a rule that is part of the program or was typed. */
  readonly file: string | null;
  readonly line: number | null;
}

/** `denied by enforcement.allowedModels (project, .mimir/config.yml:4)` without the first two words. */
export function reasonText(reason: Reason): string {
  const where = reason.file === null ? '' : `, ${reason.file}${reason.line === null ? '' : `:${reason.line}`}`;
  return `${reason.rule} (${reason.layer}${where})`;
}

/** `.mimir/config.yml:4`; the layer if the rule is in no file. */
export const placeText = ({ file, layer, line }: Reason): string =>
  `${file ?? layer}${line === null ? '' : `:${line}`}`;

/** One mode for the whole hierarchy, kept at ROOT, read at each decision. */
export const MODES = ['human', 'confirm', 'yolo'] as const;
export type Mode = (typeof MODES)[number];
/** Whether `a` asks less often than `b`. */
export const isLooser = (a: Mode, b: Mode): boolean => MODES.indexOf(a) > MODES.indexOf(b);

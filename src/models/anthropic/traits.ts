/**
 * What Claude models are documented to take, by family and version: how they are told to reason, and how a reply gets its form.
 * How much they reason is left to each model's own default. A model that is not known here is asked for nothing special.
 */

export interface Traits {
  /**
   * `adaptive`: the model decides how much. `adaptive, shown`: as well, and it returns its reasoning only when it is asked to.
   * `budget`: up to a number of tokens. `own`: nothing is said.
   */
  readonly thinking: 'adaptive' | 'adaptive, shown' | 'budget' | 'own';
  /** Takes a JSON Schema for its reply. */
  readonly schema: boolean;
  /** May be forced to call one tool. */
  readonly forced: boolean;
  /** Takes a setting of how much it is to think. A model that is not known here is asked, and may refuse. */
  readonly effort: boolean;
}

/** A fast model that is chosen for its speed is not told to reason where it would not by itself. */
const KNOWN: readonly (readonly [RegExp, Traits['thinking']])[] = [
  [/^claude-haiku-4-5$/, 'own'],
  [/^claude-(?:opus|sonnet)-4(?:-[015])?$/, 'budget'],
  [/^claude-(?:opus|sonnet)-4-6$/, 'adaptive'],
  [/^claude-opus-4-[78]$/, 'adaptive, shown'],
  [/^claude-mythos-preview$/, 'adaptive, shown'],
  [/^claude-(?:opus|sonnet|haiku|fable|mythos)-5(?:-[125])?$/, 'adaptive, shown'],
];

/** Traits of a model by its id on the wire, with or without a date at its end. */
export function traitsOf(id: string): Traits {
  const name = id.replace(/-20\d{6}$/, '');
  const version = versionOf(name);
  return {
    thinking: KNOWN.find(([form]) => form.test(name))?.[1] ?? 'own',
    schema: version >= 4.05,
    // From 5.1 on, forcing a tool is an error.
    forced: version < 5.01,
    effort: version === 0 || version >= leastForEffort(name),
  };
}

/** The first version of each family that takes a setting of its effort. */
const leastForEffort = (name: string): number =>
  name.startsWith('claude-haiku-') ? 5.05 : name.startsWith('claude-opus-') ? 4.05 : 4.06;

/** 4.5 is 4.05, so that versions compare as numbers; 0 for what is no Claude model. */
function versionOf(name: string): number {
  if (name === 'claude-mythos-preview') return 4.07;
  const [, major, minor = '0'] = /^claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?$/.exec(name) ?? [];
  return major === undefined ? 0 : Number(major) + Number(minor) / 100;
}

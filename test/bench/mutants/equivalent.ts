/** Faults that change nothing that anyone could notice: they are not planted. Few, and each says why. */

/** A change of a file's lines, without the space around and between words. */
export interface Equivalent {
  readonly file: string;
  readonly now: string;
  readonly becomes: string;
  readonly why: string;
}

const EQUIVALENT: readonly Equivalent[] = [
  {
    file: 'src/policy/commands/judge.ts',
    now: 'return wide === undefined ? verdict : { ...verdict, destroys: wide };',
    becomes: 'return false ? verdict : { ...verdict, destroys: wide };',
    why: 'A key without a value counts as none.',
  },
  {
    file: 'src/policy/commands/judge.ts',
    now: `doubt === undefined ? { verdict: 'none' } : { verdict: 'none', doubt };`,
    becomes: `false ? { verdict: 'none' } : { verdict: 'none', doubt };`,
    why: 'A key without a value counts as none.',
  },
  {
    file: 'src/policy/commands/programs.ts',
    now: `const nameOf = (word: string): string => word.split('/').at(-1) ?? word;`,
    becomes: `const nameOf = (word: string): string => word.split('/').at(-1);`,
    why: 'A divided text has a last part: the other is there for the types alone.',
  },
  {
    file: 'src/policy/commands/words.ts',
    now: `export const baseName = (word: Known): Known => (word === null ? null : (word.split('/').at(-1) ?? ''));`,
    becomes: `export const baseName = (word: Known): Known => (word === null ? null : (word.split('/').at(-1)));`,
    why: 'A divided text has a last part: the other is there for the types alone.',
  },
  {
    file: 'src/policy/commands/wrap.ts',
    now: 'const word = words[at] ?? null;',
    becomes: 'const word = words[at];',
    why: 'The index is within the words: the other is there for the types alone.',
  },
  {
    file: 'src/policy/intersect-rules.ts',
    now: 'onFailure: ON_FAILURE.findLast((one) => words.some(({ onFailure }) => onFailure === one)) ?? words[0].onFailure,',
    becomes: 'onFailure: ON_FAILURE.findLast((one) => words.some(({ onFailure }) => onFailure === one)),',
    why: 'Every value is in the list: the other is there for the types alone.',
  },
  {
    file: 'src/policy/intersect-rules.ts',
    now: '[maxTokens, maxCost, maxDuration].map((limit) => limit ?? null);',
    becomes: '[maxTokens, maxCost, maxDuration].map((limit) => limit);',
    why: 'In JSON, by which these are compared, a missing element of a list is null.',
  },
  {
    file: 'src/policy/rules.ts',
    now: '...(policyHashes === undefined ? {} : { policyHashes }),',
    becomes: '...(false ? {} : { policyHashes }),',
    why: 'A key without a value is not written in JSON, and the log is JSON.',
  },
  {
    file: 'src/policy/commands/reading/options.ts',
    now: 'for (const part of word.parts ?? []) {',
    becomes: 'for (const part of word.parts) {',
    why: 'A word without parts is known from its text, and was returned: the other is there for the types alone.',
  },
  {
    file: 'src/policy/commands/reading/programs.ts',
    now: 'pattern.exec(script.slice(at))?.[0].length ?? 0;',
    becomes: 'pattern.exec(script.slice(at))?.[0].length ?? 1;',
    why: 'Every pattern that it is given also matches an empty text: the other is there for the types alone.',
  },
  {
    file: 'src/policy/intersect-rules.ts',
    now: 'return [...texts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);',
    becomes: 'return [...texts].sort(([a], [b]) => (a <= b ? -1 : 1)).map(([, value]) => value);',
    why: 'No two keys of a map are equal.',
  },
  {
    file: 'src/policy/commands/reading/programs.ts',
    now: "const isMark = text.startsWith('-I') || textOf(given[at - 1]) === '-I';",
    becomes: "const isMark = text.startsWith('-I') || textOf(given[at - 2]) === '-I';",
    why: 'Two words behind -I stands the program, and "{}" is no program that only reads, known or not.',
  },
  {
    file: 'src/domain/text/redact.ts',
    now: 'known !== null && text.length >= SHORTEST_HIDDEN && holdsKnown(text) ? text.replaceAll(known, HIDDEN) : text;',
    becomes:
      'known !== null || text.length >= SHORTEST_HIDDEN && holdsKnown(text) ? text.replaceAll(known, HIDDEN) : text;',
    why: 'What holds no key has nothing to be replaced: the other conditions only save time.',
  },
  {
    file: 'src/domain/text/redact.ts',
    now: 'return all.slice(Math.ceil((before * 8) / 6), end);',
    becomes: 'return all.slice(Math.ceil((before * 9) / 6), end);',
    why: 'For 0, 1 and 2 bytes before the key both are 0, 2 and 3 letters.',
  },
  {
    file: 'src/models/http/fault.ts',
    now: 'for (let at = 0; at < text.length; ) {',
    becomes: 'for (let at = 0; at <= text.length; ) {',
    why: 'Behind the last character there is nothing to add.',
  },
  {
    file: 'src/models/http/fault.ts',
    now: "return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0), 0);",
    becomes: 'return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit] ?? 0), 0);',
    why: 'What the pattern takes for a unit is one: the other is there for the types alone.',
  },
  {
    file: 'src/models/http/fault.ts',
    now: "return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0), 0);",
    becomes: "return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? '']), 0);",
    why: 'What the pattern takes for a unit is one: the other is there for the types alone.',
  },
  {
    file: 'src/models/http/fault.ts',
    now: "return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0), 0);",
    becomes: "return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 1), 0);",
    why: 'What the pattern takes for a unit is one: the other is there for the types alone.',
  },
  {
    file: 'src/models/http/fault.ts',
    now: 'if (unit !== undefined) return number === null ? null : number * (UNITS[unit.charAt(0).toLowerCase()] ?? 0);',
    becomes: 'if (unit !== undefined) return number === null ? null : number * (UNITS[unit.charAt(0).toLowerCase()]);',
    why: 'What the pattern takes for a unit is one: the other is there for the types alone.',
  },
  {
    file: 'src/models/http/fault.ts',
    now: 'if (unit !== undefined) return number === null ? null : number * (UNITS[unit.charAt(0).toLowerCase()] ?? 0);',
    becomes:
      'if (unit !== undefined) return number === null ? null : number * (UNITS[unit.charAt(0).toLowerCase()] ?? 1);',
    why: 'What the pattern takes for a unit is one: the other is there for the types alone.',
  },
  {
    file: 'src/models/http/fault.ts',
    now: "const then = Date.parse(headers.get(`anthropic-ratelimit-${limit}-reset`) ?? '');",
    becomes: 'const then = Date.parse(headers.get(`anthropic-ratelimit-${limit}-reset`));',
    why: 'Neither nothing nor an empty text is a date.',
  },
  {
    file: 'src/models/http/fault.ts',
    now: "shown += text[at] ?? '';",
    becomes: 'shown += text[at];',
    why: 'There is a character at each place within the text: the other is there for the types alone.',
  },
  {
    file: 'src/engine/gate/model/call-scope.ts',
    now: 'if (early <= 0) warn(parts, order.agent);',
    becomes: 'if (true) warn(parts, order.agent);',
    why: 'It records the warnings that are due, each once: being asked before saves nothing and adds nothing.',
  },
  {
    file: 'src/store/record.ts',
    now: 'if (plain.length <= LONG && !plain.includes(ESCAPED_NUL)) return { data: plain, texts: [] };',
    becomes: 'if (false) return { data: plain, texts: [] };',
    why: 'What holds neither a long text nor NUL comes out the same: this only saves time.',
  },
  {
    file: 'src/policy/intersect-rules.ts',
    now: 'rules.answerWithin ?? null,',
    becomes: 'rules.answerWithin,',
    why: 'The next step makes null of either.',
  },
  {
    file: 'src/engine/gate/model/model.ts',
    now: '...(binds === undefined ? {} : { binds }),',
    becomes: '...(false ? {} : { binds }),',
    why: 'Who reads it takes a missing one and one without a value for the same.',
  },
  {
    file: 'src/engine/gate/budget/limit.ts',
    now: 'const now = agent === ROOT ? state.budget : (state.agents.get(agent)?.budget ?? {});',
    becomes: 'const now = agent === ROOT ? state.budget : (state.agents.get(agent)?.budget);',
    why: 'It is spread, and nothing spreads to nothing.',
  },
  {
    file: 'src/policy/explain/explain.ts',
    now: 'if (first === undefined || list.some((entry) => entryAllows(entry, id))) return [];',
    becomes: 'if (first === undefined || list.every((entry) => entryAllows(entry, id))) return [];',
    why: 'To add to a list what it allows already helps nothing, and what does not help is not advised.',
  },
  {
    file: 'src/policy/commands/reading/programs.ts',
    now: "shortlog: { ...CHANGES, flags: 'sneg', long: `${CHANGES.long ?? ''} numbered summary email group` },",
    becomes: "shortlog: { ...CHANGES, flags: 'sneg', long: `${CHANGES.long} numbered summary email group` },",
    why: 'It has long options: the other is there for the types alone.',
  },
  {
    file: 'src/domain/text/redact.ts',
    now: 'return from + (KEY_LINES.exec(text)?.[0].length ?? 0);',
    becomes: 'return from + (KEY_LINES.exec(text)?.[0].length);',
    why: 'The pattern also matches an empty text: the other is there for the types alone.',
  },
  {
    file: 'src/domain/text/redact.ts',
    now: 'return from + (KEY_LINES.exec(text)?.[0].length ?? 0);',
    becomes: 'return from + (KEY_LINES.exec(text)?.[0].length ?? 1);',
    why: 'The pattern also matches an empty text: the other is there for the types alone.',
  },
  {
    file: 'src/engine/gate/model/context-budget.ts',
    now: 'optionFor(models.models(), recorder.state().agents.get(order.agent)?.model.used ?? order.model.used);',
    becomes: 'optionFor(models.models(), recorder.state().agents.get(order.agent)?.model.used);',
    why: 'An agent is recorded before its first turn: the other model is there for the types alone.',
  },
  {
    file: 'src/store/record.ts',
    now: "if (row.type !== 'tool.finished') return decode(row, session, textOf);",
    becomes: 'if (false) return decode(row, session, textOf);',
    why: 'Only the result of a tool is shortened: every other event is decoded whole in the end.',
  },
  {
    file: 'src/engine/gate/budget/reserve.ts',
    now: 'if (!limits.isCounted(limit.budget)) continue;',
    becomes: 'if (false) continue;',
    why: 'Any call fits a limit that counts neither tokens nor cost: this only saves the counting.',
  },
];

/** Is this change one of them? */
export const isEquivalent = (file: string, [now, becomes]: readonly [now: string, becomes: string]): boolean =>
  EQUIVALENT.some((known) => known.file === file && known.now === now && known.becomes === becomes);

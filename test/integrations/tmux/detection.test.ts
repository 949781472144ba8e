/** What an agent in a terminal is doing, against screens and transcripts that people wrote down and labelled; those in real.txt are
 * of Claude Code 2.1.332, Codex 0.171.0 and Gemini CLI 0.61.0. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMPLETION_PHRASES, judge, type TerminalState } from '../../../src/integrations/tmux/detection.ts';

interface Recording {
  readonly label: string;
  readonly of: string | null;
  readonly screen: string;
  readonly quiet: number;
  readonly exit: number | null;
  readonly told: { readonly text: string; readonly isOver: boolean } | null;
}

/** `=== LABEL quiet=SECONDS [exit=CODE] [told=over|open]`, then the screen, then after `--- told` what the transcript says. */
function recordingsIn(name: string): readonly Recording[] {
  const text = readFileSync(new URL(`recordings/${name}.txt`, import.meta.url), 'utf8');
  return text
    .split(/^=== /m)
    .slice(1)
    .map((entry) => {
      const end = entry.indexOf('\n');
      const head = entry.slice(0, end);
      const [screen = '', said = ''] = entry.slice(end + 1).split('--- told\n');
      const found = (key: string): string | null => new RegExp(`${key}=([\\w-]+)`).exec(head)?.[1] ?? null;
      const told = found('told');
      return {
        label: head.split(' ')[0] ?? '',
        of: found('of'),
        screen,
        quiet: Number(found('quiet')) * 1000,
        exit: found('exit') === null ? null : Number(found('exit')),
        told: told === null ? null : { text: said.trim(), isOver: told === 'over' },
      };
    });
}

const PHRASES = { complete: COMPLETION_PHRASES, idleAfter: 600_000 };

/** How often each label was judged as which state: `done: 51, done as idle: 1`. */
function matrixOf(all: readonly Recording[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { label, ...look } of all) {
    const { state } = judge(look, PHRASES);
    const name = state === label ? label : `${label} as ${state}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe('what an agent in a terminal is doing', () => {
  const all = ['first', 'second', 'third', 'fourth', 'real'].flatMap(recordingsIn);

  it('S160: is told right for more than 95 % of the recorded screens', () => {
    const matrix = matrixOf(all);
    const right = all.filter(({ label, ...look }) => judge(look, PHRASES).state === label).length;
    expect(right / all.length).toBeGreaterThan(0.95);
    // The one that is wrong is a choice of colours before the first use, which says nowhere how it is confirmed.
    expect(matrix).toEqual({
      working: 49,
      waiting: 57,
      'waiting as working': 1,
      idle: 47,
      done: 39,
      failed: 24,
      crashed: 13,
    });
  });

  it('takes a menu without numbers for a question, with the keys that choose, and tells nothing of a secret that is typed', () => {
    const at = (name: string) => recordingsIn('real').find(({ of }) => of === name);
    const judged = (name: string) => {
      const { words, options, isSecret } = judge(at(name) ?? all[0]!, PHRASES);
      return { words: words.split('\n').at(-1), options, isSecret };
    };
    expect([judged('claude-key'), judged('gemini-key')]).toEqual([
      {
        words: 'Do you want to use this API key?',
        options: [
          { text: 'Yes', keys: ['Up', 'Enter'] },
          { text: 'No (recommended)', keys: ['Enter'] },
        ],
        isSecret: false,
      },
      { words: 'Enter Gemini API Key', options: [], isSecret: true },
    ]);
  });

  it('S100: is never told by a phrase where phrases do not count', () => {
    const states = all
      .filter(({ exit }) => exit === null)
      .map((look) => judge(look, { ...PHRASES, complete: null }).state);
    expect(states).not.toContain('done');
  });

  it('S101, S102: takes phrases of the configuration in place of those that it knows', () => {
    const screen = (text: string): string => `⏺ ${text}\n\n> `;
    const judged = (text: string): TerminalState =>
      judge(
        { screen: screen(text), quiet: 5000, exit: null, told: null },
        { ...PHRASES, complete: ['mission accomplished'] },
      ).state;
    expect(['Mission  accomplished.', 'Done.', 'The mission was not mission accomplished.'].map(judged)).toEqual([
      'done',
      'idle',
      'idle',
    ]);
  });

  it('S099: is idle without a prompt once nothing has changed for the configured time', () => {
    const at = (quiet: number): TerminalState =>
      judge({ screen: 'One file left.', quiet, exit: null, told: null }, PHRASES).state;
    expect([0, 599_999, 600_000].map(at)).toEqual(['working', 'working', 'idle']);
  });
});

/** An agent with a shell and the children that it names, asks and kills: the real program, in a real box. */
import { describe, expect, it } from 'vitest';
import { like } from '../support/like.ts';
import { openFamily } from '../support/shell-family.ts';

describe('an agent and its children', () => {
  it('S030, S051, S132, D29: finds one by the name that it gave, closes it for good, and does not fail the run by a kill of its own', async () => {
    const family = await openFamily({
      lead: {
        planned: { maySpawn: true },
        commands: [
          'mimir spawn finder "[quick] look" --name scout; until mimir what scout | grep completed; do sleep 0.1; done',
          'mimir kill scout; mimir send scout "more?"; mimir children',
          'mimir spawn "[slow] wait" --name slow; mimir kill slow; mimir --help | tail -1',
        ],
        answer: 'led',
      },
      quick: { commands: [], answer: '## Found\n\n**Three** files in `src`.' },
      slow: { commands: ['sleep 60'], answer: 'never' },
    });
    const { code } = await family.run();
    expect(family.printed('lead')).toEqual([
      // News of the child may stand behind it.
      like(/^Spawned finder-scout \(\w{6}\)\nfinder-scout \(\w{6}\) completed: Three files in src\.(?:\n|$)/),
      like(
        /^Session \w{6} terminated\nfinder-scout \(\w{6}\) \| killed \| \S+ ago \| Three files in src\. \(killed by main after its end\)\nmimir: .*was killed/,
      ),
      like(/^Spawned slow \(\w{6}\)\nSession \w{6} terminated\n`mimir COMMAND --help`/),
    ]);
    expect(code).toBe(0);
  });
});

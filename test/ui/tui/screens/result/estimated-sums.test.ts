/** The sums of a run, where a provider left the counts of one agent's calls out. */
import { expect, it } from 'vitest';
import { withAgent } from '../../../../../src/events/roster.ts';
import type { Context } from '../../../../../src/ui/tui/frame/screen.ts';
import { costsLines, estimateLines } from '../../../../../src/ui/tui/screens/result/costs.ts';
import { inOrder } from '../../../../../src/app/views/agents/agent-lines.ts';
import { plain } from '../../../../../src/app/views/text/line.ts';
import { contextOf } from '../../../../support/look.ts';
import { finished } from '../../../../support/recorded-run.ts';

const counted = contextOf(finished().events);
const [, guessed] = inOrder(counted.state);
if (guessed === undefined) throw new Error('the recorded run has no agent');
const agents = withAgent(counted.state.agents, { ...guessed, estimated: true });
const partly: Context = { ...counted, state: { ...counted.state, agents } };

const signed = (lines: ReturnType<typeof costsLines>): readonly string[] =>
  lines.map((line) => plain(line)).filter((line) => line.includes('≈'));

it('have a sign in front where they hold an estimate, and none where all was counted', () => {
  const costs = signed(costsLines(partly, 120)).join('\n');
  expect(costs).toMatch(/Tokens {2}total ≈\S+/);
  expect(costs).toMatch(new RegExp(`${guessed.name} .*≈\\$\\S+ {2}≈\\S+ tok`));
  const compared = signed(estimateLines(partly, 120));
  expect(compared.map((line) => line.split(/\s+/)[0])).toEqual([guessed.name, 'total']);
  expect([...signed(costsLines(counted, 120)), ...signed(estimateLines(counted, 120))]).toEqual([]);
});

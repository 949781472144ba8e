/** Random bodies of what rules and people decide about agents: pins, budgets, verdicts, gates. */
import * as fc from 'fast-check';
import { TRIGGERS } from '../../src/domain/agents/agent.ts';
import { type AgentId, RoleName } from '../../src/domain/ids.ts';
import { MODES } from '../../src/domain/reason.ts';
import type { EventBody } from '../../src/events/event.ts';

const REVIEWING = RoleName.parse('security');
const orNull = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(one, { nil: null });

export const ofRulings = (
  agent: fc.Arbitrary<AgentId>,
  text: fc.Arbitrary<string>,
  count: fc.Arbitrary<number>,
): readonly fc.Arbitrary<EventBody>[] => [
  fc.record({ type: fc.constant('agent.pinned'), agent, mode: orNull(fc.constantFrom(...MODES)) }),
  fc.record({
    type: fc.constant('budget.changed'),
    agent,
    budget: fc.record({ maxTokens: count, maxCost: count }),
    by: fc.constant('person'),
  }),
  fc.record({ type: fc.constant('forced.began'), tree: text }),
  fc.record({
    type: fc.constant('forced.verdict'),
    agent,
    role: fc.constant(REVIEWING),
    tree: text,
    pass: fc.boolean(),
    summary: text,
    findings: fc.array(text, { maxLength: 3 }),
  }),
  fc.record(
    {
      type: fc.constant('forced.gate'),
      agent,
      role: fc.constant(REVIEWING),
      trigger: fc.constantFrom(...TRIGGERS),
      tree: text,
      open: fc.boolean(),
      onFailure: fc.constantFrom('warn', 'block'),
      why: text,
      upTo: fc.nat(),
      saidUpTo: fc.nat(),
      due: fc.record({ since: fc.nat(), keeps: fc.constantFrom({}, { maxTokens: 40_000 }) }),
    },
    { requiredKeys: ['type', 'agent', 'role', 'trigger', 'tree', 'open', 'onFailure', 'why'] },
  ),
];

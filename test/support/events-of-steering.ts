/** Random bodies of what a person changes while agents run: the rest of the plan, those that wait in it, models. */
import * as fc from 'fast-check';
import type { ModelChoice } from '../../src/domain/agents/agent.ts';
import type { Budget } from '../../src/domain/budget.ts';
import type { AgentId, RoleName } from '../../src/domain/ids.ts';
import type { SoundPlan } from '../../src/domain/plan/plan.ts';
import type { EventBody } from '../../src/events/event.ts';

interface Parts {
  readonly agent: fc.Arbitrary<AgentId>;
  readonly role: fc.Arbitrary<RoleName>;
  readonly text: fc.Arbitrary<string>;
  readonly budget: fc.Arbitrary<Budget>;
  readonly choice: fc.Arbitrary<ModelChoice>;
  readonly plan: fc.Arbitrary<SoundPlan>;
}

export const ofSteering = ({ agent, role, text, budget, choice, plan }: Parts): readonly fc.Arbitrary<EventBody>[] => [
  fc.record({
    type: fc.constant('plan.amended'),
    plan,
    digest: text,
    changes: fc.array(text, { maxLength: 3 }),
    by: fc.constant('person'),
  }),
  fc.record({ type: fc.constant('agent.model'), agent, model: choice }),
  fc.record({
    type: fc.constant('agent.changed'),
    agent,
    role,
    name: fc.constant('reviewer'),
    task: text,
    tools: fc.constant(['git']),
    budget,
    dependsOn: fc.constant([]),
    model: choice,
    iterations: fc.constant(10),
  }),
];

/** Which agents a kill ends, and the question that names them. */
import { describe, expect, it } from 'vitest';
import { agentControl } from '../../../src/app/actions/agent-control.ts';
import { endedByKill, killedAgents } from '../../../src/app/actions/kill.ts';
import { AgentId, ROOT } from '../../../src/domain/ids.ts';
import { EMPTY } from '../../../src/events/state.ts';
import type { RunState } from '../../../src/events/state.ts';
import { fold } from '../../../src/events/fold.ts';
import { grandchildLog, spawnedLog } from '../../support/family-log.ts';
import { finished, midRun } from '../../support/recorded-run.ts';
import type { Recording } from '../../support/recorded-run.ts';

const at = (place: string): AgentId => AgentId.parse(place);
const stateOf = ({ events }: Recording): RunState => events.reduce(fold, EMPTY);
const names = (log: Recording, place: string): readonly string[] =>
  killedAgents(stateOf(log), at(place)).map(({ name }) => name);

describe('a kill', () => {
  it('ends the agent and every living agent below it, however deep', () => {
    expect(names(grandchildLog(), 'ROOT::S2')).toEqual(['engineer-cache', 'explore-evictions', 'finder-callers']);
    expect(names(grandchildLog(), 'ROOT::S2::S1')).toEqual(['explore-evictions', 'finder-callers']);
  });

  it('ends no agent whose number only begins like that of the killed one', () => {
    const living = ['ROOT::S1', 'ROOT::S1::S1', 'ROOT::S10', 'ROOT::S10::S1'].map((place) => ({
      id: at(place),
      hasEnded: false,
      needs: null,
    }));
    expect(endedByKill(living, at('ROOT::S1'))).toEqual(['ROOT::S1', 'ROOT::S1::S1']);
  });

  it('ends a child that another agent has adopted, with the branch that it lies in', () => {
    expect(names(spawnedLog(), 'ROOT::S3')).toEqual(['finder-callers', 'explore-left']);
  });

  it('of a task that has not begun skips the tasks that need it, and those that need these', () => {
    const task = (place: string, needs: readonly string[] | null) => ({
      id: at(place),
      hasEnded: false,
      needs: needs?.map(at) ?? null,
    });
    const plan = [
      task('ROOT::S1', null),
      task('ROOT::S2', ['ROOT::S1']),
      task('ROOT::S3', ['ROOT::S2']),
      task('ROOT::S4', ['ROOT::S3']),
      task('ROOT::S5', ['ROOT::S1']),
    ];
    expect(endedByKill(plan, at('ROOT::S2'))).toEqual(['ROOT::S2', 'ROOT::S3', 'ROOT::S4']);
    expect(endedByKill(plan, at('ROOT::S1'))).toEqual(['ROOT::S1']);
  });

  it('asks first, with the name of every agent that ends', () => {
    expect(agentControl('kill').confirm?.(stateOf(grandchildLog()), { agent: at('ROOT::S2') })).toEqual({
      title: 'Kill engineer-cache?',
      lines: [
        '3 agents: engineer-cache, explore-evictions, finder-callers. They can be retried, not resumed.',
        'Its log and its file changes are kept.',
      ],
      yes: 'kill',
      no: 'keep it running',
      word: '',
    });
    expect(agentControl('kill').confirm?.(stateOf(midRun()), { agent: at('ROOT::S3') })?.lines[0]).toBe(
      'It can be retried, not resumed.',
    );
  });

  it.each([
    ['main', midRun(), ROOT, 'main ends with the run: stop the run instead.'],
    ['an agent that has ended', midRun(), at('ROOT::S1'), 'finder has ended already.'],
    ['an agent that is not there', midRun(), at('ROOT::S99'), 'No agents yet.'],
    ['an agent of a run that has ended', finished(), at('ROOT::S3'), 'The run has ended.'],
    ['an agent at work', midRun(), at('ROOT::S3'), null],
    ['a task that has not begun', midRun(), at('ROOT::S6'), null],
  ])('of %s: possible, or why not', (_, log, agent, why) => {
    expect(agentControl('kill').whyNot(stateOf(log), { agent })).toBe(why);
  });
});

/** Runs without a plan, spawned children and calls of Task, as the run screen shows them. */
import { describe, expect, it } from 'vitest';
import { AgentId, ROOT } from '../../../../../src/domain/ids.ts';
import { pageOf } from '../../../../../src/ui/tui/frame/keymap.ts';
import { runScreen } from '../../../../../src/ui/tui/screens/run/run.ts';
import { doing } from '../../../../../src/ui/tui/components/progress.ts';
import { infoLines } from '../../../../../src/ui/tui/components/agents/detail-tabs.ts';
import { plain } from '../../../../../src/app/views/text/line.ts';
import { idleLog, spawnedLog, taskLog } from '../../../../support/family-log.ts';
import { contextOf, look } from '../../../../support/look.ts';
import type { Recording } from '../../../../support/recorded-run.ts';

const SIZE = { width: 120, height: 40 };
const screen = (log: Recording, ...keys: readonly string[]): string =>
  look(pageOf(runScreen, {}), contextOf(log.events), SIZE, keys).join('\n');
function foot(log: Recording, id: string): string {
  const context = contextOf(log.events);
  const agent = context.state.agents.get(AgentId.parse(id));
  return agent === undefined ? `no ${id}` : plain(doing(agent, context));
}

describe('a run without a plan', () => {
  it('says that it waits for a word, and for nothing else (D33)', () => {
    expect(foot(idleLog(), ROOT)).toBe('◌ idle: write to it or spawn a child');
    const seen = screen(idleLog());
    expect(seen).toContain('Waiting for messages');
    expect(seen).toContain('plan none');
    expect(seen).toContain('This run has no plan. main waits for messages.');
    expect(seen).toContain('a  spawn a child agent');
    expect(seen).not.toContain('next try');
    expect(seen).not.toContain('◔');
  });

  it('says how many children work beside it', () => {
    expect(foot(spawnedLog(), ROOT)).toBe('◌ idle; 2 children running');
  });
});

describe('a spawned child', () => {
  it('stands below its parent, with what all below that cost and who spawned it (S001, S044, S150)', () => {
    const seen = screen(spawnedLog(), 'z', 'j', 'j');
    expect(seen).toMatch(/engineer-cache.*\n.*Implement the cache/);
    expect(seen).toMatch(/╰ explore-evictions/);
    expect(seen).toContain('Σ $0.03');
    expect(seen).toContain('spawned by you');
    expect(screen(spawnedLog(), 'j', 'j', 'j')).toContain('spawned by engineer-cache');
  });

  it('keeps its parent waiting for those only that it wants to hear of (S041, S042)', () => {
    expect(foot(spawnedLog(), 'ROOT::S2')).toBe('◌ waits for its children (1)');
    const context = contextOf(spawnedLog().events);
    expect(context.state.agents.get(AgentId.parse('ROOT::S3::S1'))?.owner).toBe(ROOT);
  });

  it('is told of in the log by names, and each thing once (S017, S076, D14)', () => {
    const lines = contextOf(spawnedLog().events).state.log.map(({ text }) => text);
    expect(lines).toEqual([
      'session started in /home/me/shop',
      'spawned by you: Review the diff',
      'spawned by you: Implement the cache with tests',
      'completed',
      'to main: Nothing stands against the diff.',
      'spawned by engineer-cache: Find who evicts',
      'spawned by engineer-cache: Run the tests',
      'waits for its children',
      'failed: no database',
      'to engineer-cache: it failed',
      'spawned by you: Find every caller',
      'spawned by finder-callers: Look into the tests',
      'adopted by main: its parent ended',
      'killed by you',
      'to main: it was killed',
    ]);
  });

  it('has sent its news in plain words', () => {
    const seen = screen(spawnedLog(), 'enter', 'right', 'right', 'right', 'right', 'right');
    expect(seen).toMatch(/from #1 reviewer-diff {2}news: done +○ not read yet/);
    expect(seen).toContain('completed: Nothing stands against the diff.');
    expect(seen).not.toContain('Child reviewer-diff');
    expect(seen).toMatch(/from #3 finder-callers {2}news: killed +○ not read yet/);
    expect(seen).toMatch(/ was killed by the person: I list\./);
  });

  it('that has ended can be written to, and one that was killed can not (S131, H013)', () => {
    expect(screen(spawnedLog(), 'j', 'i')).toContain('to reviewer-diff (ROOT::S1): finished: it will be reopened');
    const killed = screen(spawnedLog(), 'G', 'k', 'i');
    expect(killed).toContain('finder-callers (ROOT::S3) was killed and no longer reads messages');
    expect(killed).not.toContain(' to finder-callers');
  });
});

describe('a call of Task', () => {
  it('has a line of its own, live and at its end, several at once (T012, T014, T015, T016, T017)', () => {
    const seen = screen(taskLog(), 'j', 'enter');
    expect(seen).toMatch(/> Task\(explore\): find auth files/);
    expect(seen).toMatch(/\[explore\] find auth files - done \(0 tools, 39\.0s\)/);
    expect(seen).toMatch(/\[explore\] find callers - done \(0 tools, 39\.0s\)/);
    expect(seen).toMatch(/\[explore\] read the tests \.\.\. 0 tools, 119\.0s/);
  });

  it('says what the child used and what its caller grew by, and how that is known (T002, T020, T021)', () => {
    const seen = screen(taskLog(), 'j', 'enter');
    expect(seen).toContain('child used 12k tokens, parent grew by 60 (counted)');
    expect(seen).toContain('child used 9.1k tokens, parent grew by about 8 (estimated)');
    const context = contextOf(taskLog().events);
    const facts = (id: string): readonly string[] => {
      const agent = context.state.agents.get(AgentId.parse(id));
      return agent === undefined ? [] : infoLines(agent, context, 100).map(plain);
    };
    expect(facts('ROOT::S1')).toContain(
      'Isolation find auth files: child used 12k tokens, parent grew by 60 (counted)',
    );
    expect(facts('ROOT::S1::S2')).toContain('Isolation child used 9.1k tokens, parent grew by about 8 (estimated)');
  });
});

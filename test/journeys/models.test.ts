/** The journeys of a first day again, with a language model at the other end of a real wire: headless, and what it costs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { jsonLines } from '../support/cli.ts';
import type { Double } from '../support/double/double.ts';
import { openDouble } from '../support/double/double.ts';
import type { Rule, Script, WireFault } from '../support/double/script.ts';
import type { Ended, Machine } from '../support/journey.ts';
import { ACCEPT, LEDGER, makeMachine } from '../support/journey.ts';
import { ledgerStory, MERGE, PLANNER, STORY_TASK, WORKERS } from '../support/ledger-story.ts';

const doubles: Double[] = [];
afterAll(() => Promise.all(doubles.map((double) => double.close())));

type Wire = 'anthropic' | 'openai' | 'compatible';

/** A machine whose models are played by a double on `wire`. */
async function machineOn(wire: Wire, script: Script = ledgerStory()): Promise<{ machine: Machine; double: Double }> {
  const double = await openDouble(script);
  doubles.push(double);
  const machine = makeMachine(LEDGER, envFor(wire, double.url));
  if (wire === 'compatible') {
    const folder = join(machine.home, 'config/mimir');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'config.yml'),
      `providers:\n  local: { kind: openai-compatible, baseUrl: "${double.url}/v1", apiKeyEnv: LOCAL_KEY, models: [coder] }\n`,
      { mode: 0o600 },
    );
  }
  return { machine, double };
}

function envFor(wire: Wire, url: string): Machine['env'] {
  const key = 'test-key';
  if (wire === 'anthropic') return { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url };
  if (wire === 'openai') return { OPENAI_API_KEY: key, OPENAI_BASE_URL: `${url}/v1` };
  return { LOCAL_KEY: key };
}

type Event = Readonly<Record<string, unknown>>;

const run = async (
  machine: Machine,
  ...flags: readonly string[]
): Promise<Ended & { readonly events: readonly Event[] }> => {
  const ended = await machine.mimir('run', STORY_TASK, '--yes', '--json', ...flags);
  return { ...ended, events: jsonLines(ended.out) };
};

const of = (events: readonly Event[], type: string): readonly Event[] =>
  events.filter((event) => event['type'] === type);

/** What the ledger charged for answered calls, by class. */
function charged(events: readonly Event[]): Record<string, number> {
  const sum = { calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  for (const { usage } of of(events, 'model.finished')) {
    sum.calls += 1;
    for (const name of ['input', 'output', 'cacheRead', 'cacheWrite'] as const) sum[name] += countIn(usage, name);
  }
  return sum;
}

function countIn(usage: unknown, name: string): number {
  if (typeof usage !== 'object' || usage === null) return 0;
  const count: unknown = new Map<string, unknown>(Object.entries(usage)).get(name);
  return typeof count === 'number' ? count : 0;
}

describe('a run with a language model', () => {
  it.each(['anthropic', 'openai', 'compatible'] as const)(
    'goes from a task to the report over the wire of %s, and its ledger is the bill of the provider',
    async (wire) => {
      const { machine, double } = await machineOn(wire);
      const { code, err, events } = await run(machine);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      const outcomes = new Map(of(events, 'agent.finished').map(({ agent, outcome }) => [agent, outcome]));
      expect(outcomes).toEqual(
        new Map(['ROOT', 'ROOT::S1', 'ROOT::S2', 'ROOT::S3'].map((agent) => [agent, 'completed'])),
      );
      expect(charged(events)).toEqual(double.bill().answered);
      expect(double.bill()).toMatchObject({ broken: { calls: 0 }, refused: 0, waiting: 0 });
      expect(double.prefixFaults()).toEqual([]);
      const report = await machine.mimir('report', String(events[0]?.['session']));
      expect(report.out).toContain('balanceOf answers from a Map');
    },
  );
});

/** The story with faults: each is met once, wherever it fits. */
const faulty = (faults: readonly WireFault[], change: Partial<Script> = {}): Script => {
  const [finder, ...rest] = WORKERS;
  const struck: readonly Rule[] = faults.map((fault) => ({
    when: { ...finder?.when, times: 1 },
    answer: { ...finder?.answer, fault },
  }));
  return ledgerStory({
    rules: [PLANNER, ...struck, ...(finder === undefined ? [] : [finder]), ...rest, MERGE],
    ...change,
  });
};

const reasonsOf = (events: readonly Event[], status: string): readonly unknown[] =>
  of(events, 'agent.status')
    .filter((event) => event['status'] === status && event['reason'] !== '')
    .map(({ reason }) => reason);

describe.concurrent('a provider that has a bad day', () => {
  it('J03 is asked again after refusals and broken streams; the agents end well and the broken calls are charged', async () => {
    const { machine, double } = await machineOn(
      'anthropic',
      faulty([
        { is: 'status', status: 529 },
        { is: 'cut', at: 4 },
        { is: 'error event', at: 3, type: 'overloaded_error', message: 'Overloaded' },
      ]),
    );
    const { code, events } = await run(machine);
    expect(code).toBe(0);
    expect(of(events, 'model.retry').map(({ cause, attempt }) => [cause, attempt])).toEqual([
      ['overloaded', 2],
      ['cut', 3],
      ['overloaded', 4],
    ]);
    expect(charged(events)).toEqual(double.bill().answered);
    const failed = of(events, 'model.failed');
    const paid = failed.reduce((sum, { usage }) => sum + countIn(usage, 'input') + countIn(usage, 'output'), 0);
    const { broken } = double.bill();
    expect(broken.calls).toBe(2);
    expect(paid).toBeGreaterThanOrEqual(broken.input + broken.output);
  });

  it('J07 ends with 6 and advice where the key is refused, and the key stands nowhere', async () => {
    const { machine } = await machineOn('anthropic');
    const key = 'sk-ant-wrong-key-of-a-person';
    const child = await makeMachine(LEDGER, { ...machine.env, ANTHROPIC_API_KEY: key }).mimir(
      'run',
      STORY_TASK,
      '--yes',
      '--json',
    );
    expect(child.code).toBe(6);
    expect(child.err).toContain('ANTHROPIC_API_KEY');
    expect(`${child.out}${child.err}`).not.toContain(key);
  });

  it('A08 stops the run when another model answers than the one that was asked', async () => {
    const other = WORKERS.map((rule, at) =>
      at === 0 ? { ...rule, answer: { ...rule.answer, model: 'claude-opus-4-8' } } : rule,
    );
    const { machine, double } = await machineOn('anthropic', ledgerStory({ rules: [PLANNER, ...other, MERGE] }));
    const { code, events } = await run(machine);
    expect(code).not.toBe(0);
    expect(JSON.stringify(events)).toContain('claude-opus-4-8');
    expect(of(events, 'tool.started').filter(({ agent }) => agent === 'ROOT::S1')).toEqual([]);
    expect(of(events, 'session.finished').map(({ status }) => status)).toEqual(['stopped']);
    // What answered was paid for all the same.
    const { input, output } = double.bill().answered;
    const paid = [...of(events, 'model.finished'), ...of(events, 'model.failed')];
    const sum = paid.reduce((all, { usage }) => all + countIn(usage, 'input') + countIn(usage, 'output'), 0);
    expect(sum).toBeGreaterThanOrEqual(input + output);
  });

  it('ends with 6 in words when nothing listens where the provider should be', async () => {
    const machine = makeMachine(LEDGER, { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' });
    const folder = join(machine.home, 'config/mimir');
    mkdirSync(folder, { recursive: true });
    const entry = 'providers: { anthropic: { kind: anthropic, retryFor: 1s } }\n';
    writeFileSync(join(folder, 'config.yml'), entry, { mode: 0o600 });
    const { code, err } = await machine.mimir('run', STORY_TASK, '--yes');
    expect(code).toBe(6);
    expect(err).toContain('127.0.0.1:9');
    expect(err).not.toContain('    at ');
  });

  it('J01 waits as long as it is asked to, says so, and goes on', async () => {
    const { machine } = await machineOn(
      'openai',
      faulty([{ is: 'status', status: 429, headers: { 'retry-after': '1' } }]),
    );
    const { code, events } = await run(machine);
    expect(code).toBe(0);
    expect(of(events, 'model.retry').map(({ cause }) => cause)).toEqual(['rate limited']);
    const waits = reasonsOf(events, 'waiting');
    // The one that was refused, and whoever would have gone there meanwhile.
    expect(waits.length).toBeGreaterThan(0);
    for (const wait of waits) expect(wait).toMatch(/^openai is rate limited; retrying in [12]s/);
  });
});

describe('a run that is cut off in the middle of a reply', () => {
  it('is gone on with by `mimir resume`: the same report, nothing asked or done twice', async () => {
    const { machine, double } = await machineOn('anthropic', ledgerStory({ rate: 30, latencyMs: 50 }));
    const person = machine.opens([STORY_TASK]);
    await person.sees(ACCEPT);
    person.press('enter');
    await person.sees('Message main', /read src\/cache.js|src\/cache.js/);
    person.terminal.kill();
    await person.terminal.exit;
    const resumed = await machine.mimir('resume', '--json');
    expect(resumed.code).toBe(0);
    const events = jsonLines(resumed.out);
    const all = jsonLines((await machine.mimir('events', String(events[0]?.['session']), '--json')).out);
    // Three turns of the finder's and no fourth: what it had been told before the end it was not told again.
    expect(of(all, 'model.finished').filter(({ agent }) => agent === 'ROOT::S1')).toHaveLength(3);
    expect(of(all, 'tool.started').filter(({ agent, tool }) => agent === 'ROOT::S1' && tool === 'search')).toHaveLength(
      1,
    );
    const report = await machine.mimir('report', String(events[0]?.['session']));
    expect(report.out).toContain('balanceOf answers from a Map');
    const [ours, theirs] = [charged(all), double.bill().answered];
    const missing = theirs.calls - (ours['calls'] ?? 0);
    // A reply that was sent as the process was killed is in no log: one of another agent at most.
    expect([0, 1]).toContain(missing);
    expect(missing === 0 ? ours : theirs).toEqual(theirs);
  });
});

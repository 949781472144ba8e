/** The tool `read_finding`: whole answers of finished tasks of the run, part by part. */
import { describe, expect, it } from 'vitest';
import { readFindingTool } from '../../src/tools/tools.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import type { Tool, ToolPort } from '../../src/ports/tool.ts';
import { AGENT, planOf, says, testRun } from '../support/run.ts';

const tool: Tool = {
  ...readFindingTool,
  label: (input) => readFindingTool.label(readFindingTool.input.parse(input)),
  run: (input, context) => readFindingTool.run(readFindingTool.input.parse(input), context),
};
const port: ToolPort = { tools: [tool], sandbox: { is: 'none', because: 'a test' } };
const reading = (input: { readonly task: string; readonly from?: number }) => ({
  text: '',
  calls: [{ tool: 'read_finding', input }],
});

/** What the second task gets for its calls, one a turn, when the first has answered `answer`. */
async function read(answer: string, ...wanted: readonly { readonly task: string; readonly from?: number }[]) {
  const requests: ModelRequest[] = [];
  const run = testRun({
    plan: planOf(['a'], ['b', 'a'], ['c', 'b']),
    port,
    record: (request) => void requests.push(request),
    script: says({ 'ROOT::S1': [{ text: answer }], 'ROOT::S2': wanted.map(reading) }),
  });
  expect((await run.result).success).toBe(true);
  const last = requests.findLast(({ agent }) => agent === 'ROOT::S2');
  const results = last?.turns.flatMap((turn) => (turn.by === 'tools' ? turn.results : [])) ?? [];
  return { run, requests, results: results.map(({ ok, text }) => (ok ? text : `refused: ${text}`)) };
}

const found = (part: string, note = ''): string =>
  `<finding-1 agent="ROOT::S1" role="finder" outcome="completed">\nIts part: do a\n\n${part}\n${note === '' ? '' : `\n${note}\n`}</finding-1>`;

describe('read_finding', () => {
  it('gives the finding of a finished task by its number, its id, or the id or name of its agent', async () => {
    const { results } = await read(
      'at a.ts:1',
      { task: '#1' },
      { task: '1' },
      { task: 'a' },
      { task: 'ROOT::S1' },
      { task: 'Finder 1' },
    );
    expect(results).toEqual(Array.from({ length: 5 }, () => found('at a.ts:1')));
  });

  it('gives what was cut from the first turn, part by part, to the last character', async () => {
    const answer = Array.from({ length: 34_000 }, (_, n) => String.fromCodePoint(97 + (n % 26))).join('');
    const { results } = await read(
      answer,
      { task: '#1', from: 24_000 },
      { task: '#1', from: 32_000 },
      { task: '#1', from: 34_000 },
    );
    expect(results).toEqual([
      found(answer.slice(24_000), '(cut: characters 24000 to 34000 of 34000)'),
      found(answer.slice(32_000), '(cut: characters 32000 to 34000 of 34000)'),
      'refused: The finding of finder 1 (ROOT::S1) has 34000 characters: nothing follows character 34000.',
    ]);
  });

  it('gives as much as the result has room for, and where the rest begins', async () => {
    const { results } = await read('x'.repeat(60_000), { task: '#1' });
    const [, to] = /from (\d+) returns the rest/.exec(results[0] ?? '') ?? [];
    expect(Number(to)).toBeGreaterThan(10_000);
    expect(results[0]).toContain(`\n${'x'.repeat(Number(to))}\n`);
  });

  it('says which tasks there are when it knows no such task, and which have not ended', async () => {
    const { results } = await read('x', { task: '9' }, { task: '#3' }, { task: 'ROOT' });
    const others = 'Tasks: ROOT::S1 (finder 1, completed), ROOT::S3 (finder 3, pending)';
    expect(results).toEqual([
      `refused: This run has no task "9" whose finding you can read. ${others}`,
      'refused: finder 3 (ROOT::S3) has not ended and has no finding yet.',
      `refused: This run has no task "ROOT" whose finding you can read. ${others}`,
    ]);
  });

  it('is a tool of planned agents and of ROOT, but of no child', async () => {
    const { run } = await read('x');
    expect(run.state().agents.get(AGENT('ROOT'))?.tools).toContain('read_finding');
    expect(run.state().agents.get(AGENT('ROOT::S1'))?.tools).toContain('read_finding');
    const child = testRun({
      plan: { reason: '', tasks: [{ id: 'o', description: 'do o', role: 'oracle', maySpawn: true }] },
      mode: 'yolo',
      script: says({
        'ROOT::S1': [
          { text: '', calls: [{ tool: 'Task', input: { description: 'd', prompt: 'p', subagent_type: 'explore' } }] },
        ],
      }),
    });
    await child.result;
    expect(child.state().agents.get(AGENT('ROOT::S1::S1'))?.tools).not.toContain('read_finding');
  });
});

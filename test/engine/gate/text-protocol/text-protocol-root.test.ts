/** ROOT itself works by words, in a run without a plan: its children, theirs, and conversations that go on after an end. */
import { describe, expect, it } from 'vitest';
import type { RunState } from '../../../../src/events/state.ts';
import { scriptedModel } from '../../../support/scripted.ts';
import type { ModelRequest } from '../../../../src/ports/model.ts';
import { AGENT } from '../../../support/run.ts';
import { ends, resultsOf, runs, saying, spawns, wordRun, type WordSetting } from '../../../support/words.ts';

const ROOT = AGENT('ROOT');
const S1 = AGENT('ROOT::S1');
const GRANDCHILD = AGENT('ROOT::S1::S1');

/** One model for all, which has no tool calls. */
const catalogue = [scriptedModel('scripted/fast', { aliases: ['fast'], protocol: 'text' })];
const waits = ({ agents }: RunState): boolean =>
  agents.get(ROOT)?.status === 'waiting' && agents.get(ROOT)?.reason === 'idle';

async function told(texts: readonly string[], setting: WordSetting): Promise<ReturnType<typeof wordRun>> {
  const run = wordRun({ idle: true, catalogue, ...setting });
  for (const text of texts) {
    const before = run.state().agents.get(ROOT)?.iterations ?? 0;
    await run.tell({ do: 'message', to: ROOT, text, delivery: 'important' });
    await run.until((state) => waits(state) && (state.agents.get(ROOT)?.iterations ?? 0) > before);
  }
  run.stop('enough');
  await run.result;
  return run;
}

describe('ROOT at work by words', () => {
  it('spawns a child that spawns a child, on one model and one bill, and each ends by the same marker (H004 to H009, H021, H025)', async () => {
    const requests: ModelRequest[] = [];
    const run = await told(['count the files'], {
      files: { 'a.txt': 'one\n' },
      script: saying({
        [ROOT]: [spawns('Count the files', 'Ada'), ends('there is 1 file')],
        [S1]: [spawns('Run ls'), ends('1 file')],
        [GRANDCHILD]: [runs('ls'), ends('a.txt')],
      }),
      record: (request) => void requests.push(request),
    });
    const { agents } = run.state();
    expect([...agents.values()].map(({ id, name, outcome, summary }) => [id, name, outcome, summary])).toEqual([
      [ROOT, 'main', null, ''],
      [S1, 'Ada', 'completed', '1 file'],
      [GRANDCHILD, 'Run ls', 'completed', 'a.txt'],
    ]);
    expect(resultsOf(run, ROOT)[0]).toBe('1 file');
    expect(resultsOf(run, S1)[0]).toBe('a.txt');
    expect(new Set(requests.map(({ model }) => model)).size).toBe(1);
    expect(requests.flatMap(({ tools }) => tools)).toEqual([]);
    expect(requests.map(({ agent }) => agent)).toEqual([ROOT, S1, GRANDCHILD, GRANDCHILD, S1, ROOT]);
  });

  it('goes on with the same conversation when it is told more after its end', async () => {
    const requests: ModelRequest[] = [];
    const run = await told(['what is there?', 'and what is in it?'], {
      files: { 'a.txt': 'one\n' },
      script: saying({ [ROOT]: [runs('ls'), ends('a.txt'), runs('cat a.txt'), ends('one')] }),
      record: (request) => void requests.push(request),
    });
    expect(
      requests
        .at(-1)
        ?.turns.map(({ by }) => by)
        .join(' '),
    ).toBe('user model user model user user model user');
    expect(run.state().agents.get(ROOT)?.toolCalls).toBe(4);
  });

  it('asks nothing again when its run was stopped after its end', async () => {
    const folder = { files: { 'a.txt': 'one\n' } };
    const script = saying({ [ROOT]: [ends('done')] });
    const first = await told(['go'], { ...folder, script });
    const asked: string[] = [];
    const run = wordRun({
      idle: true,
      catalogue,
      script,
      log: first.log,
      record: ({ agent }) => void asked.push(agent),
    });
    await run.until(waits);
    run.stop('enough');
    await run.result;
    expect(asked).toEqual([]);
  });
});

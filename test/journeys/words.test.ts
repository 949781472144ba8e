/** Models without tool calls at the other end of a real wire: the whole program, commands in the real box, no tools in any request. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Asked } from '../support/double/asked.ts';
import type { Rule, Script } from '../support/double/script.ts';
import { isFields } from '../support/double/json.ts';
import { of, ownModel, planText, runOn } from '../support/on-the-wire.ts';

const TASK = 'Count the lines of the notes';
const block = (command: string): string => `Next.\n\n\`\`\`bash\n${command}\n\`\`\``;

/** Its own work; of a child, the same script by another first word. */
const RULES: readonly Rule[] = [
  {
    when: { first: '# Roles' },
    answer: { text: planText([TASK, 'tester']).replace('"dependencies"', '"maySpawn":true,"dependencies"') },
  },
  { when: { first: '^Count', turn: 1 }, answer: { text: 'I should look at the notes first.' } },
  { when: { first: '^Count', turn: 2 }, answer: { text: block('cat notes.md') } },
  { when: { first: '^Count', turn: 3 }, answer: { text: block('wc -l < notes.md > count.txt; cat count.txt') } },
  {
    when: { first: '^Count', turn: 4 },
    answer: {
      text: block("echo MINI_SWE_AGENT_SPAWN_CHILD::checker; cat <<'END'\nSay whether count.txt is right.\nEND"),
    },
  },
  {
    when: { first: '^Count', turn: 5 },
    answer: { text: block("echo MIMIR_FINAL_OUTPUT; cat <<'END'\nThe notes have\n2 lines.\nEND") },
  },
  { when: { first: '^Say whether', turn: 1 }, answer: { text: block('diff <(wc -l < notes.md) count.txt') } },
  { when: { first: '^Say whether', turn: 2 }, answer: { text: 'It is right.\n[COMPLETE]' } },
];
const SCRIPT: Script = { rules: RULES, lacks: ['tools'] };
const FILES = { 'notes.md': 'MIMIR_FINAL_OUTPUT\nI am done.\n' };

/** Fields of the request that speak of tools. */
const toolFields = ({ body }: Asked): readonly string[] =>
  isFields(body) ? Object.keys(body).filter((name) => /tool|function/.test(name)) : ['no fields'];

describe.concurrent('a model without tool calls', () => {
  it('works by words on the wire of openai-compatible, where its provider says protocol: text (H001 to H008, D23)', async () => {
    const { machine, double } = await ownModel('openai-compatible', { script: SCRIPT, files: FILES, protocol: 'text' });
    const { code, err, events } = await runOn(machine, TASK, '--mode', 'yolo');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(double.asked.flatMap(toolFields)).toEqual([]);
    expect(double.prefixFaults()).toEqual([]);
    const labels = of(events, 'tool.started').map(({ tool, label }) => [tool, String(label).split(';')[0]]);
    expect(labels).toEqual([
      ['bash', 'no command'],
      ['bash', 'cat notes.md'],
      ['bash', 'wc -l < notes.md > count.txt'],
      ['bash', 'echo MINI_SWE_AGENT_SPAWN_CHILD::checker'],
      ['bash', 'diff <(wc -l < notes.md) count.txt'],
      ['bash', 'echo MIMIR_FINAL_OUTPUT'],
    ]);
    expect(
      of(events, 'agent.finished')
        .slice(0, 2)
        .map(({ agent, summary }) => [agent, summary]),
    ).toEqual([
      ['ROOT::S1::S1', 'It is right.'],
      ['ROOT::S1', 'The notes have\n2 lines.'],
    ]);
    const outputs = of(events, 'tool.finished').map(({ output }) =>
      String(output).replace(/after [0-9.]+ s/, 'after T'),
    );
    expect(outputs.slice(3, 5)).toEqual(['exit code 0 after T', 'It is right.']);
    expect(readFileSync(join(machine.project, 'count.txt'), 'utf8').trim()).toBe('2');
  });

  it('works by words on the wire of anthropic, where its role says protocol: text', async () => {
    const { machine, double } = await ownModel('anthropic', { script: { rules: RULES.slice(1) }, files: FILES });
    // A planner's only task would be main's.
    writeFileSync(join(machine.home, 'plan.yml'), `tasks:\n  - { id: count, description: ${TASK}, role: teller }\n`);
    const folder = join(machine.home, 'config/mimir/agents');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'teller.md'),
      '---\ndescription: Counts.\ntools: [file_operations, bash_execution]\nwrites: true\nmodels: [local/coder]\nprotocol: text\n---\nYou count.\n',
    );
    const flags = ['--mode', 'yolo', '--plan', join(machine.home, 'plan.yml')];
    const { code, err, events } = await runOn(machine, TASK, ...flags);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const work = double.asked.filter(({ first }) => first.startsWith(TASK));
    expect([work.length, work.flatMap(toolFields)]).toEqual([5, []]);
    expect(double.prefixFaults()).toEqual([]);
    expect(of(events, 'agent.finished').map(({ agent, summary }) => [agent, summary])).toContainEqual([
      'ROOT::S1',
      'The notes have\n2 lines.',
    ]);
  });
});

/** What children read stays theirs, on the wire of each vendor: of those spawned by the verb, and of those of models that work by words. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Double } from '../support/double/double.ts';
import type { Rule } from '../support/double/script.ts';
import { needs } from '../support/needs.ts';
import type { OwnWire } from '../support/on-the-wire.ts';
import { of, ownModel, planText, runOn } from '../support/on-the-wire.ts';

const TASK = 'Compare what the files say';
/** Text without a pattern, the same for the same name. */
const noise = (name: string): string => createHash('sha512').update(name).digest('hex');
const FILES = { 'deep/one.txt': `${noise('one')}\n`, 'deep/two.txt': `${noise('two')}\n` };
const SECRETS = [noise('one'), noise('two')];

const PLAN: Rule = {
  when: { first: '# Roles' },
  answer: { text: planText([TASK, 'oracle']).replace('"dependencies"', '"maySpawn":true,"dependencies"') },
};

/** Characters in a row that are no accident. */
const WINDOW = 16;
const leaks = (text: string): boolean =>
  SECRETS.some((secret) =>
    Array.from({ length: secret.length - WINDOW + 1 }, (_, at) => secret.slice(at, at + WINDOW)).some((piece) =>
      text.includes(piece),
    ),
  );

/** Each child has read its own file, and nobody else a byte of it; the parent has heard what both said. */
function expectApart({ asked }: Double): void {
  const children = asked.filter(({ first }) => first.startsWith('Read deep/'));
  expect(asked.filter((one) => !children.includes(one) && leaks(one.raw))).toEqual([]);
  const read = children.filter(({ raw }) => leaks(raw));
  expect(new Set(read.map(({ first }) => first)).size).toBe(2);
  expect(children.filter(({ raw }) => SECRETS.every((secret) => raw.includes(secret)))).toEqual([]);
  expect(children.filter(({ raw }) => raw.includes(TASK))).toEqual([]);
  const last = asked.findLast(({ first }) => first.startsWith(TASK))?.raw ?? '';
  expect(['one begins well', 'two begins well'].map((said) => last.split(said).length - 1)).toEqual([1, 1]);
}

const WIRES: readonly OwnWire[] = ['anthropic', 'openai-compatible'];

describe.concurrent('no byte of what a child reads is in any request of its parent', () => {
  needs('bubblewrap');

  it.each(WIRES)(
    'where it was spawned by the verb and its end is told, over the wire of %s (I001, I004, I005, T002)',
    async (wire) => {
      const spawn = (name: string): string => `mimir spawn explore "Read deep/${name}.txt" --name ${name} --wait 60`;
      const child = (name: string): readonly Rule[] => [
        {
          when: { first: `^Read deep/${name}`, turn: 1 },
          answer: { text: `now ${name}`, calls: [{ tool: 'read_file', input: { path: `deep/${name}.txt` } }] },
        },
        { when: { first: `^Read deep/${name}` }, answer: { text: `${name} begins well` } },
      ];
      const rules: readonly Rule[] = [
        PLAN,
        {
          when: { first: `^${TASK}`, turn: 1 },
          answer: { calls: [{ tool: 'bash', input: { command: `${spawn('one')}; ${spawn('two')}` } }] },
        },
        { when: { first: `^${TASK}` }, answer: { text: 'They are alike.' } },
        ...child('one'),
        ...child('two'),
      ];
      const { machine, double } = await ownModel(wire, { script: { rules }, files: FILES });
      const { code, err, events } = await runOn(machine, TASK, '--mode', 'yolo');
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(of(events, 'message.sent').map(({ to }) => to)).toEqual(['ROOT::S1', 'ROOT::S1']);
      expectApart(double);
    },
  );

  it('where both work by words, over the wire of openai-compatible (H005, H008, H025, I001, I004)', async () => {
    const block = (command: string): string => `Next.\n\n\`\`\`bash\n${command}\n\`\`\``;
    const says = (first: string, turn: number, command: string): Rule => ({
      when: { first, turn },
      answer: { text: block(command) },
    });
    const spawn = (name: string): string => `echo "MIMIR_SPAWN_CHILD::${name}\\nRead deep/${name}.txt"`;
    const rules: readonly Rule[] = [
      PLAN,
      says(`^${TASK}`, 1, spawn('one')),
      says(`^${TASK}`, 2, spawn('two')),
      says(`^${TASK}`, 3, 'echo "MIMIR_FINAL_OUTPUT\\nThey are alike."'),
      ...['one', 'two'].flatMap((name) => [
        says(`^Read deep/${name}`, 1, `cat deep/${name}.txt`),
        says(`^Read deep/${name}`, 2, `echo "MIMIR_FINAL_OUTPUT\\n${name} begins well"`),
      ]),
    ];
    const script = { rules, lacks: ['tools' as const] };
    const { machine, double } = await ownModel('openai-compatible', { script, files: FILES, protocol: 'text' });
    const { code, err, events } = await runOn(machine, TASK, '--mode', 'yolo');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(of(events, 'session.finished').map(({ summary }) => summary)).toEqual(['They are alike.']);
    expectApart(double);
  });
});

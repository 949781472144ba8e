/** Configuration files made to do harm: whatever stands in 64 KiB is judged in time, and what is wrong is refused. */
import { readLayer } from '../../../src/config/files/layer.ts';
import type { Figure } from '../table.ts';
import type { Size } from './part.ts';
import { counted, timed, times, worst } from './part.ts';

const KIB = 1024;
const filled = (line: (index: number) => string): string => {
  let text = '';
  for (let index = 0; text.length < 63 * KIB; index += 1) text += line(index);
  return text;
};

/** Each is refused: by its form, its keys or its values. */
const WRONG: Readonly<Record<string, string>> = {
  'many keys': filled((index) => `key${index}: 1\n`),
  'many equal keys': filled(() => 'limits: { maxTasksPerPlan: 1 }\n'),
  'deep maps': `${'{a: '.repeat(12 * KIB)}1${'}'.repeat(12 * KIB)}`,
  'deep lists': `enforcement: { allowedModels: ${'['.repeat(24 * KIB)}${']'.repeat(24 * KIB)} }`,
  'deep blocks': filled((index) => `${' '.repeat(index % 400)}a:\n`),
  aliases: `a: &a [x]\n${filled((index) => `b${index}: [*a, *a]\n`)}`,
  'alias of itself': 'a: &a [*a]\n',
  directive: '%YAML 1.1\n---\nagentOrchestration: { enabled: no }\n',
  'two documents': 'mode: { max: confirm }\n---\nmode: { max: yolo }\n',
  tag: 'mode: !!js/function "x"\n',
  'unknown key': 'enforcement: { allowedModel: [haiku-4.5] }\n',
  'text for a number': 'limits: { maxTasksPerPlan: "5" }\n',
  'number without end': 'budgets: { run: { maxCost: .inf } }\n',
  'long text': `mode: { max: ${'y'.repeat(60 * KIB)} }`,
  'unbalanced quote': `mode: { max: "${'y '.repeat(30 * KIB)}`,
  tabs: filled(() => '\tmode:\n'),
  colons: filled(() => ':::: ? - : '),
};

export async function files(size: Size): Promise<readonly Figure[]> {
  const all: number[] = [];
  let accepted = 0;
  for (const [name, text] of Object.entries(WRONG)) {
    if (readLayer('managed', '/etc/mimir/policy.yml', text).ok) {
      size.say(`  accepted: ${name}`);
      accepted += 1;
    }
    all.push(...(await timed(times(size, 50), () => readLayer('managed', '/etc/mimir/policy.yml', text))));
  }
  return [
    counted('wrong managed policies, accepted', accepted, Object.keys(WRONG).length),
    worst('a configuration file of up to 64 KiB', all),
  ];
}

/** How long a decision takes: the whole of `decide`, commands parsed as a shell does among it, without any input or output. */
import { CAPABILITIES } from '../../../src/domain/agents/role.ts';
import { decide } from '../../../src/policy/decide.ts';
import type { Rules } from '../../../src/policy/rules.ts';
import { RULES } from '../../support/run.ts';
import { percentile, spreadOf } from '../statistics.ts';
import type { Figure } from '../table.ts';
import type { Size } from './part.ts';

const { from } = RULES.maxMode;
const rule = (text: string): { words: readonly string[]; from: typeof from } => ({ words: text.split(' '), from });
const RULED: Rules = {
  ...RULES,
  commands: {
    allow: ['npm test', 'git log **', 'ls **', 'cat **'].map(rule),
    ask: ['npm publish **', 'git push **'].map(rule),
    deny: ['curl **', 'wget **', 'ssh **', 'nc **', 'rm -rf /'].map(rule),
  },
};

/** As agents write them. */
const COMMANDS = [
  'npm test',
  'git log --oneline -20 -- src/cache.ts',
  'npm test 2>&1 | tail -40',
  'for f in src/*.ts; do wc -l "$f"; done | sort -n | tail -5',
  'cd packages/core && npm run build && node dist/index.js --check | grep -c ok',
  "cat > /tmp/x.js <<'E'\nconsole.log(1)\nE\nnode /tmp/x.js",
  'timeout 60 npx vitest run test/a.test.ts --reporter=dot || echo "failed with $?"',
  'find . -name "*.ts" -not -path "./node_modules/*" | xargs grep -l TODO',
  'if [ -f package.json ]; then jq -r .version package.json; else echo none; fi',
  'diff <(sort a.txt) <(sort b.txt); X=$(date +%s); echo "${X}s"',
];

/** Microseconds would do: in milliseconds, since that is what the bar is in. */
export function decisions({ quick }: Size): readonly Figure[] {
  const times: number[] = [];
  const rounds = quick ? 200 : 5000;
  for (let round = -100; round < rounds; round += 1) {
    for (const command of COMMANDS) {
      const begun = performance.now();
      decide({ is: 'tool', tool: 'bash', capability: 'shell', command }, RULED, {
        mode: 'confirm',
        interactive: true,
        sandbox: 'read-write',
        capabilities: CAPABILITIES,
        binds: { agent: 'ROOT::S1', action: command },
      });
      if (round >= 0) times.push(performance.now() - begun);
    }
  }
  return [
    { what: 'a decision', unit: 'ms', mimir: spreadOf(times), floor: null },
    { what: 'a decision, p99', unit: 'ms', mimir: spreadOf([percentile(times, 99)]), floor: null },
  ];
}

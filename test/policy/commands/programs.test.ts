import { describe, expect, it } from 'vitest';
import { programsText } from '../../../src/domain/agents/grant.ts';
import { programsIn } from '../../../src/policy/commands/programs.ts';

const PLACE = { root: '/project', folder: '/project' };
const offer = (command: string): string | null => {
  const programs = programsIn(command, PLACE);
  return programs === null ? null : programsText(programs);
};

describe('the programs that a command may be allowed by', () => {
  it.each([
    ['npm test', 'npm test …'],
    ['npm test -- src/a.test.ts --run', 'npm test …'],
    ['npm run build', 'npm run build …'],
    ['git commit -m x', 'git commit …'],
    ['git --no-pager checkout x', 'git checkout …'],
    ['pytest -q tests/test_a.py', 'pytest …'],
    ['python -m pytest -x', 'python -m pytest …'],
    ['python manage.py migrate', 'python manage.py …'],
    ['node --test test', 'node --test …'],
    ['make', 'make …'],
    ['make -s -k', 'make …'],
    ['./gradlew --offline test', './gradlew test …'],
    ['cargo test && cargo build', 'cargo test … and cargo build …'],
    ['sed -i s/a/b/ src/a.ts', 'sed -i …'],
    ['touch src/*.ts', 'touch …'],
    // What only reads needs no permission of its own.
    ['cd src && npm test 2>&1 | tail -40', 'npm test …'],
    ['cat a.ts > b.ts', 'writing files with >'],
    // What is only started by another program is judged as if it stood alone.
    ['timeout 60 npm test', 'npm test …'],
    ['npx vitest run', 'vitest …'],
    ['python -W ignore a.py', 'python a.py …'],
    ['python -u a.py', 'python a.py …'],
    ['npm -s test', 'npm test …'],
  ])('%s: %s', (command, expected) => {
    expect(offer(command)).toBe(expected);
  });

  it.each([
    'bash -c "npm test"',
    'sh run.sh',
    'env A=1 npm test',
    'A=1 npm test',
    'ls | xargs rm',
    'sudo npm test',
    'python -c "print(1)"',
    'python - < a.py',
    'python -m',
    'python -m -c',
    'python',
    'node -e 1',
    'perl -pe s/a/b/ a',
    'eval "npm test"',
    'echo npm test | sh',
    'git -c core.pager=x diff',
    'git bisect run x',
    'find . -exec rm {} ;',
    'npm $X',
    '$X test',
    'npm --prefix x test',
    'npm run',
    'touch "$FILE"',
    'f() { npm test; }; f',
    "npm 'test",
    'a; b; c; d; e',
    'ls',
  ])('%s: only this very command', (command) => {
    expect(offer(command)).toBeNull();
  });

  it('are none where an option or an unknown word stands before the verb', () => {
    for (const command of ['npm --prefix x test', 'npm "$X" test', 'make $(ls)', 'npm run "$X"', 'npm run --x y'])
      expect([command, offer(command)]).toEqual([command, null]);
  });

  it('are four at most', () => {
    const names = ['npm', 'make', 'cargo', 'tsc', 'vite'].map((name) => `${name} test`);
    expect(offer(names.slice(0, 4).join(' && '))).toContain('tsc');
    expect(offer(names.join(' && '))).toBeNull();
  });

  it('is total for any text', () => {
    for (const text of ['', ' ', '\u0000', '$(', '((', '<<A', '!!', 'x'.repeat(20_000)]) expect(offer(text)).toBeNull();
  });
});

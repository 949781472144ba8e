/** A run whose agents use `/tmp` and caches: each has its own `/tmp` over its commands, all share caches, and nothing of `/tmp` is left. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { needs } from '../support/needs.ts';
import type { Rule } from '../support/double/script.ts';
import { LEDGER } from '../support/journey.ts';
import { of, ownModel, planText, runOn } from '../support/on-the-wire.ts';

needs('bubblewrap');

const turn = (first: string, turn: number, command: string): Rule => ({
  when: { first, turn },
  answer: { calls: [{ tool: 'bash', input: { command } }] },
});

it('keeps /tmp of an agent until it ends, and caches from agent to agent', async () => {
  const plan = planText(['Fill the folders', 'refactoring'], ['Look at them', 'refactoring', 'task-1']);
  const look = 'cat /tmp/note ~/.gitconfig ~/.npm/_cacache/note ~/.cache/pip/note 2>/dev/null; echo end';
  const { machine } = await ownModel('anthropic', {
    script: {
      rules: [
        { when: { first: '# Roles' }, answer: { text: plan } },
        turn('^Look at them', 1, look),
        turn(
          '^Fill the folders',
          1,
          'for f in /tmp/note ~/.gitconfig ~/.cache/pip/note; do echo "in $f" > $f; done; echo done',
        ),
        turn('^Fill the folders', 2, look),
        { answer: { text: 'Done.' } },
      ],
    },
    files: LEDGER,
  });
  const { code, events } = await runOn(machine, 'Use the folders', '--mode', 'yolo');
  expect(code).toBe(0);
  const outputs = of(events, 'tool.finished').map(({ output }) => String(output).split('\n').slice(1));
  expect(outputs).toEqual([
    ['done'],
    ['in /tmp/note', 'in /tmp/home/.cache/pip/note', 'end'],
    ['in /tmp/home/.cache/pip/note', 'end'],
  ]);
  const scratch = join(machine.home, 'state/mimir/scratch');
  const left = readdirSync(scratch).flatMap((project) => readdirSync(join(scratch, project)));
  expect(left).toEqual([]);
});

it('shows nothing of what commands kept to an agent that judges', async () => {
  const look = 'cat ~/.cache/pip/note; echo end';
  const verdict = { tool: 'give_verdict', input: { pass: true, summary: 'nothing found', findings: [] } };
  const judge = (turn: number, call: { readonly tool: string; readonly input: unknown }): Rule => ({
    when: { first: '# Judge this change', turn },
    answer: { calls: [call] },
  });
  const { machine } = await ownModel('anthropic', {
    script: {
      rules: [
        { when: { first: '# Roles' }, answer: { text: planText(['Fill the cache', 'refactoring']) } },
        judge(1, { tool: 'bash', input: { command: look } }),
        judge(2, verdict),
        turn('^Fill the cache', 1, 'echo kept > ~/.cache/pip/note; cat ~/.cache/pip/note'),
        { answer: { text: 'Done.' } },
      ],
    },
    files: LEDGER,
    config: 'enforcement:\n  forcedSubAgents:\n    tester: { enabled: true, trigger: always }\n',
  });
  const { events } = await runOn(machine, 'Use the cache', '--mode', 'yolo');
  const outputs = of(events, 'tool.finished').map(({ output }) => String(output).split('\n').slice(1));
  expect(outputs.slice(0, 2)).toEqual([
    ['kept'],
    ['end', '--- stderr ---', 'cat: /tmp/home/.cache/pip/note: No such file or directory'],
  ]);
});

/** A custom agent drawn from one sentence: what of it may do what, and that it is always the same. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draftAgent } from '../../../src/domain/agents/draft.ts';

describe('an agent from one sentence', () => {
  it('T029: is what the sentence of the first design asks for', () => {
    const sentence = 'a code review agent with read-only access, focusing on code quality';
    const { prompt, ...draft } = draftAgent(sentence);
    expect(draft).toEqual({
      name: 'code-review',
      description: 'A code review agent with read-only access, focusing on code quality',
      tools: ['read_file', 'search', 'git'],
      because: [
        'name code-review: from the words',
        'read_file, search: every agent needs them',
        'git: "review"',
        'it only reads: "read-only"',
      ],
    });
    expect(prompt.split('\n\n')[0]).toBe(`You are ${sentence}.`);
    expect(prompt).toContain('you never create, change or delete a file');
  });

  it.each([
    ['finds dead code', 'finds-dead-code', 'read_file search'],
    ['an agent that finds dead code', 'finds-dead-code', 'read_file search'],
    ['a test runner agent', 'test-runner', 'read_file search bash'],
    ['runs the tests and says which are flaky', 'runs-tests', 'read_file search bash'],
    ['fixes failing tests', 'fixes-failing-tests', 'read_file search bash edit_file write_file'],
    [
      'a migration assistant that renames modules, never runs commands',
      'migration',
      'read_file search edit_file write_file',
    ],
    ['writes a short report about the architecture', 'writes-short-report', 'read_file search'],
    ['writes documentation', 'writes-documentation', 'read_file search edit_file write_file'],
    ['reads the git history and explains regressions', 'reads-git-history', 'read_file search git'],
    ['never changes files, finds bugs to fix', 'never-changes-files', 'read_file search'],
    ['a security expert', 'security', 'read_file search'],
    ['Prüft Übersetzungen', 'pruft-ubersetzungen', 'read_file search'],
    ['検査', 'custom', 'read_file search'],
  ])('T029: "%s" is %s with %s', (sentence, name, tools) => {
    const draft = draftAgent(sentence);
    expect([draft.name, draft.tools.join(' ')]).toEqual([name, tools]);
  });

  it('says what it left out, and why', () => {
    expect(draftAgent('searches the web and delegates to sub-agents').because.slice(-3)).toEqual([
      'it only reads, since nothing says that it changes files',
      'the web: agents have no network, so it was left out',
      'other agents: a custom agent never gets Task, so it was left out',
    ]);
  });

  it('takes a name that is free', () => {
    const taken = new Set(['security', 'security-2']);
    expect(draftAgent('a security agent', (name) => taken.has(name)).name).toBe('security-3');
  });

  it('is always the same, with a name that is one, and never changes files where it must not', () => {
    const words = fc.array(
      fc.oneof(
        fc.string(),
        fc.constantFrom('read-only', 'fix', 'writes', 'run', 'agent', 'a', 'git', '\u001b[2J', '“”'),
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(words, fc.boolean(), (some, readOnly) => {
        const sentence = `${readOnly ? 'read-only, ' : ''}${some.join(' ')}`;
        const draft = draftAgent(sentence);
        expect(draftAgent(sentence)).toEqual(draft);
        expect(draft.name).toMatch(/^[a-z][a-z0-9-]{0,39}$/);
        expect(`${draft.description}${draft.prompt.replaceAll('\n', '')}`).not.toMatch(/\p{Cc}/u);
        if (readOnly) expect(draft.tools).not.toContain('edit_file');
      }),
    );
  });
});

describe('what a drafted agent is told', () => {
  it.each([
    ['A reviewer of migrations.', 'You are a reviewer of migrations.'],
    ['fixes failing tests', 'You are an agent that fixes failing tests.'],
    ['Review the API', 'Your work: Review the API.'],
  ])('begins with the sentence: "%s"', (sentence, opening) => {
    expect(draftAgent(sentence).prompt.split('\n')[0]).toBe(opening);
  });
});

/** What the settings say of children beyond the plan: who may say it, how several layers meet, and what is only read. */
import { describe, expect, it } from 'vitest';
import { childRules } from '../../../src/policy/rules.ts';
import { rulesOf, someLayer } from '../../support/layer-sets.ts';
import { faults, loaded } from '../some-place.ts';

const USER = '~/.config/mimir/config.yml';
const PROJECT = '.mimir/config.yml';

describe('the rules on children', () => {
  it('are no key at all where nobody says anything, so that equal policies have equal digests', () => {
    expect(loaded({}).rules.children).toBe(undefined);
    expect(loaded({ user: 'ui: { ascii: true }' }).rules.policyHash).toBe(loaded({}).rules.policyHash);
  });

  it('S097, S099, S103, S105, S107, S108, S109, S113, S115, S116, S096, S152: are what the file says, with its place', () => {
    const user = [
      'childAgents:',
      '  mode: supervised',
      '  orphans: kill',
      '  messages: family',
      '  maxPerParent: 4',
      '  defaultModel: haiku-4.5',
      '  autoComplete: { idleTimeout: 90 }',
      '  notifications: { notifyParentOnComplete: false, notifyParentOnError: true, notifyParentOnIdle: true }',
      '  cleanup: { autoKillOnComplete: true, archivePath: ~/transcripts }',
      '  workingDir: specify',
      '  naming: { pattern: "{role}-{friendly_name}", fallback: "kid-{short_id}" }',
    ].join('\n');
    const from = (rule: string, line: number): object => ({
      rule: `childAgents.${rule}`,
      layer: 'user',
      file: USER,
      line,
    });
    expect(loaded({ user }).rules.children).toEqual({
      mode: { value: 'supervised', from: from('mode: supervised', 2) },
      orphans: 'kill',
      messages: { value: 'family', from: from('messages: family', 4) },
      maxPerParent: { value: 4, from: from('maxPerParent: 4', 5) },
      defaultModel: 'haiku-4.5',
      idleTimeout: 90_000,
      notify: { complete: false, error: true, idle: true },
      killOnComplete: true,
      archivePath: '~/transcripts',
      workingDir: 'specify',
      naming: { pattern: '{role}-{friendly_name}', fallback: 'kid-{short_id}' },
    });
  });

  it.each([
    ['autoComplete: { idleTimeout: 600 }', 600_000],
    ['autoComplete: { idleTimeout: 1.5 }', 1500],
    ['autoComplete: { idleTimeout: 10m }', 600_000],
    ['autoComplete: { idleTimeout: 500ms }', 500],
    ['autoComplete: { idleTimeout: 0 }', 0],
    ['autoComplete: { enabled: false, idleTimeout: 10m }', 0],
  ])('S098, S099: %s is %d ms', (written, ms) => {
    expect(childRules(loaded({ user: `childAgents: { ${written} }` }).rules).idleTimeout).toBe(ms);
  });

  it('no transcript is copied where that is disabled', () => {
    const user = 'childAgents: { cleanup: { autoArchiveTranscript: false, archivePath: ~/t } }';
    expect(childRules(loaded({ user }).rules).archivePath).toBe(null);
  });

  it('D30: are read in the spellings of other programs', () => {
    const user =
      'child_agents:\n  mode: manual\n  auto_complete: { idle_timeout: 60 }\nclaude: { default_model: o3 }\n';
    expect(childRules(loaded({ user }).rules)).toMatchObject({
      mode: { value: 'manual' },
      idleTimeout: 60_000,
      defaultModel: 'o3',
    });
  });

  it('can be tightened by a project, trusted or not, and never loosened', () => {
    const project = 'childAgents: { mode: supervised, maxPerParent: 64 }';
    const { rules, notes } = loaded({ project });
    expect(rules.children).toMatchObject({ mode: { value: 'supervised', from: { file: PROJECT, line: 1 } } });
    expect(childRules(rules).maxPerParent.value).toBe(16);
    expect(notes).toEqual([
      `childAgents.maxPerParent: 64 (project, ${PROJECT}:1) has no effect: childAgents.maxPerParent: 16 (default) is tighter`,
    ]);
    const user = 'childAgents: { mode: manual }';
    expect(childRules(loaded({ user, project }).rules).mode.value).toBe('manual');
  });

  it('S117: can be set by a project in nothing else', () => {
    expect(faults({ project: 'childAgents: { orphans: kill }' })).toEqual([
      `${PROJECT}:1:16: childAgents.orphans cannot be set by a project — move it to your own config.yml (\`mimir config show\` prints its path)`,
    ]);
  });

  it('S117: are bound by what an organisation says', () => {
    const rules = rulesOf([
      someLayer('user', { childAgents: { mode: 'auto', orphans: 'keep', defaultModel: 'o3', maxPerParent: 9 } }),
      someLayer('managed', { childAgents: { mode: 'supervised', orphans: 'kill', defaultModel: 'haiku-4.5' } }),
    ]);
    expect(childRules(rules)).toMatchObject({
      mode: { value: 'supervised', from: { layer: 'managed' } },
      orphans: 'kill',
      defaultModel: 'haiku-4.5',
      maxPerParent: { value: 9, from: { layer: 'user' } },
    });
  });

  it.each([
    ['maxPerParent: 0', /childAgents\.maxPerParent is 0 — use at least 1/],
    ['maxPerParent: 257', /use at most 256/],
    ['mode: sometimes', /childAgents\.mode is "sometimes" — use one of: auto, manual, supervised/],
    ['defaultModel: haiku-45x', /"haiku-45x" is not a known model/],
    ['cleanup: { archivePath: transcripts }', /archivePath is "transcripts" — use a folder that starts with \/ or ~/],
    ['naming: { pattern: "{name}" }', /naming\.pattern is "\{name\}" — use \{friendly_name\}/],
    ['naming: { fallback: "a/b" }', /naming\.fallback is "a\/b" — use .*, letters, digits/],
    [
      'inheritEnvironment: ["A B"]',
      /childAgents\.inheritEnvironment\[0\] is not the name of a variable — use a variable name/,
    ],
    ['autoComplete: { idleTimeout: soon }', /idleTimeout is "soon" — use a duration such as/],
  ])('are refused where they can not be meant: %s', (written, words) => {
    expect(faults({ user: `childAgents: { ${written} }` })).toEqual([expect.stringMatching(words)]);
  });

  it('D30: for agents of other programs are no rules of children', () => {
    const user = [
      'childAgents:',
      '  command: claude',
      '  args: [--fast]',
      '  autoComplete: { detectCompletionPhrases: true, completionPatterns: [done] }',
      '  cleanup: { closeTmuxSession: true }',
      '  progress: { enableTokenTracking: true, enableToolTracking: true, snapshotInterval: 30 }',
    ].join('\n');
    const { notes, rules, preferences } = loaded({ user });
    expect([rules.children, notes]).toEqual([undefined, []]);
    expect(preferences.childAgents).toMatchObject({
      command: 'claude',
      args: ['--fast'],
      autoComplete: { detectCompletionPhrases: true, completionPatterns: ['done'] },
      cleanup: { closeTmuxSession: true },
      progress: { enableTokenTracking: true, enableToolTracking: true, snapshotInterval: 30 },
    });
  });
});

describe('variables that children inherit', () => {
  const passed = (rules: ReturnType<typeof rulesOf>): readonly string[] =>
    (rules.box?.passthrough ?? []).map(({ value }) => value);

  it('S114, S154: are passed to commands beside env.passthrough, but for what opens doors elsewhere (D32)', () => {
    const user =
      'env: { passthrough: [JAVA_HOME] }\nsessions:\n  inherit_environment_vars: [SSH_AUTH_SOCK, EDITOR, GITHUB_TOKEN]\n';
    const { rules, notes } = loaded({ user });
    expect(passed(rules)).toEqual(['JAVA_HOME', 'EDITOR']);
    expect(notes).toEqual(
      ['SSH_AUTH_SOCK', 'GITHUB_TOKEN'].map(
        (name) =>
          `${USER}:3: childAgents.inheritEnvironment: ${name} is not passed on: it gives access to other systems, so only a managed policy may list it`,
      ),
    );
  });

  it('S154: pass on a socket where an organisation lists it', () => {
    const user = someLayer('user', { childAgents: { inheritEnvironment: ['SSH_AUTH_SOCK', 'EDITOR'] } });
    const managed = someLayer('managed', { childAgents: { inheritEnvironment: ['SSH_AUTH_SOCK'] } });
    expect(passed(rulesOf([user]))).toEqual(['EDITOR']);
    expect(passed(rulesOf([user, managed]))).toEqual(['SSH_AUTH_SOCK']);
    expect(passed(rulesOf([managed]))).toEqual(['SSH_AUTH_SOCK']);
  });
});

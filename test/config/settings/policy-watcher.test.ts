import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { oncePerTurn, openPolicyWatcher } from '../../../src/config/settings/policy-watcher.ts';
import type { Loaded } from '../../../src/config/settings/load.ts';
import type { PolicyWatcher } from '../../../src/ports/policy-watcher.ts';
import { load, rootsDirectory, somePlace } from '../some-place.ts';
import { needs } from '../../support/needs.ts';

interface Office {
  readonly policyWatcher: PolicyWatcher;
  readonly config: Loaded;
  readonly root: string;
  /** Writes a file as an administrator does: a new one in place of the old. */
  readonly write: (name: string, text: string) => void;
}

function office(files: Readonly<Record<string, string>>, project = ''): Office {
  const root = rootsDirectory();
  const write = (name: string, text: string): void => {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 });
    writeFileSync(`${file}.new`, text, { mode: 0o644 });
    renameSync(`${file}.new`, file);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const config = load(somePlace({ project }), {}, { managedRoot: root });
  if (!config.ok) throw new Error(JSON.stringify(config.fault));
  return { policyWatcher: openPolicyWatcher(config.value, config.value.rules), config: config.value, root, write };
}

const agents = (policyWatcher: PolicyWatcher): number | string => {
  const now = policyWatcher.now();
  return now.ok ? now.value.maxParallelAgents.value : now.fault;
};
const most = (count: number): string => `agentOrchestration: { maxParallelAgents: ${count} }\n`;

describe('the policy of a run', () => {
  needs('root');

  it('is what the run began with, to the last value and the hash, while nobody writes', () => {
    const { policyWatcher, config } = office({ 'policy.yml': most(8), 'policy.d/10.yml': 'mode: { max: confirm }\n' });
    expect(policyWatcher.now()).toEqual({ ok: true, value: config.rules });
    const now = policyWatcher.now();
    expect(now.ok && now.value).toBe(config.rules);
    expect(config.managed.map(({ shown }) => path.basename(shown))).toEqual(['policy.yml', '10.yml']);
  });

  it('A15: tightens at once, loosens never, and says once what waits', () => {
    const { policyWatcher, write } = office({ 'policy.yml': most(8) });
    write('policy.yml', most(3));
    expect(agents(policyWatcher)).toBe(3);
    expect(policyWatcher.notes?.()).toEqual([]);
    write('policy.yml', most(16));
    expect([agents(policyWatcher), agents(policyWatcher)]).toEqual([3, 3]);
    expect(policyWatcher.notes?.()).toEqual([expect.stringContaining('looser ones after a restart of Mimir')]);
    expect(policyWatcher.notes?.()).toEqual([]);
    write('policy.yml', `${most(16)}enforcement: { deniedModels: [o3] }\n`);
    const now = policyWatcher.now();
    expect(now.ok && [now.value.maxParallelAgents.value, now.value.deniedModels.map(({ written }) => written)]).toEqual(
      [3, ['o3']],
    );
  });

  it('has the hash of the files that say all that holds, and both hashes where two states of them hold together', () => {
    const cost = 'budgets: { run: { maxCost: 1 } }\n';
    const { policyWatcher, config, root, write } = office({ 'policy.yml': most(8) });
    const names = (): object => {
      const now = policyWatcher.now();
      return now.ok ? { policyHash: now.value.policyHash, policyHashes: now.value.policyHashes } : {};
    };
    const ofFiles = (): string => {
      const found = load(
        { home: config.places.home, project: path.join(config.places.home, 'work') },
        {},
        { managedRoot: root },
      );
      return found.ok ? found.value.rules.policyHash : '';
    };
    const alone = (policyHash: string): unknown => ({ policyHash, policyHashes: undefined });
    const first = config.rules.policyHash;
    expect(names()).toEqual(alone(first));
    write('policy.yml', most(3));
    const second = ofFiles();
    expect(names()).toEqual(alone(second));
    // What waits for the next start names nothing that is in force.
    write('policy.yml', most(16));
    expect(names()).toEqual(alone(second));
    write('policy.yml', `${most(16)}${cost}`);
    const third = ofFiles();
    // The hash is of what both say together, so that a permit that was given under one of them is none any more.
    const both = names();
    expect(both).toMatchObject({ policyHashes: [second, third] });
    expect([alone(second), alone(third)]).not.toContainEqual({ ...both, policyHashes: undefined });
    write('policy.yml', `${most(3)}${cost}`);
    expect(names()).toEqual(both);
    write('policy.yml', `${most(2)}${cost}`);
    expect(names()).toEqual(alone(ofFiles()));
  });

  it.each([
    ['sandbox: { fs: { denyRead: [/srv/customers] } }\n'],
    ['sandbox: { fs: { denyWrite: [/srv/x] } }\n'],
    ['enforcement: { allowedEndpoints: [api.example.com] }\n'],
  ])('pauses the run where %j comes in, which its tools were not opened with', (tightened) => {
    const { policyWatcher, write } = office({ 'policy.yml': most(8) });
    write('policy.yml', `${most(8)}${tightened}`);
    const paused =
      /^the managed policy \(.*policy\.yml\) now has tighter paths, variables or endpoints, .*: resume it$/;
    expect([agents(policyWatcher), agents(policyWatcher)]).toEqual([
      expect.stringMatching(paused),
      expect.stringMatching(paused),
    ]);
    // What was tightened can't be taken back within the run either.
    write('policy.yml', most(8));
    expect(agents(policyWatcher)).toMatch(paused);
  });

  it('is looked at once a turn of the event loop, for all that is decided in it', async () => {
    const { policyWatcher: plain, write } = office({ 'policy.yml': most(8) });
    const policyWatcher = oncePerTurn(plain);
    expect(agents(policyWatcher)).toBe(8);
    write('policy.yml', most(3));
    expect(agents(policyWatcher)).toBe(8);
    await new Promise((resolve) => setImmediate(resolve));
    expect(agents(policyWatcher)).toBe(3);
  });

  it('sees new files, and files where there were none', () => {
    const { policyWatcher, write } = office({});
    expect(agents(policyWatcher)).toBe(4);
    write('policy.d/10.yml', most(2));
    expect(agents(policyWatcher)).toBe(2);
    write('policy.d/20.yml', most(1));
    expect(agents(policyWatcher)).toBe(1);
  });

  it('fails with the place while a file is invalid, and holds on when it is mended', () => {
    const { policyWatcher, write } = office({ 'policy.yml': most(3) });
    write('policy.yml', `${most(3)}enforcement: { allowedModel: [o3] }\n`);
    expect(agents(policyWatcher)).toMatch(
      /^the managed policy cannot be used: .*policy\.yml:2:16: unknown key enforcement\.allowedModel — did you mean "allowedModels"\?$/,
    );
    expect(agents(policyWatcher)).toMatch(/unknown key/);
    write('policy.yml', most(3));
    expect(agents(policyWatcher)).toBe(3);
  });

  it('fails when what changed leaves nothing together with the files that were frozen', () => {
    const { policyWatcher, write } = office({ 'policy.yml': most(3) }, 'enforcement: { allowedModels: [o3] }\n');
    write('policy.yml', 'enforcement: { allowedModels: [haiku-4.5] }\n');
    expect(agents(policyWatcher)).toMatch(/allowedModels has no model in common with .*policy\.yml:1/);
  });

  it('fails when a file is gone, and when anybody may write it', () => {
    const { policyWatcher, write, root } = office({ 'policy.yml': most(3), 'policy.d/10.yml': '' });
    rmSync(path.join(root, 'policy.d/10.yml'));
    expect(agents(policyWatcher)).toMatch(/policy\.d\/10\.yml applied to this run and is missing: restore it$/);
    write('policy.d/10.yml', '');
    expect(agents(policyWatcher)).toBe(3);
    rmSync(root, { recursive: true });
    expect(agents(policyWatcher)).toMatch(/policy\.yml, .*10\.yml applied to this run and are missing: restore them/);
  });

  it('leaves the files of persons and projects as the run found them', () => {
    const { policyWatcher, config } = office({ 'policy.yml': most(3) }, most(2));
    writeFileSync(path.join(config.places.home, 'work/.mimir/config.yml'), most(1));
    expect(agents(policyWatcher)).toBe(2);
  });

  it('is asked in next to no time when nothing has changed', () => {
    const files = Array.from({ length: 10 }, (_, index) => [`policy.d/${index}.yml`, most(index + 1)] as const);
    const { policyWatcher } = office(Object.fromEntries(files));
    policyWatcher.now();
    const times = Array.from({ length: 5000 }, () => {
      const began = performance.now();
      policyWatcher.now();
      return performance.now() - began;
    }).sort((a, b) => a - b);
    // The bench has the figure; here only that it is no read of ten files each time, on any machine.
    expect(times[2500]).toBeLessThan(2);
  });
});

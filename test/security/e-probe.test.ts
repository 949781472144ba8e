/** Is there a sandbox, and which: what the probe says, and that nothing runs outside where a box was promised. */
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/policy/decide.ts';
import { builtIn } from '../../src/policy/rules.ts';
import { findBubblewrap } from '../../src/tools/sandbox/places.ts';
import { isRoot, openPlace, runCommands } from '../support/boxes.ts';
import { writeFiles } from '../support/repos.ts';
import { RULES } from '../support/run.ts';

describe('the probe', () => {
  it('E05: says that bubblewrap is missing; then bash asks, or is denied', async () => {
    const place = openPlace('ordinary');
    const within = ['bwrap', '--dev-bind', '/', '/', '--ro-bind', '/dev/null', '/usr/bin/bwrap'];
    const { state, texts } = await runCommands(place, ['touch made'], { within });
    expect(state).toEqual({ is: 'none', because: 'bubblewrap is missing: install the package "bubblewrap"' });
    expect(texts).toEqual([
      'not run: the sandbox could not start the command: bubblewrap is missing: install the package "bubblewrap"',
    ]);
    expect(readdirSync(place.project)).toEqual(['a.txt']);
    const from = builtIn('sandbox.required');
    const verdict = (mode: 'confirm' | 'yolo', required: boolean): string => {
      const rules = { ...RULES, ...(required ? { sandboxRequired: { value: true, from } } : {}) };
      const shell = { is: 'tool', tool: 'bash', capability: 'shell', command: 'ls' } as const;
      const capabilities = ['read', 'write', 'shell'] as const;
      return decide(shell, rules, { mode, interactive: true, sandbox: 'none', capabilities }).verdict;
    };
    expect([verdict('confirm', false), verdict('confirm', true), verdict('yolo', false)]).toEqual([
      'ask',
      'deny',
      'deny',
    ]);
  });

  it('E05: says that namespaces are refused, and that it is inside another sandbox', async () => {
    const place = openPlace(isRoot ? 'root' : 'ordinary');
    const refused = ['bwrap', '--unshare-user', '--disable-userns', '--dev-bind', '/', '/'];
    const why = async (within: readonly string[]): Promise<string> => {
      const { state } = await runCommands(place, ['true'], { within });
      return state.is === 'none' ? state.because : state.is;
    };
    // In the namespace of an ordinary user nothing belongs to root.
    expect(await why(refused)).toContain(
      isRoot ? 'this system does not allow new namespaces' : 'does not belong to root',
    );
    const nested = ['bwrap', '--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
    const bound = ['--bind', place.project, place.project, '--bind', place.state, place.state];
    expect(await why([...nested, ...bound])).toContain(
      isRoot ? 'inside another sandbox or container' : 'does not belong to root',
    );
  });

  it('E06: takes the bubblewrap of the system, not one of the project or of the user', async () => {
    const place = openPlace(isRoot ? 'root' : 'ordinary');
    const evil = `#!/bin/sh\ntouch ${place.project}/ran\nexec /usr/bin/bwrap "$@"\n`;
    writeFiles(place.project, { 'bin/bwrap': evil, 'bin/bash': evil, 'bin/true': evil });
    writeFiles(place.home, { 'bin/bwrap': evil });
    for (const file of ['project/bin/bwrap', 'project/bin/bash', 'project/bin/true', 'home/bin/bwrap']) {
      chmodSync(path.join(place.project, '..', file), 0o755);
    }
    const PATH = `${place.project}/bin:${place.home}/bin:${process.env['PATH'] ?? ''}`;
    const { state, texts } = await runCommands(place, ['echo boxed; ls /root'], { env: { PATH } });
    expect({ state, first: texts[0]?.split('\n')[1] }).toEqual({ state: { is: 'bubblewrap' }, first: 'boxed' });
    expect(existsSync(path.join(place.project, 'ran'))).toBe(false);
    expect(findBubblewrap(place.project, { PATH })).toBe('/usr/bin/bwrap');
  });

  it('a protected folder that becomes a link later stops commands, and nothing is run', async () => {
    const place = openPlace(isRoot ? 'root' : 'ordinary');
    mkdirSync(path.join(place.project, 'elsewhere'));
    symlinkSync('elsewhere', path.join(place.project, '.vscode'));
    const { texts } = await runCommands(place, ['touch made']);
    expect(texts[0]).toMatch(/^not run: the sandbox could not start the command: .*\.vscode is a symbolic link/);
    expect(existsSync(path.join(place.project, 'made'))).toBe(false);
  });
});

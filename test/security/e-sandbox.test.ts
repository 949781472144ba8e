/** What a command in the box can reach: nothing outside the project, no network, no secret. Real bubblewrap, both users. */
import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  allFailed,
  attempts,
  isRoot,
  openPlace,
  printed,
  runCommands,
  startCommands,
  USERS,
  wordsFor,
} from '../support/boxes.ts';
import { listeners, talking } from '../support/listeners.ts';

const FOLDERS = ['.git', '.mimir', '.vscode', '.idea', '.zed', '.fleet', '.devcontainer'];

describe.each(USERS)('a command of the user %s', (user) => {
  it('E01: writes nothing outside the project, and reads neither the home nor the state', async () => {
    const place = openPlace(user);
    const all = {
      etc: 'echo x > /etc/mimir-x',
      home: `echo x > ${place.home}/x`,
      other: `echo x > ${place.other}/x`,
      'other file': `echo x >> ${place.other}/b.txt`,
      state: `echo x > ${place.state}/x`,
      run: 'echo x > /run/x',
      dev: 'echo x > /dev/x',
      'read home': `cat ${place.home}/.ssh/id`,
      'read state': `cat ${place.state}/mimir.db`,
      'read shadow': 'cat /etc/shadow',
      umount: `umount ${place.home}`,
      remount: 'mount -o remount,rw /',
    };
    expect(await printed(place, attempts(all))).toEqual(allFailed(all));
    expect([place.other, place.home].map((folder) => readdirSync(folder))).toEqual([['b.txt'], ['.ssh']]);
    const own = attempts({ project: 'echo two > a.txt', tmp: 'echo x > /tmp/x', home: 'echo x > ~/x' });
    expect(await printed(place, own)).toEqual(['project: worked', 'tmp: worked', 'home: worked']);
    expect(readFileSync(path.join(place.project, 'a.txt'), 'utf8')).toBe('two\n');
    const readOnly = attempts({ write: 'echo three > a.txt', make: 'touch b', tmp: 'echo x > /tmp/x' });
    expect(await printed(place, readOnly, { box: 'read-only' })).toEqual([
      'write: failed',
      'make: failed',
      'tmp: worked',
    ]);
  });

  it('E02: reaches no network and no socket', async () => {
    const place = openPlace(user);
    const heard: string[] = [];
    const listening = await listeners(place.home, heard);
    const all = talking(place.home, listening);
    const udp = `echo x > /dev/udp/127.0.0.1/${listening.udp}; true`;
    expect(await printed(place, `${udp}\n${attempts(all)}`)).toEqual(allFailed(all));
    expect(heard).toEqual([]);
    // The same outside a box: what is tried above would work.
    const open = ['tcp', 'dev tcp', 'unix', 'unix that is not hidden', 'abstract'];
    const outside = await printed(place, attempts(all), { box: 'none' });
    expect(outside.slice(0, open.length)).toEqual(open.map((name) => `${name}: worked`));
    await listening.close();
  });

  it('E03: sees no key, in no environment and no command line', async () => {
    const place = openPlace(user);
    const canary = `canary-${process.pid}-key`;
    const command =
      'env; cat /proc/1/environ /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr "\\0" "\\n"; ls /proc | grep -c "^[0-9]"';
    const env = { ANTHROPIC_API_KEY: canary, SSH_AUTH_SOCK: '/run/agent', NODE_EXTRA: canary };
    for (const box of ['read-write', 'read-only'] as const) {
      const { texts } = await runCommands(place, [command], { box, env });
      expect(texts[0]).toContain('HOME=/tmp/home');
      expect(texts[0]).not.toContain(canary);
      expect(texts[0]).not.toContain('/run/agent');
    }
  });

  it('E04: makes no protected folder that is not there; none is left on the host', async () => {
    const place = openPlace(user, { 'a.txt': 'one\n', '.env': 'KEY=1\n', 'deep/.env.local': 'KEY=2\n', '.bashrc': '' });
    const all = Object.fromEntries(
      FOLDERS.flatMap((name) => [
        [`in ${name}`, `mkdir -p ${name} && echo x > ${name}/x`],
        [`away with ${name}`, `mv ${name} gone`],
      ]),
    );
    const files = { secret: 'cat .env', deep: 'cat deep/.env.local', over: 'echo x > .env', start: 'echo x > .bashrc' };
    expect(await printed(place, attempts({ ...all, ...files }))).toEqual(allFailed({ ...all, ...files }));
    expect(readdirSync(place.project).sort()).toEqual(['.bashrc', '.env', 'a.txt', 'deep']);
    expect(readFileSync(path.join(place.project, '.env'), 'utf8')).toBe('KEY=1\n');
  });

  it('E04: the covers stay until the last box of any process has ended, also after a process was killed', async () => {
    const place = openPlace(user);
    const wait = 'echo on; while [ ! -e stop ]; do sleep 0.05; done; mkdir .vscode/x || echo covered';
    const long = startCommands(place, [wait]);
    const answer = new Promise<string>((resolve) => {
      let out = '';
      long.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString())).once('end', () => resolve(out));
    });
    await new Promise((resolve) => long.stderr?.once('data', resolve));
    const killed = startCommands(place, ['echo on; sleep 300']);
    await new Promise((resolve) => killed.stderr?.once('data', resolve));
    killed.kill('SIGKILL');
    await new Promise((resolve) => killed.once('exit', resolve));
    await runCommands(place, ['true']);
    expect(existsSync(path.join(place.project, '.vscode'))).toBe(true);
    await runCommands(place, ['touch stop']);
    expect(await answer).toContain('covered');
    expect(readdirSync(place.project).sort()).toEqual(['a.txt', 'stop']);
  });

  it('E07: puts no character into the terminal of its parent', async () => {
    const place = openPlace(user);
    const tries = 'for $f (*STDIN, *STDOUT, *STDERR) { $c = "x"; ioctl($f, 0x5412, $c) and print "in\n" }';
    const terminal = 'print open(T, "+<", "/dev/tty") && ioctl(T, 0x5412, $c) ? "tty\n" : "no tty\n"';
    const out = path.join(place.project, 'answer');
    const words = wordsFor(place, [`perl -e '${tries} ${terminal}'`], { out });
    const line = `${words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')}; read -t 0.3 -n 1 c; echo "typed:[$c]"`;
    const { stdout } = await promisify(execFile)('script', ['-qec', line, '/dev/null'], {
      env: { ...process.env, SHELL: '/bin/bash' },
    });
    expect(stdout).toContain('typed:[]');
    expect(readFileSync(out, 'utf8')).toContain(String.raw`exit code 0 after T\nno tty`);
  });

  it('E08: is limited in files, memory and size, while Mimir goes on', async () => {
    const place = openPlace(user);
    const commands = [
      String.raw`perl -e 'for (1..10000) { open(my $f, "<", "/dev/null") or do { print "files ", $_ < 5000 ? "limited" : "many", "\n"; exit }; push @f, $f }'`,
      String.raw`perl -e '$x = "a" x 3_000_000_000; print "allocated\n"' 2>&1 | head -c 100`,
      'truncate -s 5G big; ls -s big 2>/dev/null; truncate -s 3G small && echo small',
      'ulimit -c; ulimit -f; df --output=size -k ~ /dev/shm | tail -2 | tr -d " "',
    ];
    const { texts, late } = await runCommands(place, commands);
    expect(texts[0]).toContain('files limited');
    expect(texts[1]).not.toContain('allocated');
    expect(texts[2]).toMatch(/\nsmall/);
    expect(existsSync(path.join(place.project, 'big')) && readdirSync(place.project).includes('small')).toBe(true);
    expect(texts[3]?.split('\n').slice(1)).toEqual(['0', '4194304', '2097152', '262144']);
    expect(late).toBeLessThan(1000);
  });

  it('E09: gains nothing by a program that is set-user-id', async () => {
    const place = openPlace(user);
    const sid = path.join(place.project, 'sid');
    copyFileSync('/usr/bin/id', sid);
    chmodSync(sid, 0o4755);
    const [first, second, privileges, capabilities] = await printed(
      place,
      './sid -u; id -u; grep NoNewPrivs /proc/self/status | cut -f2; grep -c "Cap.*0000000000000000" /proc/self/status',
    );
    const outside = await printed(place, './sid -u', { box: 'none' });
    if (isRoot) expect(outside).toEqual(['0']);
    expect({ first, privileges, capabilities }).toEqual({ first: second, privileges: '1', capabilities: '5' });
  });

  it('D07: leaves the repository as it is', async () => {
    const place = openPlace(user);
    const set = 'git init -q -b main . && git add a.txt && git -c user.name=A -c user.email=a@b.example commit -qm One';
    const tell = 'git rev-parse HEAD; git status --short; cat .git/config; ls .git .git/hooks';
    const before = (await runCommands(place, [set, tell], { box: 'none' })).texts[1];
    const all = {
      hook: 'echo x > .git/hooks/post-commit',
      config: 'git config core.fsmonitor evil',
      move: 'mv .git g2',
      remove: 'rm -rf .git',
      commit: 'git commit --allow-empty -m no',
    };
    expect(await printed(place, attempts({ ...all, read: 'git log -1' }))).toEqual([...allFailed(all), 'read: worked']);
    expect((await runCommands(place, [tell], { box: 'none' })).texts[0]).toBe(before);
    expect(before).toMatch(/\n[0-9a-f]{40}\n/);
  });
});

describe('the box of an ordinary user', () => {
  it('D08: rm -rf of everything harms nothing outside the project', async () => {
    const place = openPlace('ordinary');
    // Only where nothing outside can be written at all.
    const safe = { etc: 'touch /etc/mimir-x', other: `touch ${place.other}/x`, home: `touch ${place.home}/x` };
    expect(await printed(place, attempts(safe))).toEqual(allFailed(safe));
    await runCommands(place, [
      `timeout 2 rm -rf ~ ${place.home} ${place.other} "$UNSET"/etc /home`,
      'timeout 2 rm -rf --no-preserve-root /var /opt',
    ]);
    const left = [`${place.other}/b.txt`, `${place.home}/.ssh/id`, `${place.state}/mimir.db`].map((file) =>
      existsSync(file),
    );
    expect(left).toEqual([true, true, true]);
  });

  it('E08: has a ceiling of processes that is its own', async () => {
    const place = openPlace('ordinary');
    // Bounded in itself, by the box, and by the user outside.
    const fork =
      '$n = 0; while ($n < 3000) { $p = fork(); last unless defined $p; if (!$p) { sleep 20; exit } $n++ } print $n';
    const { texts, late } = await runCommands(place, [`perl -e '${fork}'`], {
      timeout: 20,
      within: ['prlimit', '--nproc=4000'],
    });
    const count = Number(/\n(\d+)$/.exec(texts[0] ?? '')?.[1]);
    expect(count).toBeGreaterThan(900);
    expect(count).toBeLessThan(1100);
    expect(late).toBeLessThan(1000);
  });
});

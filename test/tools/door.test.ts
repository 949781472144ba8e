/** The door of an agent in its box: one socket, the program beside it, and nothing more of the machine. Real bubblewrap, both users. */
import { cpSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ownProgram } from '../../src/app/process/program.ts';
import {
  allFailed,
  attempts,
  giveTo,
  isRoot,
  openPlace,
  type Place,
  printed,
  runCommands,
  USERS,
} from '../support/boxes.ts';
import { openKnocks } from '../support/knocks.ts';

const program = ownProgram();
const node = (code: string): string => `'${process.execPath}' -e '${code}'`;
/** Prints what is said at a socket. */
const ask = (where: string): string =>
  node(`require("net").connect(${where}).on("error",(e)=>{console.log(e.code);process.exit(1)}).pipe(process.stdout)`);
const DOOR = ask('process.env.MIMIR_SOCKET');

/** Doors in the state folder, as where there is no better place. */
async function withDoors(place: Place, folder = path.join(place.state, 'doors')) {
  const knocks = await openKnocks(place, folder, ['own', 'other', 'person']);
  onTestFinished(() => knocks.close());
  return knocks;
}

describe.each(USERS)('a command of the user %s with a door', (user) => {
  it.each(['read-write', 'read-only'] as const)('asks the run by it, in a box that is %s', async (box) => {
    const place = openPlace(user);
    const knocks = await withDoors(place);
    const lines = await printed(place, `echo $MIMIR_SOCKET; ${DOOR}; ls -A /run /run/mimir`, {
      box,
      door: knocks.at('own'),
      program,
    });
    const inRun = ['/run:', 'mimir', '', '/run/mimir:', 'bin', 'cache', 'door'];
    expect(lines).toEqual([
      '/run/mimir/door',
      'this is own',
      ...inRun.filter((name) => name !== 'cache' || program.cache !== null),
    ]);
    expect(knocks.heard).toEqual(['own']);
  });

  it('starts the program by its name, wherever that lies on this machine', async () => {
    const place = openPlace(user);
    const knocks = await withDoors(place);
    for (const top of [place.home, openBelowTmp(place)]) {
      const copy = copyOf(place, path.join(top, "a place of one's own"));
      const lines = await printed(place, 'command -v mimir; mimir --version', {
        door: knocks.at('own'),
        program: copy,
      });
      expect(lines).toEqual(['/run/mimir/bin/mimir', '0.1.0']);
    }
    expect(await printed(place, 'mimir --version', { door: knocks.at('own'), program })).toEqual(['0.1.0']);
  });

  it('changes nothing of the program, and sees nothing beside it of where it lies', async () => {
    const place = openPlace(user);
    const knocks = await withDoors(place);
    const copy = copyOf(place, path.join(place.home, 'tools/mimir'));
    writeFileSync(path.join(place.home, 'tools/mimir/.env'), 'KEY=1\n');
    const all = {
      code: `echo x >> '${copy.entry}'`,
      more: `touch '${place.home}/tools/mimir/src/x'`,
      script: 'echo x >> "$(command -v mimir)"',
      'another script': 'touch /run/mimir/bin/x',
      'in its place': 'mv /run/mimir/bin/mimir /run/mimir/bin/y',
      'the door': 'rm /run/mimir/door',
      'another door': 'mv /run/mimir/door /run/mimir/x',
      'what is compiled': 'touch /run/mimir/cache/mimir/x',
      key: `cat ${place.home}/tools/mimir/.env`,
      home: `cat ${place.home}/.ssh/id`,
      state: `ls ${place.state}/doors`,
      log: `cat ${place.state}/mimir.db`,
    };
    expect(await printed(place, attempts(all), { door: knocks.at('own'), program: copy })).toEqual(allFailed(all));
    const beside = await printed(place, `ls -A ${place.home} ${place.home}/tools/mimir`, {
      door: knocks.at('own'),
      program: copy,
    });
    expect(beside).toEqual([
      `${place.home}:`,
      'tools',
      '',
      `${place.home}/tools/mimir:`,
      'node_modules',
      'package.json',
      'src',
    ]);
  });

  it('I04: reaches no other door, and not the person, by no path', async () => {
    const place = openPlace(user, { 'run/a.txt': 'one\n' });
    const elsewhere = openBelowTmp(place);
    const open = openInSight(place);
    const folders = [
      path.join(place.state, 'doors'),
      path.join(elsewhere, 'doors'),
      path.join(place.home, 'doors'),
      open,
      path.join(place.project, 'run/mimir'),
    ];
    for (const folder of folders) {
      const knocks = await withDoors(place, folder);
      const all = Object.fromEntries(
        ['other', 'person'].flatMap((name) =>
          ['', '/proc/1/root', '/proc/self/root', '/proc/thread-self/root', '/run/mimir/../..'].map((before) => [
            `${name} by ${before}`,
            ask(`"${before}${knocks.at(name)}"`),
          ]),
        ),
      );
      const how = { door: knocks.at('own'), program, hide: [folder] };
      expect(await printed(place, attempts({ ...all, own: DOOR }), how)).toEqual([...allFailed(all), 'own: worked']);
      expect(knocks.heard).toEqual(['own']);
    }
  });

  it('I04: reaches no door that is opened while it runs, in a folder that was empty before', async () => {
    const place = openPlace(user);
    const folder = openInSight(place);
    const waiting = `touch on; while [ ! -e go ]; do sleep 0.02; done; ${attempts({ later: ask(`"${folder}/person"`) })}`;
    const lines = printed(place, waiting, { program, hide: [folder] });
    while (!readdirSync(place.project).includes('on')) await new Promise((resolve) => setTimeout(resolve, 10));
    const knocks = await withDoors(place, folder);
    writeFileSync(path.join(place.project, 'go'), '');
    expect(await lines).toEqual(['later: failed']);
    expect(knocks.heard).toEqual([]);
  });

  it('goes without where nobody is at the door any more', async () => {
    const place = openPlace(user);
    const lines = await printed(place, 'echo "[$MIMIR_SOCKET]"; command -v mimir || echo none', {
      door: path.join(place.state, 'gone'),
      program,
    });
    expect(lines).toEqual(['[]', 'none']);
  });

  it('has the same outside of a box, where it is no boundary', async () => {
    const place = openPlace(user);
    const knocks = await withDoors(place);
    const lines = await printed(place, `echo $MIMIR_SOCKET; mimir --version; ${DOOR}`, {
      box: 'none',
      door: knocks.at('own'),
      program,
    });
    expect(lines).toEqual([knocks.at('own'), '0.1.0', 'this is own']);
  });
});

describe.each(USERS)('a command of the user %s without a door', (user) => {
  it.each(['read-write', 'none'] as const)('has no variable, no program and no folder of it: %s', async (box) => {
    const place = openPlace(user);
    const { texts } = await runCommands(place, ['env | grep MIMIR_SOCKET; command -v mimir; ls -d /run/mimir'], {
      box,
      program,
      env: { MIMIR_SOCKET: '/run/mimir/door' },
    });
    expect(texts[0]).toMatch(/^exit code 2 after T\n--- stderr ---\nls: .*'\/run\/mimir'/);
    expect(readdirSync(place.state)).not.toContain('program');
  });
});

const openBelowTmp = (place: Place): string => openFolder(place, tmpdir());

/** Where boxes hide nothing by themselves, when that can be. */
const openInSight = (place: Place): string => openFolder(place, isRoot ? '/var' : tmpdir());

function openFolder(place: Place, below: string): string {
  const folder = realpathSync(mkdtempSync(path.join(below, 'mimir-tests-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  giveTo(place, folder);
  return folder;
}

/** Mimir's own package in another folder, its packages a link. */
function copyOf(place: Place, folder: string): typeof program {
  const from = path.dirname(path.dirname(program.entry));
  for (const name of ['src', 'package.json'])
    cpSync(path.join(from, name), path.join(folder, name), { recursive: true });
  symlinkSync(path.join(from, 'node_modules'), path.join(folder, 'node_modules'));
  giveTo(place, path.dirname(folder));
  const parts = ['src', 'node_modules', 'package.json'].map((name) => path.join(folder, name));
  return { ...program, entry: path.join(folder, 'src/main.ts'), parts };
}

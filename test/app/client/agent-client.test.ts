/** Verbs in the box of an agent: they need a door and nothing else, and start fast for it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SpawnRequest } from '../../../src/domain/agents/agent.ts';
import { Exit } from '../../../src/app/process/index.ts';
import { readArguments } from '../../../src/app/process/flags.ts';
import { sendVerb } from '../../../src/cli/commands/send.ts';
import { readSpawn } from '../../../src/app/actions/spawn.ts';
import { spawnVerb } from '../../../src/cli/commands/spawn.ts';
import { hostileText } from '../../support/arbitraries.ts';
import { ENGINEER, FAMILY, NOW, RUN } from '../../support/family-story.ts';
import { part } from '../../support/like.ts';
import type { Stage } from '../../support/session-stage.ts';
import { openStage, wrong } from '../../support/session-stage.ts';

/** Writes down what Node's loader is asked for. */
const HOOK = `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    appendFileSync(process.env.LOADED, found.url + '\\n');
    return found;
  },
});
`;

async function atDoor(): Promise<{ readonly stage: Stage; readonly door: string }> {
  const stage = openStage(NOW);
  stage.write(RUN, FAMILY);
  const run = await stage.carry(RUN);
  return { stage, door: await run.door(ENGINEER) };
}

describe('a verb at a door', () => {
  it('behind which nobody is, is exit 2 in words', async () => {
    const { stage } = await atDoor();
    const door = join(stage.home.root, 'nobody');
    const gone = wrong(`nothing listens at ${door}: the run of this agent has ended`);
    expect(await stage.ask(sendVerb, ['main', 'x'], { door })).toEqual(gone);
    expect(await stage.ask(spawnVerb, ['x'], { door })).toEqual(gone);
  });

  it('needs no home, no state and no configuration', async () => {
    const { stage, door } = await atDoor();
    const none = Object.fromEntries(Object.keys(stage.home.env).map((name) => [name, undefined]));
    const { PATH } = stage.home.env;
    const how = { cwd: '/', env: { ...none, PATH, MIMIR_SOCKET: door, LANG: 'C.UTF-8' } };
    expect(await stage.home.run(['me', '--json'], how)).toEqual(part({ code: 0, err: '' }));
    expect(await stage.home.run(['send', 'main', 'hello'], how)).toEqual({
      code: 0,
      signal: null,
      out: 'Queued for obgef6 (will inject when idle)\n',
      err: '',
    });
  });

  it.each([
    ['who'],
    ['me'],
    ['children', '--recursive'],
    ['status'],
    ['what', 'main'],
    ['events'],
    ['send', 'main', 'x'],
  ])('%s loads neither engine, log, schemas nor screen', async (...argv) => {
    const { stage, door } = await atDoor();
    const [hook, LOADED] = [join(stage.home.root, 'hook.mjs'), join(stage.home.root, 'loaded')];
    writeFileSync(hook, HOOK);
    const env = { MIMIR_SOCKET: door, LOADED, NODE_OPTIONS: `--import=${hook}` };
    expect(await stage.home.run(argv, { env })).toEqual(part({ code: 0, err: '' }));
    const loaded = readFileSync(LOADED, 'utf8');
    const heavy = [
      '/src/engine/',
      '/src/store/',
      '/src/models/',
      '/src/tools/',
      '/zod/',
      '/yaml/',
      '/blessed',
      ':sqlite',
    ];
    expect(heavy.filter((name) => loaded.includes(name))).toEqual([]);
  });
});

describe('a wish that is read by hand', () => {
  it('is taken exactly where the schema takes it', () => {
    const text = fc.oneof(hostileText, fc.string({ maxLength: 70 }), fc.constantFrom('', 'Task 1', 'x'.repeat(201)));
    fc.assert(
      fc.property(text, text, text, fc.nat({ max: 90_000 }), (prompt, name, model, wait) => {
        const argv = [`--name=${name}`, `--model=${model}`, `--wait=${wait}`, '--', prompt];
        const parts = { prompt, role: null, model, name, wait, workingDir: null };
        const taken = SpawnRequest.safeParse(parts).success && prompt.trim() !== '';
        try {
          expect(readSpawn(readArguments(argv, spawnVerb.flags, spawnVerb.words))).toEqual(parts);
          expect(taken).toBe(true);
        } catch (error) {
          if (!(error instanceof Exit)) throw error;
          expect(taken).toBe(false);
        }
      }),
    );
  });
});

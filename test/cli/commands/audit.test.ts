/** `mimir audit`: the program itself on a log of its own, whole and damaged. */
import { globSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Home, jsonLines, openHome, SMALL } from '../../support/cli.ts';

let home: Home;
let session = '';
beforeAll(async () => {
  home = openHome(SMALL);
  const { code, out } = await home.run(['run', 'Explain add', '--model', 'offline', '--yes', '--json']);
  session = String(jsonLines(out)[0]?.['session']);
  expect(code).toBe(0);
});
afterAll(() => {
  home.remove();
});

function change(sql: string): void {
  const database = new DatabaseSync(globSync(`${home.state}/projects/*/log.db`)[0] ?? '');
  database.exec(sql);
  database.close();
}

describe('mimir audit', () => {
  it('finds a log that is as it was written, in words and as JSON', async () => {
    const { code, out, err } = await home.run(['audit', 'verify']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^\d+ records of 1 session, \d+ checkpoints?: unchanged since they were written\n$/);
    const json = await home.run(['audit', 'verify', session.slice(0, 3), '--json']);
    expect(jsonLines(json.out)).toMatchObject([{ sessions: 1, faults: [] }]);
  });

  it('prints decisions with who, what and why, and no content', async () => {
    const { code, out } = await home.run(['audit', 'export', session, '--json']);
    const decisions = jsonLines(out);
    expect(code).toBe(0);
    expect(decisions[0]).toMatchObject({
      type: 'session.started',
      session,
      seq: 1,
      who: 'run',
      what: 'began in mode confirm',
    });
    expect(decisions.at(-1)).toMatchObject({ type: 'session.finished', what: 'completed' });
    expect(decisions.map(({ type }) => type)).toContain('plan.approved');
    expect(out).not.toContain('Explain add');
    const lines = (await home.run(['audit', 'export'])).out.split('\n');
    expect(lines).toHaveLength(decisions.length + 1);
  });

  it('says what it does not know', async () => {
    const unknown = await Promise.all(
      [['audit'], ['audit', 'burn'], ['audit', 'verify', 'nobody']].map((args) => home.run(args)),
    );
    expect(unknown.map(({ code, err }) => [code, err.split('\n')[0]])).toEqual([
      [2, 'mimir: audit needs a subcommand: verify or export'],
      [2, 'mimir: there is no "audit burn"'],
      [2, 'mimir: this project has no session "nobody"'],
    ]);
  });

  it('K03: names the record that was changed, and resume is refused with its number', async () => {
    change("UPDATE events SET data = replace(data, 'a', 'b') WHERE seq = 3");
    const { code, err } = await home.run(['audit', 'verify']);
    expect({ code, err }).toEqual({ code: 1, err: `session ${session}, record 3: is missing or was changed\n` });
    const resumed = await home.run(['resume', session, '--yes']);
    expect(resumed.code).toBe(2);
    expect(resumed.err).toContain(`the log of session ${session} is damaged: record 3 is missing or was changed`);
  });
});

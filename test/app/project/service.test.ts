/** What the project service keeps on disk: reports where people look for them, and the hints that were shown. */
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { placesOf } from '../../../src/config/files/read-text.ts';
import { foldAll } from '../../../src/events/fold.ts';
import { openRedactor } from '../../../src/domain/text/redact.ts';
import { openMarks } from '../../../src/app/project/service.ts';
import { saveReport, reportText } from '../../../src/app/reports/report.ts';
import { pastRun } from '../../../src/app/workspace/sessions.ts';
import { freshFolder } from '../../support/folder.ts';
import { modelRun } from '../../support/model-run.ts';
import { SESSION } from '../../support/recorded-run.ts';

const { events } = modelRun();
const state = foldAll(events);

function project(): Parameters<typeof saveReport>[0] {
  const home = freshFolder();
  const root = join(home, 'shop');
  mkdirSync(root);
  return { root, places: placesOf({ HOME: home }, home) };
}

describe('an exported report', () => {
  it.each(['md', 'json', 'html'] as const)('is the one of `mimir report --format %s`, in the project', (format) => {
    const place = project();
    const text = reportText(state, format, String);
    const kept = saveReport(place, SESSION, text, format);
    expect(kept).toEqual({ ok: true, value: { text: `wrote mimir-report-run-7f3a.${format} into the project` } });
    expect(readFileSync(join(place.root, `mimir-report-run-7f3a.${format}`), 'utf8')).toBe(text);
  });

  it.each(['md', 'json', 'html'] as const)(
    'names no key that the task or a file of the project holds: %s',
    (format) => {
      const key = [
        '-----BEGIN PRIVATE KEY-----',
        'MIIEvQIBADANBgkqhkiG9w0',
        '-----END PRIVATE KEY-----',
        'hunter2-hunter2',
      ];
      const at = { at: 1, lines: 4 };
      const hunk = {
        agents: [],
        from: { at: 0, lines: 0 },
        to: at,
        removed: [],
        added: key.map((line) => `${line}\n`),
      };
      const file = { path: 'deploy.pem', start: null, now: null, steps: [], hunks: [hunk] };
      const { clean } = openRedactor(['hunter2-hunter2']);
      const text = reportText({ ...state, task: 'use hunter2-hunter2', authored: [file] }, format, clean);
      expect(text).not.toMatch(/hunter2|MIIE/);
      expect(text).toContain('use [key]');
      if (format === 'json') expect(text).toContain('"lines":["+[private key]","+[key]"]');
    },
  );

  it('says no control character as it is, whatever a model said: a terminal may be what shows it', () => {
    const said = { ...state, task: 'a\u009b2Jb\u009d0;c\u001b[2J' };
    for (const format of ['md', 'json', 'html'] as const)
      expect(reportText(said, format, String)).not.toMatch(/(?!\n)\p{Cc}/u);
  });

  it('is never written over another, nor through a link', () => {
    const place = project();
    const elsewhere = join(place.places.home, 'elsewhere');
    symlinkSync(elsewhere, join(place.root, 'mimir-report-run-7f3a.md'));
    writeFileSync(join(place.root, 'mimir-report-run-7f3a-2.md'), 'mine');
    expect(saveReport(place, SESSION, 'the report', 'md')).toEqual({
      ok: true,
      value: { text: 'wrote mimir-report-run-7f3a-3.md into the project' },
    });
    expect(readFileSync(join(place.root, 'mimir-report-run-7f3a-2.md'), 'utf8')).toBe('mine');
  });

  it('goes to the state folder where the project can not be written', () => {
    const place = project();
    rmSync(place.root, { recursive: true });
    expect(saveReport(place, SESSION, 'the report', 'md')).toEqual({
      ok: true,
      value: {
        text: 'wrote ~/.local/state/mimir/reports/mimir-report-run-7f3a.md (in the project: there is no such file or directory)',
      },
    });
  });
});

describe('marks that a person has set', () => {
  it('are remembered by the next session, for this user alone', () => {
    const folder = join(freshFolder(), 'mimir');
    const file = join(folder, 'hints.json');
    const first = openMarks(file);
    expect(first.all()).toEqual(new Set());
    first.mark('zoom');
    openMarks(file).mark('mode');
    first.mark('palette');
    expect(openMarks(file).all()).toEqual(new Set(['mode', 'palette', 'zoom']));
    first.mark('mode', false);
    expect(openMarks(file).all()).toEqual(new Set(['palette', 'zoom']));
    expect(statSync(join(folder, 'hints.json')).mode & 0o777).toBe(0o600);
  });

  it.each(['{', '{"a": 1}', 'null', ''])('are none where the file holds %s', (text) => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'hints.json'), text);
    expect(openMarks(join(folder, 'hints.json')).all()).toEqual(new Set());
  });

  it('are kept for this session where nothing can be written', () => {
    const file = join(freshFolder(), 'file');
    writeFileSync(file, '');
    const hints = openMarks(join(file, 'mimir/hints.json'));
    hints.mark('zoom');
    expect(hints.all()).toEqual(new Set(['zoom']));
  });
});

describe('a session that is over', () => {
  it('tells all that happened and takes no command', async () => {
    const controls = pastRun(SESSION, events, () => null);
    const told = [];
    for await (const event of controls.events(1)) told.push(event);
    expect(told.slice(0, events.length - 1)).toEqual(events.slice(1));
    // Its process was killed before it could say so: the end that is shown stands in no log.
    expect(told.at(-1)).toMatchObject({ type: 'session.finished', status: 'stopped', summary: 'its process ended' });
    expect(await controls.submit({ do: 'reject plan' })).toEqual({
      ok: false,
      fault: { text: 'this session is over: n starts another task' },
    });
  });
});

/** A resumed agent still knows the files that it had read: real tools on a real folder, a process that ended in between. */
import { toolsFor } from '../../src/domain/agents/tool-facts.ts';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import type { ToolPort } from '../../src/ports/tool.ts';
import { openTools } from '../../src/tools/index.ts';
import { digestOf } from '../../src/tools/files/replace-file.ts';
import { cutLog } from '../support/log.ts';
import { freshFolder, makeFolder, writeFiles } from '../support/repos.ts';
import { planOf, type Setting, testRun } from '../support/run.ts';

const SESSION = SessionId.parse('test-session');
const CODE = 'const a = 1;\n';
const EDIT = { tool: 'edit_file', input: { path: 'a.ts', old_text: 'a = 1', new_text: 'a = 2' } };

/** The tools of one process: another process knows nothing of what they have seen. */
function toolsOn(root: string): ToolPort {
  const opened = openTools({ root, home: '/nowhere/home', stateDir: freshFolder() });
  if (!opened.ok) throw new Error(opened.fault);
  return opened.value;
}

/** One agent reads a file, then edits it. It never reads again. */
const story = (port: ToolPort): Setting => ({
  port,
  toolsOf: toolsFor,
  mode: 'yolo',
  plan: planOf(['o1']),
  script: ({ agent, purpose, turns }) => {
    if (agent !== 'ROOT::S1' || purpose.is !== 'work') return undefined;
    const answered = turns.filter(({ by }) => by === 'tools').length;
    const calls = [{ tool: 'read_file', input: { path: 'a.ts' } }, EDIT].slice(answered, answered + 1);
    return { text: answered === 2 ? 'done' : '', calls };
  },
});

const edited = (events: readonly MimirEvent[]): readonly unknown[] =>
  events.flatMap((event) =>
    event.type === 'tool.finished' && event.tool === 'edit_file' ? [[event.ok, event.output.split('\n')[0]]] : [],
  );

/** The events of a run that was killed right after the agent had read the file. */
async function untilItRead(folder: string): Promise<readonly MimirEvent[]> {
  const run = testRun(story(toolsOn(folder)));
  await run.result;
  const events = run.events();
  const read = events.findIndex((event) => event.type === 'tool.finished' && event.tool === 'read_file');
  writeFiles(folder, { 'a.ts': CODE });
  return events.slice(0, read + 1);
}

describe('an agent that had read a file before its run was killed', () => {
  it('may edit the file after the resume without reading it again', async () => {
    const folder = makeFolder({ 'a.ts': CODE });
    const before = await untilItRead(folder);
    const run = testRun({ ...story(toolsOn(folder)), log: cutLog(SESSION, before) });
    await run.result;
    const after = CODE.replace('1', '2');
    expect(edited(run.events())).toEqual([[true, `a.ts: +1 -1 lines, digest now ${digestOf(after)}`]]);
    expect(readFileSync(path.join(folder, 'a.ts'), 'utf8')).toBe(after);
  });

  it('is refused where the file was changed in between', async () => {
    const folder = makeFolder({ 'a.ts': CODE });
    const before = await untilItRead(folder);
    const changed = `${CODE}// more\n`;
    writeFiles(folder, { 'a.ts': changed });
    const run = testRun({ ...story(toolsOn(folder)), log: cutLog(SESSION, before) });
    await run.result;
    const words = `a.ts: has changed since it was read (expected digest ${digestOf(CODE)}, now ${digestOf(changed)}); read it again`;
    expect(edited(run.events())).toEqual([[false, words]]);
    expect(readFileSync(path.join(folder, 'a.ts'), 'utf8')).toBe(changed);
  });

  it('knows nothing in a new run of the same tools, whose agents have the same ids', async () => {
    const folder = makeFolder({ 'a.ts': CODE });
    const port = toolsOn(folder);
    await testRun(story(port)).result;
    writeFiles(folder, { 'a.ts': CODE.replace('1', '2') });
    const run = testRun({
      ...story(port),
      script: ({ agent, turns }) =>
        agent === 'ROOT::S1' && turns.length === 1
          ? { text: '', calls: [{ ...EDIT, input: { ...EDIT.input, old_text: 'a = 2', new_text: 'a = 3' } }] }
          : undefined,
    });
    await run.result;
    expect(edited(run.events())).toEqual([[false, 'a.ts: read it before you edit it']]);
  });
});

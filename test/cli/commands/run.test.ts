import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Home, Ran } from '../../support/cli.ts';
import { jsonLines, openHome, SMALL } from '../../support/cli.ts';
import { part } from '../../support/like.ts';

const TASK = 'Find where add is defined and give an overview of this repository';

let home: Home;
/** One run, looked at from all sides. */
let run: Ran;
let session = '';

beforeAll(async () => {
  home = openHome(SMALL);
  run = await home.run(['run', TASK, '--yes', '--json']);
  session = String(jsonLines(run.out)[0]?.['session']);
});
afterAll(() => {
  home.remove();
});

const typesOf = (text: string): readonly unknown[] => jsonLines(text).map(({ type }) => type);

/** What each type carries. */
const CARRIES: Readonly<Record<string, readonly string[]>> = {
  'session.started': ['task', 'cwd', 'mode', 'policyHash', 'version'],
  'plan.proposed': ['plan', 'digest'],
  'plan.approved': ['digest'],
  'agent.created': ['agent', 'parent', 'role', 'name', 'task', 'tools', 'budget', 'dependsOn', 'model'],
  'agent.status': ['agent', 'status', 'reason'],
  'agent.todos': ['agent', 'todos'],
  'agent.message': ['agent', 'text'],
  'model.started': ['agent', 'call', 'model', 'reserved'],
  'model.finished': ['agent', 'call', 'model', 'usage', 'cost', 'stopReason', 'ms'],
  'tool.started': ['agent', 'call', 'tool', 'input'],
  'tool.finished': ['agent', 'call', 'tool', 'ok', 'output', 'ms'],
  'message.sent': ['from', 'to', 'kind', 'delivery', 'content'],
  'agent.finished': ['agent', 'status', 'outcome', 'summary', 'metrics'],
  'session.finished': ['status', 'summary', 'totals'],
};

describe('mimir run --yes --json', () => {
  it('ends with 0 and says nothing on stderr', () => {
    expect(run).toMatchObject({ code: 0, signal: null, err: '' });
  });

  it('prints one event a line, from session.started to session.finished, and nothing else', () => {
    const types = typesOf(run.out);
    expect([types[0], types.at(-1)]).toEqual(['session.started', 'session.finished']);
    expect(types.filter((type) => type === 'session.finished')).toHaveLength(1);
    expect(run.out.endsWith('\n')).toBe(true);
  });

  it('numbers the events without gaps and stamps each with version, time and session', () => {
    const events = jsonLines(run.out);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(new Set(events.map(({ v }) => v))).toEqual(new Set([1]));
    expect(new Set(events.map((event) => event['session']))).toEqual(new Set([session]));
    expect(events.filter(({ time }) => !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(time)))).toEqual([]);
  });

  it('approves the plan once, by the flag, with the digest of what was proposed (O049)', () => {
    const events = jsonLines(run.out);
    const approved = events.filter(({ type }) => type === 'plan.approved');
    const proposed = events.find(({ type }) => type === 'plan.proposed');
    expect(approved).toEqual([part({ by: '--yes', digest: proposed?.['digest'] })]);
  });

  it('gives every event the fields that INTERFACE names', () => {
    const lacking = jsonLines(run.out).flatMap((event) =>
      (CARRIES[String(event['type'])] ?? [])
        .filter((field) => !(field in event))
        .map((field) => `${String(event['type'])} ${field}`),
    );
    expect([...new Set(lacking)]).toEqual([]);
  });

  it('starts every agent that it ends, and every call likewise', () => {
    const events = jsonLines(run.out);
    const of = (type: string, field: string): ReadonlySet<unknown> =>
      new Set(events.filter((event) => event['type'] === type).map((event) => event[field]));
    expect(of('agent.finished', 'agent')).toEqual(of('agent.created', 'agent'));
    expect(of('tool.finished', 'call')).toEqual(of('tool.started', 'call'));
    expect(of('model.finished', 'call')).toEqual(of('model.started', 'call'));
  });
});

describe('the log of a run', () => {
  it('is by mimir events --json what mimir run --json printed, byte for byte', async () => {
    expect(await home.run(['events', session, '--json'])).toEqual({ ...run, out: run.out });
  });

  it('is a line an event for a person', async () => {
    const { code, out } = await home.run(['events', session]);
    const lines = out.trimEnd().split('\n');
    expect(code).toBe(0);
    expect(lines).toHaveLength(jsonLines(run.out).length);
    expect(lines[0]).toMatch(/^ {4}1 {2}\d{4}-.*Z {2}session\.started +session started in /);
  });

  it('is found by the start of its id', async () => {
    expect(await home.run(['events', session.slice(0, 4), '--json'])).toEqual({ ...run, out: run.out });
  });

  it('is followed to its end when it has ended already', async () => {
    expect(await home.run(['events', session, '--json', '--follow'])).toEqual({ ...run, out: run.out });
  });

  it('is in the list of sessions, for a person and as JSON', async () => {
    const [lines, json] = await Promise.all([home.run(['sessions']), home.run(['sessions', '--json'])]);
    expect(lines.out).toMatch(
      new RegExp(`^${session}  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d  finished  Find where add`, 'm'),
    );
    const all: unknown = JSON.parse(json.out);
    expect(all).toEqual(
      expect.arrayContaining([part({ session, task: TASK, state: 'finished', events: jsonLines(run.out).length })]),
    );
  });

  it('is shown with task, plan, agents and what was spent', async () => {
    const { code, out } = await home.run(['show', session]);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^Session ${session} {2}completed\\nWhere: .*\\n- Task: ${TASK}$`, 'm'));
    expect(out).toContain('Multi-Agent Execution Plan');
    expect(out).toMatch(/^✓ main \(ROOT\) {2}offline\/analyst .* completed$/m);
    expect(out).toMatch(
      /^✓ finder \(ROOT::S1\) {2}offline\/analyst .* completed\n {4}.*\n {4}haiku-4\.5 -> offline\/analyst: /m,
    );
    expect(out).toMatch(/^- Spent: [\d.]+k? tokens, \$0\.00/m);
  });

  it('is shown as JSON with the state that the events fold to', async () => {
    const { out } = await home.run(['show', session, '--json']);
    expect(JSON.parse(out)).toMatchObject({
      session,
      task: TASK,
      state: 'finished',
      finished: { status: 'completed' },
    });
  });

  it('becomes a report in Markdown, which begins and ends with its provenance, then the facts of the run', async () => {
    const { code, out } = await home.run(['report', session]);
    expect(code).toBe(0);
    expect(out).toContain(`- Task: ${TASK}\n- Session: ${session}, completed\n`);
    expect(out).toContain(
      '| agent | outcome | model | time | tools | input | output | cache read | cache write | cost |',
    );
    expect(out).toMatch(/src\/add\.js:1/);
    expect(out).toMatch(/^_No language model was used: /);
  });

  it('becomes a report as JSON with the same words', async () => {
    const [json, md] = await Promise.all([
      home.run(['report', session, '--format', 'json']),
      home.run(['report', session]),
    ]);
    const [report] = jsonLines(json.out);
    expect(report).toMatchObject({ session, task: TASK, status: 'completed', totals: { cost: 0 } });
    expect(md.out.startsWith(String(report?.['report']))).toBe(true);
  });

  it('becomes a page whose tags are all closed and which loads nothing', async () => {
    const { out } = await home.run(['report', session, '--format', 'html']);
    expect(out.startsWith('<!doctype html>\n<html lang="en">')).toBe(true);
    expect(unclosed(out)).toEqual([]);
    expect(out).not.toMatch(/<script|<link|<img|src=|href=|url\(/);
  });
});

/** Tags that were opened and not closed, or the other way round. */
function unclosed(html: string): readonly string[] {
  const open: string[] = [];
  const wrong: string[] = [];
  for (const [, end, name = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
    if (['meta', 'br', 'hr'].includes(name)) continue;
    if (end !== '/') open.push(name);
    else if (open.pop() !== name) wrong.push(name);
  }
  return [...wrong, ...open];
}

describe('mimir run without a terminal and without --yes', () => {
  it('prints the plan in the words of CONTRACT, says how to approve it, and ends with 4 (O049, O050, O099 to O101)', async () => {
    const { code, out, err } = await home.run(['run', TASK]);
    expect(code).toBe(4);
    const text = out.slice(out.indexOf('Multi-Agent'));
    expect(text).toMatch(/^Multi-Agent Execution Plan\n\d agents, planned by offline\. /);
    expect(text).toMatch(/^1\. finder {2}haiku-4\.5 -> offline\/analyst \(no provider\)\n {3}Find /m);
    expect(text).toMatch(/^ {3}Estimate: [\d.]+k tokens, \$0\.00$/m);
    expect(text).toMatch(/^ {3}Depends on: Task #1 finder/m);
    expect(text).toMatch(/^Total: [\d.]+k tokens, \$0\.00, about \d+s with 4 at once$/m);
    expect(err).toBe('mimir: no terminal to ask for approval\n  --yes approves the plan in advance\n');
  });

  it('does the same with --json, and stdout has events only', async () => {
    const { code, out } = await home.run(['run', TASK, '--json']);
    expect(code).toBe(4);
    expect(typesOf(out).slice(-2)).toEqual(['agent.finished', 'session.finished']);
    expect(typesOf(out)).toContain('plan.rejected');
    expect(typesOf(out)).not.toContain('plan.approved');
  });

  it('runs with --yes in lines, each agent with a line at its end (T015)', async () => {
    const { code, out, err } = await home.run(['run', TASK, '--yes']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^\[finder\] done \(\d+ tools, \d+\.\ds\): \S/m);
    expect(out).toMatch(/^Plan approved \(--yes\)\.$/m);
    expect(out).toMatch(/^completed: \d agents · .* · \$0\.00$/m);
    expect(out).not.toContain('\u001b');
  });

  it('colours lines only when it is asked to', async () => {
    const { out } = await home.run(['show', session, '--cwd', home.project]);
    expect(out).not.toContain('\u001b');
    const coloured = await home.run(['run', TASK, '--color=16']);
    expect(coloured.out).toContain('\u001b[1mMulti-Agent Execution Plan\u001b[22m');
  });
});

describe('a project', () => {
  it('is not changed by looking at it', () => {
    expect(readFileSync(join(home.project, 'src/add.js'), 'utf8')).toBe(SMALL['src/add.js']);
  });
});

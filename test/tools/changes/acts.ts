/** Agents and a person who change one project by the real tools, and what the log keeps of it. */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { AuthoredFile } from '../../../src/domain/changes/authorship.ts';
import type { AgentId } from '../../../src/domain/ids.ts';
import { actsIn, type EventBody, type MimirEvent, type RecordedActs } from '../../../src/events/index.ts';
import type { ChangesPort } from '../../../src/ports/changes.ts';
import { openChanges } from '../../../src/tools/index.ts';
import { openTools } from '../../../src/tools/tools.ts';
import { CallId, SessionId } from '../../../src/domain/ids.ts';
import { defined } from '../../../src/domain/result.ts';
import { freshFolder } from '../../support/repos.ts';
import { agent, contextFor, rootOf } from '../workbench.ts';

export const ALICE = agent('ROOT::S1');
export const BOB = agent('ROOT::S2');
export const CAROL = agent('ROOT::S3');

export interface Worked {
  readonly changes: ChangesPort;
  /** An act of an agent, recorded as the gate does. */
  act(who: AgentId, tool: string, input: object): Promise<void>;
  readonly events: readonly MimirEvent[];
  recorded(): RecordedActs;
  authored(): Promise<readonly AuthoredFile[]>;
}

/** The tools of a project, and a log of what they change. */
export function working(folder: string, stateDir = freshFolder()): Worked {
  const port = openTools({ root: folder, home: '/nowhere/home', stateDir });
  if (!port.ok) throw new Error(port.fault);
  const changes = openChanges({ root: rootOf(folder), stateDir });
  const events: MimirEvent[] = [];
  const put = (body: EventBody): void =>
    void events.push({ v: 1, seq: events.length + 1, time: '', session: SessionId.parse('run-1'), ...body });
  const recorded = (): RecordedActs => actsIn(events);
  return {
    changes,
    events,
    async act(who, tool, input) {
      const one = port.value.tools.find(({ name }) => name === tool);
      if (one === undefined) throw new Error(`no tool ${tool}`);
      const call = CallId.parse(randomBytes(4).toString('hex'));
      put({ type: 'tool.started', agent: who, call, tool, label: '', input: {}, repeat: 'never' });
      const { ok, changed } = await one.run(one.input.parse(input), contextFor({ agent: who }));
      put({ type: 'tool.finished', agent: who, call, tool, ok, output: '', ms: 0, ...defined({ changed }) });
    },
    recorded,
    async authored() {
      const found = await changes.authored(recorded(), new AbortController().signal);
      if (!found.ok) throw new Error(found.fault);
      return found.value;
    },
  };
}

/** An edit by the file tool of whatever the file contains now. */
export async function write(worked: Worked, who: AgentId, file: string, content: string): Promise<void> {
  await worked.act(who, 'read_file', { path: file });
  await worked.act(who, 'write_file', { path: file, content });
}

export function byPerson(folder: string, file: string, content: string | Uint8Array, mode?: number): void {
  const place = path.join(folder, file);
  if (!existsSync(path.dirname(place))) mkdirSync(path.dirname(place), { recursive: true });
  writeFileSync(place, content);
  if (mode !== undefined) chmodSync(place, mode);
}

/** Each hunk as `alice a.txt -one +two`, several authors with `|`. */
export const told = (files: readonly AuthoredFile[]): readonly string[] =>
  files.flatMap(({ path: file, hunks, whole, mode }) => [
    ...hunks.map(({ agents, removed, added }) =>
      [
        names(agents),
        file,
        ...removed.map((line) => `-${line.trimEnd()}`),
        ...added.map((line) => `+${line.trimEnd()}`),
      ].join(' '),
    ),
    ...(whole === undefined ? [] : [`${names(whole)} ${file} whole`]),
    ...(mode === undefined ? [] : [`${names(mode)} ${file} mode`]),
  ]);

const NAMES = new Map([
  [ALICE, 'alice'],
  [BOB, 'bob'],
  [CAROL, 'carol'],
]);
const names = (agents: readonly AgentId[]): string =>
  agents.length === 0 ? 'person' : agents.map((id) => NAMES.get(id) ?? id).join('|');

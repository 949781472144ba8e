/** The agents on the start screen: what the list says, what a typed line means, and what the form makes. */
import { describe, expect, it } from 'vitest';
import type { AgentInfo, ProjectInfo } from '../../../../../src/ports/project-service.ts';
import { EMPTY } from '../../../../../src/events/state.ts';
import type { Context, Dialog, DialogEffect } from '../../../../../src/ui/tui/frame/screen.ts';
import { agentsDialog, typedAgentsCommand } from '../../../../../src/ui/tui/dialogs/agents.ts';
import { overlayFor } from '../../../../../src/ui/tui/dialogs/open.ts';
import type { Overlay } from '../../../../../src/ui/tui/frame/overlay.ts';
import { UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import { lineWidth, plain } from '../../../../../src/app/views/text/line.ts';
import { PROJECT_SERVICE } from '../../../../support/fake-run.ts';

const agent = (name: string, source: string, whyKept: string | null): AgentInfo => ({
  name,
  description: `Is a ${name}.`,
  tools: ['read_file'],
  capabilities: ['read'],
  models: ['haiku-4.5'],
  prompt: `Be a ${name}.`,
  source,
  whyKept,
});
const AGENTS = {
  all: [
    agent('critic', '.mimir/agents/critic.json', null),
    agent('mine', '~/.config/mimir/agents/mine.json', null),
    agent('finder', 'built-in', 'it is built in'),
  ],
  leftOut: ['left out: .claude/agents/deploy.md:3:1: unknown tool "Fly" is left out'],
};
const projectService: ProjectInfo = { ...PROJECT_SERVICE, agents: AGENTS };
const context: Context = { state: EMPTY, projectService, now: 0, glyphs: UNICODE, live: new Map() };

/** What keys in a dialog lead to at last. */
function after(dialog: Dialog | undefined, ...keys: readonly string[]): DialogEffect | undefined {
  if (dialog === undefined) throw new Error('no dialog');
  let overlay: Overlay | null = overlayFor(dialog, context);
  let effect: DialogEffect | undefined;
  for (const key of keys) {
    const pressed: ReturnType<Overlay['press']> | undefined = overlay?.press({ is: 'key', key }, context, {
      width: 80,
      height: 24,
    });
    overlay = pressed?.overlay ?? null;
    effect = pressed?.effect;
  }
  return effect;
}

const rows = (dialog: Dialog | undefined, width = 80, height = 24): readonly string[] =>
  dialog === undefined ? [] : overlayFor(dialog, context).view(context, { width, height }).lines.map(plain);

const typed = (line: string): DialogEffect | null => typedAgentsCommand(line, projectService);

describe('the list of agents', () => {
  it('T026: has custom agents first, with whose they are, what they may and what they are for', () => {
    const [, , first, second, third, fourth, fifth] = rows(agentsDialog(projectService), 100).map((row) =>
      row.replaceAll(/[│▌]/g, '').trim().replaceAll(/ {2,}/g, ' | '),
    );
    expect([first, second, third, fourth, fifth]).toEqual([
      'new agent | from a description or a form',
      'critic | project; read; Is a critic.',
      'mine | yours; read; Is a mine.',
      'finder | read; Is a finder.',
      'deploy | .claude/agents/deploy.md:3:1: unknown tool "Fly" is left o…',
    ]);
  });

  it('says of a file that describes none why it can not be chosen', () => {
    expect(after(agentsDialog(projectService), 'down', 'down', 'down', 'enter')?.toast?.text).toBe(
      'deploy: .claude/agents/deploy.md:3:1: unknown tool "Fly" is left out',
    );
  });

  it('offers to delete what is a file of one’s own, and only that', () => {
    const chosen = after(agentsDialog(projectService), 'enter')?.dialog;
    expect(rows(chosen).join('\n')).toContain('delete');
    expect(after(agentsDialog(projectService), 'down', 'down', 'enter')?.dialog?.is).toBe('read');
    const asked = after(chosen, 'down', 'enter')?.dialog;
    expect(asked).toMatchObject({ is: 'confirm', title: 'Delete critic?' });
    expect(after(asked, 'enter')).toBe(undefined);
    expect(after(asked, 'y')).toEqual({ app: { deleteAgent: 'critic' } });
  });

  it.each([
    [80, 24],
    [120, 40],
    [30, 8],
  ])('fits into %d x %d', (width, height) => {
    for (const dialog of [
      agentsDialog(projectService),
      typed('/agents help')?.dialog,
      typed('/agents create x')?.dialog,
    ]) {
      if (dialog === undefined) throw new Error('no dialog');
      const { lines } = overlayFor(dialog, context).view(context, { width, height });
      expect(lines.length).toBeLessThanOrEqual(height);
      expect(lines.filter((line) => lineWidth(line) > width)).toEqual([]);
    }
  });
});

describe('a line typed into the field', () => {
  it.each([
    ['/agents', 'Agents'],
    ['/agents list', 'Agents'],
    ['/agents help', 'Agents'],
    ['/agents create', 'New agent'],
    ['/agents create finds dead code', 'New agent'],
    ['/agents show finder', 'finder'],
    ['/agents delete critic', 'Delete critic?'],
  ])('T026, T027, T028, T029, T030: %s opens %s', (line, title) => {
    const dialog = typed(line)?.dialog;
    expect(dialog !== undefined && 'title' in dialog && dialog.title).toBe(title);
  });

  it.each([
    ['/agents delete finder', 'finder: it is built in'],
    ['/agents delete nobody', 'There is no agent nobody.'],
    ['/agents show', '/agents show NAME'],
    ['/agents burn', '/agents burn: list, show, create, delete or help'],
  ])('%s says: %s', (line, words) => {
    expect(typed(line)?.toast?.text).toBe(words);
  });

  it.each(['agents', '/agentsmith', 'list /agents', ''])('"%s" is a task', (line) => {
    expect(typed(line)).toBe(null);
  });
});

describe('the form of an agent', () => {
  it('T029: has the sentence as its description where no model drafts, says why, and makes nothing before it is saved', () => {
    const dialog = typed('/agents create finds dead code')?.dialog;
    const shown = rows(dialog).join('\n');
    for (const words of ['No model wrote a draft: offline', 'finds dead code', 'reads files of the project'])
      expect(shown).toContain(words);
    expect(after(dialog, 'p', 'ctrl-s')?.app).toBe(undefined);
    expect(after(dialog, 'p', 'tab', 'tab', 'tab', 'x', 'ctrl-s')?.app).toEqual({
      createAgent: {
        name: 'p',
        description: 'finds dead code',
        tools: ['read_file', 'search'],
        prompt: 'x',
        for: 'project',
      },
    });
    expect(after(dialog, 'esc')).toBe(undefined);
  });

  it('T028: asks for what is missing', () => {
    const empty = typed('/agents create')?.dialog;
    const told = (...keys: readonly string[]): string => {
      let overlay: Overlay | null = empty === undefined ? null : overlayFor(empty, context);
      for (const key of keys)
        overlay = overlay?.press({ is: 'key', key }, context, { width: 80, height: 24 }).overlay ?? null;
      return (overlay?.view(context, { width: 80, height: 24 }).lines ?? []).map(plain).join('\n');
    };
    expect(told('ctrl-s')).toContain('! Name: start with a letter');
    expect(told('f', 'i', 'n', 'd', 'e', 'r', 'ctrl-s')).toContain('! Name: the agent finder already');
    expect(told('x', 'ctrl-s')).toContain('! Description: say in a sentence');
    expect(told('x', 'tab', 'd', 'ctrl-s')).toContain('! Prompt: enter its instructions');
  });
});

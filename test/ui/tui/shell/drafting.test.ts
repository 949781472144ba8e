/** An agent that a model drafts, on the screen: who is asked is shown while all else goes on, Esc stops it, the form says who drafted it. */
import { describe, expect, it } from 'vitest';
import type { AgentFiles, AgentProposal, ProjectInfo } from '../../../../src/ports/project-service.ts';
import { runApp } from '../../../../src/ui/tui/shell/app.ts';
import { UNICODE } from '../../../../src/ui/tui/text/glyphs.ts';
import { fakeRun, PROJECT_SERVICE, settled } from '../../../support/fake-run.ts';
import { type FakeTerminal, fakeTerminal } from '../../../support/fake-terminal.ts';
import { type FakeWorld, fakeWorld } from '../../../support/world.ts';

const INFO: ProjectInfo = { ...PROJECT_SERVICE, provider: 'anthropic', agents: { all: [], leftOut: [] } };
const SAID = 'Drafted by sonnet-4.5: 904 tokens, $0.0042, session 6d74wy.';
const proposal = (said = SAID): AgentProposal => ({
  draft: {
    name: 'test-fixer',
    description: 'Fixes failing tests.',
    tools: ['read_file', 'search', 'bash', 'edit_file'],
    prompt: 'You fix failing tests.',
    because: ['bash, edit_file: chosen by sonnet-4.5', 'git: left out because the sentence says "no git"'],
  },
  drafted: true,
  said,
});

type How = Parameters<AgentFiles['draft']>[1];

interface Opened {
  readonly terminal: FakeTerminal;
  readonly world: FakeWorld;
  /** What was asked for, with the sentence. */
  readonly asked: { readonly sentence: string; readonly how: How }[];
  readonly answer: (made: AgentProposal) => Promise<void>;
}

async function open(width = 100, height = 30, info = INFO): Promise<Opened> {
  const terminal = fakeTerminal(width, height);
  const world = fakeWorld({ start: 0 });
  const asked: Opened['asked'] = [];
  const made = Promise.withResolvers<AgentProposal>();
  const notAsked = (): never => {
    throw new Error('nothing is created or deleted here');
  };
  const draft: AgentFiles['draft'] = (sentence, how) => {
    asked.push({ sentence, how });
    return made.promise;
  };
  void runApp({
    terminal,
    projectService: { ...fakeRun(info).projectService, agents: { draft, create: notAsked, delete: notAsked } },
    world,
    glyphs: UNICODE,
    schedule: (parts) => paints(() => parts.paint()),
  });
  await settled();
  return {
    terminal,
    world,
    asked,
    answer: async (one) => {
      made.resolve(one);
      await settled();
    },
  };
}

const paints = (paint: () => void) => ({ now: paint, soon: paint, clock: () => undefined, stop: () => undefined });

function create(terminal: FakeTerminal, typed = '/agents create fixes failing tests'): void {
  terminal.type(typed);
  terminal.press('enter');
}

describe('an agent that a model drafts, on the screen', () => {
  it('T029: says who is asked and since when, then opens the form with who chose what', async () => {
    const { terminal, world, asked, answer } = await open();
    create(terminal);
    expect(terminal.text()).toContain('Choosing a model … 0s');
    expect(asked.map(({ sentence, how }) => [sentence, how.model])).toEqual([['fixes failing tests', true]]);
    asked[0]?.how.asking('Asking sonnet-4.5 (anthropic) for a draft');
    await world.advance(3000);
    terminal.press('x');
    expect(terminal.text()).toContain('Asking sonnet-4.5 (anthropic) for a draft … 3s');
    await answer(proposal());
    for (const words of [
      SAID,
      'test-fixer',
      'bash  chosen by sonnet-4.5',
      'git  left out because the sentence says "no git"',
    ])
      expect(terminal.text()).toContain(words);
    expect(terminal.text()).not.toContain('Asking');
    terminal.press('esc');
    expect(terminal.text()).not.toContain('New agent');
  });

  it('is stopped by Esc; Esc again leaves it, and it is only said what it cost', async () => {
    const { terminal, asked, answer } = await open();
    create(terminal);
    expect(asked[0]?.how.signal.aborted).toBe(false);
    terminal.press('esc');
    expect(asked[0]?.how.signal.aborted).toBe(true);
    expect(terminal.text()).toContain('Stopping …');
    terminal.press('esc');
    expect(terminal.text()).not.toContain('New agent');
    await answer(proposal('No model wrote a draft: the model was stopped.'));
    expect(terminal.text()).toContain('No model wrote a draft: the model was stopped.');
    expect(terminal.text()).not.toContain('New agent');
  });

  it('is stopped by Ctrl-C as well, which closes the box', async () => {
    const { terminal, asked, answer } = await open();
    create(terminal);
    terminal.press('ctrl-c');
    expect(asked[0]?.how.signal.aborted).toBe(true);
    expect(terminal.text()).not.toContain('New agent');
    await answer(proposal());
    expect(terminal.text()).not.toContain('test-fixer');
  });

  it('asks nobody for /agents create --no-model, without a provider, or for an empty form', async () => {
    const here = await open();
    create(here.terminal, '/agents create --no-model fixes failing tests');
    expect(here.terminal.text()).toContain('fixes failing tests');
    expect(here.terminal.text()).toContain('letters, digits, "-": code-review');
    const offline = await open(100, 30, { ...INFO, provider: 'offline (no provider)' });
    create(offline.terminal);
    expect(offline.terminal.text()).toContain('No model wrote a draft: offline (no provider).');
    const empty = await open();
    create(empty.terminal, '/agents create');
    expect(empty.terminal.text()).toContain('Describe the agent, and a model drafts it');
    empty.terminal.press('enter');
    expect(empty.terminal.text()).toContain('letters, digits, "-": code-review');
    expect([...here.asked, ...offline.asked, ...empty.asked]).toEqual([]);
  });

  it.each([
    [80, 24],
    [40, 12],
    [40, 8],
  ])('fits into %d x %d, with the key that stops it', async (width, height) => {
    const { terminal, answer } = await open(width, height);
    create(terminal);
    expect(terminal.rows().length).toBe(height);
    expect(terminal.text()).toContain('Esc');
    await answer(proposal());
    expect(terminal.text()).toContain('test-fixer');
    expect(terminal.text().includes(SAID)).toBe(height >= 24);
  });
});

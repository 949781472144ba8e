/** The screen and the process that carries its run: here, elsewhere, given away, lost. */
import { RUN_STOPPED } from '../../../../../src/engine/agents/agent-end.ts';
import { describe, expect, it } from 'vitest';
import { AgentId, ROOT } from '../../../../../src/domain/ids.ts';
import type { Result } from '../../../../../src/domain/result.ts';
import { fail, ok } from '../../../../../src/domain/result.ts';
import { ControlFault } from '../../../../../src/ports/control.ts';
import type { Controls, Receipt, Refusal } from '../../../../../src/ports/controls.ts';
import type { AppEnd } from '../../../../../src/ui/tui/shell/app.ts';
import { runApp } from '../../../../../src/ui/tui/shell/app.ts';
import { UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import type { FakeRun } from '../../../../support/fake-run.ts';
import { fakeRun, settled } from '../../../../support/fake-run.ts';
import { fakeTerminal } from '../../../../support/fake-terminal.ts';
import { midRun, SESSION, START } from '../../../../support/recorded-run.ts';
import { fakeWorld } from '../../../../support/world.ts';

interface Scene {
  readonly run: FakeRun;
  readonly end: Promise<AppEnd>;
  readonly asked: string[];
  readonly press: (...keys: readonly string[]) => Promise<void>;
  readonly screen: () => string;
  /** The process of the run is gone. */
  readonly lose: (why: string) => Promise<void>;
  /** It was handed over by another screen, and was over in its new process before anybody could reach it. */
  readonly move: () => Promise<void>;
  /** The run has stopped, or goes on here, for whoever handed it over. */
  readonly handed: (how: Result<Receipt, Refusal>) => Promise<void>;
}

/** A run at work. `elsewhere`: another process carries it. */
async function scene(
  where: 'here' | 'elsewhere',
  agent: AgentId | null = null,
  log = midRun().events,
  elsewhere: Promise<Result<Receipt, Refusal>> = Promise.resolve(ok({ text: 'it goes on' })),
): Promise<Scene> {
  const run = fakeRun();
  const world = fakeWorld({ start: START + 192_000 });
  const terminal = fakeTerminal(120, 40);
  const lost = Promise.withResolvers<string>();
  const handed = Promise.withResolvers<Result<Receipt, Refusal>>();
  const asked: string[] = [];
  let [gone, moved] = [false, false];
  const wrapped = (controls: Controls): Controls => ({
    ...controls,
    ...(where === 'elsewhere' ? { lost: lost.promise } : {}),
    submit(command) {
      if (gone) return Promise.reject(new ControlFault('nobody is there'));
      if (command.do !== 'hand over') return controls.submit(command);
      asked.push(command.how);
      return command.how === 'when quiet' ? handed.promise : Promise.resolve(ok({ text: '' }));
    },
  });
  const begun = async (what: string): ReturnType<typeof run.projectService.start> => {
    asked.push(what);
    const made = await run.projectService.start(what);
    return made.ok ? ok(['resume', 'look'].includes(what) ? made.value : wrapped(made.value)) : made;
  };
  const end = runApp({
    terminal,
    world,
    glyphs: UNICODE,
    projectService: {
      ...run.projectService,
      start: () => begun('start'),
      attach: () => (moved ? Promise.resolve(fail({ text: 'nobody carries it' })) : begun('attach')),
      look: () => begun('look'),
      resume: () => begun('resume'),
      detach: () => {
        asked.push('detach');
        return elsewhere;
      },
    },
    ...(where === 'here' ? { firstTask: 'Fix it' } : { attach: { session: SESSION, agent } }),
    schedule: (parts) => ({
      now: () => parts.paint(),
      soon: () => parts.paint(),
      clock: () => undefined,
      stop: () => undefined,
    }),
  });
  await settled();
  await run.play(log);
  return {
    run,
    end,
    asked,
    async press(...keys) {
      for (const key of keys) terminal.press(key);
      await settled();
    },
    screen: () => terminal.text(),
    async lose(why) {
      gone = true;
      lost.resolve(why);
      await settled();
      // Its last words may be under way.
      await world.advance(200);
      await settled();
    },
    async move() {
      moved = true;
      const events = midRun().events;
      const seq = (events.at(-1)?.seq ?? 0) + 1;
      const time = new Date(START + 192_000).toISOString();
      const totals = { cost: 0, tokens: 0, agents: 0, duration: 0 };
      const last = {
        type: 'session.finished',
        status: 'stopped',
        summary: 'handed over',
        endedBy: { is: 'hand-over' },
        totals,
      } as const;
      const stop = { type: 'agent.status', agent: ROOT, ...RUN_STOPPED } as const;
      const at = { v: 1, time, session: SESSION } as const;
      await run.play([
        { ...stop, ...at, seq },
        { ...last, ...at, seq: seq + 1 },
      ]);
      await settled();
    },
    async handed(how) {
      handed.resolve(how);
      await settled();
    },
  };
}

/** Header, log and field, whatever the box over them says. */
const behindTheBox = (screen: string): readonly string[] => {
  const rows = screen.split('\n');
  return [...rows.slice(0, 8), ...rows.slice(-9, -1)];
};

describe('a run that this screen carries', () => {
  it('is handed over by d, with what is waited for in a box; then the screen is over and the run is not', async () => {
    const { press, screen, handed, end, asked } = await scene('here');
    await press('d');
    expect(screen()).toMatch(/Detaching[^]*tester {2}a reply from|Detaching[^]*y detach now/);
    await handed(ok({ text: 'handed over' }));
    expect(await end).toMatchObject({ session: SESSION, continues: true });
    expect(asked).toEqual(['start', 'when quiet', 'detach']);
  });

  it('is left running by d in the question whether to leave, which says how to come back to it', async () => {
    const { press, screen, handed, end, asked, run } = await scene('here');
    await press('q');
    expect(screen()).toMatch(/Keep running[^]*mimir attach run-7f3a[^]*Stop[^]*mimir resume run-7f3a/);
    expect(screen()).toContain('d keep running   y stop   ⏎/Esc stay');
    await press('d');
    expect(screen()).toContain('Detaching');
    await handed(ok({ text: 'handed over' }));
    expect(await end).toMatchObject({ session: SESSION, continues: true });
    expect({ asked, commands: run.commands }).toEqual({ asked: ['start', 'when quiet', 'detach'], commands: [] });
  });

  it('is not said to be over while its new process begins, but where that fails, with how to go on', async () => {
    const started = Promise.withResolvers<Result<Receipt, Refusal>>();
    const { press, screen, handed, move, asked } = await scene('here', null, midRun().events, started.promise);
    await press('d');
    const waiting = screen();
    await move();
    await handed(ok({ text: 'handed over' }));
    expect(screen()).toContain('Detached. The background process is starting.');
    await press('esc', 'd');
    expect(behindTheBox(screen())).toEqual(behindTheBox(waiting));
    started.resolve(fail({ text: 'No process could be started.' }));
    await settled();
    expect(screen()).toMatch(/No process could be started\. \(r continues the run here\)/);
    expect(screen()).toContain('Next steps');
    expect(asked).toEqual(['start', 'when quiet', 'detach']);
  });

  it('goes at once with y, another key than the one that asked, and stays with Esc', async () => {
    const { press, screen, handed, asked } = await scene('here');
    await press('d', 'y', 'esc');
    await handed(fail({ text: 'the run stays here' }));
    expect(screen()).not.toContain('Detaching');
    expect(screen()).toContain('the run stays here');
    expect(asked).toEqual(['start', 'when quiet', 'now', 'stay']);
  });
});

describe('a run that another process carries', () => {
  it('is said to be reached until its first event is here, and no plan is said to be made', async () => {
    const { screen, run } = await scene('elsewhere', null, []);
    expect(screen()).toMatch(/^ MIMIR [^›]*\n\s*\n Connecting to the run …/);
    expect(screen()).not.toContain('Planning');
    await run.play(midRun().events);
    expect(screen()).toContain('MIMIR  Fix the token refresh race');
  });

  it('is left by d at once, by q after words that say that it goes on, and is not stopped', async () => {
    const { press, screen, end, run } = await scene('elsewhere');
    await press('q');
    expect(screen()).toContain('The run continues in its own process');
    await press('esc', 'd');
    expect(await end).toMatchObject({ continues: true });
    expect(run.commands).toEqual([]);
  });

  it('is shown as it was while it moves, since it goes on', async () => {
    const { screen, move } = await scene('elsewhere');
    const before = screen().split('\n').slice(0, -3);
    await move();
    expect(screen().split('\n').slice(0, -3)).toEqual(before);
    expect(screen()).toContain('The run is moving to another process.');
  });

  it('is shown from the log when it moved and was over before it could be reached', async () => {
    const { run, move, asked } = await scene('elsewhere');
    const { when, task } = { when: new Date(START).toISOString(), task: 'Fix it' };
    run.learn({ sessions: [{ id: SESSION, task, when, state: 'finished' }] });
    await move();
    expect(asked).toEqual(['attach', 'look']);
  });

  it('is shown from the log, not as lost, when it came to its end before that was read here', async () => {
    const { run, lose, asked, screen } = await scene('elsewhere');
    const { when, task } = { when: new Date(START).toISOString(), task: 'Fix it' };
    run.learn({ sessions: [{ id: SESSION, task, when, state: 'finished' }] });
    await lose('The run has ended.');
    expect(asked).toEqual(['attach', 'look']);
    expect(screen()).not.toContain('Run process lost');
  });

  it('opens the agent that was asked for', async () => {
    const { screen } = await scene('elsewhere', AgentId.parse('ROOT::S2'));
    expect(screen()).toMatch(/┏━ \S librarian/);
  });

  it('says when it was lost, refuses in words, and goes on here with R', async () => {
    const { press, screen, lose, asked } = await scene('elsewhere');
    await lose('the process that hosted the run has ended');
    expect(screen()).toContain('Run process lost');
    await press('esc', 's');
    expect(screen()).toContain('! The process that hosted the run has ended. R continues here, q quits.');
    expect(screen()).toContain('Not done: nobody is there');
    await press('R');
    expect(asked).toEqual(['attach', 'resume']);
    expect(screen()).not.toContain('R continues here');
  });

  it('keeps what is being written when it is lost, and takes nothing new until it goes on', async () => {
    const { press, screen, lose, run } = await scene('elsewhere');
    await press('i', 'h', 'o', 'l', 'd');
    await lose('it has ended');
    await press('enter');
    expect(screen()).toContain('Not sent. The run has no process. Press R to continue it here.');
    await press('esc', 'esc', 'i');
    expect(screen()).toMatch(/The run has no process\. Press R to continue it here\./);
    await press('R');
    await run.play(midRun().events);
    await press('i');
    expect(screen()).toContain('❯ hold');
    expect(run.commands).toEqual([]);
  });

  it('that was lost is left without a word of its going on', async () => {
    const { press, lose, end } = await scene('elsewhere');
    await lose('it has ended');
    await press('q', 'y');
    expect(await end).toMatchObject({ continues: false });
  });
});

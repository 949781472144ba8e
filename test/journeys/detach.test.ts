/** A run that goes on without its screen: handed over in the middle of what it does, nothing lost and nothing done twice. */
import { describe, expect, it } from 'vitest';
import { ACCEPT, newest } from '../support/journey.ts';
import { ANSWER, atTheCommand, leftRunning, THOUGHT, WORK } from '../support/left-running.ts';
import { needs } from '../support/needs.ts';
import { of } from '../support/on-the-wire.ts';

describe.concurrent('a run that is let go of with d', () => {
  needs('bubblewrap');

  it('S002, S004: waits for the command that runs, says so, and goes on where `mimir attach` shows it to its end', async () => {
    const run = await leftRunning();
    const person = await atTheCommand(run);
    person.press('d');
    await person.sees('Detaching', /main\s+.*echo ran/, 'y detach now');
    run.go();
    expect(await person.leaves()).toBe(0);
    const session = await newest(run.machine);
    expect(person.screen()).toContain(`mimir attach ${session}`);
    await run.stands('finished');
    expect(run.effects()).toBe(1);
    const events = await run.events();
    expect(of(events, 'tool.started').map(({ tool }) => tool)).toEqual(['bash', 'list_files']);
    expect(of(events, 'tool.finished').map(({ ok }) => ok)).toEqual([true, true]);
    expect(of(events, 'session.finished').map(({ status, summary }) => [status, summary])).toEqual([
      ['stopped', 'handed over'],
      ['completed', ANSWER],
    ]);
  });

  it('S003: comes to the end of a reply first: none is asked for twice, and what it called for is done elsewhere', async () => {
    const run = await leftRunning(6);
    const person = await atTheCommand(run);
    run.go();
    await person.sees('The checks went on');
    person.press('d');
    await person.sees('Detaching', 'a reply from coder');
    expect(await person.leaves()).toBe(0);
    await run.stands('finished');
    const events = await run.events();
    expect(of(events, 'agent.message').map(({ text }) => text)).toEqual(expect.arrayContaining([THOUGHT, ANSWER]));
    expect(of(events, 'tool.finished').map(({ ok }) => ok)).toEqual([true, true]);
    expect(run.double.bill().answered.calls).toBe(4);
    expect(run.double.bill().broken.calls).toBe(0);
    expect(run.effects()).toBe(1);
  });

  it('stays here with Esc, and nothing has changed', async () => {
    const run = await leftRunning();
    const person = await atTheCommand(run);
    person.press('d');
    await person.sees('Detaching');
    person.press('esc');
    await person.doesNotSee('Detaching');
    await person.sees('the run stays here');
    run.go();
    await person.sees('┌─ 1 Answer', ANSWER);
    person.press('q');
    expect(await person.leaves()).toBe(0);
    expect(of(await run.events(), 'session.finished')).toHaveLength(1);
    expect(run.hosts()).toEqual([]);
  });

  it('goes at once with y, another key than the one that asked: what was cut off is told to the agent, and not done again by itself', async () => {
    const run = await leftRunning();
    const person = await atTheCommand(run);
    person.press('d');
    await person.sees('Detaching');
    person.press('y');
    expect(await person.leaves()).toBe(0);
    await run.stands('finished');
    expect(run.effects()).toBe(1);
    expect(of(await run.events(), 'tool.finished').map(({ ok }) => ok)).toEqual([false, true]);
  });

  it('lets a plan wait for another screen, by the palette', async () => {
    const run = await leftRunning();
    const person = run.machine.opens([WORK, '--mode', 'yolo']);
    await person.sees(ACCEPT);
    person.press(':');
    person.type('Detach');
    await person.sees('Rebind as plan.detach');
    person.press('enter');
    expect(await person.leaves()).toBe(0);
    const again = run.machine.opens(['attach']);
    await again.sees(ACCEPT);
    again.press('enter');
    run.go();
    await again.sees('┌─ 1 Answer', ANSWER);
    again.press('q');
    expect(await again.leaves()).toBe(0);
    expect(run.effects()).toBe(1);
  });
});

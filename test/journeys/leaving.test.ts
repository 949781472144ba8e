/** However one leaves, or is made to: the terminal is given back, what was done is kept, and it can be gone on with. */
import { describe, expect, it } from 'vitest';
import { makeMachine, newest, planFor, sessionsOf, TASK } from '../support/journey.ts';
import type { Machine, Person } from '../support/journey.ts';

/** A plan of one agent, for what needs no more. */
const SMALL = 'Find balanceOf';

async function atWork(machine: Machine, task = SMALL): Promise<Person> {
  const person = await planFor(machine, task);
  person.press('enter');
  await person.sees('Message main', task === SMALL ? /● main/ : /● finder/);
  return person;
}

describe.concurrent('leaving', () => {
  it('with Ctrl-C first clears the field, then asks twice, and goes at once where nothing runs', async () => {
    const person = makeMachine().opens();
    await person.sees('What do you want to do?');
    person.type('half a thought');
    await person.sees('❯ half a thought');
    person.press('ctrl-c');
    await person.doesNotSee('half a thought');
    person.press('ctrl-c');
    expect(await person.leaves()).toBe(0);
  });

  it('with Ctrl-C interrupts first, asks on the second, and never just quits while agents run', async () => {
    const machine = makeMachine();
    const person = await atWork(machine, TASK);
    person.press('j');
    await person.sees(/(?:┏ |▌)● finder/);
    person.press('ctrl-c');
    await person.sees(/(?:┏ |▌)⏸ finder/);
    person.press('ctrl-c');
    await person.sees('Quit?', 'mimir resume');
    person.press('enter');
    await person.doesNotSee('Quit?');
    person.press('r');
    await person.sees(/(?:┏ |▌)● finder/);
    person.press('q');
    await person.sees('Quit?');
    person.press('y');
    expect(await person.leaves()).toBe(1);
    expect(person.screen()).toMatch(/Session \w+ stopped.*\n.*mimir resume \w+/);
    expect(await sessionsOf(machine)).toEqual([expect.stringContaining('stopped')]);
  });

  it('and coming back with `mimir resume` goes on where it was, to the end', async () => {
    const machine = makeMachine();
    const first = await atWork(machine);
    first.press('q');
    await first.sees('Quit?');
    first.press('y');
    await first.leaves();
    const again = machine.opens(['resume', await newest(machine)]);
    await again.sees('Message main', /[●✓] main/);
    await again.sees('┌─ 1 Answer', 'Completed');
    again.press('q');
    expect(await again.leaves()).toBe(0);
    expect(await sessionsOf(machine)).toEqual([expect.stringContaining('finished')]);
  });

  it.each([
    { signal: 'SIGTERM', code: 143 },
    { signal: 'SIGHUP', code: 129 },
  ] as const)('by $signal ends with $code, and what was done is kept', async ({ signal, code }) => {
    const machine = makeMachine();
    const person = await atWork(machine);
    person.terminal.signal(signal);
    expect(await person.leaves()).toBe(code);
    expect(await sessionsOf(machine)).toEqual([expect.stringContaining('stopped')]);
    const resumed = await machine.mimir('resume', await newest(machine), '--json');
    expect(resumed).toMatchObject({ code: 0, err: '' });
    expect(await sessionsOf(machine)).toEqual([expect.stringContaining('finished')]);
  });

  it('by a power cut loses nothing: who had finished is not run again', async () => {
    const machine = makeMachine();
    const person = await atWork(machine, TASK);
    await person.sees(/✓ librarian/);
    person.terminal.signal('SIGKILL');
    await person.terminal.exit;
    expect(await sessionsOf(machine)).toEqual([expect.stringContaining('stopped')]);
    const { code, out, err } = await machine.mimir('resume', await newest(machine), '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const events = out.trim().split('\n').map(parsed);
    const finished = events.filter(({ type }) => type === 'agent.finished').map(({ agent }) => String(agent));
    expect(finished.toSorted((a, b) => a.localeCompare(b))).toEqual(['ROOT', 'ROOT::S1', 'ROOT::S2', 'ROOT::S3']);
    expect(events.at(-1)).toMatchObject({ type: 'session.finished', status: 'completed' });
  });
});

function parsed(line: string): { readonly type?: unknown; readonly agent?: unknown } {
  const event: unknown = JSON.parse(line);
  return typeof event === 'object' && event !== null ? event : {};
}

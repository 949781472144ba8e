/**
 * Line mode and the process that carries its run: hands the run over to a background process, stops it resumably when the person quits, and
 * reports when the process of an attached run was lost.
 */
import { NO_RUN } from '../../app/actions/index.ts';
import { type FollowedRun, goesOnElsewhere, handOver, stopKept } from '../../app/client/index.ts';
import { IS_YES, world, wrongUse } from '../../app/process/index.ts';
import { operationsInFlight } from '../../app/views/index.ts';
import type { ProjectService } from '../../ports/project-service.ts';
import type { Detaching, LineContext } from './command.ts';

export interface RunOwnershipParts {
  readonly context: Pick<LineContext, 'say' | 'refuse' | 'ask'>;
  /** Starts a process that continues a session that was handed over. */
  readonly detach: NonNullable<ProjectService['detach']>;
  /** The run that is followed now, or null. */
  readonly run: () => FollowedRun | null;
  /** Ends the session in line mode; the run continues. */
  readonly leave: () => void;
}

export class LineRunOwnership {
  readonly #of: RunOwnershipParts;
  #handingOver: Promise<void> | null = null;
  #detached = false;

  constructor(parts: RunOwnershipParts) {
    this.#of = parts;
  }

  /** Does the run continue when this session ends? */
  get continues(): boolean {
    const run = this.#of.run();
    return this.#detached || (run !== null && goesOnElsewhere(run.controls, this.#lost !== null, run.state));
  }

  /** Does another process carry the run? Then leaving stops nothing. */
  get isElsewhere(): boolean {
    return this.#of.run()?.elsewhere !== undefined;
  }

  get #lost(): { readonly why: string } | null {
    return this.#of.run()?.elsewhere?.lost ?? null;
  }

  /** Resolves when a hand-over that was begun has ended, with whatever result. */
  get settled(): Promise<void> {
    return this.#handingOver ?? Promise.resolve();
  }

  get isHandingOver(): boolean {
    return this.#handingOver !== null;
  }

  /** Asks whether to leave an unfinished run of this process; true when the person agrees, or when there is nothing to ask. */
  async mayLeave(): Promise<boolean> {
    const { run, context } = this.#of;
    const current = run();
    if (current === null || current.state.finished !== null || this.isElsewhere) return true;
    context.say('Quitting stops the run; mimir resume continues it. (detach keeps it running.)');
    const typed = await context.ask('Quit? yes quits, anything else stays: ');
    if (typed === null || IS_YES.test(typed.trim())) return true;
    context.say('The run continues.');
    return false;
  }

  /** Call before the session ends. Stops an unfinished run of this process, so that it can be resumed; a run of another one continues. */
  async stop(): Promise<void> {
    const { run, context } = this.#of;
    const current = run();
    if (current === null || current.state.finished !== null) return;
    const session = current.state.session ?? '';
    if (this.isElsewhere)
      return context.say(
        this.#lost === null
          ? `The run continues: mimir attach ${session} shows it again.`
          : `mimir resume ${session} continues it.`,
      );
    context.say('Stopping the agents; their state is kept.');
    await stopKept(current.controls, current.ended, world);
    if (session !== '') context.say(`mimir resume ${session} continues it.`);
  }

  async detach(how: Detaching): Promise<void> {
    const run = this.#of.run();
    if (run === null) throw wrongUse(NO_RUN);
    if (this.isElsewhere) return how === 'detach stay' ? undefined : this.#of.leave();
    if (how !== 'detach') return this.#change(run, how === 'detach now' ? 'now' : 'stay');
    if (this.#handingOver !== null) return this.#sayWaiting(run);
    this.#handingOver = this.#handOver(run).finally(() => {
      this.#handingOver = null;
    });
  }

  /** Call when the process of the followed run was lost. */
  reportLoss(why: string): void {
    this.#of.context.say(
      `The run has no process: ${why}`,
      'The recorded state is kept. here continues it in this process, quit quits.',
    );
  }

  /** Cuts the calls off that a hand-over waits for, or cancels it. The hand-over itself reports the result. */
  async #change(run: FollowedRun, how: 'now' | 'stay'): Promise<void> {
    if (this.#handingOver === null) throw wrongUse('the run is not being detached');
    const done = await run.submit({ do: 'hand over', how });
    if (!done.ok && this.isHandingOver) throw wrongUse(done.fault.text);
  }

  async #handOver(run: FollowedRun): Promise<void> {
    const { context, leave, detach } = this.#of;
    const handedOver = handOver(run.controls, detach);
    this.#sayWaiting(run);
    const done = await handedOver;
    if (done.ok) {
      this.#detached = true;
      context.say(done.value.text);
      leave();
    } else if (done.fault.is === 'halted') context.refuse(`${done.fault.text}; resume continues it here`);
    else if (run.state.finished === null) context.say(done.fault.text);
  }

  #sayWaiting({ state }: FollowedRun): void {
    const calls = operationsInFlight(state).map(({ who, what }) => `- ${who}: ${what}`);
    if (calls.length === 0) return this.#of.context.say('No calls left; detaching.');
    this.#of.context.say(
      'Current calls finish, then the run continues in the background:',
      ...calls,
      'detach now cuts these calls off, detach stay keeps the run here.',
    );
  }
}

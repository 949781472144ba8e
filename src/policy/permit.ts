/**
 * Permits: what a gate must hold before it acts. Only `decide` makes them, each for one action of one agent under one set
 * of rules, and each is good once.
 */
import { fail, ok, type Result } from '../domain/result.ts';

/** What a permit is for. `action` is the digest of what will be done. */
export interface Binding {
  readonly agent: string;
  readonly action: string;
  readonly policyHash: string;
  /** The box that it was allowed for; absent: the agent's own. */
  readonly box?: 'read-only' | undefined;
}

/** Nobody can make one up: its constructor is closed, and what it is for can't be read or changed. */
export class Permit {
  readonly #binding: Binding;
  #spent = false;

  private constructor(binding: Binding) {
    this.#binding = binding;
  }

  /** For `decide` alone (an architecture test looks who calls it). */
  static mint(this: void, binding: Binding): Permit {
    return new Permit({ ...binding });
  }

  /** Uses `permit` up for `binding`, or says why it doesn't hold for it. A permit that was tried is gone either way. */
  static spend(this: void, permit: Permit, binding: Binding): Result<void, string> {
    if (!(#binding in permit)) return fail('this is no permit');
    if (permit.#spent) return fail('its permit was used already');
    permit.#spent = true;
    const { agent, action, policyHash, box } = permit.#binding;
    if (agent !== binding.agent) return fail('its permit is for another agent');
    if (action !== binding.action) return fail('its permit is for another action');
    if (box !== binding.box) return fail('its permit is for another box');
    if (policyHash !== binding.policyHash) return fail('the rules changed since it was allowed');
    return ok(undefined);
  }
}

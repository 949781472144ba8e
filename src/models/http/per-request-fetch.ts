/**
 * Lets one client library, which is dear to make, serve calls that each have a wire of their own: which wire a request goes over stands
 * in a header that no wire sends.
 */
import { headersIn, type Wire } from './transport.ts';

const NAME = 'x-mimir-wire';

export interface Switchboard {
  /** For the client library. */
  readonly fetch: Wire['fetch'];
  /** `call` with the headers that lead its request over `wire`. */
  over<T>(wire: Wire['fetch'], call: (headers: Readonly<Record<string, string>>) => Promise<T>): Promise<T>;
}

export function openSwitchboard(): Switchboard {
  const wires = new Map<string, Wire['fetch']>();
  let calls = 0;
  return {
    fetch(input, init = {}) {
      const wire = wires.get(headersIn(init).get(NAME) ?? '');
      if (wire === undefined) throw new Error('a request without a wire');
      return wire(input, init);
    },
    async over(wire, call) {
      const name = String((calls += 1));
      wires.set(name, wire);
      try {
        return await call({ [NAME]: name });
      } finally {
        wires.delete(name);
      }
    },
  };
}

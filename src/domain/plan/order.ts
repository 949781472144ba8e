/**
 * The order of tasks in a plan: everything after what it needs, otherwise as it was written. Finds the cycles that make
 * such an order impossible. Knows ids and needs only; linear, without recursion, so that a plan of thousands is no matter.
 */

/** Cycles named in full; a plan made of nothing but cycles need not list them all. */
const CYCLES_NAMED = 5;

export interface Order<Id> {
  readonly order: readonly Id[];
  /** Each cycle as a path that ends where it begins; empty when `order` is sound. */
  readonly cycles: readonly (readonly Id[])[];
}

/** Walks `ids` as written and puts what each one needs before it. Needs that are not among the ids are not looked at. */
export function orderOf<Id extends string>(ids: readonly Id[], needsOf: (id: Id) => readonly Id[]): Order<Id> {
  const walk: Walk<Id> = { known: new Set(ids), state: new Map(), path: [], order: [], cycles: [] };
  for (const id of ids) {
    if (walk.state.has(id)) continue;
    enter(walk, id, needsOf);
    while (walk.path.length > 0) step(walk, needsOf);
  }
  return { order: walk.order, cycles: walk.cycles };
}

interface Walk<Id> {
  readonly known: ReadonlySet<Id>;
  readonly state: Map<Id, 'open' | 'done'>;
  readonly path: { readonly id: Id; readonly needs: readonly Id[]; next: number }[];
  readonly order: Id[];
  readonly cycles: (readonly Id[])[];
}

function enter<Id>(walk: Walk<Id>, id: Id, needsOf: (id: Id) => readonly Id[]): void {
  walk.state.set(id, 'open');
  walk.path.push({ id, needs: needsOf(id), next: 0 });
}

function step<Id>(walk: Walk<Id>, needsOf: (id: Id) => readonly Id[]): void {
  const top = walk.path.at(-1);
  if (top === undefined) return;
  const need = top.needs[top.next];
  if (need === undefined) {
    walk.state.set(top.id, 'done');
    walk.order.push(top.id);
    walk.path.pop();
    return;
  }
  top.next += 1;
  const state = walk.state.get(need);
  if (state === 'open') noteCycle(walk, need);
  else if (state === undefined && walk.known.has(need)) enter(walk, need, needsOf);
}

function noteCycle<Id>(walk: Walk<Id>, start: Id): void {
  if (walk.cycles.length >= CYCLES_NAMED) return;
  const from = walk.path.findIndex(({ id }) => id === start);
  walk.cycles.push([...walk.path.slice(from).map(({ id }) => id), start]);
}

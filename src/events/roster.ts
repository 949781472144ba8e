/** The agents of a run by id, in order of creation: an immutable map whose changed copies share nearly all data, because every event changes
 * one agent and a run may have hundreds. */
import type { AgentId } from '../domain/ids.ts';
import type { AgentState } from './state.ts';

/** Agents per piece; a copy with one changed agent copies one piece and the list of pieces. */
const PIECE = 32;

type Entry = [AgentId, AgentState];

export class Roster implements ReadonlyMap<AgentId, AgentState> {
  readonly size: number;
  readonly #pieces: readonly (readonly AgentState[])[];
  /** Index of each agent. Shared between copies and only added to; entries at `size` or above belong to other copies. */
  readonly #places: Map<AgentId, number>;

  private constructor(pieces: readonly (readonly AgentState[])[], places: Map<AgentId, number>, size: number) {
    this.#pieces = pieces;
    this.#places = places;
    this.size = size;
  }

  static of(agents: Iterable<AgentState>): Roster {
    let roster = new Roster([], new Map(), 0);
    for (const agent of agents) roster = roster.with(agent);
    return roster;
  }

  /** A copy with `agent` in place of the one with its id, or appended. */
  with(agent: AgentState): Roster {
    const known = this.#placeOf(agent.id);
    const place = known ?? this.size;
    // Another copy has been extended, so the index cannot be shared any more.
    const places = known === undefined && this.#places.size > this.size ? new Map(this.#ownPlaces()) : this.#places;
    if (known === undefined) places.set(agent.id, place);
    const at = Math.floor(place / PIECE);
    const piece = [...(this.#pieces[at] ?? [])];
    piece[place % PIECE] = agent;
    const pieces = [...this.#pieces];
    pieces[at] = piece;
    return new Roster(pieces, places, Math.max(this.size, place + 1));
  }

  /** All agents in order, in pieces. A piece with the same agents is the same object, so results can be cached by it. */
  pieces(): readonly (readonly AgentState[])[] {
    return this.#pieces;
  }

  get(id: AgentId): AgentState | undefined {
    const place = this.#placeOf(id);
    return place === undefined ? undefined : this.#pieces[Math.floor(place / PIECE)]?.[place % PIECE];
  }

  has(id: AgentId): boolean {
    return this.#placeOf(id) !== undefined;
  }

  forEach(act: (agent: AgentState, id: AgentId, all: ReadonlyMap<AgentId, AgentState>) => void): void {
    for (const agent of this.values()) act(agent, agent.id, this);
  }

  values(): MapIterator<AgentState> {
    return this.#pieces.flat().values();
  }

  keys(): MapIterator<AgentId> {
    return this.#pieces
      .flat()
      .map(({ id }) => id)
      .values();
  }

  entries(): MapIterator<Entry> {
    return this.#pieces
      .flat()
      .map((agent): Entry => [agent.id, agent])
      .values();
  }

  [Symbol.iterator](): MapIterator<Entry> {
    return this.entries();
  }

  #placeOf(id: AgentId): number | undefined {
    const place = this.#places.get(id);
    return place === undefined || place >= this.size ? undefined : place;
  }

  #ownPlaces(): readonly (readonly [AgentId, number])[] {
    return [...this.#places].slice(0, this.size);
  }
}

/** Like `Roster.pieces`, for any map. */
export const piecesOf = (agents: ReadonlyMap<AgentId, AgentState>): readonly (readonly AgentState[])[] =>
  agents instanceof Roster ? agents.pieces() : [[...agents.values()]];

/** `agents` with `agent` replaced or added; other maps are converted to a roster first. */
export const withAgent = (agents: ReadonlyMap<AgentId, AgentState>, agent: AgentState): Roster =>
  (agents instanceof Roster ? agents : Roster.of(agents.values())).with(agent);

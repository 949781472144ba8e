/** Where a child session stands, in the words of the verbs. Computed from the log, never kept. */

export const LIFECYCLE = [
  /** Created; nothing of it runs yet. */
  'spawned',
  /** Waits for a free slot. */
  'starting',
  'running',
  /** Asked a person, or waits to be resumed by one. */
  'waiting_input',
  /** Nothing happened for the idle time; also ROOT between turns, and who only waits for its children. */
  'idle',
  /** Its turn ended well (partial as well, then marked so). It stays: a message resumes it with its context. */
  'completed',
  'error',
  /** Its parent or its host ended before it did, and nobody took it on. */
  'abandoned',
  'killed',
] as const;
export type Lifecycle = (typeof LIFECYCLE)[number];

export const isTerminal = (state: Lifecycle): state is 'completed' | 'error' | 'abandoned' | 'killed' =>
  LIFECYCLE.indexOf(state) >= LIFECYCLE.indexOf('completed');

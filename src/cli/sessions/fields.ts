/** The JSON fields of the session commands: printed by their `--help`; a test compares them with the output. */

export type Fields = Readonly<Record<string, string>>;

export const RECORD: Fields = {
  session_id: 'short id, six letters and digits',
  name: 'what it is called; `main` is the root of a run',
  friendly_name: 'its name from --name, behind its role: `finder-scout`; or null',
  agent: 'its place in the run: `ROOT::S1`',
  run: 'id of the run',
  parent_session_id: 'short id of its parent; null for the root',
  role: 'its role',
  model: 'its model, `provider/id`',
  status: 'spawned, starting, running, waiting_input, idle, completed, error, abandoned or killed',
  completion_status: 'completed, error, abandoned, killed; null before the end',
  completion_message: 'its answer in one plain line, or why it ended; null before',
  partial: 'true: a limit stopped it, and it gave a partial answer',
  spawn_prompt: 'its prompt; empty for an agent that is not above it',
  working_dir: 'the folder its commands start in',
  tmux_session: 'always null: a session needs none',
  created_at: 'ISO time, UTC',
  spawned_at: 'the same',
  completed_at: 'ISO time, UTC; null before the end',
  tokens_used: 'input and output together',
  tokens_remaining_estimate: 'of its budget; null without one',
  completion_percentage: '0 to 100, from its todos or its budget; null if unknown',
  tools_used: 'calls by tool: `{"read": 3}`',
  total_tools: 'how many calls',
  last_tool: '`{"name", "timestamp"}`, or null',
  last_tool_call: 'ISO time of it, or null',
  current_activity: 'its current activity, or null',
  is_complete: 'true: at its end (a message may still resume it)',
  is_idle: 'true: it was idle for the idle time, or it waits for messages or children',
  idle_seconds: 'since its last activity',
  is_waiting_input: 'true: it waits for a person',
  cost: 'US dollars',
  subtree_cost: 'with everything below it',
  subtree_tokens: 'with everything below it',
  children: 'how many it has',
};

export const FAMILY: Fields = {
  run: 'id of the run',
  state: 'running, finished or stopped',
  task: 'its task',
  mode: 'human, confirm or yolo',
  started_at: 'ISO time, UTC',
  cost: 'US dollars',
  tokens: 'input and output together',
  questions: 'how many wait for a person',
  kept_messages: 'messages that are delivered when it continues',
  reviews_due: 'mandatory reviews that are still pending',
  you: 'place of the calling agent, or null',
  sessions: 'records as of `mimir children --json`, parents first',
};

export const DETAIL: Fields = {
  last_words: 'its last message',
  recent_tools: 'newest last: `{"label", "ok", "timestamp"}`; ok is null while it runs',
  elapsed: 'milliseconds of running',
};

export const SPAWNED: readonly string[] =
  'session_id name friendly_name working_dir parent_session_id tmux_session created_at agent run'.split(' ');

export const PROGRESS: readonly string[] = [
  'session_id name status is_complete completion_status completion_message partial',
  'tokens_used tokens_remaining_estimate completion_percentage tools_used total_tools last_tool current_activity',
  'is_idle idle_seconds is_waiting_input cost subtree_cost subtree_tokens',
].flatMap((names) => names.split(' '));

export const EVENT: Fields = {
  session_id: 'short id',
  event_type: 'spawned, completed, error, checkpoint or idle',
  timestamp: 'ISO time, UTC',
  message: 'one line',
  metadata: 'more of it, by type; always `agent`, `run` and `seq`',
};

/** Only the help of `mimir children` lists the fields of a record. */
export const AS_CHILDREN = 'is a record of a session; `mimir children --help` lists its fields.';

/** An overview of the commands that show sessions, for the help of each of them. */
export const WHICH_LOOK: readonly string[] = [
  '',
  'Which command shows what:',
  '  me        you: your place, parent and run',
  '  who       your siblings',
  '  children  your children, or those of another session',
  '  others    all other agents of your run; for a person of all running ones',
  '  what ID   one session: what it does now',
  '  status    runs that are going on now, with questions and costs',
  '  all       every session of this project, old runs too',
];

/** The fields of `all` that are named, in the order of `names`. */
export const only = (all: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.map((name) => [name, all[name] ?? '']));

/** Help lines: a heading, then one line for each field. */
export function fieldLines(head: string, fields: Fields): readonly string[] {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return [head, ...Object.entries(fields).map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`)];
}

/** The named fields of `record`, in that order. */
export const picked = (record: object, names: readonly string[]): Readonly<Record<string, unknown>> => {
  const all = new Map<string, unknown>(Object.entries(record));
  return Object.fromEntries(names.map((name) => [name, all.get(name) ?? null]));
};

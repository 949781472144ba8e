/** Finds the command, reads its flags, runs it and sets the exit code. Errors that a person can fix are printed without a stack trace. */
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import type { Io } from '../app/process/index.ts';
import { readColour, EXIT, Exit, flagLines, sanitise, openIo, createPainter } from '../app/process/index.ts';
import { readArguments, flushOutput, wrongUse } from '../app/process/index.ts';
import { escapeHidden } from '../app/views/text/sanitise.ts';
import { nearest } from '../domain/text/text.ts';
import { reportOf, withoutKeys } from './crash-report.ts';
import { sharedFlags, SUMMARIES, type Verb } from './verb.ts';
import { messageOf } from '../domain/result.ts';

/** In the order of the help. A command is loaded only when it is called. */
const VERBS: Readonly<Record<string, () => Promise<Verb>>> = {
  run: async () => (await import('./commands/run.ts')).runVerb,
  plan: async () => (await import('./commands/plan.ts')).planVerb,
  resume: async () => (await import('./commands/resume.ts')).resumeVerb,
  attach: async () => (await import('./commands/attach.ts')).attachVerb,
  sessions: async () => (await import('./commands/sessions.ts')).sessionsVerb,
  show: async () => (await import('./commands/show.ts')).showVerb,
  diff: async () => (await import('./commands/diff.ts')).diffVerb,
  undo: async () => (await import('./commands/undo.ts')).undoVerb,
  merge: async () => (await import('./commands/merge.ts')).mergeVerb,
  trees: async () => (await import('./commands/trees.ts')).treesVerb,
  report: async () => (await import('./commands/report.ts')).reportVerb,
  pr: async () => (await import('./commands/pr.ts')).prVerb,
  events: async () => (await import('./commands/events.ts')).eventsVerb,
  spawn: async () => (await import('./commands/spawn.ts')).spawnVerb,
  children: async () => (await import('./commands/children.ts')).childrenVerb,
  what: async () => (await import('./commands/what.ts')).whatVerb,
  send: async () => (await import('./commands/send.ts')).sendVerb,
  kill: async () => (await import('./commands/kill.ts')).killVerb,
  progress: async () => (await import('./commands/progress.ts')).progressVerb,
  complete: async () => (await import('./commands/complete.ts')).completeVerb,
  me: async () => (await import('./commands/me.ts')).meVerb,
  who: async () => (await import('./commands/lists.ts')).whoVerb,
  others: async () => (await import('./commands/lists.ts')).othersVerb,
  all: async () => (await import('./commands/lists.ts')).allVerb,
  status: async () => (await import('./commands/lists.ts')).statusVerb,
  agents: async () => (await import('./commands/agents.ts')).agentsVerb,
  models: async () => (await import('./commands/models.ts')).modelsVerb,
  policy: async () => (await import('./commands/policy.ts')).policyVerb,
  trust: async () => (await import('./commands/trust.ts')).trustVerb,
  config: async () => (await import('./commands/config.ts')).configVerb,
  doctor: async () => (await import('./commands/doctor.ts')).doctorVerb,
  init: async () => (await import('./commands/init.ts')).initVerb,
  audit: async () => (await import('./commands/audit.ts')).auditVerb,
  worker: async () => (await import('./commands/worker.ts')).workerVerb,
  cluster: async () => (await import('./commands/cluster.ts')).clusterVerb,
  reset: async () => (await import('./commands/reset.ts')).resetVerb,
  acp: async () => (await import('./commands/acp.ts')).acpVerb,
  version: async () => (await import('./commands/version.ts')).versionVerb,
};

/** The commands that use an agent's socket. In its shell every other command would see the wrong machine or start another run. */
const FOR_AGENTS = 'spawn children what send kill progress complete me who others all status events'.split(' ');

/** Never rejects. Ends the process with its exit code (exit.ts). */
export async function main(argv: readonly string[], env: Io['env']): Promise<void> {
  const io: Io = { ...openIo(env), begun: warmForAgents, command: dispatched };
  process.on('uncaughtException', (error) => {
    // The screen has a listener of its own, which restores the terminal first.
    if (process.listenerCount('uncaughtException') === 1) process.exit(bug(error, io));
  });
  const code = await codeOf(argv, io);
  await flushOutput();
  // What is still open (a terminal, a timer) must not keep a finished program alive.
  process.exit(io.lost.aborted ? lostCode(code, io) : code);
}

/** By then the first frame is shown and a run has started. */
const WARM_AFTER_MS = 5000;

/** Fills Node's compile cache with the modules of the agents' commands: their sandboxes can only read the cache, so each call
 * would compile them again (100 ms). Done once, when nothing waits for it. */
function warmForAgents(): void {
  if (getCompileCacheDir() === undefined) return;
  const warm = (): void => void Promise.all(FOR_AGENTS.map(verbNamed)).then(() => flushCompileCache());
  setTimeout(warm, WARM_AFTER_MS).unref();
}

function lostCode(code: number, io: Io): number {
  if (io.lost.reason === '') return code;
  io.complain(`mimir: cannot write the output: ${String(io.lost.reason)}`);
  return code === EXIT.done ? EXIT.wrongUse : code;
}

async function codeOf(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatched(argv, io);
  } catch (error) {
    if (error instanceof Exit) {
      // Two names that differ in a hidden character are not to look alike.
      io.complain(`mimir: ${escapeHidden(error.message)}`);
      return error.code;
    }
    return bug(error, io);
  }
}

/** Reports a bug of Mimir, with the place of its stack trace. */
function bug(error: unknown, io: Io): number {
  const words = withoutKeys(io.env, messageOf(error));
  io.complain(`mimir: this is a bug in Mimir: ${sanitise(words)}`);
  if (io.env['MIMIR_DEBUG'] === '1' && error instanceof Error) io.complain(withoutKeys(io.env, error.stack ?? ''));
  const file = reportOf(io.env, error);
  if (file !== null) io.complain(`  a report is in ${sanitise(file)}`);
  io.complain('  `mimir resume` continues the interrupted run; MIMIR_DEBUG=1 prints the stack');
  return EXIT.bug;
}

async function dispatched(argv: readonly string[], io: Io): Promise<number> {
  const [given = '', ...rest] = argv;
  const first = ['--version', '-v'].includes(given) ? 'version' : given;
  if (['--help', '-h', 'help'].includes(first)) return help(io, rest[0]);
  if (isAgents(io)) refuseOfPerson(first);
  const meant = await verbMeantBy(first, rest, Object.keys(VERBS), io);
  const verb = (await verbNamed(meant)) ?? (await import('./commands/screen.ts')).screenVerb;
  const words = meant === undefined ? argv : rest;
  const args = readArguments(words, { ...verb.flags, help: { value: '', help: '', short: 'h' } }, verb.words);
  if (args.has('help')) return helpOf(io, verb);
  const colour = readColour(args);
  return verb.run(args, colour === undefined ? io : { ...io, paint: createPainter(io.env, true, colour) });
}

const isAgents = ({ env }: Io): boolean => (env['MIMIR_SOCKET'] ?? '') !== '';

function refuseOfPerson(word: string): void {
  if (FOR_AGENTS.includes(word) || word === 'version') return;
  const near = Object.hasOwn(VERBS, word) ? null : nearest(word, FOR_AGENTS);
  if (near !== null) throw wrongUse(`there is no command "${word}"\n  did you mean \`mimir ${near}\`?`);
  const what = Object.hasOwn(VERBS, word) ? `use \`mimir ${word}\`` : 'start a run';
  throw new Exit(
    EXIT.refused,
    `agents cannot ${what}\n  agents can use: ${FOR_AGENTS.join(', ')}; \`mimir spawn "<prompt>"\` starts a child`,
  );
}

export async function verbNamed(name: string | undefined): Promise<Verb | null> {
  const load = name !== undefined && Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  return load === undefined ? null : load();
}

async function help(io: Io, name: string | undefined): Promise<number> {
  const one = await verbNamed(name);
  if (one !== null) return helpOf(io, one);
  if (name !== undefined) {
    refuseMistyped(name, Object.keys(VERBS));
    throw wrongUse(`there is no command "${name}"\n  \`mimir --help\` lists them`);
  }
  io.say('Mimir plans a task for several agents. You review and approve the plan, then they run in parallel.\n');
  io.say(
    isAgents(io) ? 'Usage: mimir COMMAND [options]' : 'Usage: mimir ["<task>"] [options]  |  mimir COMMAND [options]',
  );
  const groups = isAgents(io) ? [['Your run and your children', FOR_AGENTS] as const] : Object.entries(groupsOf());
  if (!isAgents(io)) await sayVerbs(io, 'Session', ['mimir']);
  for (const [title, names] of groups) await sayVerbs(io, title, names);
  sayGeneral(io);
  return EXIT.done;
}

function sayGeneral(io: Io): void {
  io.say(`\n${io.paint.bold('Options')}`);
  const general = sharedFlags('cwd', 'color', 'help: this help, or that of a command', 'version: the version');
  for (const line of flagLines(general)) io.say(line);
  if (!isAgents(io)) {
    io.say(`\n${io.paint.bold('Examples')}`);
    io.say('  mimir "Explain how the cache works and review it"');
    io.say('  mimir run "Find dead code" --yes --max-cost 1');
  }
  io.say('\n`mimir COMMAND --help` shows its options, its JSON fields and an example.');
}

/** Commands before `spawn` concern runs, those after `status` this machine. */
export function groupsOf(): Readonly<Record<string, readonly string[]>> {
  const names = Object.keys(VERBS);
  const [first, last] = [names.indexOf('spawn'), names.indexOf('status') + 1];
  return {
    Runs: names.slice(0, first),
    'Child sessions': names.slice(first, last),
    'Policy, models and this machine': names.slice(last),
  };
}

const NAME_WIDTH = 12;

/** Prints one line for each command; at a terminal its words are not broken. */
async function sayVerbs(io: Io, title: string, names: readonly string[]): Promise<void> {
  const { plain, wrapText } = await import('../app/views/index.ts');
  io.say(`\n${io.paint.bold(title)}`);
  const room = io.terminal ? Math.max(20, io.width - NAME_WIDTH) : Number.MAX_SAFE_INTEGER;
  for (const name of names) {
    const lines = wrapText(SUMMARIES[name] ?? '', room).map(plain);
    io.say(`  ${name.padEnd(NAME_WIDTH - 2)}${lines.join(`\n${' '.repeat(NAME_WIDTH)}`)}`);
  }
}

function helpOf(io: Io, verb: Verb): number {
  const { usage, summary, flags, notes, example } = verb;
  const parts = [usage, summary, flagLines(flags).join('\n'), notes.join('\n'), `Example:\n  ${example}`];
  io.say(parts.filter((part) => part !== '').join('\n\n'));
  return EXIT.done;
}

/** The command that `word` names, or undefined for a task. If it is only similar to a command, asks the person.
 * Throws `Exit` (2) with the suggestion if nobody can answer, and for every answer except `y` and `t`. */
async function verbMeantBy(
  word: string,
  rest: readonly string[],
  verbs: readonly string[],
  io: Io,
): Promise<string | undefined> {
  if (verbs.includes(word)) return word;
  const near = nearVerb(word, verbs);
  if (near === null) return undefined;
  const answer = io.terminal ? await answerTo(word, near, rest, io) : '';
  if (answer === 'y') return near;
  if (answer === 't' && isAlone(rest)) return undefined;
  throw refusal(word, near);
}

/** Throws `Exit` (2) with the suggestion if `word` is similar to a command. */
function refuseMistyped(word: string, verbs: readonly string[]): void {
  const near = nearVerb(word, verbs);
  if (near !== null) throw refusal(word, near);
}

function nearVerb(word: string, verbs: readonly string[]): string | null {
  if (!/^[a-z]+$/i.test(word)) return null;
  const begun = word.length < 3 ? undefined : verbs.find((verb) => verb.startsWith(word.toLowerCase()));
  return begun ?? nearest(word, verbs);
}

/** A task of several words has to be quoted. */
const isAlone = (rest: readonly string[]): boolean => rest[0]?.startsWith('-') ?? true;

async function answerTo(word: string, near: string, rest: readonly string[], io: Io): Promise<string> {
  const task = isAlone(rest) ? `, t plan the task "${sanitise(word)}"` : '';
  const typed = await io.ask(
    `There is no command "${sanitise(word)}". Did you mean \`mimir ${near}\`? y yes${task}, anything else no: `,
  );
  return typed?.trim().toLowerCase() ?? '';
}

const refusal = (word: string, near: string): Exit =>
  wrongUse(`there is no command "${word}"\n  did you mean \`mimir ${near}\`? To run it as a task: mimir run "${word}"`);

/** Finds the verb, reads its flags, runs it, and says how it ended. Every error a person can mend is words, no trace. */
import { EXIT, Exit } from './exit.ts';
import { flagLines, readArguments } from './flags.ts';
import type { Io } from './io.ts';
import { harmless, openIo } from './io.ts';
import { packageVersion } from './package-root.ts';
import type { Verb } from './verb.ts';

/** In the order of the help. A verb is loaded only when it is called. */
const VERBS: Readonly<Record<string, () => Promise<Verb>>> = {
  run: async () => (await import('./run.ts')).runVerb,
  plan: async () => (await import('./plan.ts')).planVerb,
  resume: async () => (await import('./resume.ts')).resumeVerb,
  sessions: async () => (await import('./sessions.ts')).sessionsVerb,
  show: async () => (await import('./show.ts')).showVerb,
  report: async () => (await import('./report.ts')).reportVerb,
  events: async () => (await import('./events.ts')).eventsVerb,
  models: async () => (await import('./models.ts')).modelsVerb,
  config: async () => (await import('./config.ts')).configVerb,
  doctor: async () => (await import('./doctor.ts')).doctorVerb,
  init: async () => (await import('./init.ts')).initVerb,
};

/** Never rejects. Ends the process with the exit code of INTERFACE. */
export async function main(argv: readonly string[], env: Io['env']): Promise<void> {
  const at = argv.indexOf('--color');
  const io = openIo(env, process.cwd(), at === -1 ? undefined : argv[at + 1]);
  process.exitCode = await codeOf(argv, io);
  // What is still open (a terminal, a timer) must not keep a finished program alive.
  process.stdout.write('', () => process.exit());
}

async function codeOf(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatched(argv, io);
  } catch (error) {
    if (error instanceof Exit) {
      io.complain(`mimir: ${harmless(error.message)}`);
      return error.code;
    }
    io.complain(`mimir: this is a bug in Mimir: ${harmless(error instanceof Error ? error.message : String(error))}`);
    io.complain(
      io.env['MIMIR_DEBUG'] === '1' && error instanceof Error
        ? (error.stack ?? '')
        : '  MIMIR_DEBUG=1 prints where it happened; `mimir resume` goes on with a run that was cut off',
    );
    return EXIT.bug;
  }
}

async function dispatched(argv: readonly string[], io: Io): Promise<number> {
  const [first = '', ...rest] = argv;
  if (['--version', '-v'].includes(first)) return version(io);
  if (['--help', '-h', 'help'].includes(first)) return help(io, rest[0]);
  const known = await verbNamed(first);
  const verb = known ?? (await import('./screen.ts')).screenVerb;
  const words = known === null ? argv : rest;
  const args = readArguments(words, { ...verb.flags, help: { value: '', help: 'this help', short: 'h' } }, verb.words);
  return args.has('help') ? helpOf(io, verb) : verb.run(args, io);
}

async function verbNamed(name: string | undefined): Promise<Verb | null> {
  const load = name !== undefined && Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  return load === undefined ? null : load();
}

function version(io: Io): number {
  io.say(packageVersion());
  return EXIT.done;
}

async function help(io: Io, name: string | undefined): Promise<number> {
  const one = await verbNamed(name);
  if (one !== null) return helpOf(io, one);
  const { screenVerb } = await import('./screen.ts');
  const verbs = await Promise.all(Object.values(VERBS).map((load) => load()));
  io.say('Mimir turns a task into a plan of role agents that you see, change and approve, then runs them.\n');
  for (const verb of [screenVerb, ...verbs]) io.say(`  ${verb.usage}\n      ${verb.summary}`);
  io.say('\n`mimir VERB --help` has the options and an example.');
  return EXIT.done;
}

function helpOf(io: Io, verb: Verb): number {
  io.say(`${verb.usage}\n\n${verb.summary}\n`);
  for (const line of flagLines(verb.flags)) io.say(line);
  io.say(`\nExample:\n  ${verb.example}`);
  return EXIT.done;
}

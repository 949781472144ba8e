/** What the screen starts runs from: the workshop with what is known about the project and its sessions. */
import { basename } from 'node:path';
import type { RepositoryFacts } from '../domain/repository.ts';
import type { Result } from '../domain/result.ts';
import { fail, ok } from '../domain/result.ts';
import type { Run } from '../engine/run.ts';
import type { Refusal } from '../ports/controls.ts';
import type { Lobby, LobbyInfo, TrustQuestion } from '../ports/lobby.ts';
import type { RepositoryPort } from '../ports/repository.ts';
import { unifiedDiff } from '../tools/diff.ts';
import { Exit } from './exit.ts';
import type { Start, Workshop } from './workshop.ts';
import { newSession } from './workshop.ts';
import { packageVersion } from './package-root.ts';
import { trustHere, trustNow } from './project-trust.ts';
import { overBecause } from './resumable.ts';
import { world } from './world.ts';

export interface RunLobby extends Lobby {
  /** Ends what the lobby holds open. */
  close(): void;
  /** The run that the screen holds now, or null. */
  current(): Run | null;
}

/**
 * What the sandbox is and what to suggest come a moment after the first picture: both need other programs. `reopen` opens the same
 * workshop with the configuration as it is then: what is trusted counts from the next run on.
 */
export function openLobby(first: Workshop, reopen: () => Promise<Workshop>): RunLobby {
  let workshop = first;
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  let learned = NOTHING_YET;
  let question = questionOf(workshop);
  const learn = (more: Partial<Learned>): void => {
    learned = { ...learned, ...more };
    changed();
  };
  const looked = lookedAhead(workshop, learn);
  let current: Run | null = null;
  const begin = async (what: Pick<Start, 'session' | 'task'>): ReturnType<Lobby['start']> => {
    const approval = workshop.config.rules.promptForApproval.value ? 'person' : 'config';
    const start = { ...what, repository: looked, approval, person: true, plan: null, pace: 'readable' } as const;
    const begun = await settled(() => workshop.start(start));
    if (!begun.ok) return begun;
    current = begun.value;
    return ok(current.controls);
  };
  return {
    info: () => infoOf(workshop, learned, question),
    onChange: (listener) => void listeners.push(listener),
    start: (task) => begin({ session: newSession(), task }),
    resume(session) {
      const one = workshop.log.sessions().find((known) => known.session === session);
      if (!one) return Promise.resolve(fail({ text: `there is no session ${session}` }));
      const over = overBecause(workshop.log, session);
      if (over !== null) return Promise.resolve(fail({ text: `${over}: mimir report ${session}` }));
      return begin({ session, task: one.task });
    },
    async trust(digest) {
      const given = trustNow(workshop.project, digest);
      question = questionOf(workshop);
      changed();
      if (!given.ok) return fail({ text: `not trusted: ${given.fault}` });
      const next = await settled(reopen);
      if (!next.ok) return unused(next.fault, learn);
      const opened = await settled(() => next.value.ready());
      if (!opened.ok) {
        next.value.close();
        return opened;
      }
      workshop.close();
      workshop = next.value;
      question = questionOf(workshop);
      learn({ sandbox: opened.value.sandbox });
      return ok({ text: 'Trusted as shown: its roles and preferences count in the next run.' });
    },
    current: () => current,
    close: () => workshop.close(),
  };
}

/** What a verb would end with is said, not thrown. */
async function settled<T>(open: () => Promise<T>): Promise<Result<T, Refusal>> {
  try {
    return ok(await open());
  } catch (error) {
    if (error instanceof Exit) return fail({ text: error.message });
    throw error;
  }
}

/** Trust is given, and what was trusted is wrong: this session goes on with what it has. */
function unused({ text }: Refusal, learn: (more: Partial<Learned>) => void): Result<never, Refusal> {
  // Words come first, then the faults, one a line.
  const unusable = text
    .split('\n')
    .slice(1)
    .map((line) => line.trim());
  learn({ unusable });
  const [first = text, ...others] = unusable;
  const more = others.length === 0 ? '' : ` (and ${others.length} more: mimir doctor)`;
  return fail({
    text: `Trusted, but it can't be used as it is, so this session goes on without it. ${first}${more}`,
  });
}

/** Why it was not loaded before it was trusted is no longer the reason. */
const notesOf = (notes: readonly string[], unusable: readonly string[]): readonly string[] =>
  unusable.length === 0 ? notes : ['trusted, but not used in this session:', ...unusable];

const questionOf = ({ project, config }: Workshop): TrustQuestion =>
  trustHere(project, config.preferences.trust ?? [], unifiedDiff);

/** The first picture and a first key are not kept waiting by git. */
const LOOK_AFTER_MS = 120;
/** A repository is not looked at twice in a minute for one task. */
const FRESH_MS = 60_000;

/** What is known a moment after the first picture. */
interface Learned {
  /** Empty until it was tried out. */
  readonly sandbox: string;
  readonly suggestions: readonly string[];
  /** Why no run can be started, as it stands. */
  readonly problem: string | null;
  /** What is wrong with what was trusted, a fault each. */
  readonly unusable: readonly string[];
}

const NOTHING_YET: Learned = { sandbox: '', suggestions: [], problem: null, unusable: [] };

/**
 * Tries the sandbox out and looks at the repository while the person types. A planner who asks within a minute has that at
 * once; each look is given once.
 */
function lookedAhead(workshop: Workshop, learn: (more: Partial<Learned>) => void): RepositoryPort {
  let ahead: { readonly facts: RepositoryFacts; readonly since: number } | null = null;
  const look = async (): Promise<void> => {
    await world.sleep(LOOK_AFTER_MS);
    const opened = await settled(() => workshop.ready());
    if (!opened.ok) return learn({ problem: opened.fault.text });
    learn({ sandbox: opened.value.sandbox });
    const facts = await opened.value.repository.facts(new AbortController().signal);
    ahead = { facts, since: world.elapsed() };
    learn({ suggestions: suggestionsFor(facts) });
  };
  void look();
  return {
    async facts(signal) {
      const known = ahead;
      ahead = null;
      const fresh = known !== null && world.elapsed() - known.since < FRESH_MS;
      return fresh ? known.facts : (await workshop.ready()).repository.facts(signal);
    },
  };
}

const infoOf = (
  { project, config, provider, mode, log }: Workshop,
  { sandbox, suggestions, problem, unusable }: Learned,
  { state, digest, brings, diff }: TrustQuestion,
): LobbyInfo => ({
  cwd: project.root,
  project: basename(project.root),
  version: packageVersion(),
  provider,
  sandbox,
  mode,
  suggestions,
  sessions: log
    .sessions()
    .slice(0, 20)
    .map(({ session, task, startedAt, state }) => ({ id: session, task, when: startedAt, state })),
  policy: config.managed.length === 0 ? '' : `managed by ${config.managed.map(({ shown }) => shown).join(', ')}`,
  trust: { state, digest, brings, diff },
  notes: [...(problem === null ? [] : [problem]), ...notesOf(config.notes, unusable)],
});

/** Tasks that make sense here: what is suggested names what the repository has. */
function suggestionsFor(facts: RepositoryFacts): readonly string[] {
  if (facts.files === 0) return ['Explain what this directory is'];
  const has = (name: RegExp): string | undefined => facts.top.find((entry) => name.test(entry));
  const source = has(/^(?:src|lib|app|pkg|cmd|crates|packages)\/$/);
  const manifest = facts.manifests[0]?.path;
  return [
    `Explain how ${facts.name} works and where to start reading`,
    `Find the entry points of ${source ?? 'this repository'} and review the riskiest file`,
    facts.tests.count > 0 ? 'Find modules that no test imports' : 'Say how this code could be tested first',
    ...(manifest === undefined ? [] : [`Show how the dependencies in ${manifest} are used, and which are not`]),
    `Review ${source ?? 'the code'} for error handling and security`,
    ...(facts.isGit ? ['Summarise what changed lately and what it touches'] : []),
  ].slice(0, 6);
}

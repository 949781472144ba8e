/** What the screen starts runs from: the workshop with what is known about the project and its sessions. */
import { basename } from 'node:path';
import type { RepositoryFacts } from '../domain/repository.ts';
import type { Result } from '../domain/result.ts';
import { fail, ok } from '../domain/result.ts';
import type { Run } from '../engine/run.ts';
import type { Lobby, LobbyInfo, Refusal, TrustQuestion } from '../ports/controls.ts';
import type { RepositoryPort } from '../ports/repository.ts';
import { unifiedDiff } from '../tools/diff.ts';
import { Exit } from './exit.ts';
import type { Start, Workshop } from './open-run.ts';
import { newSession } from './open-run.ts';
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
 * Suggestions come a moment after the first picture: they need a look at the whole repository. `reopen` opens the same
 * workshop with the configuration as it is then: what is trusted counts from the next run on.
 */
export function openLobby(first: Workshop, reopen: () => Promise<Workshop>): RunLobby {
  let workshop = first;
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  let suggestions: readonly string[] = [];
  let question = questionOf(workshop);
  const looked = lookedAhead(workshop.repository, (facts) => {
    suggestions = suggestionsFor(facts);
    changed();
  });
  let current: Run | null = null;
  const begin = (what: Pick<Start, 'session' | 'task'>): ReturnType<Lobby['start']> => {
    try {
      const approval = workshop.config.rules.promptForApproval.value ? 'person' : 'config';
      current = workshop.start({ ...what, repository: looked, approval, person: true, plan: null, pace: 'readable' });
      return Promise.resolve(ok(current.controls));
    } catch (error) {
      if (error instanceof Exit) return Promise.resolve(fail({ text: error.message }));
      throw error;
    }
  };
  return {
    info: () => infoOf(workshop, suggestions, question),
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
      if (!next.ok) return next;
      workshop.close();
      workshop = next.value;
      question = questionOf(workshop);
      changed();
      return ok({ text: 'Trusted as shown: its roles and preferences count in the next run.' });
    },
    current: () => current,
    close: () => workshop.close(),
  };
}

/** What is wrong with a configuration is said, not thrown. */
async function settled(reopen: () => Promise<Workshop>): Promise<Result<Workshop, Refusal>> {
  try {
    return ok(await reopen());
  } catch (error) {
    if (error instanceof Exit) return fail({ text: error.message });
    throw error;
  }
}

const questionOf = ({ project, config }: Workshop): TrustQuestion =>
  trustHere(project, config.preferences.trust ?? [], unifiedDiff);

/** The first picture and a first key are not kept waiting by git. */
const LOOK_AFTER_MS = 120;
/** A repository is not looked at twice in a minute for one task. */
const FRESH_MS = 60_000;

/** Looks at the repository while the person types. A planner who asks within a minute has that at once; each look is given once. */
function lookedAhead(repository: RepositoryPort, found: (facts: RepositoryFacts) => void): RepositoryPort {
  let ahead: { readonly facts: RepositoryFacts; readonly since: number } | null = null;
  const look = async (): Promise<void> => {
    await world.sleep(LOOK_AFTER_MS);
    const facts = await repository.facts(new AbortController().signal);
    ahead = { facts, since: world.elapsed() };
    found(facts);
  };
  void look();
  return {
    facts(signal) {
      const known = ahead;
      ahead = null;
      const fresh = known !== null && world.elapsed() - known.since < FRESH_MS;
      return fresh ? Promise.resolve(known.facts) : repository.facts(signal);
    },
  };
}

const infoOf = (
  { project, config, provider, sandbox, mode, log }: Workshop,
  suggestions: readonly string[],
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
  notes: config.notes,
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

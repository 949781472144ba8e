/** What the screen starts runs from: the workshop with what is known about the project and its sessions. */
import { basename } from 'node:path';
import type { RepositoryFacts } from '../domain/repository.ts';
import { fail, ok } from '../domain/result.ts';
import type { Run } from '../engine/run.ts';
import type { Lobby, LobbyInfo } from '../ports/controls.ts';
import type { RepositoryPort } from '../ports/repository.ts';
import { Exit } from './exit.ts';
import type { Start, Workshop } from './open-run.ts';
import { newSession } from './open-run.ts';
import { packageVersion } from './package-root.ts';
import { overBecause } from './resumable.ts';
import { world } from './world.ts';

export interface RunLobby extends Lobby {
  /** The run that the screen holds now, or null. */
  current(): Run | null;
}

/** Suggestions come a moment after the first picture: they need a look at the whole repository. */
export function openLobby(workshop: Workshop): RunLobby {
  const listeners: (() => void)[] = [];
  let suggestions: readonly string[] = [];
  const looked = lookedAhead(workshop.repository, (facts) => {
    suggestions = suggestionsFor(facts);
    for (const listener of listeners) listener();
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
    info: () => infoOf(workshop, suggestions),
    onChange: (listener) => void listeners.push(listener),
    start: (task) => begin({ session: newSession(), task }),
    resume(session) {
      const one = workshop.log.sessions().find((known) => known.session === session);
      if (!one) return Promise.resolve(fail({ text: `there is no session ${session}` }));
      const over = overBecause(workshop.log, session);
      if (over !== null) return Promise.resolve(fail({ text: `${over}: mimir report ${session}` }));
      return begin({ session, task: one.task });
    },
    current: () => current,
  };
}

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

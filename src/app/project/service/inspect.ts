/** What is learned of a project while the person types: its sandbox, its facts, tasks that make sense in it. */
import type { RepositoryFacts } from '../../../domain/repository.ts';
import type { LobbyInfo } from '../../../ports/project-service.ts';
import type { RepositoryPort } from '../../../ports/repository.ts';
import { settled } from '../../process/exit-to-result.ts';
import type { Workshop } from '../open-project.ts';
import { world } from '../../process/world.ts';

/** The first picture and a first key are not kept waiting by git. */
const LOOK_AFTER_MS = 120;
/** A repository is not looked at twice in a minute for one task. */
const FRESH_MS = 60_000;

/** What is known a moment after the first picture. */
export interface Learned {
  /** Empty until it was tried out. */
  readonly sandbox: string;
  readonly suggestions: readonly string[];
  readonly repository: NonNullable<LobbyInfo['repository']> | null;
  /** Kept plans; read when the project is open. */
  readonly templates: NonNullable<LobbyInfo['templates']>;
  /** What is wrong with those that can't be read, a line each. */
  readonly broken: readonly string[];
  /** Why no run can be started, as it stands. */
  readonly problem: string | null;
  /** What is wrong with what was trusted, a fault each. */
  readonly unusable: readonly string[];
}

export const NOTHING_YET: Learned = {
  sandbox: '',
  suggestions: [],
  repository: null,
  templates: [],
  broken: [],
  problem: null,
  unusable: [],
};

/**
 * Tries the sandbox out and looks at the repository while the person types; without git while the question of trust is open. A planner who asks within a minute has that at
 * once; each look is given once. `ready` is called as soon as the project is open.
 */
export function lookedAhead(
  workshop: Workshop,
  asksForTrust: () => boolean,
  { learn, ready }: { readonly learn: (more: Partial<Learned>) => void; readonly ready: () => void },
): RepositoryPort {
  let ahead: { readonly facts: RepositoryFacts; readonly since: number } | null = null;
  const look = async (): Promise<void> => {
    await world.sleep(LOOK_AFTER_MS);
    const opened = await settled(() => workshop.ready());
    if (!opened.ok) return learn({ problem: opened.fault.text });
    learn({ sandbox: opened.value.sandbox });
    ready();
    // Before the person has said what this project is, nothing that configures git here is read.
    const how = asksForTrust() ? 'without git' : undefined;
    const facts = await opened.value.repository.facts(new AbortController().signal, how);
    if (how === undefined) ahead = { facts, since: world.elapsed() };
    const { isGit, files } = facts;
    learn({ suggestions: suggestionsFor(facts), repository: { isGit, files } });
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

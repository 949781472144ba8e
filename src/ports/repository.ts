import type { EnvironmentFacts } from '../domain/agents/environment.ts';
import type { RepositoryFacts } from '../domain/repository.ts';

/** Bounded facts about the project: at most `tools`' caps of files and bytes are looked at, nothing is run but hardened git. */
export interface RepositoryPort {
  /** For planners. `without git`: no git is started, so that nothing reads the configuration of the repository. */
  facts(signal: AbortSignal, how?: 'without git'): Promise<RepositoryFacts>;
  /** For an agent that starts now. Missing: agents get no environment block. Never rejects; what can't be read is left out. */
  environment?(signal: AbortSignal): Promise<EnvironmentFacts>;
}

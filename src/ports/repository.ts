import type { RepositoryFacts } from '../domain/repository.ts';

/** Bounded facts for planners: at most `tools`' caps of files and bytes are looked at, nothing is run but hardened git. */
export interface RepositoryPort {
  facts(signal: AbortSignal): Promise<RepositoryFacts>;
}

/** The bounded set of facts about a repository that every planner gets (no tool call). */
export interface RepositoryFacts {
  /** Folder name of the project. */
  readonly name: string;
  readonly isGit: boolean;
  /** Files counted (ignored ones left out), and whether counting stopped at the cap. */
  readonly files: number;
  readonly more: boolean;
  readonly bytes: number;
  /** Extensions with the number of files, most first, at most 12. */
  readonly languages: readonly { readonly extension: string; readonly files: number }[];
  /** Names at the top, folders with a trailing slash, at most 60. */
  readonly top: readonly string[];
  /** Paths of manifests (package.json, Cargo.toml, go.mod, pyproject.toml, pom.xml …) with their heads, cut. */
  readonly manifests: readonly { readonly path: string; readonly head: string }[];
  /** Head of the README, cut; empty when there is none. */
  readonly readme: string;
  /** The folders at the top with the most files, at most 8, and what lies in each, folders with their number of files. */
  readonly folders?: readonly { readonly path: string; readonly files: number; readonly inside: readonly string[] }[];
  /** Where the work stands: missing without git. Subjects of the last commits, newest first, at most 5. */
  readonly git?: { readonly branch: string; readonly commits: readonly string[] };
  /** Paths that look like tests, at most 40, and how many there are. */
  readonly tests: { readonly count: number; readonly some: readonly string[] };
}

/** `mimir init`: a first `.mimir/config.yml` for a project, with comments. Never overwrites anything. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CWD } from '../../app/process/flags/common.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import { fileWords } from '../../app/process/file-errors.ts';
import { harmless } from '../../app/process/io.ts';
import type { ProjectTrust } from '../../config/trust/record.ts';
import type { ProjectPlace } from '../../app/project/project-trust.ts';
import { trustHere, trustNow } from '../../app/project/project-trust.ts';
import { projectOf } from '../../app/project/project.ts';
import type { Verb } from '../verb.ts';

const FIRST = `# Rules of this project for Mimir. A project may tighten rules; it can't grant anything.
# \`mimir config show\` says what holds and where it is written; \`mimir config schema\` has every key.

agentOrchestration:
  maxParallelAgents: 4        # agents at once
  maxNestingDepth: 2          # 0: no agent starts another

# enforcement:
#   allowedModels: [haiku-4.5, sonnet-4.5]
#   allowedSubAgents: [finder, oracle, librarian, reviewer, tester]
#   allowedEndpoints: [api.anthropic.com]     # hosts that models may be called on

budgets:
  run: { maxCost: 10.00 }     # US dollars
  agent: { maxCost: 2.00 }

mode:
  max: confirm                # human < confirm < yolo: the loosest that may be chosen here

# commands:
#   deny: ["curl **", "rm -rf **"]

# Keys and providers are a person's, not a project's: ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENROUTER_API_KEY in the
# environment, or \`providers:\` in ~/.config/mimir/config.yml. How it looks and how it calls you is theirs as well:
#   ui: { theme: auto, links: true, mouse: true, ascii: false, reducedMotion: false }
#   notifications: { desktop: auto, bell: false }

# Plans of this project that are used again go to .mimir/plans: \`mimir run --plan NAME --set argument=value\`.
`;

export const initVerb: Verb = {
  usage: 'mimir init [--cwd DIR]',
  summary: 'Writes a first .mimir/config.yml with comments; overwrites nothing.',
  example: 'cd my-project && mimir init',
  words: 0,
  flags: { ...CWD },
  run(args, io) {
    const project = projectOf(args, io);
    const folder = join(project.root, '.mimir');
    const file = join(folder, 'config.yml');
    if (existsSync(file)) throw new Exit(EXIT.wrongUse, `${file} exists already and is left as it is`);
    const before = trustHere(project, []);
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, FIRST, { flag: 'wx' });
    } catch (error) {
      throw new Exit(EXIT.wrongUse, `${file} can't be written: ${fileWords(error)}`);
    }
    io.say(`Wrote ${harmless(file)}. \`mimir config show\` says what holds now.`);
    for (const line of trusted(project, before)) io.say(harmless(line));
    return Promise.resolve(EXIT.done);
  },
};

/** What was just written is trusted, as written; what a stranger wrote before is not trusted by the way. */
function trusted(project: ProjectPlace, before: ProjectTrust): readonly string[] {
  if (before.problem !== null || before.state === 'new' || before.state === 'changed') {
    return ['The project says more of itself that is not trusted yet: `mimir trust` shows it.'];
  }
  const given = trustNow(project, trustHere(project, []).digest);
  return given.ok ? [] : [`It is not recorded as trusted: ${given.fault}`];
}

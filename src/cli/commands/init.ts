/** `mimir init`: writes a first, commented `.mimir/config.yml`. Never overwrites anything. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileErrorText, sanitise, wrongUse } from '../../app/process/index.ts';
import type { ProjectTrust } from '../../config/index.ts';
import { projectOf, type ProjectPlace, trustOf, trustNow } from '../../app/workspace/index.ts';
import { command } from '../verb.ts';

const FIRST = `# Rules of this project for Mimir. A project may tighten rules; it cannot grant anything.
# \`mimir config show\` shows the settings in effect and where each is set; \`mimir config schema\` lists every key.

agentOrchestration:
  maxParallelAgents: 4        # agents at once
  maxNestingDepth: 2          # 0: no agent starts another

# enforcement:
#   allowedModels: [haiku-4.5, sonnet-4.5]
#   allowedSubAgents: [finder, oracle, librarian, reviewer, tester]
#   allowedEndpoints: [api.anthropic.com]     # hosts that model calls may go to

budgets:
  run: { maxCost: 10.00 }     # US dollars
  agent: { maxCost: 2.00 }

mode:
  max: confirm                # human < confirm < yolo: the least strict mode that may be chosen here

# commands:
#   deny: ["curl **", "rm -rf **"]

# Keys and providers belong to the user, not to the project: ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENROUTER_API_KEY in the
# environment, or \`providers:\` in ~/.config/mimir/config.yml. So do appearance and notifications:
#   ui: { theme: auto, links: true, mouse: true, ascii: false, reducedMotion: false }
#   notifications: { desktop: auto, bell: false }

# Plan templates of this project are in .mimir/plans: \`mimir run --plan NAME --set argument=value\` runs one.
`;

export const initVerb = command('init', (args, io) => {
  const project = projectOf(args, io);
  const folder = join(project.root, '.mimir');
  const file = join(folder, 'config.yml');
  if (existsSync(file)) throw wrongUse(`${file} already exists and was not changed`);
  const before = trustOf(project, []);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, FIRST, { flag: 'wx' });
  } catch (error) {
    throw wrongUse(`${file} cannot be written: ${fileErrorText(error)}`);
  }
  io.say(`Wrote ${sanitise(file)}. \`mimir config show\` shows the settings in effect.`);
  for (const line of trusted(project, before)) io.say(sanitise(line));
});

/** Trusts what was just written; earlier files of others stay untrusted. */
function trusted(project: ProjectPlace, before: ProjectTrust): readonly string[] {
  if (before.problem !== null || before.state === 'new' || before.state === 'changed') {
    return ['The project has more settings that are not trusted yet: `mimir trust` shows them.'];
  }
  const given = trustNow(project, trustOf(project, []).digest);
  return given.ok ? [] : [`It is not recorded as trusted: ${given.fault}`];
}

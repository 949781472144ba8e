/** `mimir policy show`: the rules in force, each with layer, file and line, and who rules here. Preferences are `mimir config show`'s. */
import type { ConfigFault } from '../../config/files/fault.ts';
import { faultText } from '../../config/files/fault.ts';
import { ruleOf } from '../../config/schema/keys.ts';
import { vanished } from '../../config/settings/seen.ts';
import type { Effective } from '../../config/files/merge.ts';
import { showConfig } from '../../config/settings/show.ts';
import { resolvedIn } from '../../policy/explain/model.ts';
import { EXIT } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import type { Here } from '../../app/project/project-trust.ts';
import { trustLine } from '../../app/project/project-trust.ts';
import { hereOf, projectOf } from '../../app/project/project.ts';

export function showPolicy(args: Arguments, io: Io): number {
  const here = hereOf(projectOf(args, io), io, {}, 'look');
  if (args.has('json')) io.json(jsonOf(here));
  else for (const line of linesOf(here, io)) io.say(line);
  return EXIT.done;
}

/** What bounds a run: restrictions, and the commands that need no question. */
const rulesIn = ({ config }: Here): ReadonlyMap<string, Effective> =>
  new Map(
    [...config.values].filter(([name, { path }]) => ruleOf(path).kind === 'restriction' || name === 'commands.allow'),
  );

/** Files that were read, the administrator's first. */
const filesOf = ({ config }: Here): readonly { readonly layer: string; readonly file: string }[] => [
  ...config.managed.map(({ shown }) => ({ layer: 'managed', file: shown })),
  ...config.standing.layers.flatMap(({ name, file }) =>
    file === null || name === 'default' ? [] : [{ layer: name, file }],
  ),
];

function linesOf(here: Here, { paint }: Io): readonly string[] {
  const { rules, managed } = here.config;
  const files = filesOf(here).map(({ layer, file }) => `${file} (${layer})`);
  const names = managed.map(({ shown }) => shown).join(', ');
  const who =
    managed.length > 0 ? `${names}: nobody but an administrator can loosen it` : 'you: there is no managed policy';
  const gone = goneFrom(here).map((fault) => paint.red(`✗ ${harmless(faultText(fault))}; nothing runs`));
  const resolved = resolvedIn(rules).map(({ written, id }) => `${written} is taken for ${id}`);
  const trust = trustLine(here.trust);
  return [
    `${paint.bold('policy')}  ${rules.policyHash}`,
    `${paint.bold('ruled by')}  ${harmless(who)}`,
    `${paint.bold('read')}  ${harmless(files.length === 0 ? 'no files: the built-in defaults hold' : files.join(', '))}`,
    ...gone,
    '',
    ...showConfig({ values: rulesIn(here), notes: [] }).map(harmless),
    ...[...new Set(resolved)].map(harmless),
    ...(trust === '' ? [] : ['', harmless(trust)]),
  ];
}

/** Managed files that ruled here before: a run would be refused. */
const goneFrom = ({ config }: Here): readonly ConfigFault[] => vanished(config.managed, config.places);

const jsonOf = (here: Here): object => ({
  policyHash: here.config.rules.policyHash,
  managed: here.config.managed.map(({ shown, digest }) => ({ file: shown, digest })),
  gone: goneFrom(here).map(({ file }) => file),
  files: filesOf(here),
  rules: [...rulesIn(here)].map(([key, { value, from, said }]) => ({
    key,
    value,
    layer: from.layer,
    file: from.file,
    line: from.line,
    said: said.map((one) => ({ value: one.value, layer: one.layer, file: one.from.file, line: one.from.line })),
  })),
  forced: here.config.rules.forcedAgents ?? [],
  resolved: resolvedIn(here.config.rules),
  trust: here.trust.state,
});

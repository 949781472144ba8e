/** `mimir policy show|check|explain`: shows the rules in force, checks a policy file, and explains a decision. */
import { resolve } from 'node:path';
import * as cli from '../../app/process/index.ts';
import { escapeHidden } from '../../app/views/index.ts';
import { type ProjectConfig, projectConfigOf, projectOf, trustLine } from '../../app/workspace/index.ts';
import type { CheckedFile, ConfigFault, Effective } from '../../config/index.ts';
import { checkFile, faultText, ruleOf, showConfig, vanished } from '../../config/index.ts';
import { resolvedIn } from '../../policy/explain/explain.ts';
import { command, tell } from '../verb.ts';

export const policyVerb = command('policy', async (args, io) => {
  const [what = '', file] = args.words;
  refuseOthers(what, args);
  if (what === 'check' && file !== undefined) return checkPolicy(file, args, io);
  if (what === 'show' && file === undefined) return showPolicy(args, io);
  if (what === 'explain' && file === undefined) return (await import('./policy-explain.ts')).explainPolicy(args, io);
  const known = 'mimir policy show, mimir policy check FILE, or mimir policy explain --model M';
  throw cli.wrongUse(`${problemWith(what, file)}\n  ${known}`);
});

const EXPLAINS = ['model', 'role', 'tool', 'path', 'command', 'agent', 'mode'];
const TAKES: ReadonlyMap<string, readonly string[]> = new Map([
  ['show', []],
  ['check', ['as']],
  ['explain', EXPLAINS],
]);

/** Refuses an option of another subcommand, which would otherwise be ignored. */
function refuseOthers(what: string, args: cli.Arguments): void {
  const own = TAKES.get(what);
  const other = ['as', ...EXPLAINS].find((flag) => args.has(flag) && own?.includes(flag) === false);
  if (other === undefined) return;
  const whose = other === 'as' ? 'check' : 'explain';
  throw cli.wrongUse(
    `--${other} cannot be used with \`mimir policy ${what}\`\n  use it with \`mimir policy ${whose}\``,
  );
}

function problemWith(what: string, file: string | undefined): string {
  if (what === '') return 'policy needs a subcommand: show, check or explain';
  if (!TAKES.has(what)) return `there is no "policy ${what}"`;
  return what === 'check' ? 'missing argument: FILE' : `unexpected argument: "${file ?? ''}"`;
}

// `mimir policy check FILE` lists every fault of a policy file with its place, for administrators and their CI.

const LAYERS = ['managed', 'user', 'project'] as const;

function checkPolicy(file: string, args: cli.Arguments, io: cli.Io): number {
  const as = cli.readChoice(args, 'as', LAYERS) ?? 'managed';
  const checked = checkFile({ path: resolve(io.where(), file), shown: file, as, packageRoot: cli.packageRoot() });
  const { notes, resolved } = checked.ok ? checked.value : { notes: [], resolved: [] };
  const found: Found = { faults: checked.ok ? [] : checked.fault, notes, resolved };
  const valid = `${io.paint.green('✓')} ${cli.sanitise(file)} is a valid ${as} policy by itself`;
  tell(args, io, { file, as, valid: checked.ok, ...found }, [
    ...linesOf(found, io),
    ...(checked.ok ? [valid, ...(as === 'managed' ? [NOT_CHECKED] : [])] : []),
  ]);
  return checked.ok ? cli.EXIT.done : cli.EXIT.refused;
}

const NOT_CHECKED =
  '  Not checked: its owner and mode, and the files beside it. `mimir doctor` does that once it is in /etc/mimir.';

interface Found extends CheckedFile {
  readonly faults: readonly ConfigFault[];
}

const linesOf = ({ faults, notes, resolved }: Found, { paint }: cli.Io): readonly string[] => [
  ...faults.map((fault) => `${paint.red('✗')} ${escapeHidden(faultText(fault))}`),
  ...[...notes, ...resolved.map(({ written, id }) => `${written} resolves to ${id}`)].map(
    (note) => `${paint.yellow('·')} ${escapeHidden(note)}`,
  ),
];

// `mimir policy show` lists the rules in force with layer, file and line. `mimir config show` lists preferences.

function showPolicy(args: cli.Arguments, io: cli.Io): number {
  const here = projectConfigOf(projectOf(args, io), io, {}, 'look');
  tell(args, io, rulesJson(here), ruleLines(here, io));
  return cli.EXIT.done;
}

/** What bounds a run: restrictions, and the commands that need no question. */
const rulesIn = ({ config }: ProjectConfig): ReadonlyMap<string, Effective> =>
  new Map(
    [...config.values].filter(([name, { path }]) => ruleOf(path).kind === 'restriction' || name === 'commands.allow'),
  );

const filesOf = ({ config }: ProjectConfig): readonly { readonly layer: string; readonly file: string }[] => [
  ...config.managed.map(({ shown }) => ({ layer: 'managed', file: shown })),
  ...config.staticConfig.layers.flatMap(({ name, file }) =>
    file === null || name === 'default' ? [] : [{ layer: name, file }],
  ),
];

function ruleLines(here: ProjectConfig, { paint }: cli.Io): readonly string[] {
  const { rules, managed } = here.config;
  const files = filesOf(here).map(({ layer, file }) => `${file} (${layer})`);
  const names = managed.map(({ shown }) => shown).join(', ');
  const who = managed.length > 0 ? `${names}: only an administrator can loosen it` : 'you: there is no managed policy';
  const gone = goneFrom(here).map((fault) => paint.red(`✗ ${cli.sanitise(faultText(fault))}; no run can start`));
  const resolved = resolvedIn(rules).map(({ written, id }) => `${written} resolves to ${id}`);
  const trust = trustLine(here.trust);
  return [
    `${paint.bold('policy')}  ${rules.policyHash}`,
    `${paint.bold('set by')}  ${cli.sanitise(who)}`,
    `${paint.bold('read')}  ${cli.sanitise(files.length === 0 ? 'no files: the built-in defaults apply' : files.join(', '))}`,
    ...gone,
    '',
    ...showConfig({ values: rulesIn(here), notes: [] }).map(cli.sanitise),
    ...[...new Set(resolved)].map(cli.sanitise),
    ...(trust === '' ? [] : ['', cli.sanitise(trust)]),
  ];
}

/** Managed files that ruled here before: a run would be refused. */
const goneFrom = ({ config }: ProjectConfig): readonly ConfigFault[] => vanished(config.managed, config.places);

const rulesJson = (here: ProjectConfig): object => ({
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

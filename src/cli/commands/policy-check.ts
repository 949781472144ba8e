/** `mimir policy check FILE`: every fault of a policy file with its place, for administrators and their CI. */
import { resolve } from 'node:path';
import { type CheckedFile, checkFile } from '../../config/settings/check-file.ts';
import { type ConfigFault, faultText } from '../../config/files/fault.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import { visible } from '../../app/views/text/sanitise.ts';
import { packageRoot } from '../../app/process/package-root.ts';

const LAYERS = ['managed', 'user', 'project'] as const;

/** 0 when it is valid, 3 when it isn't. */
export function checkPolicy(file: string, args: Arguments, io: Io): number {
  const as = layerFrom(args);
  const checked = checkFile({ path: resolve(io.where(), file), shown: file, as, packageRoot: packageRoot() });
  const { notes, resolved } = checked.ok ? checked.value : { notes: [], resolved: [] };
  const found: Found = { faults: checked.ok ? [] : checked.fault, notes, resolved };
  if (args.has('json')) io.json({ file, as, valid: checked.ok, ...found });
  else for (const line of linesOf(found, io)) io.say(line);
  if (checked.ok && !args.has('json')) {
    io.say(`${io.paint.green('✓')} ${harmless(file)} is a valid ${as} policy by itself`);
    if (as === 'managed') io.say(NOT_CHECKED);
  }
  return checked.ok ? EXIT.done : EXIT.refused;
}

const NOT_CHECKED =
  '  Not checked: its owner and mode, and the files beside it. `mimir doctor` does that once it is in /etc/mimir.';

interface Found extends CheckedFile {
  readonly faults: readonly ConfigFault[];
}

const linesOf = ({ faults, notes, resolved }: Found, { paint }: Io): readonly string[] => [
  ...faults.map((fault) => `${paint.red('✗')} ${visible(faultText(fault))}`),
  ...[...notes, ...resolved.map(({ written, id }) => `${written} is taken for ${id}`)].map(
    (note) => `${paint.yellow('·')} ${visible(note)}`,
  ),
];

function layerFrom(args: Arguments): (typeof LAYERS)[number] {
  const named = args.get('as') ?? 'managed';
  const as = LAYERS.find((layer) => layer === named);
  if (as === undefined) throw new Exit(EXIT.wrongUse, `--as ${named}\n  expected ${LAYERS.join(', ')}`);
  return as;
}

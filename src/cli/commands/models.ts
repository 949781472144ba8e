/** `mimir models`: lists the catalogue and the person's own models with windows and prices, and why some cannot be used. */
import type { ModelOption } from '../../domain/plan/plan.ts';
import { reasonText } from '../../domain/reason.ts';
import { publishedOf } from '../../models/index.ts';
import { modelProblem, priceProblem } from '../../policy/index.ts';
import { sanitise, world } from '../../app/process/index.ts';
import { configOf, projectOf } from '../../app/workspace/index.ts';
import { portOf } from '../../app/workspace/model-port.ts';
import { command, tell } from '../verb.ts';

export const modelsVerb = command('models', async (args, io) => {
  const config = configOf(projectOf(args, io), io, {});
  const published = await publishedOf(config.providers, world.now());
  const models = portOf(config, published, 'none')
    .models()
    .map((model): ModelOption => {
      const problem =
        modelProblem(model.id, config.rules) ?? (model.usable.yes ? priceProblem(model.price, config.rules) : null);
      return problem === null
        ? model
        : { ...model, usable: { yes: false, because: `denied by ${reasonText(problem)}` } };
    });
  tell(args, io, models, tableOf(models).map(sanitise));
});

interface Row {
  readonly name: string;
  readonly id: string;
  readonly window: string;
  readonly price: string;
  readonly obstacle: string | null;
}

/** Usable models first, then the others by what prevents their use. */
function tableOf(models: readonly ModelOption[]): readonly string[] {
  const rows = models.map(rowOf);
  const obstacles = [...new Set(rows.map(({ obstacle }) => obstacle))].sort(
    (a, b) => Number(a !== null) - Number(b !== null),
  );
  const head: Row = { name: 'model', id: 'canonical id', window: 'window', price: 'in / out', obstacle: null };
  const lineOf = liner([head, ...rows]);
  const groups = obstacles.flatMap((obstacle) => [
    '',
    obstacle === null ? 'Usable:' : `Not usable: ${obstacle}`,
    ...rows.filter((row) => row.obstacle === obstacle).map((row) => `  ${lineOf(row)}`),
  ]);
  const dearer = rows.some(({ price }) => price.endsWith('+'));
  const notes = dearer ? ['', '+  higher for long requests: `mimir models --json` has tiers and cache prices'] : [];
  return [`  ${lineOf(head)}`, ...groups, ...notes];
}

const rowOf = ({ label, id, window, price, usable }: ModelOption): Row => ({
  name: label,
  id,
  window: tokens(window),
  price: price === null ? 'unknown' : `${price.input} / ${price.output}${price.tiers === undefined ? '' : ' +'}`,
  obstacle: usable.yes ? null : usable.because,
});

/** 1,050,000 as `1.05M`, 200,000 as `200k`. */
const tokens = (count: number): string =>
  count >= 1e6 ? `${Number((count / 1e6).toFixed(2))}M` : `${Math.round(count / 1000)}k`;

function liner(rows: readonly Row[]): (row: Row) => string {
  const width = (pick: (row: Row) => string): number => Math.max(...rows.map((row) => pick(row).length));
  const [name, id, window] = [width((row) => row.name), width((row) => row.id), width((row) => row.window)];
  return (row) =>
    `${row.name.padEnd(name)}  ${row.id.padEnd(id)}  ${row.window.padStart(window)}  ${row.price}`.trimEnd();
}

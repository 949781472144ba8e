/** `mimir models`: the catalogue and the person's own models with windows and prices, what can be used here, and why the rest can't. */
import type { ModelOption } from '../../domain/plan/plan.ts';
import { reasonText } from '../../domain/reason.ts';
import { publishedOf } from '../../models/catalogue/published-prices.ts';
import { priceProblem } from '../../policy/budgets.ts';
import { modelProblem } from '../../policy/models.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/common.ts';
import { EXIT } from '../../app/process/exit.ts';
import { harmless } from '../../app/process/io.ts';
import { configOf, projectOf } from '../../app/project/project.ts';
import { portOf } from '../../app/project/model-port.ts';
import type { Verb } from '../verb.ts';
import { world } from '../../app/process/world.ts';

export const modelsVerb: Verb = {
  usage: 'mimir models [--json]',
  summary: 'Lists models with windows and prices (USD per million tokens) and whether they can be used here.',
  example: 'mimir models',
  words: 0,
  flags: { ...JSON_FLAG, ...CWD },
  async run(args, io) {
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
    if (args.has('json')) io.json(models);
    else for (const line of tableOf(models)) io.say(harmless(line));
    return EXIT.done;
  },
};

interface Row {
  readonly name: string;
  readonly id: string;
  readonly window: string;
  readonly price: string;
  /** Null when it can be used. */
  readonly obstacle: string | null;
}

/** What can be used first, then the rest by what stands in the way. */
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
  const notes = dearer ? ['', '+  dearer for long requests: `mimir models --json` has tiers and cache prices'] : [];
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

/** Lines in columns as wide as the widest of each. */
function liner(rows: readonly Row[]): (row: Row) => string {
  const width = (pick: (row: Row) => string): number => Math.max(...rows.map((row) => pick(row).length));
  const [name, id, window] = [width((row) => row.name), width((row) => row.id), width((row) => row.window)];
  return (row) =>
    `${row.name.padEnd(name)}  ${row.id.padEnd(id)}  ${row.window.padStart(window)}  ${row.price}`.trimEnd();
}

/**
 * Writes src/models/catalogue/price-table.ts: what the price library of today says of the models that the catalogue knows.
 * Run it (`npm run prices`) after an update of the library or a model more in the catalogue; read the difference.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KNOWN } from '../src/models/catalogue/catalogue.ts';
import { publishedAt } from '../src/models/catalogue/prices.ts';

const AT = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
  openrouter: 'https://openrouter.ai/api/v1',
};

const rows = KNOWN.flatMap(({ id }) => {
  const cut = id.indexOf('/');
  const { price } = publishedAt(AT[id.slice(0, cut)], id.slice(cut + 1), Date.now());
  return price === null ? [] : [`  '${id}': ${words(price)},`];
});

/** A value as our formatter would write it. */
function words(value) {
  if (Array.isArray(value)) return `[${value.map(words).join(', ')}]`;
  if (typeof value !== 'object')
    return value >= 1000 ? String(value).replace(/\B(?=(?:\d{3})+$)/g, '_') : String(value);
  const members = Object.entries(value).map(([key, each]) => `${key}: ${words(each)}`);
  return `{ ${members.join(', ')} }`;
}

writeFileSync(
  join(import.meta.dirname, '../src/models/catalogue/price-table.ts'),
  `/**
 * Written by \`npm run prices\` from the price library: US dollars per million tokens. A model that isn't here has no known price.
 * In a file of its own since the library takes a tenth of a second to load; test/models/catalogue/prices.test.ts compares the two.
 */
import type { Price } from '../../domain/models/provider.ts';

export const PRICES: Readonly<Record<string, Price>> = {
${rows.join('\n')}
};
`,
);

/**
 * Writes src/models/catalogue/prices.json: what the price library of today says of the models that the catalogue knows, in US dollars
 * per million tokens. Run it (`node .setup/prices.mjs`) after an update of the library or a model more in the catalogue; read the
 * difference. The catalogue reads this file because the library takes a tenth of a second to load.
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
  return price === null ? [] : [[id, price]];
});

const file = join(import.meta.dirname, '../src/models/catalogue/prices.json');
writeFileSync(file, `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`);

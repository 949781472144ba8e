/** The entrance of the providers of models. */
export { type PublishedModels, publishedOf } from './catalogue/catalogue.ts';
export { type OpenModels, openModels } from './open.ts';

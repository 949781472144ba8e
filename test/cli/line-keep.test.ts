/** Kept plans in line mode: what is asked for when one is kept, and when none was named. */
import { expect, it } from 'vitest';
import { ok } from '../../src/domain/result.ts';
import type { TemplateRequest } from '../../src/ports/project-service.ts';
import { foldAll } from '../../src/events/fold.ts';
import { planned, Recording, started } from '../support/recorded-run.ts';
import { typist } from '../support/typist.ts';

it('takes words to be asked for that a template can take, each once', async () => {
  const { events } = planned(started(new Recording()));
  const person = await typist(events);
  const wishes: TemplateRequest[] = [];
  Object.assign(person.run.projectService, {
    saveTemplate: (wish: TemplateRequest) => {
      wishes.push(wish);
      return Promise.resolve(ok({ text: 'Saved as .mimir/plans/audit.yml.' }));
    },
  });
  const first = foldAll(events).plan?.tasks[0]?.description ?? '';
  const part = first.slice(0, 12).trim();
  await person.types('keep audit', 'Looks at one module', first, 'Module', part, 'two words', part, 'module', '');
  expect(wishes).toMatchObject([
    { name: 'audit', description: 'Looks at one module', arguments: [{ name: 'module', text: first }] },
  ]);
  expect(person.said).toContain('That is not one word of letters: skipped.');
  expect(person.said).toContain('The variable module already exists: skipped.');
});

it('asks which one where none was named, and lists the templates', async () => {
  const person = await typist(null);
  expect(await person.hears('template')).toEqual(['No templates yet.']);
  expect(await person.hears('template 9')).toEqual(['There is no template 9: templates lists them.']);
  expect(await person.hears('9')).toEqual(['There is no suggestion 9.']);
  expect(await person.hears('resume')).toEqual(['Which session? sessions lists them.']);
});

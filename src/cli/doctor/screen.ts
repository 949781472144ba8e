/** What is wrong with the preferences for the screen, in `mimir doctor`: a theme that is not there, keys of no action. */
import type { Loaded } from '../../config/settings/load.ts';
import { nearest } from '../../domain/text/nearest.ts';
import { reasonText } from '../../domain/reason.ts';
import type { Finding } from './policy.ts';
import type { ProjectPlace } from '../../app/project/project-trust.ts';
import { chosenTheme, namesOfThemes } from '../../app/project/service/theme-choice.ts';

/** A problem for each of them, with its file and line; nothing where the screen takes all of them. */
export async function screenFindings(
  project: ProjectPlace,
  { preferences: { ui, keys = {} }, values }: Loaded,
  trusted: boolean,
): Promise<readonly Finding[]> {
  const { ownKeyFaults } = await import('../../ui/tui/shell/keys/actions.ts');
  const at = (section: string): string => {
    const value = [...values].find(([path]) => path === section || path.startsWith(`${section}.`))?.[1];
    return value === undefined ? '' : `${reasonText(value.from)}: `;
  };
  const faults = ownKeyFaults(keys).map((fault) => `${at('keys')}${fault}`);
  const theme = ui?.theme ?? 'auto';
  const chosen = theme === 'auto' ? null : chosenTheme(project, trusted, theme);
  if (chosen?.ok === false) {
    const near = nearest(theme, namesOfThemes(project, trusted));
    faults.unshift(`${at('ui.theme')}${chosen.fault}${near === null ? '' : `; did you mean ${near}?`}`);
  }
  return faults.map((words) => ({ what: 'screen', state: 'problem', words }));
}

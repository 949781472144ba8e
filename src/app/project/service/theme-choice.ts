/** The themes that can be chosen here: the person's own, the project's where it is trusted, and the shipped ones. */
import { join } from 'node:path';
import { loadTheme, themeNames } from '../../../config/themes.ts';
import type { Result } from '../../../domain/result.ts';
import type { Theme } from '../../../domain/theme.ts';
import { packageRoot } from '../../process/package-root.ts';
import type { ProjectPlace } from '../project-trust.ts';

/** A theme by name; the fault says file, line and what would be right. */
export const chosenTheme = (project: ProjectPlace, trusted: boolean, name: string): Result<Theme, string> =>
  loadTheme(foldersOf(project, trusted), name);

/** Their names, the shipped ones first. */
export const namesOfThemes = (project: ProjectPlace, trusted: boolean): readonly string[] =>
  themeNames(foldersOf(project, trusted));

/** A project that isn't trusted doesn't paint the screen that asks about it. */
const foldersOf = ({ root, places }: ProjectPlace, trusted: boolean): readonly string[] => [
  join(places.config, 'themes'),
  ...(trusted ? [join(root, '.mimir', 'themes')] : []),
  join(packageRoot(), 'themes'),
];

/** What a path says of a file: source, test, example, or not the project's own work. */
import { languageOf, TABLE } from './languages.ts';

export const isSource = (path: string): boolean =>
  languageOf(path) !== undefined && !/\.min\.\w+$|\.d\.[cm]?ts$/.test(path);

const TEST_FOLDER =
  /^(?:.*?\/)??(?:tests?|Tests|__tests__|spec|specs|e2e|testdata|test-data|fixtures|testsuite|__mocks__)\//;

/** A glob for the uppermost folder of tests that a file is in. */
export function testFolderOf(path: string): string | undefined {
  const folder = TEST_FOLDER.exec(path)?.[0];
  return folder === undefined ? undefined : `${folder}**`;
}

/** A test by its name or its folder; data of tests counts too. A `tests.py` in a folder of the program is none. */
export function isTest(path: string): boolean {
  const language = languageOf(path);
  return (
    TEST_FOLDER.test(path) || (language !== undefined && TABLE[language].tests.test(path)) || path.endsWith('.bats')
  );
}

/** Beside the program itself: examples, measurements, scripts, documents. */
export const isAside = (path: string): boolean =>
  /(?:^|\/)(?:examples?|samples?|demos?|bench(?:mark)?s?|scripts?|docs?|tools|website|integration|\.[\w-]+)\//i.test(
    path,
  ) || /(?:^|\/)[\w.-]*\.config\.\w+$|^(?:setup|conf|gulpfile|Gruntfile)\.\w+$|(?:^|\/)\.\w+rc\.\w+$/.test(path);

/** Not the project's own work, or data: vendored, generated, translations. */
export const isForeign = (path: string): boolean =>
  /(?:^|\/)(?:node_modules|vendor|third_party|thirdparty|dist|build|out|target|bower_components|generated|__generated__|locales?|i18n|translations|debian)\/|\.min\.\w+$|\.(?:pb|generated|gen)\.\w+$|(?:^|\/)package-lock\.json$/.test(
    path,
  );

export const isHeader = (path: string): boolean => /\.(?:h|hpp|hh)$/.test(path);

/** Where one looks first: code in source folders, then other code, then other files, examples, tests and foreign files. */
export function rankOf(path: string): number {
  if (isForeign(path)) return 5;
  if (isTest(path)) return 4;
  if (isAside(path)) return 3;
  if (!isSource(path)) return 2;
  return /^(?:src|lib|pkg|packages)\//.test(path) ? 0 : 1;
}

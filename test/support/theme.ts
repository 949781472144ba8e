/** The theme that is shipped, for tests that draw. */
import { loadTheme } from '../../src/config/themes.ts';

const loaded = loadTheme([new URL('../../themes', import.meta.url).pathname], 'mimir-dark');
if (!loaded.ok) throw new Error(loaded.fault);

export const theme = loaded.value;
